"""Rows as scikit-learn's models expect them: frames if the model has names of columns, else arrays."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.interchange.optional import installed
from sapwood.table.column import UNSEEN
from sapwood.table.schema import ColumnSchema, Schema


def predicted(method: Callable[[Any], Any], cells: Floats, schema: Schema) -> Any:
    """The result of a model's method for boundary rows."""
    columns = [_values(own, column) for own, column in zip(cells.T, schema.columns, strict=True)]
    pandas = installed("pandas") if schema.named else None
    with np.errstate(invalid="ignore", over="ignore"), warnings.catch_warnings():  # its checks add up all cells
        if pandas is not None:
            return method(pandas.DataFrame(dict(zip(schema.names, columns, strict=True))))
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return method(np.stack(columns, axis=1))


def _values(cells: Floats, column: ColumnSchema) -> Array:
    """Numbers, or the names of levels; the unseen level is one that is not among them."""
    if column.kind != "category":
        return cells
    has_text = any(isinstance(level, str) for level in column.levels)
    other = max(map(str, column.levels)) + " and more" if has_text else max(map(float, column.levels)) + 1.0
    levels = np.array([*column.levels, other, np.nan], dtype=object)
    n = len(column.levels)
    codes = np.where(np.isnan(cells), n + 1, np.where(cells == UNSEEN, n, cells)).astype(np.intp)
    return levels[codes] if has_text else levels.astype(np.float64)[codes]
