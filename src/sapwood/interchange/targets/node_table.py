"""The nodes of all trees in one table, which a loop of five lines walks through in any language.

node = root of the tree
while feature[node] >= 0:
    the row goes left to node + 1 (trees are in preorder), or right to right[node]
scores[column of the tree ...] += words[says[node]]
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.interchange.targets.formula import Formula
from sapwood.tree import Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class NodeTable:
    """Parallel arrays, one entry for each node."""

    feature: Ints  # -1 for a leaf
    threshold: Floats  # 0 for leaves and for splits of categories
    right: Ints  # 0 for leaves
    missing_left: Ints  # 1 if missing values go left
    subset: Ints  # where the bits of a category split begin in `levels`, -1 for thresholds
    says: Ints  # row of `words`, -1 where no row ends
    levels: NDArray[np.uint8]  # level c goes left if bit c % 8 of byte c // 8 is set
    words: Floats  # (words, scores that a tree adds to)
    roots: Ints
    columns: Ints  # first score of each tree

    @classmethod
    def of(cls, formula: Formula) -> NodeTable:
        """The table of a model."""
        trees = [member.tree for member in formula.terms]
        first = _starts([tree.node_count for tree in trees])
        speaks = [_speaks(tree, formula.stops_at_unseen) for tree in trees]
        subsets = [tree.subsets.astype("<u4").view(np.uint8) for tree in trees]
        says = zip(speaks, _starts([int(own.sum()) for own in speaks]), strict=True)
        words = [member.values[own] for member, own in zip(formula.terms, speaks, strict=True)]
        width = words[0].shape[1] if words else 1
        return cls(
            feature=_joined([np.where(tree.is_leaf, -1, tree.feature) for tree in trees]),
            threshold=np.concatenate([np.zeros(0), *(_thresholds(tree) for tree in trees)]),
            right=_joined([_shifted(tree.children_right, start) for tree, start in zip(trees, first, strict=True)]),
            missing_left=_joined([tree.missing_go_to_left & ~tree.is_leaf for tree in trees]),
            subset=_joined([_subsets(t, at) for t, at in zip(trees, _starts(list(map(len, subsets))), strict=True)]),
            says=_joined([np.where(own, np.cumsum(own) - 1 + start, -1) for own, start in says]),
            levels=np.concatenate([np.zeros(0, dtype=np.uint8), *subsets]),
            words=np.concatenate([np.zeros((0, width)), *words]),
            roots=np.array(first, dtype=np.int64),
            columns=np.array([member.column for member in formula.terms], dtype=np.int64),
        )


def _starts(sizes: list[int]) -> list[int]:
    return [0, *np.cumsum(sizes).tolist()][:-1]


def _joined(parts: list[NDArray[Any]]) -> Ints:
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts]).astype(np.int64)


def _speaks(tree: Tree, stops_at_unseen: bool) -> NDArray[np.bool_]:
    """Nodes where rows may end."""
    return np.asarray(tree.is_leaf | ((tree.subset_start >= 0) & stops_at_unseen))


def _thresholds(tree: Tree) -> Floats:
    return np.where(tree.is_leaf | (tree.subset_start >= 0), 0.0, tree.threshold)


def _shifted(children: NDArray[np.int32], start: int) -> Ints:
    return np.where(children < 0, 0, children.astype(np.int64) + start)


def _subsets(tree: Tree, start: int) -> Ints:
    return np.where(tree.subset_start >= 0, 4 * tree.subset_start.astype(np.int64) + start, -1)
