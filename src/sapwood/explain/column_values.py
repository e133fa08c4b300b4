"""Values of a column between the codes of a table and what a user would write."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError
from sapwood.table.levels import is_missing, to_level
from sapwood.table.names import nearest_name, shorten
from sapwood.table.schema import ColumnSchema
from sapwood.table.seconds import to_seconds

_MICROSECONDS = 1e6


def to_native(codes: NDArray[Any], column: ColumnSchema) -> NDArray[Any]:
    """Level names, truth values, dates or numbers; missing categories and truth values are None."""
    if column.kind == "category":
        names = np.array([*column.levels, None], dtype=object)
        return np.asarray(names[np.where(_is_code(codes, column), codes, -1).astype(np.intp)])
    if column.kind == "boolean":
        return np.array([None, False, True], dtype=object)[np.nan_to_num(codes + 1.0).astype(np.intp)]
    if column.kind in ("date", "duration"):
        unit = "M8[us]" if column.kind == "date" else "m8[us]"
        ticks = np.round(np.nan_to_num(codes.astype(np.float64)) * _MICROSECONDS).astype(np.int64).view(unit)
        ticks[np.isnan(codes)] = "NaT"
        return ticks
    return codes


def _is_code(codes: NDArray[Any], column: ColumnSchema) -> NDArray[np.bool_]:
    with np.errstate(invalid="ignore"):
        return (codes >= 0) & (codes < len(column.levels))


def to_code(value: Any, column: ColumnSchema, argument: str) -> float:
    """The number that stands for one value of a user: a level's, seconds, or itself; NaN for a missing one."""
    if is_missing(value):
        return float("nan")
    if column.kind == "category":
        return _level_code(value, column, argument)
    try:
        return _number(value, column.kind)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{argument} holds {value!r}, but column {column.name!r} is a {column.kind}. Give values of that kind."
        ) from error


def _number(value: Any, kind: str) -> float:
    if kind in ("date", "duration"):
        times = np.asarray(value, dtype="M8[us]" if kind == "date" else "m8[us]")
        return float(to_seconds(times.reshape(1))[0])
    return float(value)


def _level_code(value: Any, column: ColumnSchema, argument: str) -> float:
    level = to_level(value)
    if level in column.code_of:
        return float(column.code_of[level])
    hint = nearest_name(level, [str(own) for own in column.levels]) if isinstance(level, str) else ""
    raise InputError(
        f"{argument} holds {value!r}, which is no level of column {column.name!r}.{hint} Its levels are "
        f"{shorten(column.levels)}."
    )
