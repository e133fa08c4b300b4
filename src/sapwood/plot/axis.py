"""One axis of a map of decisions: where its cells are, what their values are called."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.plot.style import as_plain_text
from sapwood.show.fitted import Column
from sapwood.show.names import one_line
from sapwood.show.value import value_text

Floats = NDArray[np.float64]

_DAY = 86_400.0
_MARGIN = 0.05
_UNITS = ((_DAY, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))
_MOST_LETTERS = 40  # on a horizontal axis; longer names of levels are slanted
_LONGEST_LEVEL = 24


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


def make_axis(feature: int, column: Column, name: str, values: Floats, resolution: int) -> Axis:
    """Axis over the values of a feature, NaN and unseen levels left out."""
    known = values[np.isfinite(values)]
    if column.kind in ("category", "boolean"):
        return _discrete(feature, column, name, values, np.unique(known[known >= 0]))
    scale, unit = _scale(column.kind, known)
    low, high = (known.min(), known.max()) if len(known) else (0.0, 1.0)
    margin = _MARGIN * (high - low) or 0.5 * scale
    edges = np.linspace(low - margin, high + margin, resolution + 1)
    label = f"{name} ({unit})" if unit else name
    return Axis(feature, label, column.kind, (edges[:-1] + edges[1:]) / 2, edges / scale, values / scale)


def _discrete(feature: int, column: Column, name: str, values: Floats, codes: Floats) -> Axis:
    places = np.full(len(values), np.nan)
    inside = np.isin(values, codes)
    places[inside] = np.searchsorted(codes, values[inside])
    ticks = tuple(_shortened(value_text(column, code)) for code in codes)
    return Axis(feature, name, column.kind, codes, np.arange(len(codes) + 1, dtype=np.float64) - 0.5, places, ticks)


def _shortened(text: str) -> str:
    text = one_line(text)
    return text if len(text) <= _LONGEST_LEVEL else f"{text[: _LONGEST_LEVEL - 1]}…"


def _scale(kind: str, known: Floats) -> tuple[float, str]:
    """Length of the unit drawn: matplotlib counts dates in days."""
    if kind == "date":
        return _DAY, ""
    if kind != "duration":
        return 1.0, ""
    largest = float(np.abs(known).max()) if len(known) else 1.0
    return next((unit for unit in _UNITS if largest >= unit[0]), _UNITS[-1])


def label_axis(ax: Any, axis: Axis, horizontal: bool) -> None:
    """Name an axis of the picture and its ticks."""
    side = ax.xaxis if horizontal else ax.yaxis
    side.set_label_text(axis.name)
    if axis.kind == "date":
        _date_ticks(ax, side, horizontal)
    if axis.is_discrete:
        side.set_ticks(range(len(axis.ticks)), axis.ticks)
        side.set_tick_params(length=0)
        as_plain_text(side.get_ticklabels())
    if horizontal and sum(len(tick) for tick in axis.ticks) > _MOST_LETTERS:
        ax.tick_params(axis="x", labelrotation=30)
        for text in side.get_ticklabels():
            text.set(ha="right", rotation_mode="anchor")


def _date_ticks(ax: Any, side: Any, horizontal: bool) -> None:
    from matplotlib import dates as untyped_dates

    dates: Any = untyped_dates

    (ax.xaxis_date if horizontal else ax.yaxis_date)("UTC")
    locator = dates.AutoDateLocator(maxticks=8)
    side.set_major_locator(locator)
    side.set_major_formatter(dates.ConciseDateFormatter(locator))
