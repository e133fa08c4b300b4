"""All shards of a table together, wherever they are.

A leader says the same to every shard, and adds up the answers. What it *tells* has no answer and waits until it *asks*
something, so that one exchange carries both. A tree of depth D takes D + 2 exchanges: derivatives, the root, and one
for each level of splits; the leaves are told along with the next question. Where arrays of all rows are in this
process, whose scores may be looked at after each round, what waits is run at the end of the round, in an exchange of
its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.cached_property import cached_property
from sapwood.codes.coding import Coded
from sapwood.codes.ranked import RankedTable
from sapwood.codes.sparse import SparseTable
from sapwood.kernels.newton import newton_values
from sapwood.kernels.routing import count_large
from sapwood.losses.loss import Loss
from sapwood.shard.gradient_units import PACKED_ROWS, GradientUnits, fine_units
from sapwood.shard.ranked_shard import RankedShard
from sapwood.shard.round_shard import Message, RoundShard
from sapwood.shard.row_state import RoundFacts, RoundPlan, RowState
from sapwood.shard.sampling import choose_counted
from sapwood.shard.shard import Shard, total
from sapwood.shard.size_threshold import threshold
from sapwood.shard.sparse_shard import SparseShard

OUTLIER = 64.0  # times as large as most rows
OUTLIER_SHARE = 0.01
OUTLIER_SAMPLE = 1 << 15  # rows that are looked at, evenly spaced


SHARED = ("y", "weight", "score", "own", "own_weight")  # arrays of which those of shards in this process are parts


class Each(NamedTuple):
    """An argument that differs by shard."""

    values: Sequence[Any]


class Command(NamedTuple):
    """A method of `RoundShard`, and its arguments."""

    method: str
    arguments: tuple[Any, ...]

    def of(self, number: int) -> Command:
        """The command as the shard of this number gets it."""
        return Command(self.method, tuple(a.values[number] if isinstance(a, Each) else a for a in self.arguments))

    def run(self, shard: RoundShard) -> Any:
        """What the shard answers."""
        return getattr(shard, self.method)(*self.arguments)


class Transport(Protocol):
    """How commands reach the shards, and answers come back."""

    local: Sequence[RoundShard] | None
    """The shards, if they are objects of this process that anyone may use."""

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Run commands in order on every shard; answers to the last of them, in the order of the shards."""


class InProcess:
    """Shards are objects of this process."""

    def __init__(self, shards: Sequence[RoundShard]) -> None:
        self.local: Sequence[RoundShard] | None = shards
        self._shards = shards

    def exchange(self, commands: Sequence[Command]) -> list[Any]:
        """Answers to the last of the commands."""
        return [[own.of(number).run(shard) for own in commands][-1] for number, shard in enumerate(self._shards)]


