"""Constraints as users write them: signs of columns, and columns that may meet."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ParameterError
from sapwood.table.names import nearest_name
from sapwood.table.schema import Schema


def monotone_signs(setting: Any, schema: Schema) -> NDArray[np.int8] | None:
    """-1, 0 or 1 for every column, from a list in column order or a mapping from names or numbers."""
    if setting is None:
        return None
    signs = np.zeros(schema.n_features, dtype=np.int8)
    if isinstance(setting, Mapping):
        for column, sign in setting.items():
            signs[column_number(column, schema, "monotone_constraints")] = _sign(sign, column)
    else:
        given = list(setting)
        if len(given) != schema.n_features:
            raise ParameterError(
                f"monotone_constraints has {len(given)} elements, but X has {schema.n_features} columns. Pass one of "
                "-1, 0 and 1 for each column, or a mapping from names to signs."
            )
        signs[:] = [_sign(sign, j) for j, sign in enumerate(given)]
    for column, sign in zip(schema.columns, signs, strict=True):
        if sign and column.kind == "category":
            raise ParameterError(
                f"monotone_constraints constrains the category column {column.name!r}, whose levels have no order. "
                "Set it to 0."
            )
    return signs if signs.any() else None


def _sign(sign: Any, column: Any) -> int:
    if sign not in (-1, 0, 1):
        raise ParameterError(
            f"monotone_constraints is {sign!r} for column {column!r}, but it must be -1 (falling), 0 (free) or 1 (rising)."
        )
    return int(sign)


def interaction_sets(setting: Any, schema: Schema) -> tuple[frozenset[int], ...] | None:
    """Sets of columns that may meet on a path, from lists of names or numbers."""
    if setting is None:
        return None
    if isinstance(setting, str) or not isinstance(setting, Iterable):
        raise ParameterError(
            f"interaction_constraints={setting!r} is not a list of lists of columns. Use for example [[0, 1], [2, 3]]."
        )
    found = []
    for group in setting:
        if isinstance(group, str) or not isinstance(group, Iterable):
            raise ParameterError(
                f"interaction_constraints holds {group!r}, which is not a list of columns. Use for example "
                "[[0, 1], [2, 3]]."
            )
        found.append(frozenset(column_number(column, schema, "interaction_constraints") for column in group))
    return tuple(found)


def column_number(column: Any, schema: Schema, parameter: str) -> int:
    """Number of a column given by name or number."""
    if isinstance(column, str):
        if column in schema.names:
            return schema.names.index(column)
        raise ParameterError(
            f"{parameter} names the column {column!r}, which X does not have.{nearest_name(column, schema.names)}"
        )
    if not isinstance(column, (int, np.integer)) or not -schema.n_features <= column < schema.n_features:
        raise ParameterError(
            f"{parameter} holds the column {column!r}, but X has {schema.n_features} columns. Use a name or a number "
            f"from 0 to {schema.n_features - 1}."
        )
    return int(column) % schema.n_features


def feature_weights(setting: Any, schema: Schema) -> NDArray[np.float64] | None:
    """Weights of the columns in draws."""
    if setting is None:
        return None
    weights = np.asarray(setting, dtype=np.float64)
    if weights.shape != (schema.n_features,) or not np.isfinite(weights).all() or (weights < 0).any():
        raise ParameterError(
            f"feature_weights must hold {schema.n_features} finite numbers of at least 0, one for each column; it is "
            f"{setting!r}."
        )
    if not weights.any():
        raise ParameterError("feature_weights are all zero. Give at least one column a weight above zero.")
    return weights
