"""Rows of a table as people read them, next to their explanation."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.show.value import date_text, duration_text, value_text
from sapwood.table.schema import ColumnSchema
from sapwood.table.table import Table

UNSEEN = "(unseen)"  # its name was not kept
_OBJECTS = {"category", "date", "duration"}
_EPOCH = datetime(1970, 1, 1)


def display_data(table: Table) -> NDArray[Any]:
    """Cells (rows, features) as numbers, or objects if there are levels, dates or durations; NaN is missing.

    Among objects, dates are datetimes (UTC, without a zone), durations timedeltas and truth values bools.
    """
    cells = table.block(0, table.n_rows).astype(np.float64)
    if table.schema.kinds.isdisjoint(_OBJECTS):
        return cells
    shown = cells.astype(object)
    for j, column in enumerate(table.schema.columns):
        if column.kind != "number":
            shown[:, j] = _objects(column, cells[:, j])
    return shown


def seconds_and_words(data: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Cells with times as seconds, which others can sort, and the same in words; None if there are no objects."""
    if data.dtype != object:
        return data.copy(), None
    return np.frompyfunc(_seconds, 1, 1)(data), np.frompyfunc(_words, 1, 1)(data)


def _objects(column: ColumnSchema, values: NDArray[np.float64]) -> NDArray[Any]:
    """What each value means; equal values are looked up once."""
    distinct, where = np.unique(values, return_inverse=True)
    objects = np.empty(len(distinct), dtype=object)
    objects[:] = [value if math.isnan(value) else _object(column, value) for value in distinct.tolist()]
    return objects[where]


def _object(column: ColumnSchema, value: float) -> Any:
    if column.kind == "category":
        return column.levels[int(value)] if value >= 0 else UNSEEN
    if column.kind == "boolean":
        return value > 0.5
    try:
        duration = timedelta(seconds=value)
        return duration if column.kind == "duration" else _EPOCH + duration
    except OverflowError:  # before the year 1, after the year 9999, or longer than 2.7 million years
        return value_text(column, value)


def _seconds(cell: Any) -> Any:
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return (cell - _EPOCH).total_seconds() if _is_own_date(cell) else cell


def _words(cell: Any) -> Any:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, timedelta):
        return duration_text(cell.total_seconds())
    return date_text(_seconds(cell)) if _is_own_date(cell) else cell


def _is_own_date(cell: Any) -> bool:
    """Whether it is a date of this module, not a level that is a date, which may have a zone."""
    return type(cell) is datetime and cell.tzinfo is None
