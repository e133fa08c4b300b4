"""What one shard does in a round of boosting, by messages that are small and answers that are sums.

A leader (`boosting/`) tells every shard the same and adds up what they answer. Its messages about a tree, in order:

    Open      write the records of the sample; histogram of the root
    Step      move the rows of nodes to their children; histograms of some children
    Close     note the leaf of every row; sums of the leaves

The last step of a tree may close it. Trees of several scores may grow at the same time: each has a place in `trees`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.exact_sum import LENGTH
from sapwood.kernels.level_groups import Moves
from sapwood.kernels.noise import add_noise_terms
from sapwood.losses.loss import Loss
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.rows import RowPart
from sapwood.row_parts.selection import Keyed
from sapwood.row_parts.smallest import Smallest
from sapwood.shard.asked import Asked
from sapwood.shard.gradient_units import GradientUnits
from sapwood.shard.row_state import RoundFacts, RoundPlan, RowState, squared_gradients
from sapwood.shard.shard import Shard, total

T = TypeVar("T")


class Open(NamedTuple):
    """Begin a tree on the derivatives of tree k of the round."""

    k: int
    units: GradientUnits
    key: int  # for halves of rows, odd
    columns: Mask
    n_sums: int  # of a cell of a histogram
    builds_root: bool


class Close(NamedTuple):
    """The tree has these leaves."""

    leaves: Sequence[int]
    n_nodes: int
    sums: bool  # whether those of the leaves are needed


class Step(NamedTuple):
    """Split nodes, whose records these are, and make histograms of some of their children."""

    ids: Sequence[int]
    nodes: Array
    built: Ints
    close: Close | None = None


class Opened(NamedTuple):
    """Sums by half and level of each grouped column, and the histogram of the root."""

    level_sums: list[Ints]
    histograms: Ints | None


class Stepped(NamedTuple):
    """Rows that went left, histograms (nodes, cells, sums), and the sums of leaves once the tree is closed."""

    n_left: Ints
    histograms: Ints | None
    leaf_sums: Ints | None


Message = Open | Step | Close
Answer = Opened | Stepped | Ints | None


def add_answer(first: Answer, other: Answer) -> Answer:
    """The sums of two shards together; OUT first."""
    match first, other:
        case Opened(), Opened():
            levels = zip(first.level_sums, other.level_sums, strict=True)
            return Opened([total(own) for own in levels], _sum(first.histograms, other.histograms))
        case Stepped(), Stepped():
            return Stepped(*(_sum(own, more) for own, more in zip(first, other, strict=True)))  # type: ignore[arg-type]
    return _sum(first, other)  # type: ignore[arg-type]


def _sum(first: Ints | None, other: Ints | None) -> Ints | None:
    if first is not None and other is not None:
        first += other
    return first


class RoundShard:
    """The rows of one shard, and the trees that grow on them."""

    def __init__(self, shard: Shard, state: RowState, copies_sample: bool = False) -> None:
        self.trees = [shard]
        self.state = state
        self._copies_sample = copies_sample and not len(shard.table.levels)  # halves of rows go by their numbers
        self._copies: dict[int, Shard] = {}  # codes of the sample in memory, for trees that grow, by place
        self._loss: Loss | None = None
        self._nodes: dict[int, Array] = {}  # of the trees that grow, by place

    def place(self, shard: Shard) -> None:
        """Grow trees on new codes of the rows."""
        self.trees = [shard]

    # ---------------------------------------------------------------- a round

    def set_loss(self, loss: Loss) -> None:
        """The loss from this round on."""
        first = self.state.offset
        self._loss = loss if self.state.is_part else loss.of_rows(first, first + self.state.n_rows)

    @property
    def loss(self) -> Loss:
        """The loss of these rows."""
        assert self._loss is not None
        return self._loss

    def begin_round(self, plan: RoundPlan) -> RoundFacts:
        """Derivatives at the scores, and a sample drawn row by row."""
        self.state.differentiate(self.loss)
        self.state.draw(plan.share, plan.key)
        return self.state.prepare_trees(self.loss, plan)

    def differentiate(self) -> None:
        """Derivatives at the scores."""
        self.state.differentiate(self.loss)

    def take_all(self, plan: RoundPlan) -> RoundFacts:
        """Grow the trees of the round on all rows that train."""
        self.state.rows, self.state.factor = self.state.own, None
        return self.state.prepare_trees(self.loss, plan)

    def draw(self, plan: RoundPlan) -> RoundFacts:
        """Grow the trees of the round on a sample drawn row by row."""
        self.state.draw(plan.share, plan.key)
        return self.state.prepare_trees(self.loss, plan)

    def of_candidates(self, question: Callable[[Keyed], T], key: int) -> T:
        """The answer to a question about the numbers by which rows are drawn."""
        return question(self.state.candidates(key))

    def take_counted(self, which: Smallest, plan: RoundPlan) -> RoundFacts:
        """Grow the trees of the round on the rows of the smallest numbers."""
        self.state.take_counted(which, plan.key)
        return self.state.prepare_trees(self.loss, plan)

    def of_sizes(self, question: Callable[[Floats], T]) -> T:
        """The answer to a question about the sizes of the derivatives of the rows that train."""
        sizes = self.state.sizes
        return question(sizes if self.state.own is None else sizes[self.state.own])

    def take_by_size(self, mu: float, plan: RoundPlan) -> RoundFacts:
        """Grow the trees of the round on rows drawn by the size of their derivatives."""
        self.state.take_by_size(mu, plan.key)
        return self.state.prepare_trees(self.loss, plan)

    def take_last(self, takes: bool, plan: RoundPlan) -> RoundFacts:
        """Add the last row that trains to an empty sample."""
        state = self.state
        if takes:
            state.rows = np.array([state.n_rows - 1]) if state.own is None else state.own[-1:]
        return state.prepare_trees(self.loss, plan)

    def done(self) -> None:
        """Nothing: what was told before is done."""

    def n_own(self) -> int:
        """Rows that train."""
        return self.state.n_own

    def large_rows(self, k: int, step: int) -> Floats:
        """|gradient| and hessian (2, rows) of tree k for every step-th of all rows, weights included."""
        state, of = self.state, slice(-self.state.offset % step, None, step)
        weight = state.tree_weight
        found = np.stack([np.abs(state.tree_gradient[k][of]), state.tree_hessian[k][of]]).astype(np.float64)
        return found if weight is None else found * weight[of]

    # ---------------------------------------------------------------- a tree

    def work(self, messages: Sequence[tuple[int, Message]]) -> list[Any]:
        """Answers to messages about trees, each with the place of its tree, in the same order."""
        return [self._answer(place, message) for place, message in messages]

    def _answer(self, place: int, message: Message) -> Any:
        match message:
            case Open():
                return self._open(place, message)
            case Step():
                return self._step(place, message)
            case Close():
                return self._close(place, message)

    def tree(self, place: int) -> Shard:
        """The shard's rows for the tree at a place."""
        while len(self.trees) <= place:
            first = self.trees[0]
            self.trees.append(type(first)(first.table, first.n_jobs, first.offset))
        return self.trees[place]

    def begin_tree(self, k: int, units: GradientUnits, key: int, place: int = 0) -> Shard:
        """Write the records of the sample for tree k of the round."""
        tree, state = self.tree(place), self.state
        tree.gradient, tree.hessian = state.tree_gradient[k], state.tree_hessian[k]
        tree.weight = state.tree_weight
        tree.begin(units, state.rows, key)
        return tree

    def _open(self, place: int, message: Open) -> Opened:
        tree = self.begin_tree(message.k, message.units, message.key, place)
        if self._copies_sample and self.state.rows is not None:
            tree = self._begin_copy(message, place)
        self._nodes[place] = np.zeros(64, dtype=NODE)
        tree.use_columns(message.columns)
        histograms = None
        self._n_sums = message.n_sums
        if message.builds_root:
            histograms = tree.histograms([0], message.n_sums)
        return Opened(tree.level_sums, histograms)

    def _begin_copy(self, message: Open, place: int) -> Shard:
        """The tree on a table of the sample alone: the codes of all rows are not read again until it has grown."""
        tree, rows = self.tree(place), self.state.rows
        assert rows is not None
        copied = Shard(tree.table.take(rows), tree.n_jobs)
        copied.gradient, copied.hessian = tree.gradient[rows], tree.hessian[rows]
        copied.weight = None if tree.weight is None else tree.weight[rows]
        copied.begin(message.units, None, message.key)
        self._copies[place] = copied
        return copied

    def reads_codes(self, message: Message) -> bool:
        """Whether the codes of all rows are needed for the answer."""
        return isinstance(message, Open) or not (self._copies_sample and self.state.rows is not None)

    def _step(self, place: int, message: Step) -> Stepped:
        tree, nodes = self._copies.get(place) or self.tree(place), self._nodes[place]
        n_left, ids = np.zeros(0, dtype=np.int64), list(message.ids)
        if ids:
            most = 1 + int(message.nodes["right"].max())
            if most > len(nodes):
                self._nodes[place] = nodes = np.concatenate([nodes, np.zeros(2 * most - len(nodes), dtype=NODE)])
            nodes[ids] = message.nodes
            n_left = tree.split(nodes, ids)
        histograms = tree.histograms(message.built.tolist(), self._n_sums) if len(message.built) else None
        return Stepped(n_left, histograms, None if message.close is None else self._close(place, message.close))

    def _close(self, place: int, message: Close) -> Ints | None:
        tree, copied = self.tree(place), self._copies.pop(place, None)
        if copied is None:
            tree.settle(message.leaves, message.n_nodes)
        else:
            copied.settle(message.leaves, message.n_nodes)
            tree.take_leaves(copied.leaf_of, self.state.rows, message.n_nodes)
        return tree.leaf_sums(message.n_nodes, tree.units) if message.sums else None

    # ---------------------------------------------------------------- levels in groups

    def begin_groups(self, groups: Sequence[tuple[int, int, Array]]) -> None:
        """Code grouped columns (place, feature, codes) for the tree that has been opened."""
        for place, feature, codes in groups:
            self.trees[0].begin_groups(place, feature, codes)

    def restore_groups(self) -> None:
        """Write the codes of grouped columns again after a table was given back."""
        self.trees[0].restore_groups()

    def reroute(self, moves: Moves) -> tuple[Ints, Ints]:
        """Find the new leaves of rows; sums of the leaves, and how many rows each of them gained."""
        return self.trees[0].reroute(moves)

    def merge_leaves(self, place: int, leaf_above: Ints) -> None:
        """Rows move from nodes that were cut off to the leaves above them."""
        self.trees[place].merge_leaves(leaf_above)

    # ---------------------------------------------------------------- leaves

    def settle_rest(self, place: int, nodes: Array, splits: Mask) -> None:
        """Find the leaves of the rows that took no part."""
        if self.state.rows is not None:
            self.trees[place].settle_rest(nodes, splits)

    def leaf_sums(self, place: int, n_nodes: int, units: GradientUnits, k: int | None = None) -> Ints:
        """Sums of the leaves; of derivatives that the tree was grown on, or of those of score k."""
        tree = self.trees[place]
        if k is not None:
            tree.gradient, tree.hessian = self.state.gradient[k], self.state.hessian[k]
        return tree.leaf_sums(n_nodes, units)

    def sums_of_scores(self, place: int, n_nodes: int, scores: slice, units: Floats, of_all: bool) -> Ints:
        """Sums of the leaves (scores, nodes, 2) of several scores; `of_all`: of all rows that train."""
        state = self.state
        weight = state.own_weight if of_all else state.tree_weight
        of = state.gradient[scores], state.hessian[scores], weight
        return total(self.trees[place].sums_of_leaves(*of, n_nodes, units))

    def add_leaves(self, place: int, values: Floats, scores: int | slice) -> None:
        """Add its leaf's value to a score of every row, or values (nodes, scores) to several."""
        self.trees[place].add_to(self.state.score[scores], values)

    # ---------------------------------------------------------------- what is asked of the rows

    def answer(self, question: Callable[[RowPart], T], asked: Asked) -> T:
        """The answer to a question about the rows."""
        return question(asked.part(self.state, self.trees))

    def noise_sums(self, k: int) -> tuple[ExactSum, int]:
        """Σ w g² and Σ w h of what tree k is grown on, and how many rows have a weight."""
        sums, state = np.zeros((2, LENGTH), dtype=np.int64), self.state
        n = int(add_noise_terms(state.tree_gradient[k], state.tree_hessian[k], state.tree_weight, sums))
        return ExactSum(sums), n

    def squared_gradients(self) -> tuple[ExactSum, int]:
        """The sum of the squared gradients of the rows that train, and how many there are."""
        gradient = self.state.gradient if self.state.own is None else self.state.gradient[:, self.state.own]
        return squared_gradients(gradient)

    def read(self, name: str, at: Any = None) -> Any:
        """An array of the rows: y, weight, score, gradient, hessian, own_weight, or rows of the sample."""
        found = getattr(self.state, name)
        return found if at is None or found is None else found[at]

    def sampled_rows(self) -> Array | None:
        """The rows of the sample, by their numbers among all rows."""
        return None if self.state.rows is None else self.state.rows + self.state.offset

    def leaf_of(self, place: int) -> Array:
        """The node that every row is in."""
        return self.trees[place].leaf_of
