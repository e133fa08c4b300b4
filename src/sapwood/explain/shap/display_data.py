"""Cells of the explained rows as people read them, and as the package shap takes them."""

from __future__ import annotations

import math
from datetime import datetime, timedelta
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.explain.column_values import EPOCH, python_value
from sapwood.show.value import date_text, duration_text, value_text
from sapwood.table.schema import ColumnSchema
from sapwood.table.table import Table

UNSEEN = "(unseen)"  # its name was not kept
_OBJECTS = {"category", "date", "duration"}


def display_data(table: Table) -> Array:
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


def seconds_and_text(data: Array) -> tuple[Array, Array | None]:
    """Cells with times as seconds, which shap can sort, and cells as text; None if there are no objects."""
    if data.dtype != object:
        return data.copy(), None
    return np.frompyfunc(_seconds, 1, 1)(data), np.frompyfunc(_text, 1, 1)(data)


def _objects(column: ColumnSchema, values: Floats) -> Array:
    """Each value as an object; equal values are converted once."""
    distinct, where = np.unique(values, return_inverse=True)
    objects = np.empty(len(distinct), dtype=object)
    objects[:] = [value if math.isnan(value) else _object(column, value) for value in distinct.tolist()]
    return objects[where]


def _object(column: ColumnSchema, value: float) -> object:
    if column.kind == "category" and value < 0:
        return UNSEEN
    try:
        return python_value(value, column)
    except OverflowError:  # before the year 1, after the year 9999, or longer than 2.7 million years
        return value_text(column, value)


def _seconds(cell: Any) -> Any:
    if isinstance(cell, timedelta):
        return cell.total_seconds()
    return (cell - EPOCH).total_seconds() if _is_own_date(cell) else cell


def _text(cell: object) -> Any:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, timedelta):
        return duration_text(cell.total_seconds())
    return date_text(_seconds(cell)) if _is_own_date(cell) else cell


def _is_own_date(cell: object) -> bool:
    """Whether it is a date of this module, not a level that is a date, which may have a zone."""
    return type(cell) is datetime and cell.tzinfo is None
