"""The rows of a shard in boosting: targets, weights, scores, derivatives in a round, and a sample of them.

Everything here is about one shard. What depends on the rows of all shards is in `shards.py`.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.kernels.routing import largest
from sapwood.losses.loss import Loss
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.selection import Keyed
from sapwood.row_parts.smallest import Smallest, taken
from sapwood.shard.arrays_of_rows import ArraysOfRows, InMemory
from sapwood.shard.projection import project_all
from sapwood.shard.sampling import counted_keys, draw_by_size, draw_uniform, sizes_of
from sapwood.threads import blocks, run_all

BLOCK = 1 << 15  # rows whose gradients are computed at a time


class RoundPlan(NamedTuple):
    """How the trees of a round are grown: on which rows, and on which derivatives."""

    key: int  # for draws
    share: float = 1.0  # of the rows, drawn one by one
    unit_hessian: bool = False  # trees are grown on gradients alone, as if the hessian was 1
    one_tree: bool = False  # on a mixture of all scores


class RoundFacts(NamedTuple):
    """What the leader of a round needs to know of the rows of a shard."""

    n_rows: int  # that trees are grown on
    of_trees: Floats  # (trees, 2): largest |gradient| and hessian of what each is grown on, weights included
    of_scores: Floats  # (scores, 2): the same of each score's own derivatives
    of_all: Floats  # (scores, 2): the same, without what a sample multiplies weights by


@dataclass(eq=False)
class RowState:
    """Arrays of the rows of one shard. `own` are those that train (None: all); the others are for validation."""

    y: Floats
    weight: Floats | None
    score: Floats  # (scores, rows)
    own: Ints | None
    offset: int  # of the first row among those of all shards
    dtype: type = np.float64  # of derivatives
    n_jobs: int = 1
    first_own: int = 0  # the number of its first row that trains among all of these
    arrays: ArraysOfRows = field(default_factory=InMemory)

    def __post_init__(self) -> None:
        self._whole: RowState | None = None  # whose rows these are, if its arrays are shared
        self.gradient: Array = np.empty((len(self.score), 0), dtype=self.dtype)
        self.hessian = self.gradient
        self.rows: Ints | None = self.own  # of the sample
        self.factor: Floats | None = None  # what the sample multiplies weights by
        self.own_weight = self.weight
        if self.own is not None:  # gradients of validation rows must not decide about units
            self.own_weight = np.zeros(len(self.y))
            self.own_weight[self.own] = 1.0 if self.weight is None else self.weight[self.own]
        self._ones: Array | None = None

    def part(self, start: int, stop: int) -> RowState:
        """Consecutive rows, with parts of the same arrays."""
        own, weight, first_own = self.own, self.weight, self.first_own + start
        if own is not None:
            first, last = np.searchsorted(own, (start, stop)).tolist()
            own, first_own = own[first:last] - start, self.first_own + first
        weight = None if weight is None else weight[start:stop]
        score = self.score[:, start:stop]
        of = self.offset + start, self.dtype, self.n_jobs, first_own, self.arrays
        found = RowState(self.y[start:stop], weight, score, own, *of)
        found._whole = self
        return found

    @property
    def is_part(self) -> bool:
        """Whether the arrays are parts of those of more rows, in this process."""
        return self._whole is not None

    def __reduce_ex__(self, protocol: Any) -> Any:
        """In a copy, arrays that are parts of others are parts of their copies."""
        if self._whole is None:
            return super().__reduce_ex__(protocol)
        start = self.offset - self._whole.offset
        return RowState.part, (self._whole, start, start + self.n_rows)

    def alone(self) -> RowState:
        """The same rows with arrays of their own, for a shard that shares no memory with the others."""
        weight, score = (None if array is None else array.copy() for array in (self.weight, self.score))
        assert score is not None
        return replace(self, y=self.y.copy(), weight=weight, score=score)

    @property
    def n_rows(self) -> int:
        """Rows of the shard."""
        return len(self.y)

    @property
    def tree_weight(self) -> Floats | None:
        """Weights that trees are grown with."""
        if self.factor is None:
            return self.own_weight
        return self.factor if self.own_weight is None else self.own_weight * self.factor

    def differentiate(self, loss: Loss) -> None:
        """Derivatives of the loss at the scores."""
        self._most: Floats | None = None
        self._sizes: Floats | None = None
        self.scales = loss.scales
        if loss.whole and self._whole is not None:  # whose derivatives are known
            of = slice(self.offset - self._whole.offset, self.offset - self._whole.offset + self.n_rows)
            self.gradient, self.hessian = self._whole.gradient[:, of], self._whole.hessian[:, of]
            return
        if self.gradient.shape[1] < self.n_rows:
            self.gradient, self.hessian = (self.arrays.empty(self.score.shape, self.dtype) for _ in range(2))
        if loss.whole:
            loss.derivatives(self.y, self.score, self.gradient, self.hessian)
            return
        pieces = blocks(self.n_rows, BLOCK)
        n_parts = min(self.n_jobs, len(pieces))
        tasks = [partial(self._differentiate, loss, pieces[p::n_parts]) for p in range(n_parts)]
        self._most = np.max([np.zeros((loss.n_scores, 2)), *run_all(tasks, self.n_jobs)], axis=0)

    def _differentiate(self, loss: Loss, pieces: list[tuple[int, int]]) -> Floats:
        """The same for some blocks; returns the largest |gradient| and hessian of each score."""
        most = np.zeros((loss.n_scores, 2))
        for start, stop in pieces:
            of = slice(start, stop)
            loss.derivatives(self.y[of], self.score[:, of], self.gradient[:, of], self.hessian[:, of])
            for k in range(loss.n_scores):  # while they are in the cache
                found = largest(self.gradient[k], self.hessian[k], self.own_weight, start, stop)
                np.maximum(most[k], found, out=most[k])
        return most

    @property
    def n_own(self) -> int:
        """Rows that train."""
        return self.n_rows if self.own is None else len(self.own)

    def candidates(self, key: int) -> Keyed:
        """The numbers by which rows that train are drawn, if their number is given."""
        return counted_keys(key, self.first_own, self.n_own)

    def take_counted(self, which: Smallest, key: int) -> None:
        """Take the rows that are among those of the smallest numbers."""
        drawn = taken(which, self.candidates(key))
        self.rows, self.factor = drawn if self.own is None else self.own[drawn], None

    @property
    def sizes(self) -> Floats:
        """The size of the derivatives of each row, on one scale, with weights."""
        if self._sizes is None:
            scales = np.ones((2, len(self.score), 1)) if self.scales is None else self.scales[:, :, None]
            self._sizes = sizes_of(self.gradient * scales[0], self.hessian * scales[1], self.weight)
        return self._sizes

    @property
    def size_of_hessian(self) -> Floats:
        """The sum of the hessians of each row, on one scale, with weights."""
        scales = 1.0 if self.scales is None else self.scales[1, :, None]
        sizes: Floats = (self.hessian * scales).sum(axis=0)
        return sizes * (1.0 if self.weight is None else self.weight)

    def take_by_size(self, mu: float, key: int) -> None:
        """Draw each row with a probability by the size of its derivatives."""
        sample = draw_by_size(self.own, self.sizes, mu, self.offset, key)
        assert sample.rows is not None
        self.rows, self.factor = sample.rows, sample.factor

    def draw(self, share: float, key: int) -> None:
        """Each row with the same probability: a hash of the key and its number among all rows."""
        self.factor = None
        if share >= 1.0:
            self.rows = self.own
            return
        self.rows = draw_uniform(self.own, self.n_rows, self.offset, share, key)

    def prepare_trees(self, loss: Loss, plan: RoundPlan) -> RoundFacts:
        """Set what trees are grown on: `tree_gradient` and `tree_hessian` (trees, rows)."""
        self.tree_gradient, self.tree_hessian = self.gradient, self.hessian
        of_all = self._most if self._most is not None else self._largest(self.gradient, self.hessian, self.own_weight)
        of_scores = of_all
        if self.factor is not None:
            of_scores = self._largest(self.gradient, self.hessian, self.tree_weight)
        of_trees = of_scores
        if plan.unit_hessian:
            if self._ones is None:
                self._ones = np.ones(self.n_rows)
            self.tree_hessian = np.broadcast_to(self._ones, self.hessian.shape)
        if plan.one_tree:
            mixture = project_all(self.gradient, self.hessian, loss, plan.key, self.n_jobs)
            self.tree_gradient, self.tree_hessian = mixture[:1], mixture[1:]
        if self.tree_gradient is not self.gradient or self.tree_hessian is not self.hessian:
            of_trees = self._largest(self.tree_gradient, self.tree_hessian, self.tree_weight)
        n_rows = self.n_rows if self.rows is None else len(self.rows)
        return RoundFacts(n_rows, of_trees, of_scores, of_all)

    def _largest(self, gradient: Array, hessian: Array, weight: Floats | None) -> Floats:
        def of_block(start: int, stop: int) -> Floats:
            pairs = zip(gradient, hessian, strict=True)
            return np.array([largest(g, h, weight, start, stop) for g, h in pairs])

        tasks = [partial(of_block, *block) for block in blocks(self.n_rows, BLOCK)]
        return np.asarray(np.max([np.zeros((len(gradient), 2)), *run_all(tasks, self.n_jobs)], axis=0))


def squared_gradients(gradient: Array) -> tuple[ExactSum, int]:
    """The sum of the squared gradients (scores, rows) of a part, and how many there are."""
    return ExactSum.of(np.square(gradient, dtype=np.float64).reshape(-1)), gradient.size
