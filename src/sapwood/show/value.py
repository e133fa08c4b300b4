"""A value of a column as text: numbers, dates, durations, truth values and category levels."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sapwood.one_line import one_line
from sapwood.show.number import number_text, plain_number, short_number, threshold_decimals
from sapwood.table.schema import ColumnSchema

_DAY = 86_400.0
_UNITS = ((_DAY, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"), (1e-3, "ms"), (1e-6, "µs"))
_LATEST = 9e12  # seconds; later dates do not fit microseconds in 64 bits
_SHOWN_LEVELS = 6
_NEEDS_QUOTES = set(",{}\"'…")


def threshold_text(column: ColumnSchema, value: float, decimals: int, gap: float, trim: bool) -> str:
    """The threshold of a split as text; `trim` removes trailing zeros."""
    if column.kind == "number":
        decimals = threshold_decimals(value, decimals)
        return short_number(value, decimals, gap) if trim else number_text(value, decimals, gap)
    return value_text(column, value, decimals, gap)


def value_text(column: ColumnSchema, value: float, decimals: int = 2, gap: float = math.inf) -> str:
    """One value that is not missing; `gap` is the distance of the nearest value that must look different."""
    if column.kind == "category":
        return level_text(column.levels[int(value)])
    if column.kind == "date":
        return date_text(value)
    if column.kind == "duration":
        return duration_text(value, decimals, gap)
    if column.kind == "boolean":
        return "true" if value > 0.5 else "false"
    return plain_number(value, max(decimals, 2), gap)


def level_text(level: object) -> str:
    """A category level, in quotes where its end would be unclear."""
    text = one_line(level)
    unclear = not text or text != text.strip() or not _NEEDS_QUOTES.isdisjoint(text)
    return f'"{text}"' if unclear else text


def levels_text(levels: Sequence[object]) -> str:
    """A set of levels; of many, the first few."""
    # "+1 more" would take as much room as the level itself
    shown = levels if len(levels) <= _SHOWN_LEVELS + 1 else levels[:_SHOWN_LEVELS]
    names = ", ".join(level_text(level) for level in shown)
    rest = len(levels) - len(shown)
    return f"{{{names}, … +{rest} more}}" if rest else f"{{{names}}}"


def date_text(seconds: float) -> str:
    """Seconds since 1970 (UTC) as an ISO date, with the time of day unless it is midnight."""
    if not abs(seconds) < _LATEST:
        return f"{plain_number(seconds, 0)} s after 1970"
    day, time = str(np.datetime64(round(seconds * 1e6), "us")).split("T")
    clock, fraction = time.split(".")
    if fraction != "000000":
        return f"{day} {clock}.{fraction.rstrip('0')}"
    return day if clock == "00:00:00" else f"{day} {clock.removesuffix(':00')}"


def duration_text(seconds: float, decimals: int = 2, gap: float = math.inf) -> str:
    """Seconds in the largest unit that fits: 3.5 h."""
    unit, name = duration_unit(seconds)
    return f"{plain_number(seconds / unit, decimals, gap / unit)} {name}"


def duration_unit(seconds: float) -> tuple[float, str]:
    """The largest unit that fits, in seconds, and its name."""
    return next((item for item in _UNITS if abs(seconds) >= item[0]), _UNITS[3] if seconds == 0 else _UNITS[-1])
