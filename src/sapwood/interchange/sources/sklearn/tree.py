"""A tree of scikit-learn's, which compares cells as float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.interchange.sources.float32_threshold import double_at_most
from sapwood.interchange.sources.source_tree import SourceTree, least_weight, mean_values, preorder
from sapwood.tree import LEAF, Tree


def tree_of(tree: Any, n_levels: NDArray[np.int32], n_classes: tuple[int, ...]) -> Tree:
    """What scikit-learn calls `tree_`, of a single tree or of a forest."""
    return _source(tree, tree.value).to_tree(n_levels, n_classes)


def stage_of(tree: Any, n_levels: NDArray[np.int32], rate: float) -> Tree:
    """A tree of gradient boosting: its leaves were set by the loss, and nodes above them are their means."""
    left, right = tree.children_left.astype(np.int64), tree.children_right.astype(np.int64)
    weight = least_weight(tree.weighted_n_node_samples)
    values = mean_values(left, right, preorder(left, right, "the tree"), rate * tree.value, weight)
    return _source(tree, values).to_tree(n_levels)


def _source(tree: Any, values: NDArray[np.float64]) -> SourceTree:
    left = tree.children_left.astype(np.int64)
    return SourceTree(
        "the tree",
        left,
        tree.children_right.astype(np.int64),
        tree.feature.astype(np.int64),
        double_at_most(np.where(left == LEAF, 0.0, tree.threshold)),
        np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        values,
        least_weight(tree.weighted_n_node_samples),
        tree.n_node_samples.astype(np.int64),
        tree.impurity.astype(np.float64),
    )
