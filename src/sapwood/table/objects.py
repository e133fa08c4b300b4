"""Columns of Python objects: the types of the values decide the kind."""

from __future__ import annotations

import datetime
import numbers
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np

from sapwood.arrays import Array, Mask
from sapwood.errors import InputError, InputTypeError
from sapwood.table.column import Column
from sapwood.table.levels import encode_array, encode_objects, is_missing
from sapwood.table.seconds import time_column

_BOOLEAN = (bool, np.bool_)
_NUMBER = (numbers.Real, Decimal, *_BOOLEAN)
_DATE = (datetime.date, np.datetime64)
_DURATION = (datetime.timedelta, np.timedelta64)
_TEXT = (str, bytes)
_LARGEST = int(np.finfo(np.float64).max)  # an integer, because Python compares those without converting


def object_column(values: Array, name: str, as_category: bool, missing: Mask | None = None) -> Column:
    """The column of kind number, boolean, date, duration or category that these objects make."""
    if missing is None:
        missing = np.fromiter(map(is_missing, values.tolist()), dtype=bool, count=len(values))
    types = set(map(type, values[~missing].tolist()))
    _refuse_unusable(values, missing, types, name)
    if types and _all(types, _DATE, _DURATION):
        column = time_column(_times(values, missing, "M8[us]" if _all(types, _DATE) else "m8[us]"))
        return encode_array(column.values) if as_category else column
    if as_category or not _all(types, _NUMBER):
        return encode_objects(values, missing)
    floats = _floats(values, missing, name)
    return Column("boolean", floats.astype(np.float32)) if types and _all(types, _BOOLEAN) else Column("number", floats)


def _all(types: set[type], *families: tuple[type, ...]) -> bool:
    """Whether one of the families holds all types."""
    return any(all(issubclass(each, family) for each in types) for family in families)


def _refuse_unusable(values: Array, missing: Mask, types: set[type], name: str) -> None:
    usable = (*_NUMBER, *_DATE, *_DURATION, *_TEXT)
    if _all(types, usable):
        return
    row = _first(values, missing, lambda value: not isinstance(value, usable))
    if isinstance(values[row], numbers.Complex):
        raise InputError(f"Complex data not supported: column {name!r}, row {row} of X holds {values[row]!r}.")
    raise InputTypeError(
        f"Column {name!r} of X, row {row}: argument must be a string or a number, not "
        f"{type(values[row]).__name__!r} ({_short(values[row])}). Turn the column into numbers, dates or strings first."
    )


def _first(values: Array, missing: Mask, condition: Callable[[Any], bool]) -> int:
    rows = np.flatnonzero(~missing)
    return int(next(row for row in rows if condition(values[row])))


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _floats(values: Array, missing: Mask, name: str) -> Array:
    floats = np.full(len(values), np.nan)
    try:
        floats[~missing] = values[~missing].astype(np.float64)
    except OverflowError:
        row = _first(values, missing, lambda value: abs(value) > _LARGEST)
        raise InputError(
            f"Column {name!r} of X, row {row}: {_short(values[row])} is too large for a 64-bit float. "
            "Rescale the column, or name it in categorical_features."
        ) from None
    return floats


def _times(values: Array, missing: Mask, dtype: str) -> Array:
    times = np.full(len(values), "NaT", dtype=dtype)
    times[~missing] = [_without_zone(value) for value in values[~missing].tolist()]
    return times


def _without_zone(value: Any) -> object:
    if getattr(value, "tzinfo", None) is None:
        return value
    return value.astimezone(datetime.UTC).replace(tzinfo=None)
