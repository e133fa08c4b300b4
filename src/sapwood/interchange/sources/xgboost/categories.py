"""Categories of the columns in XGBoost's model files: which columns have some, and their names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from sapwood.errors import ModelFileError
from sapwood.interchange.sources.fields import Fields
from sapwood.interchange.sources.xgboost.tree import XGBoostTree

MOST_LEVELS = 2**20  # of a column whose categories have no names


def read_categories(
    learner: Fields, booster: Fields, trees: Sequence[XGBoostTree], n_features: int
) -> list[tuple[object, ...] | None]:
    """Names of the categories of each column, () where they have none, None for columns of numbers."""
    types = learner.texts("feature_types") if "feature_types" in learner else []
    if types and len(types) != n_features:
        raise learner.error("feature_types", f"should hold a type for each of the {n_features} columns")
    declared = {j for j, kind in enumerate(types) if kind == "c"}
    columns = declared | {int(tree.feature[node]) for tree in trees for node in tree.categories}
    for tree in trees:
        tree.links.refuse_thresholds(tree.feature, columns, tree.categories)
    names = _stored_names(booster, n_features)
    found = [names.get(j, ()) if j in columns else None for j in range(n_features)]
    _check_codes(trees, found)
    return found


def _check_codes(trees: Sequence[XGBoostTree], found: Sequence[tuple[object, ...] | None]) -> None:
    for tree in trees:
        for node, codes in tree.categories.items():
            names = found[int(tree.feature[node])]
            most = len(names) if names else MOST_LEVELS
            if len(codes) and codes.max() >= most:
                raise ModelFileError(
                    f"{tree.links.where} splits category {codes.max()} of column {tree.feature[node]}, which has at "
                    f"most {most} categories. Number them 0, 1, 2, …."
                )


def _stored_names(booster: Fields, n_features: int) -> dict[int, tuple[object, ...]]:
    """Versions from 3.1 on store the categories of data frames: texts as bytes one after the other, numbers as such."""
    if "cats" not in booster:
        return {}
    stored = booster.object("cats")
    columns = [Fields(own, f"{stored.where}.enc[{j}]") for j, own in enumerate(stored.items("enc"))]
    if columns and len(columns) != n_features:
        raise stored.error("enc", f"should hold the categories of each of the {n_features} columns")
    found = {j: _texts(own) if "offsets" in own else _numbers(own) for j, own in enumerate(columns)}
    return {j: names for j, names in found.items() if names}


def _texts(column: Fields) -> tuple[str, ...]:
    data = bytes((column.integers("values", low=-128, high=255) % 256).astype(np.uint8))
    ends = column.integers("offsets", high=len(data))
    if (np.diff(ends) < 0).any():
        raise column.error("offsets", "do not rise")
    try:
        return tuple(data[a:b].decode("utf-8") for a, b in pairwise(ends.tolist()))
    except UnicodeDecodeError as error:
        raise column.error("values", "are not UTF-8") from error


def _numbers(column: Fields) -> tuple[object, ...]:
    return tuple(column.floats("values").tolist())
