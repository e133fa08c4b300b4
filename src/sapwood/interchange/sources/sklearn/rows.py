"""Rows as scikit-learn's models expect them: frames where they know names of columns, else arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.interchange.optional import installed
from sapwood.table.column import UNSEEN
from sapwood.table.schema import ColumnSchema, Schema

Floats = NDArray[np.float64]
Ask = Callable[[Any], Any]


def asked(ask: Ask, cells: Floats, schema: Schema) -> Any:
    """What a method of a model says of cells, categories of which are numbers of levels."""
    columns = [_values(own, column) for own, column in zip(cells.T, schema.columns, strict=True)]
    pandas = installed("pandas") if schema.named else None
    with np.errstate(invalid="ignore", over="ignore"), warnings.catch_warnings():  # its checks add up all cells
        if pandas is not None:
            return ask(pandas.DataFrame(dict(zip(schema.names, columns, strict=True))))
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return ask(np.stack(columns, axis=1))


def _values(cells: Floats, column: ColumnSchema) -> NDArray[Any]:
    """Numbers, or the names of levels; a level that nobody has seen is one that is not among them."""
    if column.kind != "category":
        return cells
    levels = np.array([*column.levels, _other(column), np.nan], dtype=object)
    n = len(column.levels)
    codes = np.where(np.isnan(cells), n + 1, np.where(cells == UNSEEN, n, cells)).astype(np.intp)
    return levels[codes] if _has_text(column) else levels.astype(np.float64)[codes]


def _has_text(column: ColumnSchema) -> bool:
    return any(isinstance(level, str) for level in column.levels)


def _other(column: ColumnSchema) -> Any:
    if _has_text(column):
        return max(map(str, column.levels)) + " and more"
    return max(map(float, column.levels)) + 1.0
