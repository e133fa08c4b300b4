"""A shard owns rows: their codes, their gradients, and the node each row is in.

It answers what growth asks of rows: histograms of nodes, the moving of rows to children, sums of leaves. All of it is
in whole numbers, so the answers of many shards are simply added. Nodes are called by their numbers; a shard knows
where each one's records are.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.binned import BinnedTable
from sapwood.kernels.histogram import add_to, build
from sapwood.kernels.routing import (
    add_leaves,
    join_pieces,
    largest,
    mark_leaves,
    split_pieces,
    sum_records,
    write_records,
)
from sapwood.shard.dealing import Piece, deal
from sapwood.shard.quanta import Quanta
from sapwood.threads import blocks, run_all

BLOCK = 1 << 16  # rows of one task in passes over all rows
ROWS_PER_THREAD = 8192  # fewer rows are not worth waking another thread for

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


class Shard:
    """Rows of one binned table on some threads of this machine."""

    def __init__(self, table: BinnedTable, n_jobs: int = 1, offset: int = 0) -> None:
        self.table = table
        self.n_jobs = n_jobs
        self.offset = offset  # of its first row among all rows
        self._words = table.rows.view(np.uint64).reshape(-1)
        self._n_words = np.uint64(table.rows.shape[1] // 8)
        self._records = np.empty(table.n_rows, dtype=np.uint64)
        self._spare = np.empty(table.n_rows, dtype=np.uint64)
        self._packed = np.zeros((n_jobs, 256 * table.n_features), dtype=np.int64)
        self._wide: NDArray[np.int64] | None = None
        self._ranges: dict[int, tuple[int, int]] = {}

    @property
    def n_rows(self) -> int:
        """Rows of the shard, in the tree or not."""
        return self.table.n_rows

    def own(self, rows: NDArray[Any]) -> NDArray[Any]:
        """Those of some rows, ascending, that are the shard's, by the shard's own numbers."""
        first, last = np.searchsorted(rows, [self.offset, self.offset + self.n_rows])
        return rows[first:last] - self.offset

    def watch(self, gradient: Floats, hessian: Floats, weight: Floats | None) -> None:
        """Set the gradients of the rows, for the next tree."""
        self.gradient, self.hessian, self.weight = gradient, hessian, weight

    def largest(self) -> tuple[float, float]:
        """Largest |gradient| and hessian, weights included."""
        of = self.gradient, self.hessian, self.weight
        tasks = [partial(largest, *of, *block) for block in blocks(self.n_rows, BLOCK)]
        found = np.array(run_all(tasks, self.n_jobs)).reshape(-1, 2)
        return float(found[:, 0].max(initial=0.0)), float(found[:, 1].max(initial=0.0))

    def begin(self, quanta: Quanta, rows: NDArray[Any] | None = None) -> None:
        """Start a tree on all rows, or on some; the root is node 0."""
        self.quanta = quanta
        n = self.n_rows if rows is None else len(rows)
        if not quanta.packed and self._wide is None:
            self._wide = np.empty((self.n_rows, 2), dtype=np.int64)
        wide = None if quanta.packed else self._wide
        of, scales = (self.gradient, self.hessian, self.weight), (1.0 / quanta.gradient_unit, 1.0 / quanta.hessian_unit)
        tasks = [partial(write_records, rows, *of, *scales, *block, self._records, wide) for block in blocks(n, BLOCK)]
        run_all(tasks, self.n_jobs)
        self._ranges = {0: (0, n)}

    def histograms(
        self, ids: Sequence[int], pool: NDArray[np.int64], slots: Sequence[int], spare: Sequence[int]
    ) -> None:
        """Histograms of nodes into slots of the pool; the n_jobs - 1 spare slots are for nodes cut between threads."""
        ranges = [self._ranges[i] for i in ids]
        parts = deal(ranges, self._n_threads(ranges, self.table.n_features))
        tasks, joins = [], []
        for p, part in enumerate(parts):
            pieces = np.empty((len(part), 3), dtype=np.int64)
            for k, (node, first, last) in enumerate(part):
                is_rest = k == 0 and p > 0 and first > ranges[node][0]
                if is_rest:
                    joins.append((slots[node], spare[p - 1]))
                pieces[k] = first, last, spare[p - 1] if is_rest else slots[node]
            tasks.append(partial(self._build, pieces, p, pool))
        run_all(tasks, self.n_jobs)
        for target, source in joins:
            add_to(pool, target, source)

    def _build(self, pieces: Ints, part: int, pool: NDArray[np.int64]) -> None:
        build(
            pieces,
            self._records,
            self._words,
            self._n_words,
            np.uint64(self.table.n_features),
            np.uint64(self.quanta.block_rows),
            None if self.quanta.packed else self._wide,
            self._packed[part],
            pool,
        )

    def split(
        self,
        ids: Sequence[int],
        left: Sequence[int],
        right: Sequence[int],
        features: Sequence[int],
        tables: NDArray[np.uint8],
    ) -> Ints:
        """Move the rows of nodes to their children; returns how many went left."""
        ranges = [self._ranges[i] for i in ids]
        parts = deal(ranges, self._n_threads(ranges, 4))
        cuts = [np.empty(len(part), dtype=np.int64) for part in parts]
        tasks = []
        for part, cut in zip(parts, cuts, strict=True):
            pieces = np.array([(first, last, features[node]) for node, first, last in part], dtype=np.int64)
            own = tables[[node for node, _, _ in part]]
            tasks.append(partial(split_pieces, pieces, self._records, self.table.columns, own, self._spare, cut))
        run_all(tasks, self.n_jobs)
        borders = self._borders(len(ranges), parts, cuts)
        for k, (first, last) in enumerate(ranges):
            self._ranges[left[k]] = first, int(borders[k])
            self._ranges[right[k]] = int(borders[k]), last
        return borders - np.array([first for first, _ in ranges], dtype=np.int64)

    def _borders(self, n_nodes: int, parts: list[list[Piece]], cuts: list[Ints]) -> Ints:
        """Where the right child of every node begins; nodes that were cut between threads are joined."""
        found: list[list[tuple[int, int, int]]] = [[] for _ in range(n_nodes)]
        for part, cut in zip(parts, cuts, strict=True):
            for (node, first, last), border in zip(part, cut, strict=True):
                found[node].append((first, int(border), last))
        borders = np.empty(n_nodes, dtype=np.int64)
        for node, pieces in enumerate(found):
            borders[node] = pieces[0][1]
            if len(pieces) > 1:
                firsts, inner, lasts = np.array(pieces, dtype=np.int64).T.copy()
                borders[node] = join_pieces(self._records, self._spare, firsts, inner, lasts)
        return borders

    def leaf_sums(self, ids: Sequence[int]) -> Ints:
        """Sums of gradient and hessian of leaves, in fine units."""
        return self._sums(ids, self.quanta.fine_gradient_unit, self.quanta.fine_hessian_unit)

    def _sums(self, ids: Sequence[int], gradient_unit: float, hessian_unit: float) -> Ints:
        ranges = [self._ranges[i] for i in ids]
        parts = deal(ranges, self._n_threads(ranges, 4))

        def add(part: list[Piece]) -> Ints:
            sums = np.zeros((len(part), 2), dtype=np.int64)
            pieces = np.array([piece[1:] for piece in part], dtype=np.int64)
            scales = 1.0 / gradient_unit, 1.0 / hessian_unit
            sum_records(pieces, self._records, self.gradient, self.hessian, self.weight, *scales, sums)
            return sums

        totals = np.zeros((len(ids), 2), dtype=np.int64)
        for part, sums in zip(parts, run_all([partial(add, part) for part in parts], self.n_jobs), strict=True):
            for (node, _, _), pair in zip(part, sums, strict=True):
                totals[node] += pair
        return totals

    def add_leaves(self, ids: Sequence[int], values: Floats, score: Floats) -> None:
        """Add each leaf's value to the score of its rows; OUT score."""
        ranges = [self._ranges[i] for i in ids]
        tasks = []
        for part in deal(ranges, self._n_threads(ranges, 4)):
            pieces = np.array([piece[1:] for piece in part], dtype=np.int64)
            own = values[[node for node, _, _ in part]]
            tasks.append(partial(add_leaves, pieces, self._records, own, score))
        run_all(tasks, self.n_jobs)

    def rows_of(self, node: int) -> NDArray[np.int64]:
        """Rows of a node, ascending."""
        first, last = self._ranges[node]
        return (self._records[first:last] >> np.uint64(32)).astype(np.int64)

    def leaf_of_rows(self, ids: Sequence[int]) -> NDArray[np.int32]:
        """Which of the leaves every row is in; -1 for rows outside the tree."""
        leaf_of = np.full(self.n_rows, -1, dtype=np.int32)
        pieces = np.array([self._ranges[i] for i in ids], dtype=np.int64).reshape(-1, 2)
        mark_leaves(pieces, self._records, np.asarray(ids, dtype=np.int32), leaf_of)
        return leaf_of

    def _n_threads(self, ranges: Sequence[tuple[int, int]], work: int) -> int:
        """Threads worth waking for so many rows of so much work each."""
        rows = sum(last - first for first, last in ranges)
        return max(1, min(self.n_jobs, rows * work // (4 * ROWS_PER_THREAD)))