class Shards:
    """What a leader asks of all shards."""

    def __init__(
        self,
        transport: Transport,
        n_rows: int,
        whole: RowState | None = None,
        *,
        has_validation_rows: bool = False,
        most_trees: int = 1,
    ) -> None:
        self._transport = transport
        self._whole = whole  # arrays of all rows, if those of the shards are parts of them
        self.n_rows = n_rows
        self.has_validation_rows = has_validation_rows  # whether some rows do not train
        self.most_trees = most_trees  # that may grow at the same time
        self.n_exchanges = 0
        self._waiting: list[Command] = []
        self._loss: Loss | None = None

    @property
    def local(self) -> Sequence[RoundShard] | None:
        """The shards, if they are in this process."""
        return self._transport.local

    @property
    def only(self) -> RoundShard:
        """The only shard, which is in this process."""
        assert self.local is not None
        (shard,) = self.local
        return shard

    @property
    def is_alone(self) -> bool:
        """Whether there is one shard, in this process."""
        return self.local is not None and len(self.local) == 1

    @property
    def has_whole(self) -> bool:
        """Whether arrays of all rows are in this process."""
        return self._whole is not None

    @property
    def parts(self) -> list[Shard]:
        """Rows of shards in this process, for the first tree that grows on them."""
        return [shard.trees[0] for shard in self.local or ()]

    def tell(self, method: str, *arguments: Any) -> None:
        """Run a method on every shard before anything else is asked."""
        command = Command(method, arguments)
        if self.local is None:
            self._waiting.append(command)
            return
        for number, shard in enumerate(self.local):
            command.of(number).run(shard)

    def flush(self) -> None:
        """Run what waits."""
        if self._waiting:
            self.ask("done")

    def ask(self, method: str, *arguments: Any) -> list[Any]:
        """The answers of a method of all shards."""
        commands, self._waiting = [*self._waiting, Command(method, arguments)], []
        self.n_exchanges += 1
        return self._transport.exchange(commands)

    # ---------------------------------------------------------------- a round

    def set_loss(self, loss: Loss) -> None:
        """The loss from this round on."""
        if loss is not self._loss:
            self._loss = loss
            self.tell("set_loss", loss)

    def begin_round(self, plan: RoundPlan) -> RoundFacts:
        """Derivatives at the scores, and a sample drawn row by row; what is known of all rows."""
        self._compare_rows()
        return self._at_least_one(self.ask("begin_round", plan), plan)

    def differentiate(self) -> None:
        """Derivatives at the scores."""
        self._compare_rows()
        self.tell("differentiate")

    def _compare_rows(self) -> None:
        """Derivatives of a loss that compares rows of all shards, if these are parts of arrays of this process."""
        if self._whole is not None and not self.is_alone and self._loss is not None and self._loss.whole:
            self.flush()
            self._whole.differentiate(self._loss)

    def take_all(self, plan: RoundPlan) -> RoundFacts:
        """Grow the trees of the round on all rows that train; derivatives are known."""
        return self._joined(self.ask("take_all", plan))

    def draw(self, plan: RoundPlan) -> RoundFacts:
        """The same on rows that are drawn one by one."""
        return self._at_least_one(self.ask("draw", plan), plan)

    def draw_counted(self, share: float, plan: RoundPlan) -> RoundFacts:
        """The same on a share of the rows, rounded down, at least one."""
        count = max(1, int(share * sum(self.n_own)))
        which = choose_counted(lambda question: self.ask("of_candidates", question, plan.key), count)
        return self._joined(self.ask("take_counted", Each(which), plan))

    def draw_by_size(self, share: float, plan: RoundPlan) -> RoundFacts:
        """The same on rows that are drawn by the size of their derivatives."""
        mu = threshold(lambda question: self.ask("of_sizes", question), share * sum(self.n_own))
        return self._at_least_one(self.ask("take_by_size", mu, plan), plan)

    @cached_property
    def n_own(self) -> list[int]:
        """Rows of each shard that train."""
        return self.ask("n_own")

    def _at_least_one(self, answers: Sequence[RoundFacts], plan: RoundPlan) -> RoundFacts:
        """What is known of all rows; if none was drawn, the last one is."""
        facts = self._joined(answers)
        if facts.n_rows:
            return facts
        last = max(s for s, n in enumerate(self.n_own) if n)
        return self._joined(self.ask("take_last", Each([s == last for s in range(len(self.n_own))]), plan))

    def _joined(self, facts: Sequence[RoundFacts]) -> RoundFacts:
        n_rows, *largest = zip(*facts, strict=True)
        return RoundFacts(sum(n_rows), *(np.max(own, axis=0) for own in largest))

    def units(self, facts: RoundFacts, k: int, may_pack: bool) -> GradientUnits:
        """Units that suit the derivatives of tree k in all shards."""
        most = facts.of_trees[k]
        packed = may_pack and facts.n_rows >= PACKED_ROWS and not self._has_outliers(k, most)
        return GradientUnits.of(float(most[0]), float(most[1]), facts.n_rows, packed)

    def _has_outliers(self, k: int, most: Floats) -> bool:
        """Whether so few rows come near the largest numbers that packed ones, of 15 bits, would hide the rest."""
        step = max(1, self.n_rows // OUTLIER_SAMPLE)
        g, h = (most / OUTLIER).tolist()
        least = OUTLIER_SHARE * -(-self.n_rows // step)
        if self.is_alone:
            state = self.only.state
            of = state.tree_gradient[k], state.tree_hessian[k], state.tree_weight
            return bool(min(count_large(*of, g, h, 0, self.n_rows, step, least)) < least)
        found = np.concatenate(self.ask("large_rows", k, step), axis=1)
        return bool(np.count_nonzero(found >= [[g], [h]], axis=1).min() < least)

    def work(self, messages: Sequence[tuple[int, Message]]) -> Iterator[tuple[Any, ...]]:
        """For each message about a tree, the answers of all shards."""
        return zip(*self.ask("work", list(messages)), strict=True)

    # ---------------------------------------------------------------- leaves

    def leaf_sums(self, place: int, n_nodes: int, units: GradientUnits, k: int | None = None) -> Ints:
        """Sums of the leaves of a tree, by its own derivatives or those of score k."""
        return total(self.ask("leaf_sums", place, n_nodes, units, k))

    def sums_of_scores(
        self, place: int, n_nodes: int, scores: slice, most: Floats, of_all: bool
    ) -> tuple[Ints, Floats]:
        """Sums of the leaves (scores, nodes, 2) as whole numbers, and their units (scores, 2)."""
        units = fine_units(most, self.n_rows)
        return total(self.ask("sums_of_scores", place, n_nodes, scores, units, of_all)), units

    # ---------------------------------------------------------------- reading back

    def read(self, name: str, axis: int = -1) -> Any:
        """An array of the rows of all shards, by its name in `RowState`; the array itself if it is in this process."""
        self.flush()
        if self.is_alone or (self._whole is not None and name in SHARED):
            return getattr(self._whole, name)
        parts = self.ask("read", name)
        return None if parts[0] is None else np.concatenate(parts, axis=axis)

    def rows_of_sample(self) -> Ints | None:
        """The rows that the last round drew; None: all."""
        if self.is_alone:
            return self.only.state.rows
        parts = self.ask("sampled_rows")
        return None if parts[0] is None else np.concatenate(parts)

    def leaf_of(self, place: int = 0) -> Array:
        """The node that every row is in."""
        return np.concatenate(self.ask("leaf_of", place))


def newton_steps(nodes: Array, splits: Mask, sums: Ints, units: GradientUnits, rules: np.void, factor: float) -> Floats:
    """Newton's step of each node: of leaves from the sums of their rows, of inner nodes too."""
    values = np.empty(len(nodes))
    newton_values(nodes, splits, sums, units.fine_gradient_unit, units.fine_hessian_unit, rules, factor, values)
    return values


def shard_of(table: Coded, n_jobs: int, offset: int = 0) -> Shard:
    """A shard of the kind that suits the table."""
    if isinstance(table, RankedTable):
        return RankedShard(table, n_jobs)
    return (SparseShard if isinstance(table, SparseTable) else Shard)(table, n_jobs, offset)


def local_shards(table: Coded, rows: RowState, borders: Sequence[int]) -> Shards:
    """Rows of this process in consecutive parts. One is enough; more of them give the same model."""
    states, tables = [rows], [table]
    if len(borders) > 2 and not isinstance(table, RankedTable):
        states, tables = [rows.part(*of) for of in pairwise(borders)], [table.part(*of) for of in pairwise(borders)]
    shards = [
        RoundShard(shard_of(own, rows.n_jobs, state.offset), state) for own, state in zip(tables, states, strict=True)
    ]
    return Shards(InProcess(shards), rows.n_rows, rows, has_validation_rows=rows.own is not None)


def evenly(n_rows: int, n_shards: int) -> list[int]:
    """Borders of so many parts of about equal size."""
    return [n_rows * s // n_shards for s in range(n_shards + 1)]
