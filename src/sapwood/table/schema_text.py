"""The columns of a training table in print: kinds, ranges, levels."""

from __future__ import annotations

import math
from collections import Counter
from typing import TYPE_CHECKING

import numpy as np

from sapwood.one_line import clipped, one_line

if TYPE_CHECKING:
    from sapwood.table.schema import ColumnSchema, Schema

SHOWN_LEVELS = 6
LONGEST_LEVEL = 20
HEADS = ("column", "kind", "values", "missing")


def schema_title(schema: Schema) -> str:
    """How many columns there are of each kind."""
    counts = Counter(column.kind for column in schema.columns)
    kinds = ", ".join(f"{n} {kind}" for kind, n in counts.most_common())
    return f"Schema: {schema.n_features} column{'s' if schema.n_features != 1 else ''} ({kinds})"


def column_cells(column: ColumnSchema) -> tuple[str, str, str, str]:
    """A line of the table of columns."""
    return one_line(column.name), column.kind, values_text(column), "some" if column.has_missing else "none"


def values_text(column: ColumnSchema) -> str:
    """The range of a column, or its first levels."""
    if column.kind == "category":
        shown = [clipped(level, LONGEST_LEVEL) for level in column.levels[:SHOWN_LEVELS]]
        rest = len(column.levels) - len(shown)
        return f"{len(column.levels)} levels: {', '.join(shown)}{f', … +{rest} more' if rest else ''}"
    if math.isnan(column.low):
        return "no values"
    return f"{_bound(column.low, column.kind)} to {_bound(column.high, column.kind)}"


def _bound(value: float, kind: str) -> str:
    if kind == "boolean":
        return "true" if value > 0.5 else "false"
    if kind == "date" and abs(value) < 2e11:  # later ones have years of five digits
        return str(np.datetime64(math.floor(value), "s")).removesuffix("T00:00:00")
    return f"{value:.6g} s" if kind in ("date", "duration") else f"{value:.6g}"
