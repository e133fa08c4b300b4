"""Values of a column as the numbers in a table (codes), and as users write them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import InputError
from sapwood.table.levels import is_missing, to_level
from sapwood.table.names import nearest_name, shorten
from sapwood.table.schema import ColumnSchema
from sapwood.table.seconds import to_seconds

EPOCH = datetime(1970, 1, 1)
_MICROSECONDS = 1e6
_TIMES = {"date": "M8[us]", "duration": "m8[us]"}


def plain(value: Any) -> Any:
    """A number or label of Python instead of NumPy."""
    return value.item() if isinstance(value, np.generic) else value


def python_value(code: float, column: ColumnSchema) -> Any:
    """Level, bool, datetime (UTC, without a zone), timedelta or number of a code that is not missing."""
    if column.kind == "category":
        return column.levels[int(code)]
    if column.kind == "boolean":
        return code > 0.5
    if column.kind == "number":
        return code
    duration = timedelta(seconds=code)
    return duration if column.kind == "duration" else EPOCH + duration


def to_native(codes: Array, column: ColumnSchema) -> Array:
    """Level names, truth values, dates or numbers; missing categories and truth values are None."""
    if column.kind == "category":
        names = np.array([*column.levels, None], dtype=object)
        with np.errstate(invalid="ignore"):
            is_level = (codes >= 0) & (codes < len(column.levels))
        return np.asarray(names[np.where(is_level, codes, -1).astype(np.intp)])
    if column.kind == "boolean":
        return np.array([None, False, True], dtype=object)[np.nan_to_num(codes + 1.0).astype(np.intp)]
    if column.kind in _TIMES:
        ticks = np.round(np.nan_to_num(codes.astype(np.float64)) * _MICROSECONDS).astype(np.int64)
        times = ticks.view(_TIMES[column.kind])
        times[np.isnan(codes)] = "NaT"
        return times
    return codes


def to_code(value: Any, column: ColumnSchema, argument: str) -> float:
    """The code of a user's value: number of a level, seconds, or the number itself; NaN for a missing value."""
    if is_missing(value):
        return float("nan")
    if column.kind == "category":
        return _level_code(value, column, argument)
    try:
        if column.kind in _TIMES:
            return float(to_seconds(np.asarray(value, dtype=_TIMES[column.kind]).reshape(1))[0])
        return float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise InputError(
            f"{argument} holds {value!r}, but column {column.name!r} is a {column.kind}. Pass values of that kind."
        ) from error


def _level_code(value: object, column: ColumnSchema, argument: str) -> float:
    level = to_level(value)
    if level in column.code_of:
        return float(column.code_of[level])
    hint = nearest_name(level, [str(own) for own in column.levels]) if isinstance(level, str) else ""
    raise InputError(
        f"{argument} holds {value!r}, which is not a level of column {column.name!r}.{hint} Its levels are "
        f"{shorten(column.levels)}."
    )
