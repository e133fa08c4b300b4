"""A tree of XGBoost's model files.

A row goes left where `float32(x) < split_condition`, or where its category is not among those of the split; missing
values go to the default side. At leaves the split condition is the leaf's value.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Ints, Mask
from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields
from sapwood.interchange.sources.float32_threshold import double_below
from sapwood.interchange.sources.source_tree import Links, SourceTree, least_weight, row_counts, subset_of
from sapwood.tree import LEAF

MOST_CATEGORY = 2**24 - 1  # float32 holds whole numbers up to here


@dataclass(frozen=True, eq=False)
class XGBoostTree:
    """Nodes as the file numbers them; every number is within its range."""

    links: Links
    feature: Ints
    condition: NDArray[np.float32]
    default_left: Mask
    base_weight: Floats
    gain: Floats
    cover: Floats
    categories: dict[int, Ints]  # that go right

    @classmethod
    def read(cls, fields: Fields, n_features: int) -> XGBoostTree:
        """Check every field of one tree."""
        about = fields.object("tree_param")
        if "size_leaf_vector" in about and about.integer("size_leaf_vector") > 1:
            raise ModelFileError(
                f"{fields.where} has leaves of several values (multi_strategy='multi_output_tree'), which cannot be "
                "read. Train with multi_strategy='one_output_per_tree'."
            )
        n = about.integer("num_nodes", 1)
        left, right = (fields.integers(f"{side}_children", n, low=LEAF) for side in ("left", "right"))
        links = Links(fields.where, left, right)
        n_reached = len(links.order)
        if n_reached < n - about.integer("num_deleted"):
            raise ModelFileError(f"{fields.where} has {n} nodes, but only {n_reached} can be reached from its root.")
        return cls(
            links,
            _features(fields, links.inner, n, n_features),
            _conditions(fields, links),
            fields.integers("default_left", n, high=1).astype(np.bool_),
            fields.singles("base_weights", n),
            fields.singles("loss_changes", n),
            fields.singles("sum_hessian", n),
            _categories(fields, links.is_leaf),
        )

    def leaves(self, rows: NDArray[np.float32]) -> Ints:
        """The leaf of each row, as XGBoost documents it."""
        node, below = np.zeros(len(rows), dtype=np.int64), np.arange(len(rows))
        while len(below := below[self.links.left[node[below]] != LEAF]):
            at = node[below]
            x = rows[below, self.feature[at]]
            goes_left = np.where(np.isnan(x), self.default_left[at], x < self.condition[at])
            for split in self.categories.keys() & set(at.tolist()):
                own = np.flatnonzero((at == split) & ~np.isnan(x))
                goes_left[own] = ~np.isin(x[own].astype(np.int64), self.categories[split])
            node[below] = np.where(goes_left, self.links.left[at], self.links.right[at])
        return node

    def to_source(self, n_levels: NDArray[np.int32], share: float, rate: float | None) -> SourceTree:
        """With thresholds of float64; `share` is the weight of the tree, `rate` its learning rate if it is known."""
        weight, values = least_weight(self.cover), self.condition.astype(np.float64)
        if rate is None:
            values = self.links.means(values, weight)
        else:  # XGBoost keeps the weights of inner nodes as they are before the learning rate
            values[self.links.inner] = rate * self.base_weight[self.links.inner]
        return SourceTree(
            self.links,
            self.feature,
            double_below(self.condition),
            self.default_left,
            (share * values)[:, None, None],
            weight,
            row_counts(self.cover),
            self.links.impurity(self.gain, weight),
            {node: self._subset(node, n_levels) for node in self.links.inner.tolist() if node in self.categories},
        )

    def _subset(self, node: int, n_levels: NDArray[np.int32]) -> NDArray[np.uint32]:
        goes_left = np.ones(int(n_levels[self.feature[node]]), dtype=np.bool_)
        goes_left[self.categories[node]] = False
        return subset_of(goes_left)


def _features(fields: Fields, inner: Ints, n: int, n_features: int) -> Ints:
    feature = fields.integers("split_indices", n)
    if len(inner) and feature[inner].max() >= n_features:
        raise fields.error("split_indices", f"names column {feature[inner].max()}, but there are {n_features} columns")
    return feature


def _conditions(fields: Fields, links: Links) -> NDArray[np.float32]:
    with np.errstate(over="ignore", under="ignore"):
        condition = fields.floats("split_conditions", len(links.left), finite=False).astype(np.float32)
    if not np.isfinite(condition[links.order][links.is_leaf[links.order]]).all():
        raise fields.error("split_conditions", "holds the value of a leaf that is not finite")
    return condition


def _categories(fields: Fields, is_leaf: Mask) -> dict[int, Ints]:
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
