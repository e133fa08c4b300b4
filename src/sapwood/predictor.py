"""Predictor: a tree packed for descent, and rows to leaves by many threads."""

from __future__ import annotations

from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sapwood.codes.separation import round_down
from sapwood.kernels.traverse import STEPS, Levels, find_leaves
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree

BLOCK_ROWS = 1 << 14  # fixed, so that results cannot depend on the number of threads
BLOCK_CELLS = 1 << 20  # of a sparse table that are filled in at a time


class Predictor:
    """Finds the leaf of every row of a table."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._steps: dict[np.dtype[Any], NDArray[np.void]] = {}
        self._levels = _pack_levels(tree)

    def __reduce__(self) -> tuple[Any, ...]:
        """A pickle holds the tree; packing it again is cheap."""
        return Predictor, (self.tree,)

    def leaves(self, table: Table, *, stop_at_unseen: bool = False, n_jobs: int = 1) -> NDArray[np.int32]:
        """Leaf of every row; with `stop_at_unseen`, the node where an unseen level was met."""
        if self.tree.node_count == 1:
            return np.zeros(table.n_rows, dtype=np.int32)
        cells, steps, rows = table.storage, self._steps_for(table.dtype), BLOCK_ROWS
        if isinstance(cells, SparseStorage) and self._levels is None:
            cells, steps, rows = cells.arrange(self._used), self._narrow(steps), BLOCK_CELLS // len(self._used)
        out = np.empty(table.n_rows, dtype=np.int32)

        def descend(start: int, stop: int) -> None:
            find_leaves(steps, self._levels, cells.block(start, stop), stop_at_unseen, out[start:stop])

        if table.n_rows <= rows:
            descend(0, table.n_rows)
        else:
            run_all([partial(descend, *piece) for piece in blocks(table.n_rows, max(rows, 1))], n_jobs)
        return out

    @cached_property
    def _used(self) -> list[int]:
        """Columns that the tree asks for; the others of a sparse table need not be filled in."""
        return [int(j) for j in np.unique(self.tree.feature[~self.tree.is_leaf])]

    def _narrow(self, steps: NDArray[np.void]) -> NDArray[np.void]:
        """Steps for a table of the used columns alone."""
        steps = steps.copy()
        place = np.searchsorted(self._used, steps["test"] >> np.uint32(1)).astype(np.uint32)
        steps["test"] = place << np.uint32(1) | steps["test"] & np.uint32(1)
        return steps

    def _steps_for(self, dtype: np.dtype[Any]) -> NDArray[np.void]:
        """Steps for cells of this type, packed when first asked for."""
        steps = self._steps.get(dtype)
        if steps is None:
            steps = self._steps[dtype] = _pack(self.tree, dtype)
        return steps

    def paths(self, leaves: NDArray[np.int32]) -> sparse.csr_matrix:
        """Indicator matrix (rows x nodes) of the nodes on the way to each leaf."""
        tree = self.tree
        depths = tree.compute_node_depths()
        parents = tree.parents()
        indptr = np.concatenate(([0], np.cumsum(depths[leaves])))
        indices = np.empty(indptr[-1], dtype=np.int64)
        node, place = leaves.astype(np.int64), indptr[1:] - 1
        while len(node):
            indices[place] = node
            up = parents[node] >= 0
            node, place = parents[node[up]].astype(np.int64), place[up] - 1
        shape = (len(leaves), tree.node_count)
        return sparse.csr_matrix((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=shape)


def _pack(tree: Tree, dtype: np.dtype[Any]) -> NDArray[np.void]:
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
