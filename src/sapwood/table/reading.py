"""How the text of a column is read as numbers or dates: recognised from all its values, and applied to others."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sapwood.arrays import Array
from sapwood.table.date_text import ORDERS, DateClues, date_of
from sapwood.table.number_text import MARKS, NumberClues, number_of

_FIRST = 300  # values that are looked at before all
_FEWEST_NUMBERS, _MOST_ODD = 20, 0.1


@dataclass(frozen=True)
class Reading:
    """Numbers with a decimal mark, or dates in an order of day, month and year."""

    kind: Literal["number", "date"]
    form: str

    def __post_init__(self) -> None:
        forms: dict[str, tuple[str, ...]] = {"number": MARKS, "date": ORDERS}
        if self.form not in forms.get(self.kind, ()):
            raise ValueError(f"There is no reading {self.kind!r}, {self.form!r}.")

    def value(self, text: str) -> float | datetime.datetime | None:
        """The number or date that a string contains, None if it is neither in this reading."""
        stripped = text.strip()
        if self.kind == "number":
            return number_of(stripped, self.form)
        return date_of(stripped, self.form) or date_of(stripped, "ymd")  # which no other order can be taken for

    def values(self, texts: Sequence[str]) -> tuple[Array, Array]:
        """Floats or datetime64 of the texts, and a mask of those that cannot be read, which are missing."""
        found = [self.value(text) for text in texts]
        bad = np.fromiter((value is None for value in found), dtype=bool, count=len(found))
        if self.kind == "date":
            return np.array(found, dtype="M8[us]"), bad
        return np.array([np.nan if value is None else value for value in found], dtype=np.float64), bad


class Recognition:
    """The reading of a column that is shown its values, in one part or in several."""

    def __init__(self) -> None:
        self._numbers: NumberClues | None = NumberClues()
        self._dates: DateClues | None = DateClues()
        self.is_begun = False

    def look(self, texts: Iterable[str]) -> bool:
        """Whether all values so far can be numbers or dates."""
        stripped = [text.strip() for text in texts]
        self.is_begun |= bool(stripped)
        if self._numbers is not None and not self._numbers.look(stripped):
            self._numbers = None
        if self._dates is not None and not self._dates.look(stripped):
            self._dates = None
        return self._numbers is not None or self._dates is not None

    def reading(self, decimal: str | None = None, day_first: bool | None = None) -> Reading | None:
        """How to read the column; the arguments decide where the values do not."""
        mark = self._numbers.mark(decimal) if self._numbers is not None and self.is_begun else None
        if mark is not None:
            return Reading("number", mark)
        order = self._dates.order(day_first) if self._dates is not None and self.is_begun else None
        return None if order is None else Reading("date", order)

    @property
    def is_open(self) -> bool:
        """Whether these are dates whose day and month may be either way round."""
        return self._dates is not None and self.is_begun and self._dates.is_open


def recognise(levels: Sequence[str]) -> Recognition:
    """What the distinct values of a column show; of text that is neither number nor date, few are looked at."""
    recognition = Recognition()
    step = max(1, len(levels) // _FIRST)
    if recognition.look(levels[::step]) and step > 1:
        recognition.look(levels)
    return recognition


def odd_value(levels: Sequence[str]) -> str | None:
    """The first value that keeps a column from being numbers, if nearly all of at least 20 others are; else None."""
    some = levels[:: max(1, len(levels) // _FIRST)]
    n_odd = sum(not _is_number(text) for text in some)
    if len(some) < _FEWEST_NUMBERS or n_odd > _MOST_ODD * len(some):
        return None
    return next((text for text in levels if not _is_number(text)), None)


def _is_number(text: str) -> bool:
    return any(number_of(text.strip(), mark) is not None for mark in MARKS)
