"""Numbers rounded for print within given bounds, so that the printed number has the same effect as the exact one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Context, Decimal

from sapwood.show.value import duration_unit

_DECIMALS = range(2, 7)  # beyond 6 decimals 1.2e-07 reads better than 0.00000012
_DIGITS = range(3, 18)
_LARGEST_FIXED = 1e15
_EXACT = Context(prec=800)  # a double has no more digits than that


@dataclass(frozen=True)
class Within:
    """Bounds of a printed number: above `low`, up to `high`, and no farther than `error` from the exact one."""

    low: float
    high: float
    error: float
    rounding: str = ROUND_HALF_EVEN

    @classmethod
    def away(cls, low: float, high: float, error: float, upwards: bool) -> Within:
        """For a number that came just across a threshold: rounding moves it away from there."""
        return cls(low, high, error, ROUND_CEILING if upwards else ROUND_FLOOR)

    def admits(self, printed: float, value: float) -> bool:
        """Whether a printed number may stand for the value."""
        return printed == value or (self.low < printed <= self.high and abs(printed - value) <= self.error)


def rounded_number(value: float, within: Within) -> str:
    """The number with two decimals, or as many more as it takes."""
    return _shortest(value, 1.0, within)


def rounded_duration(seconds: float, within: Within) -> str:
    """Seconds in the largest unit that fits: 3.5 h."""
    unit, name = duration_unit(seconds)
    return f"{_shortest(seconds, unit, within)} {name}"


def _shortest(value: float, unit: float, within: Within) -> str:
    if not math.isfinite(value):
        return str(value)
    texts = _candidates(value / unit, within.rounding)
    return next((text for text in texts if within.admits(float(text) * unit, value)), repr(value / unit))


def _candidates(value: float, rounding: str) -> Iterator[str]:
    exact = Decimal(value)
    if abs(value) < _LARGEST_FIXED:
        for places in _DECIMALS:
            yield _trimmed(f"{exact.quantize(Decimal(1).scaleb(-places), rounding, _EXACT):f}")
    for digits in _DIGITS:
        yield f"{float(Context(prec=digits, rounding=rounding).plus(exact))!r}"


def _trimmed(text: str) -> str:
    short = text.rstrip("0").rstrip(".")
    return "0" if short == "-0" else short
