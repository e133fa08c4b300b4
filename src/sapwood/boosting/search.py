"""Search for the best splits of nodes: by histograms of all shards together, or along the sorted rows of one shard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Ints, Mask
from sapwood.boosting.columns import ColumnChoice
from sapwood.cached_property import cached_property
from sapwood.codes.block_table import BlockTable
from sapwood.codes.sparse import Binned
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.level_scan import begin_level, give_split, new_level, scan_level
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import Columns, new_lanes, scan_nodes
from sapwood.kernels.split_order import take_over, take_over_all
from sapwood.shard.ranked_shard import RankedShard
from sapwood.shard.shard import total
from sapwood.threads import run_all

SCAN_PER_THREAD = 1 << 16  # codes to look at before another thread is worth waking

Ids = list[int]
Nodes = Array  # of the layout NODE
Histograms = Sequence[Ints]  # (nodes, cells, sums) from each shard


class ExactSearch:
    """Every distinct value of every column is a candidate."""

    needs_histograms: ClassVar[bool] = False
    n_sums: ClassVar[int] = 2

    def __init__(self, shard: RankedShard, signs: NDArray[np.int8]) -> None:
        self._shard = shard
        self._signs = signs

    def open_root(self, nodes: Nodes, usable: Mask, histograms: Histograms) -> None:  # noqa: ARG002 - its rows tell
        """Sums of the root; OUT nodes[0]."""
        nodes["gradient"][0], nodes["hessian"][0] = self._shard.root_sums()

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: np.void) -> None:
        """Best split of nodes, which have none yet: the first of the best ones of all columns; OUT nodes."""
        for found in self._shard.search(nodes, ids, columns.usable(nodes, ids), rules, self._signs):
            take_over_all(found, np.array(ids, dtype=np.int64), nodes)

    def to_build(self, nodes: Nodes, parents: Ids, wanted: Ids) -> Ints:  # noqa: ARG002
        """None: rows are searched."""
        return np.zeros(0, dtype=np.int64)

    def branch(self, nodes: Nodes, parents: Ids, wanted: Ids, built: Ints, histograms: Histograms) -> None:
        """Nothing to keep."""

    def end(self, nodes: Nodes) -> None:
        """Nothing to give back."""


class HistogramSearch:
    """The sums of one child are counted, those of its sibling are what remains."""

    needs_histograms: ClassVar[bool] = True

    def __init__(self, table: Binned | BlockTable, signs: NDArray[np.int8], counts_rows: bool, n_jobs: int) -> None:
        self._n_jobs, self.n_sums = n_jobs, 3 if counts_rows else 2
        self._columns = Columns(table.starts, table.n_codes, table.is_category, signs)
        self._pool = Pool(int(table.starts[-1]), self.n_sums)
        self._lanes = [new_lanes() for _ in range(n_jobs)]

    def open_root(self, nodes: Nodes, usable: Mask, histograms: Histograms) -> None:
        """Sums of the root, those of any column that the tree may use; OUT nodes[0]."""
        self._keep(nodes, np.zeros(1, dtype=np.int64), histograms)
        first = int(usable.argmax())
        start = self._columns.starts[first]
        cells = slice(start, start + self._columns.n_codes[first] + 1)
        sums = self._pool.slots[nodes["slot"][0], cells].sum(axis=0)
        nodes["gradient"][0], nodes["hessian"][0] = sums[0], sums[1]

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: np.void) -> None:
        """Best split of nodes; OUT nodes."""
        usable = columns.usable(nodes, ids)
        n_cells = int(self._columns.starts[-1])
        n_parts = max(1, min(self._n_jobs, len(ids), len(ids) * n_cells // SCAN_PER_THREAD))
        tasks = []
        for p, part in enumerate(np.array_split(np.arange(len(ids)), n_parts)):
            own = np.array(ids, dtype=np.int64)[part], usable if len(usable) == 1 else usable[part]
            of = self._columns, rules, self._lanes[p][0][0], nodes
            tasks.append(partial(scan_nodes, self._pool.slots, *own, *of))
        run_all(tasks, self._n_jobs)

    def split_level(self, nodes: Nodes, ids: Ids, depth: int, columns: ColumnChoice, rules: np.void) -> Ids:
        """Find the split that gains most in all of the nodes together; OUT nodes; returns those that gain by it."""
        own, drawn = np.array(ids, dtype=np.int64), np.flatnonzero(columns.shared(ids, depth))
        n_parts = max(1, min(self._n_jobs, len(ids) * int(self._columns.starts[-1]) // SCAN_PER_THREAD))
        levels, frames = np.zeros(n_parts, dtype=NODE), self._level_frames
        begin_level(own, depth, rules, nodes, levels[0])
        levels[1:] = levels[0]
        tasks = []
        for p, part in enumerate(np.array_split(drawn, n_parts)):
            of = self._columns, rules, frames[p][0][0], nodes, levels[p]
            tasks.append(partial(scan_level, self._pool.slots, own, part, *of))
        run_all(tasks, self._n_jobs)
        for level in levels[1:]:
            take_over(level, levels[0])
        if levels[0]["gain"] == NO_GAIN:
            return []
        takes = np.empty(len(ids), dtype=np.bool_)
        give_split(self._pool.slots, own, self._columns, rules, frames[0][0][0], nodes, levels[0], takes)
        return [node for node, takes_it in zip(ids, takes, strict=True) if takes_it]

    @cached_property
    def _level_frames(self) -> list[tuple[Array, object]]:
        """Scratch for each thread, and its arrays, to be kept alive."""
        return [new_level(lanes) for lanes, _ in self._lanes]

    def to_build(self, nodes: Nodes, parents: Ids, wanted: Ids) -> Ints:
        """Children whose histograms are to be counted so that all that are wanted can be known.

        The child of smaller hessian has fewer rows as a rule. Rows are yet to be moved, and the sums are the same
        whichever child is counted.
        """
        smaller, larger = self._by_size(nodes, np.array(parents, dtype=np.int64))
        return smaller[np.isin(larger, wanted) | np.isin(smaller, wanted)]

    def _by_size(self, nodes: Nodes, parents: Ints) -> tuple[Ints, Ints]:
        """The children of nodes, those of smaller hessian and the others."""
        hessian, left, right = nodes["hessian"], nodes["left"][parents], nodes["right"][parents]
        is_smaller = hessian[left] <= hessian[right]
        return np.where(is_smaller, left, right), np.where(is_smaller, right, left)

    def branch(self, nodes: Nodes, parents: Ids, wanted: Ids, built: Ints, histograms: Histograms) -> None:
        """Keep the histograms of built children, and make those of their wanted siblings; OUT nodes."""
        slots, own = nodes["slot"], np.array(parents, dtype=np.int64)
        self._keep(nodes, built, histograms)
        smaller, larger = self._by_size(nodes, own)
        remains = np.isin(larger, wanted)
        above, smaller, larger = own[remains], smaller[remains], larger[remains]
        for parent, child in zip(slots[above], slots[smaller], strict=True):
            self._pool.slots[parent] -= self._pool.slots[child]
        slots[larger], slots[above] = slots[above], -1
        self._give_back(slots, own)

    def end(self, nodes: Nodes) -> None:
        """The tree is grown; OUT nodes."""
        self._give_back(nodes["slot"], np.arange(len(nodes)))

    def _give_back(self, slots: Ints, ids: Ints) -> None:
        held = ids[slots[ids] >= 0]
        self._pool.free += slots[held].tolist()
        slots[held] = -1

    def _keep(self, nodes: Nodes, ids: Ints, histograms: Histograms) -> None:
        """Add up what the shards have counted (nodes, cells, sums); OUT nodes, which get slots of the pool."""
        if len(ids):
            nodes["slot"][ids] = slots = self._pool.take(len(ids))
            self._pool.slots[slots] = total(histograms)


class Pool:
    """Histograms (slot, column and code, gradient | hessian | rows); it grows when more nodes are open at a time."""

    def __init__(self, n_cells: int, n_sums: int) -> None:
        self.slots: Ints = np.empty((4, n_cells, n_sums), dtype=np.int64)
        self.free = list(range(3, -1, -1))

    def take(self, n: int) -> list[int]:
        """Borrow n slots."""
        if len(self.free) < n:
            size = len(self.slots)
            larger = np.empty((2 * size + n, *self.slots.shape[1:]), dtype=np.int64)
            larger[:size] = self.slots
            self.slots = larger
            self.free = [*range(len(larger) - 1, size - 1, -1), *self.free]
        return [self.free.pop() for _ in range(n)]


Search = HistogramSearch | ExactSearch
