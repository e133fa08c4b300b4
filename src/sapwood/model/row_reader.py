"""One row, in any form, as the cells that trees compare: a fast path for plain values, the schema for the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats
from sapwood.table.column import UNSEEN
from sapwood.table.one_row import one_row_source
from sapwood.table.schema import ColumnSchema, Schema, Unseen

NUMBERS = (float, int, np.floating, np.integer, np.bool_)
MOST = 2**53  # whole numbers up to here are exact
PLAIN_KINDS = "fiub"  # of arrays whose numbers need no check one by one


class RowReader:
    """Reads rows for one fitted model. Values that are not plain go through the schema, which raises the errors."""

    def __init__(self, schema: Schema, unseen: Unseen, owner: str) -> None:
        self.schema, self.unseen, self._owner = schema, unseen, owner
        self._names = schema.names
        self._columns = schema.columns

    def read(self, row: Any) -> Floats:
        """Cells of float64: numbers, numbers of levels, NaN for missing, -2 for an unseen level."""
        cells = self._from_array(row) if type(row) is np.ndarray else self._from_values(row)
        return self._the_long_way(row) if cells is None else cells

    def _from_array(self, row: NDArray[Any]) -> Floats | None:
        if row.ndim != 1 or len(row) != len(self._columns) or not self.schema.is_plain:
            return None
        return row.astype(np.float64) if row.dtype.kind in PLAIN_KINDS else None

    def _from_values(self, row: Any) -> Floats | None:
        values = self._in_order(row)
        if values is None or not self.schema.is_plain:
            return None if values is None else self._mixed(values)
        try:
            cells = np.array(values)
        except ValueError:  # rows within the row
            return None
        if cells.ndim == 1 and cells.dtype.kind in PLAIN_KINDS:
            return cells.astype(np.float64)
        return self._mixed(values)

    def _in_order(self, row: Any) -> Sequence[Any] | None:
        """The values of the columns, one for each; None for anything but a plain list, tuple or dictionary of them."""
        if type(row) in (list, tuple):
            return cast("Sequence[Any]", row) if len(row) == len(self._columns) else None
        if type(row) is not dict:
            return None
        try:
            return [row[name] for name in self._names]
        except KeyError:
            return None

    def _mixed(self, row: Sequence[Any]) -> Floats | None:
        """Cell by cell; None if any is not a plain value."""
        cells = [_cell(column, value) for column, value in zip(self._columns, row, strict=True)]
        if None in cells or (self.unseen == "error" and UNSEEN in cells):
            return None
        return np.array(cells, dtype=np.float64)

    def _the_long_way(self, row: Any) -> Floats:
        table = self.schema.match(one_row_source(row, self.schema), unseen=self.unseen, owner=self._owner)
        cells: Floats = table.block(0, 1)[0].astype(np.float64)
        return cells


def _cell(column: ColumnSchema, value: Any) -> float | None:
    """The cell of a plain value; None if the schema must read it."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return math.nan
    if column.kind == "category":
        is_text = isinstance(value, str) and column.levels and isinstance(column.levels[0], str)
        return float(column.code_of.get(value, UNSEEN)) if is_text else None
    if column.kind not in ("number", "boolean") or not isinstance(value, NUMBERS):
        return None
    is_exact = isinstance(value, (float, np.floating)) or -MOST <= int(value) <= MOST
    return float(value) if is_exact else None
