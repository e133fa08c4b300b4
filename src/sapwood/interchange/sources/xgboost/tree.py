"""A tree of XGBoost's model files.

A row goes left where `float32(x) < split_condition`, or where its category is not among those of the split; missing
values go the default way. At leaves the split condition is the leaf's value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields
from sapwood.interchange.sources.float32_threshold import double_below
from sapwood.interchange.sources.source_tree import (
    SourceTree,
    impurity_of_gains,
    least_weight,
    mean_values,
    preorder,
    row_counts,
    subset_of,
)
from sapwood.tree import LEAF

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

MOST_CATEGORY = 2**24 - 1  # float32 holds whole numbers up to here


@dataclass(frozen=True, eq=False)
class XGBoostTree:
    """Nodes as the file numbers them, every number within its range and every node reached by one way at most."""

    where: str
    order: Ints  # preorder
    left: Ints
    right: Ints
    feature: Ints
    condition: NDArray[np.float32]
    default_left: NDArray[np.bool_]
    base_weight: Floats
    gain: Floats
    cover: Floats
    categories: dict[int, Ints]  # that go right

    @classmethod
    def read(cls, fields: Fields, n_features: int) -> XGBoostTree:
        """Check everything that the file says of one tree."""
        about = fields.object("tree_param")
        if "size_leaf_vector" in about and about.integer("size_leaf_vector") > 1:
            raise ModelFileError(
                f"{fields.where} has leaves of several values (multi_strategy='multi_output_tree'), which have no "
                "equivalent here. Train with multi_strategy='one_output_per_tree'."
            )
        n = about.integer("num_nodes", 1)
        left, right = (fields.integers(f"{side}_children", n, low=LEAF) for side in ("left", "right"))
        order = preorder(left, right, fields.where)
        if len(order) < n - about.integer("num_deleted"):
            raise ModelFileError(f"{fields.where} has {n} nodes, but only {len(order)} can be reached from its root.")
        is_leaf = left == LEAF
        return cls(
            fields.where,
            order,
            left,
            right,
            _features(fields, order[~is_leaf[order]], n, n_features),
            _conditions(fields, order, is_leaf),
            fields.integers("default_left", n, high=1).astype(np.bool_),
            fields.singles("base_weights", n),
            fields.singles("loss_changes", n),
            fields.singles("sum_hessian", n),
            _categories(fields, is_leaf),
        )

    @property
    def inner(self) -> Ints:
        """Nodes that split, in preorder."""
        return np.asarray(self.order[self.left[self.order] != LEAF])

    def leaf(self, row: NDArray[np.float32]) -> int:
        """The leaf of a row, by the words of XGBoost's documentation."""
        node = 0
        while self.left[node] != LEAF:
            x = row[self.feature[node]]
            if np.isnan(x):
                goes_left = bool(self.default_left[node])
            elif node in self.categories:
                goes_left = int(x) not in self.categories[node]
            else:
                goes_left = bool(x < self.condition[node])
            node = int(self.left[node] if goes_left else self.right[node])
        return node

    def to_source(self, n_levels: NDArray[np.int32], share: float, rate: float | None) -> SourceTree:
        """In terms of all libraries; `share` is the weight of the tree, `rate` its learning rate if it is known."""
        weight, values = least_weight(self.cover), self.condition.astype(np.float64)
        if rate is None:
            values = mean_values(self.left, self.right, self.order, values, weight)
        else:  # XGBoost keeps the weights of inner nodes as they are before the learning rate
            values[self.inner] = rate * self.base_weight[self.inner]
        return SourceTree(
            self.where,
            self.left,
            self.right,
            self.feature,
            double_below(self.condition),
            self.default_left,
            (share * values)[:, None, None],
            weight,
            row_counts(self.cover),
            impurity_of_gains(self.left, self.right, self.order, self.gain, weight),
            {node: self._subset(node, n_levels) for node in self.inner.tolist() if node in self.categories},
        )

    def _subset(self, node: int, n_levels: NDArray[np.int32]) -> NDArray[np.uint32]:
        goes_left = np.ones(int(n_levels[self.feature[node]]), dtype=np.bool_)
        goes_left[self.categories[node]] = False
        return subset_of(goes_left)


def _features(fields: Fields, inner: Ints, n: int, n_features: int) -> Ints:
    feature = fields.integers("split_indices", n)
    if len(inner) and feature[inner].max() >= n_features:
        asked = feature[inner].max()
        raise fields.error("split_indices", f"asks about column {asked}, but the model has {n_features} columns")
    return feature


def _conditions(fields: Fields, order: Ints, is_leaf: NDArray[np.bool_]) -> NDArray[np.float32]:
    with np.errstate(over="ignore", under="ignore"):
        condition = fields.floats("split_conditions", len(is_leaf), finite=False).astype(np.float32)
    if not np.isfinite(condition[order][is_leaf[order]]).all():
        raise fields.error("split_conditions", "holds the value of a leaf that is not finite")
    return condition


def _categories(fields: Fields, is_leaf: NDArray[np.bool_]) -> dict[int, Ints]:
    """Categories of each split; files of old versions have none."""
    if "split_type" not in fields:
        return {}
    n = len(is_leaf)
    is_category = fields.integers("split_type", n, high=1).astype(np.bool_) & ~is_leaf
    every = fields.integers("categories", high=MOST_CATEGORY)
    nodes = fields.integers("categories_nodes", high=n - 1)
    starts = fields.integers("categories_segments", len(nodes), high=len(every))
    sizes = fields.integers("categories_sizes", len(nodes), high=len(every))
    if (starts + sizes > len(every)).any():
        raise fields.error("categories_sizes", f"reach beyond the {len(every)} categories")
    known = {int(node): every[a : a + size] for node, a, size in zip(nodes, starts, sizes, strict=True)}
    for node in np.flatnonzero(is_category).tolist():
        if node not in known:
            raise fields.error("categories_nodes", f"lacks node {node}, which splits categories")
    return {node: own for node, own in known.items() if is_category[node]}
