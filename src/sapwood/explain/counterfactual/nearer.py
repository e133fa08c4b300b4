"""Nearer values for models with linear leaves, which change between thresholds, too."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from sapwood.explain.counterfactual.candidates import Candidates, step_of
from sapwood.explain.leaf_boxes import Cells

_PARTS = 32  # of the range of a column
_HALVES = 30  # of the distance to a candidate that does not reach the target
_DECIMALS = range(-6, 16)


def finer(cells: Cells) -> Cells:
    """The cells of a column of numbers, divided evenly over the range of training."""
    column, low, high = cells.column, cells.column.low, cells.column.high
    if column.kind in ("category", "boolean") or not (math.isfinite(high - low) and low < high):
        return cells
    more = np.linspace(low, high, _PARTS + 1)
    if column.kind == "number" and step_of(column, cells.cuts, low, None) > 0.0:
        more = np.floor(more) + 0.5  # whole numbers stay whole
    return replace(cells, cuts=np.union1d(cells.cuts, more))


def nearer(own: Candidates, k: int, reaches: Callable[[float], bool]) -> Candidates:
    """The candidates with a value in place of candidate k that is nearer to the row's own, and reaches the target.

    It is looked for between candidate k and the one before it, and has few digits.
    """
    value, step = float(own.values[k]), own.step
    before = _before(own, k)
    if before is None:
        return own
    near, far = before, value
    for _ in range(_HALVES):
        middle = _on_grid((near + far) / 2, step)
        if middle in (near, far):
            break
        near, far = (near, middle) if reaches(middle) else (middle, far)
    found = next((x for x in _rounded(near, far, step) if reaches(x)), far)
    values, costs = own.values.copy(), own.costs.copy()
    values[k], costs[k] = found, own.costs[k] * (found - own.values[own.start]) / (value - own.values[own.start])
    return replace(own, values=values, costs=costs)


def _before(own: Candidates, k: int) -> float | None:
    """The value of the next candidate on the way to the row's own; None if there is none, or no finite way."""
    way = own.values[min(k, own.start) : max(k, own.start) + 1]
    way = way[::-1] if k > own.start else way
    finite = way[1:][np.isfinite(way[1:])]
    usable = own.ordered and len(finite) > 0 and math.isfinite(own.values[own.start]) and math.isfinite(way[0])
    return float(finite[0]) if usable else None


def _on_grid(x: float, step: float) -> float:
    return x if step == 0.0 else round(x / step) * step


def _rounded(near: float, far: float, step: float) -> Iterator[float]:
    """Numbers of few digits behind `near`, up to `far`."""
    if step > 0.0:
        return
    for decimals in _DECIMALS:
        unit = 10.0**-decimals
        x = round((math.floor(near / unit) + 1 if far > near else math.ceil(near / unit) - 1) * unit, decimals)
        if min(near, far) < x < max(near, far):
            yield x
