"""Numbers between bounds, and seeds."""

from __future__ import annotations

import math
import numbers
import sys
from dataclasses import dataclass
from typing import Literal, TypeGuard

import numpy as np

from sapwood.arrays import plain
from sapwood.parameters.rule import Rule


@dataclass(frozen=True)
class Interval(Rule):
    """A number between two bounds; None is no bound, and infinity is legal only if it is a bound.

    With `kind=float` an integer is a number too, unless `integers=False`: then 1 and 1.0 can mean different things.
    """

    kind: type[int] | type[float]
    low: float | None = None
    high: float | None = None
    closed: Literal["both", "left", "right", "neither"] = "both"
    integers: bool = True

    def accepts(self, value: object) -> bool:
        """Accept a number of the right kind within the bounds; NaN and booleans are never numbers."""
        return self._is_of_kind(value) and self._above_low(value) and self._below_high(value)

    def describe(self) -> str:
        """Say for example "an integer of at least 1" or "a number above 0 and at most 1"."""
        return " ".join(part for part in (self._noun(), self._bounds()) if part)

    def nearest(self, value: object) -> object | None:
        """Return the bound the value overshot, or the value itself with its type put right."""
        number = as_number(value)
        if number is None:
            return None
        if self.kind is int:
            number = round(number)
        elif not self.integers:
            number = float(number)
        return number if self.accepts(number) else self._edge(number)

    def _is_of_kind(self, value: object) -> TypeGuard[float]:
        if not is_number(value):
            return False
        whole = isinstance(value, numbers.Integral)
        return whole if self.kind is int else self.integers or not whole

    def _above_low(self, value: float) -> bool:
        if self.low is None:
            return value > -math.inf
        return value >= self.low if self.closed in ("both", "left") else value > self.low

    def _below_high(self, value: float) -> bool:
        if self.high is None:
            return value < math.inf
        return value <= self.high if self.closed in ("both", "right") else value < self.high

    def _noun(self) -> str:
        if self.kind is int:
            return "an integer"
        if not self.integers:
            return "a float"
        return "a finite number" if self.low is None or self.high is None else "a number"

    def _bounds(self) -> str:
        low, high = self._low_text(), self._high_text()
        if low and high:
            return f"from {self.low} to {self.high}" if self.closed == "both" else f"{low} and {high}"
        return low or high.replace("at most", "of at most")

    def _low_text(self) -> str:
        if self.low is None or self.low == -math.inf:
            return ""
        return f"{'of at least' if self.closed in ('both', 'left') else 'above'} {self.low}"

    def _high_text(self) -> str:
        if self.high is None or self.high == math.inf:
            return ""
        return f"{'at most' if self.closed in ('both', 'right') else 'below'} {self.high}"

    def _edge(self, number: float) -> object | None:
        """Return the legal number next to the bound on the wrong side of which the number lies."""
        low, high = self._innermost()
        candidate = low if low is not None and number <= low else high
        return self.kind(candidate) if candidate is not None and self.accepts(self.kind(candidate)) else None

    def _innermost(self) -> tuple[float | None, float | None]:
        step = self._step()
        low = self.low if self.low is None or self.closed in ("both", "left") else self.low + step
        high = self.high if self.high is None or self.closed in ("both", "right") else self.high - step
        return low, high

    def _step(self) -> float:
        if self.kind is int:
            return 1
        return 0.1 if self.low is None or self.high is None else min(1.0, self.high - self.low) / 10


@dataclass(frozen=True)
class RandomState(Rule):
    """A seed, a source of random numbers, or None for a fresh seed."""

    def accepts(self, value: object) -> bool:
        """Accept None, an integer of 32 bits, and NumPy's old and new generators."""
        return value is None or _SEED.accepts(value) or isinstance(value, (np.random.RandomState, np.random.Generator))

    def describe(self) -> str:
        """Name the accepted sources."""
        return f"{_SEED.describe()}, a numpy RandomState or Generator, or None"

    def nearest(self, value: object) -> object | None:
        """Return the nearest seed."""
        return _SEED.nearest(value)


_SEED = Interval(int, 0, 2**32 - 1)


def is_number(value: object) -> TypeGuard[float]:
    """Whether a value is a number; NaN and booleans are not."""
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and bool(value == value)  # noqa: PLR0124 - NaN


def as_number(value: object) -> float | None:
    """A number, or the number in a string; None for other values."""
    number: object = _parse(value) if isinstance(value, str) else plain(value)
    return number if is_number(number) and abs(number) <= sys.float_info.max else None


def _parse(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        return math.nan
    return int(number) if number.is_integer() else number
