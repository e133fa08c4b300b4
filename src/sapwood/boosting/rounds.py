"""Rounds: the state of boosting, and one step forward.

gradients of the loss at the scores ─► a tree for each score ─► leaves ─► scores
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.grower import Grower, GrownTree
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.sampling import Sample, gradient_sample, uniform_sample
from sapwood.boosting.trees import to_tree
from sapwood.codes.binned import BinnedTable
from sapwood.kernels.branching import write_tables
from sapwood.kernels.draws import mix
from sapwood.kernels.routing import find_leaves_by_code
from sapwood.losses.loss import Loss
from sapwood.shard.quanta import PACKED_ROWS, Quanta
from sapwood.shard.shard import Shard
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree

BLOCK = 1 << 15  # rows whose gradients are computed at a time
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoundOptions:
    """How one round goes."""

    tree: TreeOptions
    columns: ColumnOptions
    subsample: float = 1.0
    by_gradient: bool = False  # rows are drawn by the size of their gradients
    line_search: bool = False  # one step length for the whole tree
    seed: int = 0
    n_jobs: int = 1
    n_shards: int = 1


@dataclass(eq=False)
class Audience:
    """Rows that watch: coded as the training rows are, with their own scores."""

    table: BinnedTable
    score: Floats  # (n_scores, rows)


@dataclass(eq=False)
class Rounds:
    """Training rows and their scores. `rows` are those that take part (None: all); the others only watch."""

    table: BinnedTable
    n_levels: NDArray[np.int32]
    loss: Loss
    y: NDArray[np.float64]
    weight: Floats | None
    options: RoundOptions
    start: Ensemble
    score: Floats
    rows: NDArray[np.int64] | None = None
    audiences: Sequence[Audience] = ()
    trees: list[tuple[Tree, ...]] = field(default_factory=list)
    sample: Sample | None = None  # of the last round

    def __post_init__(self) -> None:
        self._shards = _make_shards(self.table, self.options.n_shards, self.options.n_jobs)
        self._grower = Grower(self._shards, self.options.tree, self.options.n_jobs)
        self._gradient = np.empty((self.loss.n_scores, self.table.n_rows))
        self._hessian = np.empty_like(self._gradient)

    @property
    def n_done(self) -> int:
        """Rounds of the ensemble so far, those it started from included."""
        return self.start.n_rounds + len(self.trees)

    @property
    def ensemble(self) -> Ensemble:
        """The model so far."""
        return Ensemble(self.start.base, (*self.start.rounds, *self.trees))

    def advance(self, rate: float | Callable[[int, float], float]) -> None:
        """One round; the learning rate is a number, or a function of the round and the norm of the gradient."""
        self.loss = self.loss.begin_round(self.y, self.score, self.weight)
        self._differentiate()
        if callable(rate):
            rate = rate(self.n_done, self._gradient_norm())
        key = int(mix(np.uint64(self.options.seed), np.int64(self.n_done)))
        self.sample = self._draw(key)
        grown = [self._tree(k, rate, int(mix(np.uint64(key), np.int64(k + 1)))) for k in range(self.loss.n_scores)]
        self.trees.append(tuple(grown))

    def _differentiate(self) -> None:
        if self.loss.whole:
            self.loss.derivatives(self.y, self.score, self._gradient, self._hessian)
            return

        def block(start: int, stop: int) -> None:
            of = slice(start, stop)
            self.loss.derivatives(self.y[of], self.score[:, of], self._gradient[:, of], self._hessian[:, of])

        run_all([partial(block, *piece) for piece in blocks(len(self.y), BLOCK)], self.options.n_jobs)

    def _gradient_norm(self) -> float:
        """Root of the mean squared gradient of the rows that take part."""
        own = self._gradient if self.rows is None else self._gradient[:, self.rows]
        return float(np.sqrt(np.mean(own**2)))

    def _draw(self, key: int) -> Sample:
        options = self.options
        if options.by_gradient:
            return gradient_sample(self.rows, self._gradient, self._hessian, self.weight, options.subsample, key)
        return uniform_sample(self.rows, self.table.n_rows, options.subsample, key)

    def _tree(self, k: int, rate: float, key: int) -> Tree:
        """Grow the tree of score k, set its leaves, and add them to the scores."""
        assert self.sample is not None
        weight = _product(self.weight, self.sample.factor)
        quanta = self._begin(k, weight)
        n_rows = self.table.n_rows if self.sample.rows is None else len(self.sample.rows)
        grown = self._grower.grow(quanta, n_rows, self.options.columns.choice(key), key)
        values = self._node_values(grown, quanta, k)
        if self.options.line_search:
            values *= self._step_length(grown, values, k)
        values *= rate
        self._add(grown, values, k)
        return to_tree(grown, values, quanta, self.table.bins, self.n_levels)

    def _begin(self, k: int, weight: Floats | None) -> Quanta:
        """Turn gradients into whole numbers, the same in all shards."""
        assert self.sample is not None
        rows = self.sample.rows
        for shard in self._shards:
            of = slice(shard.offset, shard.offset + shard.n_rows)
            own_weight = None if weight is None else weight[of]
            shard.watch(self._gradient[k, of], self._hessian[k, of], own_weight)
        largest = np.max([shard.largest() for shard in self._shards], axis=0)
        n_rows = self.table.n_rows if rows is None else len(rows)
        packed = n_rows >= PACKED_ROWS and not self.options.tree.counts_rows
        quanta = Quanta.of(float(largest[0]), float(largest[1]), n_rows, packed)
        for shard in self._shards:
            shard.begin(quanta, None if rows is None else shard.own(rows))
        return quanta

    def _node_values(self, grown: GrownTree, quanta: Quanta, k: int) -> Floats:
        """What each node says: Newton's step, for inner nodes too; robust losses set leaves by their exact step."""
        nodes, leaves = grown.nodes, grown.leaves
        G, H = nodes["gradient"] * quanta.gradient_unit, nodes["hessian"] * quanta.hessian_unit
        sums = np.sum([shard.leaf_sums(leaves) for shard in self._shards], axis=0)
        G[leaves], H[leaves] = sums[:, 0] * quanta.fine_gradient_unit, sums[:, 1] * quanta.fine_hessian_unit
        values = self.options.tree.leaf_weights(G, H, nodes["lower"], nodes["upper"]) * self.loss.step_factor
        if self.loss.robust:
            for leaf in leaves:
                values[leaf] = self._exact_step(leaf, k)
            values[leaves] = np.clip(values[leaves], nodes["lower"][leaves], nodes["upper"][leaves])
        return values

    def _exact_step(self, leaf: int, k: int) -> float:
        rows = np.concatenate([shard.offset + shard.rows_of(leaf) for shard in self._shards])
        weight = None if self.weight is None else self.weight[rows]
        return self.loss.leaf_step(self.y[rows], self.score[k, rows], weight, k) if len(rows) else 0.0

    def _step_length(self, grown: GrownTree, values: Floats, k: int) -> float:
        """The rho that minimises the loss of score + rho * tree over the rows that take part."""
        said = values[self._leaf_of_rows(grown, self.table)]
        of = slice(None) if self.rows is None else self.rows
        score, y, said = self.score[:, of].copy(), self.y[of], said[of]
        weight = None if self.weight is None else self.weight[of]
        own = score[k].copy()

        def total(rho: float) -> float:
            score[k] = own + rho * said
            losses = self.loss.losses(y, score)
            return float(losses.sum() if weight is None else (weight * losses).sum())

        return float(minimize_scalar(total, bounds=(0.0, 10.0), method="bounded").x)

    def _add(self, grown: GrownTree, values: Floats, k: int) -> None:
        """Add the tree to the scores of all rows, those that took part and those that watch."""
        assert self.sample is not None
        leaves = grown.leaves
        if self.sample.rows is None:
            for shard in self._shards:
                shard.add_leaves(leaves, values[leaves], self.score[k, shard.offset : shard.offset + shard.n_rows])
        else:
            self.score[k] += values[self._leaf_of_rows(grown, self.table)]
        for audience in self.audiences:
            audience.score[k] += values[self._leaf_of_rows(grown, audience.table)]

    def _leaf_of_rows(self, grown: GrownTree, table: BinnedTable) -> NDArray[np.int32]:
        nodes = grown.nodes
        ids = np.flatnonzero(grown.splits)
        tables = np.empty((len(nodes), 256), dtype=np.uint8)
        own = np.empty((len(ids), 256), dtype=np.uint8)
        write_tables(ids, nodes, own)
        tables[ids] = own
        feature = np.where(grown.splits, nodes["feature"], -1)
        left, right = nodes["left"].copy(), nodes["right"].copy()
        leaf_of = np.empty(table.n_rows, dtype=np.int32)
        find = partial(find_leaves_by_code, table.columns, feature, left, right, tables)
        pieces = blocks(table.n_rows, BLOCK)
        run_all([partial(find, start, stop, leaf_of) for start, stop in pieces], self.options.n_jobs)
        return leaf_of


def _product(weight: Floats | None, factor: Floats | None) -> Floats | None:
    if weight is None or factor is None:
        return factor if weight is None else weight
    return weight * factor


def _make_shards(table: BinnedTable, n_shards: int, n_jobs: int) -> list[Shard]:
    """Rows in consecutive parts. One is enough on one machine; more of them give the same model."""
    borders = [table.n_rows * s // n_shards for s in range(n_shards + 1)]
    return [
        Shard(table if n_shards == 1 else table.part(start, stop), n_jobs, offset=start)
        for start, stop in pairwise(borders)
    ]
