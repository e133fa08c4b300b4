"""Numbers in print: few digits, but never so few that what is printed becomes false."""

from __future__ import annotations

import math
from collections.abc import Iterator

_LONGEST_FIXED = 6  # beyond this many decimals 1.2e-07 reads better than 0.00000012
_LARGEST_FIXED = 1e15
_LEAST_GROUPED = 1000.0
_FAITHFUL = 0.05  # greatest relative error of a printed number
_NOISE = 1e-6  # relative size of what float32 leaves of a decimal number


def number_text(value: float, decimals: int, gap: float = math.inf) -> str:
    """Print with `decimals` places, or as many more as keep the number apart from others at distance `gap`."""
    if not math.isfinite(value):
        return str(value)
    return next((text for text in _candidates(value, decimals) if _is_faithful(text, value, gap)), repr(value))


def short_number(value: float, decimals: int, gap: float = math.inf) -> str:
    """As `number_text`, without trailing zeros except one: 0.8, 2.0."""
    text = number_text(value, decimals, gap)
    if "." not in text or "e" in text:
        return text
    whole, places = text.split(".")
    return f"{whole}.{places.rstrip('0') or '0'}"


def plain_number(value: float, decimals: int, gap: float = math.inf) -> str:
    """As `short_number`, whole numbers without a point: 0.8, 2."""
    return short_number(value, decimals, gap).removesuffix(".0")


def grouped_number(value: float, digits: int, sign: str = "") -> str:
    """So many digits as are worth reading; thousands are grouped and whole: 0.1235, 11,235, not 1.123e+04."""
    if _LEAST_GROUPED <= abs(value) < _LARGEST_FIXED:
        return f"{value:{sign},.0f}"
    return f"{value:{sign}.{digits}g}"


def percent(share: float) -> str:
    """A share as a percentage: 12.5 %."""
    text = f"{100 * share:.1f}"
    # 99.96 % is not certainty, and 0.04 % is not impossible
    if text == "100.0" and share < 1:
        return "> 99.9 %"
    return "< 0.1 %" if text == "0.0" and share > 0 else f"{text.removesuffix('.0')} %"


def threshold_decimals(value: float, decimals: int) -> int:
    """Return one decimal more than requested if rounding could go either way.

    A threshold between two numbers of `decimals` places is either such a number itself or exactly halfway between two;
    rounding it up would then turn "x <= 1.25" into a statement that is false for x = 1.3.
    """
    scaled = abs(value) * 10.0**decimals
    if not scaled < 1 / _NOISE:
        return decimals
    return decimals + (abs(scaled % 1.0 - 0.5) <= _NOISE * max(scaled, 1.0))


def _candidates(value: float, decimals: int) -> Iterator[str]:
    if abs(value) < _LARGEST_FIXED:
        for places in range(decimals, max(decimals, _LONGEST_FIXED) + 1):
            yield f"{value:.{places}f}".replace("-0." if value == 0 else "\0", "0.")
    for digits in range(3, 18):
        yield f"{value:.{digits}g}"


def _is_faithful(text: str, value: float, gap: float) -> bool:
    error = abs(float(text) - value)
    return error <= _FAITHFUL * abs(value) and (error < gap / 2 or error == 0)
