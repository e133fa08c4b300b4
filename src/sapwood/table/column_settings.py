"""Constraints as users write them: signs of columns, columns that may meet, and weights of columns in draws."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.table.names import nearest_name
from sapwood.table.schema import Schema


def monotone_signs(setting: object, schema: Schema, parameter: str = "monotone_constraints") -> NDArray[np.int8] | None:
    """-1, 0 or 1 for every column, from a list in column order or a mapping from names or numbers."""
    if setting is None:
        return None
    setting = _as_written(setting, parameter)
    given = _by_column(setting, schema, parameter, 0)
    pairs = zip(given, schema.names, strict=True)
    signs = np.array([_sign(sign, name, parameter) for sign, name in pairs], dtype=np.int8)
    for column, sign in zip(schema.columns, signs, strict=True):
        if sign and column.kind == "category":
            raise ParameterError(
                f"{parameter} constrains the category column {column.name!r}, whose levels have no order. Set it to 0."
            )
    return signs if signs.any() else None


def _as_written(setting: object, parameter: str) -> Any:
    """What text means, which XGBoost takes in place of lists."""
    if not isinstance(setting, str):
        return setting
    try:
        return ast.literal_eval(setting)
    except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
        raise ParameterError(
            f"{parameter}={setting!r} cannot be read as a list. Give a list or a mapping, without quotes."
        ) from error


def _sign(sign: Any, column: str, parameter: str) -> int:
    if isinstance(sign, (str, bool)) or np.ndim(sign) or sign not in (-1, 0, 1):
        raise ParameterError(
            f"{parameter} is {sign!r} for the column {column!r}, but it must be -1 (falling), 0 (free) or 1 (rising)."
        )
    return int(sign)


def feature_weights(setting: object, schema: Schema) -> NDArray[np.float64] | None:
    """Weights of the columns in draws, from a list in column order or a mapping from names or numbers."""
    if setting is None:
        return None
    given = _by_column(setting, schema, "feature_weights", 1.0)
    weights = np.array([_weight(weight, name) for weight, name in zip(given, schema.names, strict=True)])
    if not weights.any():
        raise ParameterError("feature_weights are all zero. Give at least one column a weight above zero.")
    return weights


def _weight(weight: Any, column: str) -> float:
    is_number = isinstance(weight, (int, float, np.number)) and not isinstance(weight, bool)
    if not is_number or not np.isfinite(weight) or weight < 0:
        raise ParameterError(
            f"feature_weights is {weight!r} for the column {column!r}. Use a finite number of at least 0."
        )
    return float(weight)


def _by_column(setting: Any, schema: Schema, parameter: str, other: object) -> list[object]:
    """What was given for each column; `other` for those that a mapping does not name."""
    if isinstance(setting, Mapping):
        values = [other] * schema.n_features
        for column, value in setting.items():
            values[column_number(column, schema, parameter)] = value
        return values
    try:
        values = list(setting)
    except Exception as error:  # a container may raise anything
        raise ParameterTypeError(
            f"{parameter} is a {type(setting).__name__}, which cannot be read as a list ({error}). Pass one number for "
            "each column, or a mapping from names of columns."
        ) from error
    if len(values) != schema.n_features:
        raise ParameterError(
            f"{parameter} has {len(values)} elements, but X has {schema.n_features} columns. Pass one for each column, "
            "or a mapping from names of columns."
        )
    return values


def interaction_sets(
    setting: object, schema: Schema, parameter: str = "interaction_constraints"
) -> tuple[frozenset[int], ...] | None:
    """Sets of columns that may meet on a path, from lists of names or numbers."""
    if setting is None:
        return None
    found = []
    for group in _as_written(setting, parameter):
        if isinstance(group, (str, Mapping)) or not isinstance(group, Iterable):
            raise ParameterError(
                f"{parameter} holds {group!r}, which is not a list of columns. Use for example [[0, 1], [2, 3]]."
            )
        found.append(frozenset(column_number(column, schema, parameter) for column in group))
    return tuple(found)


def sets_that_meet(setting: object, schema: Schema) -> tuple[frozenset[int], ...] | None:
    """Sets of columns as scikit-learn takes them: a name for all pairs or none; columns in no set form one more."""
    everything = range(schema.n_features)
    if isinstance(setting, str):
        size = {"no_interactions": 1, "pairwise": min(2, schema.n_features)}[setting]
        return tuple(map(frozenset, combinations(everything, size)))
    sets = interaction_sets(setting, schema, "interaction_cst")
    if sets is None:
        return None
    rest = frozenset(everything).difference(*sets)
    return (*sets, rest) if rest else sets


def column_number(column: Any, schema: Schema, parameter: str) -> int:
    """Number of a column given by name or number."""
    if isinstance(column, str):
        if column in schema.names:
            return schema.names.index(column)
        raise ParameterError(
            f"{parameter} names the column {column!r}, which X does not have.{nearest_name(column, schema.names)} "
            "Use a name or a number of a column."
        )
    is_number = isinstance(column, (int, np.integer)) and not isinstance(column, bool)
    if not is_number or not -schema.n_features <= column < schema.n_features:
        raise ParameterError(
            f"{parameter} holds the column {column!r}, but X has {schema.n_features} columns. Use a name or a number "
            f"from 0 to {schema.n_features - 1}."
        )
    return int(column) % schema.n_features
