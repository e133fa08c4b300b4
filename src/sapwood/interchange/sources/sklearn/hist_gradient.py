"""Trees of scikit-learn's histogram gradient boosting, and the columns that they split."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Ints, Mask
from sapwood.interchange.sources.sklearn.internals import histogram_categories, known_categories
from sapwood.interchange.sources.source_schema import Levels, schema_of
from sapwood.interchange.sources.source_tree import Links, SourceTree, least_weight, subset_of
from sapwood.table.levels import is_missing
from sapwood.table.schema import Schema
from sapwood.tree import LEAF, Tree


@dataclass(frozen=True, eq=False)
class HistColumns:
    """The columns in the order of the user, and where each of those that the trees number comes from.

    Columns of categories are encoded and put first before training.
    """

    schema: Schema
    origin: Ints
    known: Array  # bits of the categories that training saw, for each of the columns that have some
    place: Array  # of these bits, by column

    @classmethod
    def of(cls, model: Any) -> HistColumns:
        """Columns of a fitted model."""
        n = int(model.n_features_in_)
        levels: list[Levels | None] = [None] * n
        origin = np.arange(n)
        if model.is_categorical_ is not None:
            is_category = np.asarray(model.is_categorical_, dtype=np.bool_)
            origin = np.concatenate([np.flatnonzero(is_category), np.flatnonzero(~is_category)])
            for j, own in zip(np.flatnonzero(is_category).tolist(), histogram_categories(model), strict=True):
                levels[j] = [level for level in own.tolist() if not is_missing(level)] or None
        schema = schema_of(getattr(model, "feature_names_in_", None), levels)
        return cls(schema, origin, *known_categories(model))

    def tree(self, predictor: Any) -> Tree:
        """A `TreePredictor` as a tree."""
        nodes = predictor.nodes
        is_leaf = nodes["is_leaf"].astype(np.bool_)
        left, right = (np.where(is_leaf, LEAF, nodes[side].astype(np.int64)) for side in ("left", "right"))
        links, weight = Links("the tree", left, right), least_weight(nodes["count"].astype(np.float64))
        splits_levels = np.flatnonzero(~is_leaf & nodes["is_categorical"].astype(np.bool_)).tolist()
        return SourceTree(
            links,
            self.origin[np.where(is_leaf, 0, nodes["feature_idx"])],
            nodes["num_threshold"].astype(np.float64),
            nodes["missing_go_to_left"].astype(np.bool_),
            links.means(np.where(is_leaf, nodes["value"], 0.0), weight)[:, None, None],
            weight,
            nodes["count"].astype(np.int64),
            links.impurity(nodes["gain"].astype(np.float64), weight),
            {node: self._subset(predictor, nodes[node]) for node in splits_levels},
        ).to_tree(self.schema.n_levels)

    def _subset(self, predictor: Any, node: Any) -> NDArray[np.uint32]:
        """Levels that go left; those that no training row had go with missing values."""
        column = int(node["feature_idx"])
        n_levels = int(self.schema.n_levels[self.origin[column]])
        goes_left = _bits(predictor.raw_left_cat_bitsets[node["bitset_idx"]], n_levels)
        if node["missing_go_to_left"]:
            goes_left |= ~_bits(self.known[self.place[column]], n_levels)
        return subset_of(goes_left)


def _bits(words: Array, n_levels: int) -> Mask:
    every = np.unpackbits(np.asarray(words, dtype="<u4").view(np.uint8), bitorder="little")
    return every[:n_levels].astype(np.bool_)
