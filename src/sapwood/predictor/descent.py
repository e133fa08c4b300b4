"""Predictor: a tree packed for descent, and rows to leaves by many threads."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.codes.separation import round_down
from sapwood.kernels.traverse import STEPS, Levels, find_leaves
from sapwood.predictor.reach import check_reach, columns_needed
from sapwood.table.storage import SparseStorage, Storage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree

if TYPE_CHECKING:
    from scipy import sparse  # which takes long to import

BLOCK_ROWS = 1 << 14  # fixed, so that results cannot depend on the number of threads
BLOCK_CELLS = 1 << 20  # of a sparse table that are filled in at a time
Leaves = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Descent:
    """A tree packed for the descent of cells of one type: only what this needs."""

    steps: NDArray[np.void]  # inner nodes
    levels: Levels | None
    n_columns: int  # minimum number of columns of a table

    @classmethod
    def of(cls, tree: Tree, dtype: np.dtype) -> Descent:
        """Pack a tree."""
        steps = _pack(tree, dtype)
        return cls(steps, _pack_levels(tree), columns_needed(steps))

    @cached_property
    def used(self) -> list[int]:
        """Columns that the tree uses, ascending."""
        return [int(j) for j in np.unique(self.steps["test"] >> np.uint32(1))]

    def leaves(self, cells: Array, stop_at_unseen: bool = False) -> Leaves:
        """Leaf of every row of a C-contiguous matrix; with `stop_at_unseen`, the node where an unseen level was met."""
        out = np.zeros(len(cells), dtype=np.int32)
        if len(self.steps):
            check_reach(self.n_columns, cells.shape[1])
            find_leaves(self.steps, self.levels, cells, stop_at_unseen, out)
        return out

    def on(self, storage: Storage) -> tuple[Descent, Storage, int]:
        """This on a table, and how many rows to take at a time; of a sparse one, only columns it uses."""
        if not isinstance(storage, SparseStorage) or self.levels is not None or not self.used:
            return self, storage, BLOCK_ROWS
        check_reach(self.n_columns, storage.n_columns)
        return self._narrow, storage.arrange(self.used), max(1, BLOCK_CELLS // len(self.used))

    @cached_property
    def _narrow(self) -> Descent:
        """The same for a table of the used columns alone."""
        steps = self.steps.copy()
        place = np.searchsorted(self.used, steps["test"] >> np.uint32(1)).astype(np.uint32)
        steps["test"] = place << np.uint32(1) | steps["test"] & np.uint32(1)
        return Descent(steps, None, len(self.used))


def find(
    descent: Descent, table: Table, rows: Array | None = None, stop_at_unseen: bool = False, n_jobs: int = 1
) -> Leaves:
    """Leaf of every row of a table, or of some rows, ascending."""
    descent, cells, size = descent.on(table.storage)
    out = np.empty(table.n_rows if rows is None else len(rows), dtype=np.int32)

    def some(start: int, stop: int) -> None:
        part = cells.block(start, stop)
        if rows is None:
            out[start:stop] = descent.leaves(part, stop_at_unseen)
        else:
            first, last = np.searchsorted(rows, [start, stop])
            out[first:last] = descent.leaves(part[rows[first:last] - start], stop_at_unseen)

    run_all([partial(some, *block) for block in blocks(table.n_rows, size)], n_jobs)
    return out


class Predictor:
    """Finds the leaf of every row of a table."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._descents: dict[np.dtype, Descent] = {}

    def __reduce__(self) -> tuple[object, ...]:
        """A pickle holds the tree; packing it again is cheap."""
        return Predictor, (self.tree,)

    def leaves(
        self, table: Table, rows: Array | None = None, *, stop_at_unseen: bool = False, n_jobs: int = 1
    ) -> Leaves:
        """Leaf of every row, or of some, ascending; with `stop_at_unseen`, the node where an unseen level was met."""
        return find(self.descent(table.dtype), table, rows, stop_at_unseen, n_jobs)

    def descent(self, dtype: np.dtype) -> Descent:
        """The descent for cells of this type, packed on first use."""
        found = self._descents.get(dtype)
        if found is None:
            found = self._descents[dtype] = Descent.of(self.tree, dtype)
        return found


def paths(tree: Tree, leaves: Leaves) -> sparse.csr_matrix:
    """Indicator matrix (rows x nodes) of the nodes on the path to each leaf."""
    return tree.paths_to(leaves)


def _pack(tree: Tree, dtype: np.dtype) -> NDArray[np.void]:
    """Inner nodes as steps, in preorder; a child that is a leaf is negative."""
    inner = np.flatnonzero(~tree.is_leaf)
    number = ~np.arange(tree.node_count, dtype=np.int32)
    number[inner] = np.arange(len(inner), dtype=np.int32)
    steps = np.zeros(len(inner), dtype=STEPS[dtype])
    steps["threshold"] = round_down(tree.threshold[inner], dtype)
    steps["test"] = tree.feature[inner].astype(np.uint32) << np.uint32(1) | tree.missing_go_to_left[inner]
    steps["left"] = number[tree.children_left[inner]]
    steps["right"] = number[tree.children_right[inner]]
    return steps


def _pack_levels(tree: Tree) -> Levels | None:
    """Category splits of the inner nodes, or None if there are none."""
    if not (tree.subset_start >= 0).any():
        return None
    inner = np.flatnonzero(~tree.is_leaf).astype(np.int32)
    return Levels(tree.subset_start[inner], tree.subsets, tree.n_levels, inner)
