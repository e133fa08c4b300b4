"""Shares and values of columns as text, for tables and warnings."""

from __future__ import annotations

import math

import numpy as np

from sapwood.table.schema import ColumnSchema

_LATEST = 9e12  # seconds; later dates do not fit microseconds in 64 bits


def share_text(share: float) -> str:
    """A share as a percentage: 12.5 %; nothing for NaN."""
    if math.isnan(share):
        return ""
    text = f"{100 * share:.1f}"
    # 99.96 % is not all, and 0.04 % is not nothing
    if text == "100.0" and share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if text == "0.0" and share > 0 else f"{text.removesuffix('.0')} %"


def cell_text(column: ColumnSchema, value: float) -> str:
    """A value of a column of numbers, times or booleans; nothing for NaN."""
    if math.isnan(value):
        return ""
    if column.kind == "date" and abs(value) < _LATEST:
        return str(np.datetime64(round(value), "s")).removesuffix("T00:00:00").replace("T", " ")
    unit = " s" if column.kind in ("date", "duration") else ""
    return f"{value:.6g}{unit}"


def range_text(column: ColumnSchema, low: float, high: float) -> str:
    """Two values: 0 … 72."""
    return f"{cell_text(column, low)} … {cell_text(column, high)}"
