"""One axis of a map of decisions: where its cells are, what their values are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.plot.short_text import distinct
from sapwood.plot.style import Axes, as_plain_text
from sapwood.show.value import value_text
from sapwood.table.schema import ColumnSchema

_DAY = 86_400.0
_MARGIN = 0.05
_UNITS = ((_DAY, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_MOST_LETTERS = 40  # on a horizontal axis; longer names of levels are slanted
LONGEST_LEVEL = 24
_MANY_LEVELS, _MOST_LEVELS = 14, 40


@dataclass(frozen=True)
class Axis:
    """Cells along one feature; `centres` are the model's values, `edges` and `places` are drawn."""

    feature: int
    name: str
    kind: str
    centres: Floats
    edges: Floats
    places: Floats
    ticks: tuple[str, ...] = ()

    @property
    def is_discrete(self) -> bool:
        """Whether every cell is one level."""
        return bool(self.ticks)


def make_axis(feature: int, column: ColumnSchema, name: str, values: Floats, resolution: int) -> Axis:
    """Axis over the values of a feature, NaN and unseen levels left out."""
    known = values[np.isfinite(values)]
    if column.kind in ("category", "boolean"):
        return _discrete(feature, column, name, values, np.unique(known[known >= 0]))
    scale, unit = drawn_unit(column.kind, known)
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    margin = _MARGIN * (high - low) or 0.5 * scale
    edges = np.linspace(low - margin, high + margin, resolution + 1)
    label = f"{name} ({unit})" if unit else name
    return Axis(feature, label, column.kind, (edges[:-1] + edges[1:]) / 2, edges / scale, values / scale)


def _discrete(feature: int, column: ColumnSchema, name: str, values: Floats, codes: Floats) -> Axis:
    places = np.full(len(values), np.nan)
    inside = np.isin(values, codes)
    places[inside] = np.searchsorted(codes, values[inside])
    ticks = tuple(distinct([value_text(column, code) for code in codes], LONGEST_LEVEL))
    return Axis(feature, name, column.kind, codes, np.arange(len(codes) + 1, dtype=np.float64) - 0.5, places, ticks)


def drawn_unit(kind: str, known: Floats) -> tuple[float, str]:
    """Length of the unit drawn: matplotlib counts dates in days."""
    if kind == "date":
        return _DAY, ""
    if kind != "duration":
        return 1.0, ""
    largest = float(np.abs(known).max()) if len(known) else 1.0
    return next((unit for unit in _UNITS if largest >= unit[0]), _UNITS[-1])


def label_axis(ax: Axes, axis: Axis, horizontal: bool) -> None:
    """Name an axis of the picture and its ticks."""
    side = ax.xaxis if horizontal else ax.yaxis
    as_plain_text((side.label,))
    side.set_label_text(axis.name)
    if axis.kind == "date":
        _date_ticks(side)
    if axis.is_discrete:
        _level_ticks(side, axis.ticks, horizontal)


def _level_ticks(side: Any, ticks: tuple[str, ...], horizontal: bool) -> None:
    """Name the levels, slanted if they are long, upright if they are many, and only some of very many."""
    step = 1 + (len(ticks) - 1) // _MOST_LEVELS
    side.set_ticks(range(0, len(ticks), step), ticks[::step])
    side.set_tick_params(length=0)
    texts = side.get_ticklabels()
    as_plain_text(texts)
    many = len(texts) > _MANY_LEVELS
    for text in texts:
        if many:
            text.set_fontsize(8.0 if len(texts) < 2 * _MANY_LEVELS else 6.5)
        if horizontal and sum(map(len, ticks)) > _MOST_LETTERS:
            text.set(rotation=90 if many else 30, ha="right", va="center" if many else "top", rotation_mode="anchor")


def _date_ticks(side: Any) -> None:
    from matplotlib import dates as untyped_dates

    dates: Any = untyped_dates

    # Not xaxis_date, which forgets the limits of maps that are drawn already
    locator = dates.AutoDateLocator(tz="UTC", maxticks=8)
    side.set_major_locator(locator)
    side.set_major_formatter(dates.ConciseDateFormatter(locator, tz="UTC"))
