"""The nodes of all trees in one table, which a loop of five lines walks through in any language.

node = root of the tree
while feature[node] >= 0:
    the row goes left to node + 1 (trees are in preorder), or right to right[node]
scores[column of the tree ...] += values[value_row[node]]

If leaves are linear, the lines of the leaf follow, those from line_start[value_row[node]] up to that of the next row.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.interchange.targets.exported_model import stops_at_unseen
from sapwood.linear_leaves import LinearLeaves
from sapwood.model import Model
from sapwood.tree import Tree, lines_of_leaves


@dataclass(frozen=True, eq=False)
class NodeTable:
    """Parallel arrays, one entry for each node."""

    feature: Ints  # -1 for a leaf
    threshold: Floats  # 0 for leaves and for splits of categories
    right: Ints  # 0 for leaves
    missing_left: Ints  # 1 if missing values go left
    subset: Ints  # where the bits of a category split begin in `levels`, -1 for thresholds
    value_row: Ints  # row of `values`, -1 where no row ends
    levels: NDArray[np.uint8]  # level c goes left if bit c % 8 of byte c // 8 is set
    values: Floats  # (nodes where rows end, scores that a tree adds to)
    roots: Ints
    columns: Ints  # first score of each tree
    linear: LinearLeaves | None  # lines for each row of `values`

    @classmethod
    def of(cls, model: Model) -> NodeTable:
        """The table of a model."""
        trees, stops = [term.tree for term in model.trees], stops_at_unseen(model)
        first = _starts([tree.node_count for tree in trees])
        ends = [tree.is_leaf | ((tree.subset_start >= 0) & stops) for tree in trees]  # where rows may end
        subsets = [tree.subsets.astype("<u4").view(np.uint8) for tree in trees]
        value_rows = zip(ends, _starts([int(own.sum()) for own in ends]), strict=True)
        values = [term.values[own] for term, own in zip(model.trees, ends, strict=True)]
        width = values[0].shape[1] if values else 1
        return cls(
            feature=_joined([np.where(tree.is_leaf, -1, tree.feature) for tree in trees]),
            threshold=np.concatenate([np.zeros(0), *(_thresholds(tree) for tree in trees)]),
            right=_joined([_shifted(tree.children_right, start) for tree, start in zip(trees, first, strict=True)]),
            missing_left=_joined([tree.missing_go_to_left & ~tree.is_leaf for tree in trees]),
            subset=_joined([_subsets(t, at) for t, at in zip(trees, _starts(list(map(len, subsets))), strict=True)]),
            value_row=_joined([np.where(own, np.cumsum(own) - 1 + start, -1) for own, start in value_rows]),
            levels=np.concatenate([np.zeros(0, dtype=np.uint8), *subsets]),
            values=np.concatenate([np.zeros((0, width)), *values]),
            roots=np.array(first, dtype=np.int64),
            columns=np.array([term.column for term in model.trees], dtype=np.int64),
            linear=lines_of_leaves(trees) if model.trees.is_linear else None,
        )


def _starts(sizes: list[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()][:-1]


def _joined(parts: list[Array]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


def _thresholds(tree: Tree) -> Floats:
    return np.where(tree.is_leaf | (tree.subset_start >= 0), 0.0, tree.threshold)


def _shifted(children: NDArray[np.int32], start: int) -> Ints:
    return np.where(children < 0, 0, children.astype(np.int64) + start)


def _subsets(tree: Tree, start: int) -> Ints:
    return np.where(tree.subset_start >= 0, 4 * tree.subset_start.astype(np.int64) + start, -1)
