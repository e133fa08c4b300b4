"""A tree of scikit-learn, which compares cells as float32."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.interchange.sources.float32_threshold import double_at_most
from sapwood.interchange.sources.source_tree import Links, SourceTree, least_weight
from sapwood.tree import Tree


def tree_of(tree: Any, n_levels: NDArray[np.int32], n_classes: tuple[int, ...]) -> Tree:
    """What scikit-learn calls `tree_`, of a single tree or of a forest."""
    return _source(tree, _links(tree), tree.value).to_tree(n_levels, n_classes)


def stage_of(tree: Any, n_levels: NDArray[np.int32], rate: float) -> Tree:
    """A tree of gradient boosting: its leaves were set by the loss, and nodes above them are their means."""
    links = _links(tree)
    values = links.means(rate * tree.value, least_weight(tree.weighted_n_node_samples))
    return _source(tree, links, values).to_tree(n_levels)


def _links(tree: Any) -> Links:
    return Links("the tree", tree.children_left.astype(np.int64), tree.children_right.astype(np.int64))


def _source(tree: Any, links: Links, values: Floats) -> SourceTree:
    return SourceTree(
        links,
        tree.feature.astype(np.int64),
        double_at_most(np.where(links.is_leaf, 0.0, tree.threshold)),
        np.asarray(tree.missing_go_to_left, dtype=np.bool_),
        values,
        least_weight(tree.weighted_n_node_samples),
        tree.n_node_samples.astype(np.int64),
        tree.impurity.astype(np.float64),
    )
