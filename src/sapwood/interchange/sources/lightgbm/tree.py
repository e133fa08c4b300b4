"""A tree of LightGBM's text format.

Inner nodes and leaves are numbered apart; a child of -1 is leaf 0, of -2 leaf 1. Here leaves follow after inner nodes.
A row goes left where `x <= threshold`, or where its category is among those of the split; what is not known goes right.
A node has one of three kinds of missing values: none (NaN is 0), zeros and NaN, or NaN.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats, Ints, Mask
from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields
from sapwood.interchange.sources.source_tree import Links, least_weight
from sapwood.tree import LEAF

ZERO = float(np.float32(1e-35))  # numbers up to this, in size, count as zero
CATEGORICAL, DEFAULT_LEFT = 1, 2  # bits of the type of a decision
NAN_IS_ZERO, ZERO_IS_MISSING, NAN_IS_MISSING = 0, 1, 2


@dataclass(frozen=True, eq=False)
class LightGBMTree:
    """Nodes, the leaves after the inner ones; every number is within its range."""

    links: Links
    feature: Ints  # and what follows, of inner nodes
    threshold: Floats
    default_left: Mask
    missing: Ints
    gain: Floats
    value: Floats  # of all nodes
    weight: Floats  # of leaves
    count: Ints  # of leaves
    categories: dict[int, Ints]  # that go left

    @classmethod
    def read(cls, fields: Fields, n_features: int) -> LightGBMTree:
        """Check every field of one tree."""
        if "is_linear" in fields and fields.integer("is_linear") != 0:
            raise ModelFileError(
                f"{fields.where} has linear models in its leaves (linear_tree=True), which are not those of Sapwood. "
                "Train with linear_tree=False."
            )
        leaves = fields.floats("leaf_value")
        n = fields.integer("num_leaves", 1)
        if len(leaves) != n:
            raise fields.error("leaf_value", f"should hold {n} numbers, but holds {len(leaves)}")
        if n == 1:
            return cls.of_one_leaf(fields.where, leaves)
        left, right = (_children(fields, f"{side}_child", n) for side in ("left", "right"))
        links = Links(fields.where, left, right)
        if len(links.order) < 2 * n - 1:
            raise ModelFileError(f"{fields.where} has nodes that cannot be reached from its root.")
        kind = fields.integers("decision_type", n - 1, low=-128, high=127) & 0xFF
        missing = (kind >> 2) & 3
        if (missing > NAN_IS_MISSING).any():
            raise fields.error("decision_type", "holds an unknown kind of missing values")
        inside = fields.floats("internal_value", n - 1) if "internal_value" in fields else np.zeros(n - 1)
        threshold = fields.floats("threshold", n - 1, finite=False)
        return cls(
            links,
            fields.integers("split_feature", n - 1, high=n_features - 1),
            threshold,
            (kind & DEFAULT_LEFT) > 0,
            missing,
            fields.floats("split_gain", n - 1) if "split_gain" in fields else np.zeros(n - 1),
            np.concatenate([inside, leaves]),
            _weights(fields, n),
            fields.integers("leaf_count", n) if "leaf_count" in fields else np.ones(n, dtype=np.int64),
            _categories(fields, (kind & CATEGORICAL) > 0, threshold),
        )

    @classmethod
    def of_one_leaf(cls, where: str, leaves: Floats) -> LightGBMTree:
        """A tree without splits."""
        none, one = np.empty(0), np.array([LEAF])
        whole, mask = none.astype(np.int64), none.astype(np.bool_)
        return cls(Links(where, one, one), whole, none, mask, whole, none, leaves, np.ones(1), -one, {})

    @property
    def n_inner(self) -> int:
        """Number of nodes that split."""
        return len(self.feature)

    def leaf(self, row: Floats) -> int:
        """The node of a row's leaf, as LightGBM documents it."""
        node = 0
        while node < self.n_inner:
            x = float(row[self.feature[node]])
            x = 0.0 if abs(x) <= ZERO else x
            if node in self.categories:
                goes_left = not np.isnan(x) and x >= 0 and int(x) in self.categories[node]
            else:
                goes_left = self._is_left(node, x)
            node = int(self.links.left[node] if goes_left else self.links.right[node])
        return node

    def _is_left(self, node: int, x: float) -> bool:
        if np.isnan(x) and self.missing[node] != NAN_IS_MISSING:
            x = 0.0
        if np.isnan(x) or (self.missing[node] == ZERO_IS_MISSING and x == 0.0):
            return bool(self.default_left[node])
        return bool(x <= self.threshold[node])


def _children(fields: Fields, name: str, n_leaves: int) -> Ints:
    """Children of inner nodes, and after them those of leaves, which have none."""
    child = fields.integers(name, n_leaves - 1, low=-n_leaves, high=n_leaves - 2)
    unified = np.where(child >= 0, child, n_leaves - 2 - child)  # leaf k, written -1 - k, is node n_leaves - 1 + k
    return np.concatenate([unified, np.full(n_leaves, LEAF)])


def _weights(fields: Fields, n_leaves: int) -> Floats:
    """Sums of hessians, or numbers of rows where they are not known."""
    for name in ("leaf_weight", "leaf_count"):
        if name in fields:
            found = fields.floats(name, n_leaves)
            if (found > 0).any():
                return least_weight(found)
    return np.ones(n_leaves)


def _categories(fields: Fields, is_category: Mask, threshold: Floats) -> dict[int, Ints]:
    """Categories of each split: bits of the words from one boundary to the next, whose number is the threshold."""
    if not is_category.any():
        return {}
    words = fields.integers("cat_threshold", high=2**32 - 1)
    bounds = fields.integers("cat_boundaries", high=len(words))
    if (np.diff(bounds) < 0).any():
        raise fields.error("cat_boundaries", "do not rise")
    found = {}
    for node in np.flatnonzero(is_category).tolist():
        at = threshold[node]
        if not 0 <= at < len(bounds) - 1:
            raise fields.error("threshold", f"names set {at} of categories, but there are {max(len(bounds) - 1, 0)}")
        own = words[bounds[int(at)] : bounds[int(at) + 1]].astype("<u4")
        found[node] = np.flatnonzero(np.unpackbits(own.view(np.uint8), bitorder="little"))
    return found
