"""Numbers as people write them: "$215,000", "23.235,60", "1 234,5 €", "12.3%", "(1,234)".

All values of a column must agree with one decimal mark. Where both marks fit (every separator has three digits after
it), a comma separates thousands; a point does so only beside a currency that is written that way. A percentage keeps
its number: "12.3%" is 12.3. Digits alone, codes with leading zeros and identifiers in full groups of three
("123 456 789") are not read as numbers, since such text is usually a code.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import NamedTuple

MARKS = (".", ",")

_POINT_UNITS = ("$", "US$", "A$", "C$", "£", "¥", "₹", "USD", "GBP", "JPY", "INR", "CAD", "AUD", "MXN", "CNY", "Rs")
_OTHER_UNITS = ("€", "₽", "₩", "₺", "₪", "฿", "₫", "₴", "₦", "R$", "EUR", "CHF", "SEK", "NOK", "DKK", "PLN", "CZK")
_MORE_UNITS = ("HUF", "BRL", "ZAR", "kr", "zł", "Kč", "Ft")
_UNIT = "|".join(
    re.escape(unit) for unit in sorted((*_POINT_UNITS, *_OTHER_UNITS, *_MORE_UNITS), key=len, reverse=True)
)
_SPACES = "\\s\u00a0\u2009\u202f"
_SIGN = "[-+\u2212]?"
_FRAME = re.compile(
    rf"(?P<open>\()?(?P<sign>{_SIGN})[{_SPACES}]?(?P<front>{_UNIT})?\.?[{_SPACES}]?(?P<inner>{_SIGN})"
    rf"(?P<body>[.,]?\d(?:[\d.,'’{_SPACES}]*\d)?)[{_SPACES}]?(?P<back>{_UNIT}|%)?(?(open)\))"
)


def _body(mark: str, other: str) -> re.Pattern[str]:
    """Digits with or without separators of thousands (also of lakhs), and decimals after the mark."""
    separator = rf"(?P<separator>[{re.escape(other)}'’{_SPACES}])"
    thousands = rf"[1-9]\d{{0,2}}{separator}\d{{3}}(?:(?P=separator)\d{{3}})*"
    lakhs = r"[1-9]\d?(?:,\d{2})+,\d{3}" if other == "," else r"(?!)"
    return re.compile(rf"(?:{thousands}|{lakhs}|0|[1-9]\d*)?(?P<decimals>{re.escape(mark)}\d+)?")


_BODIES = {".": _body(".", ","), ",": _body(",", ".")}
_DIGITS = re.compile(r"\d+")
_IDENTIFIER = re.compile(rf"\d{{3}}(?:[{_SPACES}]\d{{3}}){{2,}}")


class _Facts(NamedTuple):
    """What one text shows."""

    marks: frozenset[str]
    unit: str
    is_adorned: bool


class NumberClues:
    """What the texts of a column show, one after the other, on how they are to be read as numbers."""

    def __init__(self) -> None:
        self._marks = frozenset(MARKS)
        self._units: set[str] = set()
        self._is_adorned = self._has_comma = self._has_point = self._has_other = False

    def look(self, texts: Iterable[str]) -> bool:
        """Whether all texts so far can be numbers; ends at the first that cannot."""
        return all(self._agrees(text) for text in texts)

    def _agrees(self, text: str) -> bool:
        facts = _facts(text)
        self._marks = self._marks & facts.marks if facts else frozenset()
        if facts is None or not self._marks:
            return False
        self._units.add(facts.unit)
        self._is_adorned |= facts.is_adorned
        self._has_comma |= "," in text
        self._has_point |= "." in text
        self._has_other |= _IDENTIFIER.fullmatch(text) is None
        return self._one_unit()

    def _one_unit(self) -> bool:
        """A currency may be left out, but a percent sign may not."""
        return len(self._units - {""}) <= 1 and not {"%", ""} <= self._units

    def mark(self, wanted: str | None = None) -> str | None:
        """The decimal mark; `wanted` decides where both fit. None if these are not numbers."""
        if not (self._marks and self._is_adorned and self._has_other):
            return None
        if len(self._marks) == 1:
            return min(self._marks)
        if wanted is not None:
            return wanted
        if self._has_comma and self._has_point:  # such as 1,234 beside 1.234
            return None
        return "." if self._has_comma or self._units <= {"", "%", *_POINT_UNITS} else ","


def _facts(text: str) -> _Facts | None:
    frame = _FRAME.fullmatch(text)
    if frame is None or (frame["front"] and frame["back"]) or (frame["sign"] and frame["inner"]):
        return None
    body = frame["body"]
    marks = frozenset(mark for mark, pattern in _BODIES.items() if pattern.fullmatch(body))
    if not marks:
        return None
    unit = frame["front"] or frame["back"] or ""
    return _Facts(marks, unit, bool(unit or frame["open"] or not body.isdigit()))


def number_of(text: str, mark: str) -> float | None:
    """The number that a string contains, or None if it is not a number with this decimal mark."""
    frame = _FRAME.fullmatch(text)
    if frame is None or not _BODIES[mark].fullmatch(frame["body"]):
        return None
    whole, _, decimals = frame["body"].partition(mark)
    number = float("".join(_DIGITS.findall(whole)) + "." + (decimals or "0"))
    signs = frame["sign"] + frame["inner"]
    return -number if frame["open"] or signs in ("-", "\u2212") else number
