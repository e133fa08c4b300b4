"""Candidates: the values that a column may change to.

Between two neighbouring thresholds of the model no tree distinguishes values, so the only candidate there is the value
nearest to the row's own. Every level is a candidate, and so is a missing value or an unknown level of the row itself.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.codes.separation import round_down
from sapwood.explain.leaf_boxes import Cells
from sapwood.table.schema import ColumnSchema

_DAY, _MICRO = 86_400.0, 1e-6


@dataclass(frozen=True, eq=False)
class Candidates:
    """The candidates of a column: between any two thresholds a value (NaN if none fits in), and the cost of each."""

    number: int
    column: ColumnSchema
    cuts: Floats
    start: int  # the row's own value
    values: Floats
    costs: Floats
    ordered: bool  # numbers, of which a leaf admits neighbours
    step: float = 1.0  # values are multiples of it; 0 for any number

    def __len__(self) -> int:
        return len(self.costs)

    def bounds(self, k: int) -> tuple[float, float]:
        """Bounds of the numbers that trees do not distinguish from candidate k: above, and up to; none for levels."""
        ends = [-math.inf, *self.cuts.tolist(), math.inf] if self.column.kind != "category" else []
        return (ends[k], ends[k + 1]) if ends else (-math.inf, math.inf)


def candidates_of(number: int, cells: Cells, code: float, seen: Array | None, scale: float) -> Candidates:
    """Candidates of a column for a row whose value is `code`; `seen` are values of other rows, if there are any."""
    column = cells.column
    if column.kind == "category":
        return _levels(number, column, code)
    if math.isnan(code):
        values = np.append(cells.values, np.nan)
        costs = np.append(np.ones(cells.count), 0.0)
        return Candidates(number, column, cells.cuts, cells.count, values, costs, ordered=False)
    start = int(np.searchsorted(cells.cuts, code))
    step = step_of(column, cells.cuts, code, seen)
    values = _nearest(cells, code, start, step, _dtype(seen))
    with np.errstate(invalid="ignore"):
        costs = np.abs(values - code) / scale if math.isfinite(code) else (np.arange(cells.count) != start) * 1.0
    costs[np.isnan(values)] = np.inf
    return Candidates(number, column, cells.cuts, start, values, costs, ordered=True, step=step)


def _levels(number: int, column: ColumnSchema, code: float) -> Candidates:
    """Levels cost 1; a value that is none of them is a candidate after the last one."""
    known = 0 <= code < len(column.levels)  # NaN is not
    values = np.arange(len(column.levels) + (not known), dtype=np.float64)
    start = int(code) if known else len(column.levels)
    values[start] = code
    costs = (np.arange(len(values)) != start) * 1.0
    return Candidates(number, column, np.empty(0), start, values, costs, ordered=False)


def step_of(column: ColumnSchema, cuts: Floats, code: float, seen: Array | None) -> float:
    """Whole numbers stay whole, and dates whole days or seconds; 0 for any number.

    Without other rows, a column of numbers counts as whole if its range is and its thresholds lie on whole numbers or
    in the middle between two; one of dates, if its range is.
    """
    if column.kind == "boolean":
        return 1.0
    known = np.array([column.low, column.high]) if seen is None else np.asarray(seen, dtype=np.float64)
    known = np.append(known[np.isfinite(known)], code)
    if column.kind != "number":
        return next((unit for unit in (_DAY, 1.0) if _all_whole(known / unit)), _MICRO)
    return float(_all_whole(known) and (seen is not None or _all_whole(2.0 * cuts[np.isfinite(cuts)])))


def _all_whole(numbers: Floats) -> bool:
    return bool((numbers == np.floor(numbers)).all())


def _dtype(seen: Array | None) -> np.dtype[Any]:
    return np.dtype(np.float64) if seen is None else seen.dtype


def _nearest(cells: Cells, code: float, start: int, step: float, dtype: np.dtype[Any]) -> Floats:
    """In each cell the value nearest to the row's; NaN where no value of the column's kind fits in."""
    cuts = cells.cuts
    low, high = np.append(-np.inf, cuts)[: cells.count], np.append(cuts, np.inf)[: cells.count]
    below = _snap_down(high, step, dtype)
    values = np.where(np.arange(cells.count) < start, below, _snap_up(low, step, dtype))
    values[start] = code
    return np.where((values > low) & (values <= high) & np.isfinite(values), values, np.nan)


def _snap_down(cuts: Floats, step: float, dtype: np.dtype[Any]) -> Floats:
    """The largest value up to each cut."""
    if step == 0.0:
        return np.asarray(round_down(cuts, dtype), dtype=np.float64)
    return np.floor(cuts / step) * step if step >= 1.0 else np.floor(cuts * 1e6) / 1e6


def _snap_up(cuts: Floats, step: float, dtype: np.dtype[Any]) -> Floats:
    """The smallest value above each cut."""
    if step == 0.0:
        return np.asarray(np.nextafter(round_down(cuts, dtype), dtype.type(np.inf)), dtype=np.float64)
    if step >= 1.0:
        return (np.floor(cuts / step) + 1.0) * step
    return (np.floor(cuts * 1e6) + 1.0) / 1e6


def scales_of(columns: Sequence[ColumnSchema], seen: Sequence[Array] | None) -> list[float]:
    """The unit of distance of each column: the interquartile range of the rows given, else the range in training."""
    found = []
    for j, column in enumerate(columns):
        spread = 0.0
        if seen is not None and column.kind != "category":
            finite = seen[j][np.isfinite(seen[j])].astype(np.float64)
            spread = float(np.subtract(*np.quantile(finite, [0.75, 0.25]))) if len(finite) else 0.0
        width = column.high - column.low
        found.append(next((one for one in (spread, width) if math.isfinite(one) and one > 0), 1.0))
    return found
