"""Cells of boundary rows: numbers, numbers of levels, NaN for missing values, -2 for levels not seen in training."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from sapwood.arrays import Floats, Mask
from sapwood.one_line import one_line
from sapwood.table.column import UNSEEN
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.storage import MatrixStorage
from sapwood.table.table import Table


def as_table(cells: Floats, schema: Schema) -> Table:
    """Rows that need no matching."""
    return Table(schema, MatrixStorage(cells))


def has_unseen(cells: Floats, schema: Schema) -> Mask:
    """Rows with a level that was not seen in training."""
    return np.asarray((cells[:, schema.n_levels > 0] == UNSEEN).any(axis=1))


def row_values(row: Iterable[float], schema: Schema, unseen: object) -> list[object]:
    """A row as a user would pass it."""
    return [value_of(column, cell, unseen) for column, cell in zip(schema.columns, row, strict=True)]


def value_of(column: ColumnSchema, cell: float, unseen: object) -> object:
    """A number, a level, `unseen`, or None for a missing value."""
    if math.isnan(cell):
        return None
    if column.kind != "category":
        return float(cell)
    return column.levels[int(cell)] if cell >= 0 else unseen


def describe_row(row: Iterable[float], schema: Schema) -> str:
    """Values of a row by column, for errors; zeros are left out, since tables may have thousands of columns."""
    values = zip(schema.columns, row_values(row, schema, "an unseen category"), strict=True)
    return str({one_line(c.name): value for c, value in values if c.kind == "category" or value != 0.0})
