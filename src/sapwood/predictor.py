"""Predictor: a tree packed for descent, and rows to leaves by many threads."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sapwood.kernels.traverse import STEP, find_leaves, find_leaves_by_levels
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree

BLOCK_ROWS = 1 << 14  # fixed, so that results cannot depend on the number of threads


class Predictor:
    """Finds the leaf of every row of a table."""

    def __init__(self, tree: Tree) -> None:
        self.tree = tree
        self._steps = _pack(tree)
        self._has_subsets = bool((tree.subset_start >= 0).any())

    def leaves(self, table: Table, *, stop_at_unseen: bool = False, n_jobs: int = 1) -> NDArray[np.int32]:
        """Leaf of every row; with `stop_at_unseen`, the node where an unseen level was met."""
        out = np.empty(table.n_rows, dtype=np.int32)

        def descend(start: int, stop: int) -> None:
            self._descend(table.block(start, stop), stop_at_unseen, out[start:stop])

        pieces = blocks(table.n_rows, BLOCK_ROWS)
        if len(pieces) == 1:
            descend(*pieces[0])
        else:
            run_all([lambda piece=piece: descend(*piece) for piece in pieces], n_jobs)  # type: ignore[misc]
        return out

    def _descend(self, X: NDArray[Any], stop_at_unseen: bool, out: NDArray[np.int32]) -> None:
        if not self._has_subsets:
            find_leaves(self._steps, X, out)
        else:
            tree = self.tree
            find_leaves_by_levels(
                self._steps, tree.subset_start, tree.subsets, tree.n_levels, X, stop_at_unseen, out
            )

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


def _pack(tree: Tree) -> NDArray[np.void]:
    """A leaf is its own child, and tests column 0."""
    steps = np.zeros(tree.node_count, dtype=STEP)
    nodes = np.arange(tree.node_count)
    steps["threshold"] = tree.threshold
    steps["feature"] = np.maximum(tree.feature, 0)
    steps["left"] = np.where(tree.is_leaf, nodes, tree.children_left)
    steps["right"] = np.where(tree.is_leaf, nodes, tree.children_right)
    steps["missing_left"] = tree.missing_go_to_left
    return steps
