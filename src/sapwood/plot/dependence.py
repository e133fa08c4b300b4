"""A partial dependence as pictures read it: its grid as axes, averages and single rows as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats, Mask
from sapwood.errors import InputError
from sapwood.plot.axis import LONGEST_LEVEL, Axis, drawn_unit
from sapwood.plot.checks import require_parts
from sapwood.plot.shap_data import any_value_text, seconds
from sapwood.plot.short_text import distinct, shortened
from sapwood.table.levels import is_missing

_PARTS = ("feature_names", "kinds", "grid", "average", "output_names")
_REMEDY = "Give the result of explain.partial_dependence."
_LONGEST_NAME = 44


@dataclass(frozen=True)
class Dependence:
    """`average` is (outputs, *grid), `individual` (outputs, rows, *grid) or None."""

    axes: tuple[Axis, ...]
    average: Floats
    individual: Floats | None
    outputs: tuple[str, ...]
    centred: bool
    deciles: Floats | None

    @classmethod
    def of(cls, given: Any) -> Dependence:
        """Read the result of `explain.partial_dependence`."""
        require_parts("result", given, _PARTS, _REMEDY)
        average = np.asarray(given.average, dtype=np.float64)
        outputs, lengths = tuple(map(str, given.output_names)), tuple(len(own) for own in given.grid)
        if len(lengths) not in (1, 2) or average.shape != (len(outputs), *lengths) or not average.size:
            raise InputError(
                f"result.average has the shape {average.shape}, but there are {len(outputs)} outputs and grids of "
                f"{' and '.join(map(str, lengths)) or 'no'} points; one or two features can be drawn. {_REMEDY}"
            )
        individual = getattr(given, "individual", None)
        parts = list(zip(given.feature_names, given.kinds, given.grid, strict=True))
        kept = [_drawn(kind, grid) for _, kind, grid in parts]
        rows = None if individual is None else np.asarray(individual, dtype=np.float64)
        for k, own in enumerate(kept):
            average = average.compress(own, axis=k + 1)
            rows = None if rows is None else rows.compress(own, axis=k + 2)
        axes = tuple(
            _axis(str(name), kind, np.asarray(grid)[own]) for (name, kind, grid), own in zip(parts, kept, strict=True)
        )
        deciles = _deciles(given, axes[0]) if len(axes) == 1 else None
        return cls(axes, average, rows, outputs, bool(getattr(given, "centred", False)), deciles)


def _drawn(kind: str, grid: Any) -> Mask:
    """Points that have a place: a missing number has none."""
    if kind in ("category", "boolean"):
        return np.ones(len(grid), dtype=bool)
    kept = np.array([not is_missing(value) for value in grid])
    if not kept.any():
        raise InputError(f"result.grid has no point that is not missing. {_REMEDY}")
    return kept


def _axis(name: str, kind: str, grid: Array) -> Axis:
    name = shortened(name, _LONGEST_NAME)
    if kind in ("category", "boolean"):
        ticks = tuple(distinct([_level(kind, value) for value in grid], LONGEST_LEVEL))
        places = np.arange(len(grid), dtype=np.float64)
        return Axis(0, name, kind, places, _edges(places), places, ticks)
    numbers = _numbers(grid)
    scale, unit = drawn_unit(kind, numbers)
    places = numbers / scale
    return Axis(0, f"{name} ({unit})" if unit else name, kind, numbers, _edges(places), places)


def _level(kind: str, value: Any) -> str:
    return any_value_text(bool(value) if kind == "boolean" and not is_missing(value) else value)


def _numbers(grid: Array) -> Floats:
    if grid.dtype.kind in "biuf":
        return grid.astype(np.float64)
    return np.array([value if isinstance(value, (int, float)) else seconds(value) for value in grid], dtype=np.float64)


def _edges(places: Floats) -> Floats:
    """Borders of cells around the points."""
    if len(places) == 1:
        return np.array([places[0] - 0.5, places[0] + 0.5])
    middle = (places[:-1] + places[1:]) / 2
    return np.concatenate([[2 * places[0] - middle[0]], middle, [2 * places[-1] - middle[-1]]])


def _deciles(given: Any, axis: Axis) -> Floats | None:
    """Deciles of the feature, if the result has them and they have a place."""
    deciles = getattr(given, "deciles", None)
    if deciles is None or axis.is_discrete or deciles[0] is None:
        return None
    numbers = _numbers(np.asarray(deciles[0]))
    return numbers / drawn_unit(axis.kind, axis.centres)[0]
