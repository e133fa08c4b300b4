"""Dates as people write them: "17.05.2024", "28/07/2023 14:30", "2024-05-17", "17 May 2024", "May 17, 2024".

All values of a column must agree with one order of day, month and year. Between dots the day comes first. Between
slashes or dashes a number above 12 tells which is the day; where none occurs, the order is ambiguous.
"""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable

ORDERS = ("ymd", "dmy", "mdy")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_FULL = ("january", "february", "march", "april", "june", "july", "august", "september", "sept", "october")
_MONTH = "|".join(sorted((*_MONTHS, *_FULL, "november", "december"), key=len, reverse=True))
_TIME = (
    r"(?:(?:T|,?\s+)(?P<hour>\d{1,2}):(?P<minute>\d{2})(?::(?P<second>\d{2})(?:\.(?P<part>\d{1,9}))?)?"
    r"(?:\s?(?P<half>[AaPp])\.?[Mm]\.?)?(?P<zone>Z|[+-]\d{2}:?\d{2})?)?"
)
_PATTERNS = [
    (
        orders,
        re.compile(pattern + _TIME, re.IGNORECASE),
    )
    for orders, pattern in (
        (("ymd",), r"(?P<a>\d{4})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{1,2})"),
        (("dmy", "mdy"), r"(?P<a>\d{1,2})(?P<mark>[-/.])(?P<b>\d{1,2})(?P=mark)(?P<c>\d{4})"),
        (("dmy", "mdy"), r"(?P<a>\d{1,2})(?P<mark>/)(?P<b>\d{1,2})/(?P<c>\d{2})"),
        (("dmy",), r"(?P<a>\d{2})(?P<mark>\.)(?P<b>\d{2})\.(?P<c>\d{2})"),
        (("dmy",), rf"(?P<a>\d{{1,2}})(?P<mark>[\s-])(?P<b>{_MONTH})\.?(?P=mark)(?P<c>\d{{4}})"),
        (("mdy",), rf"(?P<a>{_MONTH})\.?(?P<mark>\s)(?P<b>\d{{1,2}}),?\s(?P<c>\d{{4}})"),
    )
]


class DateClues:
    """What the texts of a column show, one after the other, on how they are to be read as dates."""

    def __init__(self) -> None:
        self._orders = frozenset(ORDERS)
        self._only_dots = True

    def look(self, texts: Iterable[str]) -> bool:
        """Whether all texts so far can be dates; ends at the first that cannot."""
        return all(self._agrees(text) for text in texts)

    def _agrees(self, text: str) -> bool:
        orders, found = _match(text)
        if found is None:
            self._orders = frozenset()
            return False
        self._only_dots &= found["mark"] == "."
        self._orders &= {order for order in orders if _date(found, order) is not None}
        return bool(self._orders)

    def order(self, day_first: bool | None = None) -> str | None:
        """The order; `day_first` decides where day and month may be either way round. None if it is ambiguous."""
        if len(self._orders) == 1:
            return min(self._orders)
        if self._orders == {"dmy", "mdy"}:
            if self._only_dots:
                return "dmy"
            return None if day_first is None else "dmy" if day_first else "mdy"
        return None

    @property
    def is_open(self) -> bool:
        """Whether these are dates whose day and month may be either way round."""
        return self._orders == {"dmy", "mdy"} and not self._only_dots


def date_of(text: str, order: str) -> datetime.datetime | None:
    """The date that a string contains (in UTC if it has an offset), or None if it is not a date in this order."""
    orders, found = _match(text)
    return _date(found, order) if found is not None and order in orders else None


def _match(text: str) -> tuple[tuple[str, ...], re.Match[str] | None]:
    for orders, pattern in _PATTERNS:
        found = pattern.fullmatch(text)
        if found is not None:
            return orders, found
    return (), None


def _date(found: re.Match[str], order: str) -> datetime.datetime | None:
    parts = dict(zip(order, found.group("a", "b", "c"), strict=True))
    try:
        day = datetime.datetime(_year(parts["y"]), _month(parts["m"]), int(parts["d"]))
        return day + _time(found)
    except (ValueError, OverflowError):
        return None


def _year(text: str) -> int:
    """Years of two digits are 1969 to 2068, as everywhere."""
    year = int(text)
    if len(text) == 4:
        return year
    return year + (1900 if year >= 69 else 2000)


def _month(text: str) -> int:
    return int(text) if text.isdecimal() else _MONTHS.index(text[:3].lower()) + 1


def _time(found: re.Match[str]) -> datetime.timedelta:
    if found["hour"] is None:
        return datetime.timedelta()
    hour, minute, second = (int(found[name] or 0) for name in ("hour", "minute", "second"))
    if found["half"] is not None:
        if not 1 <= hour <= 12:
            raise ValueError
        hour = hour % 12 + (12 if found["half"] in "Pp" else 0)
    if hour > 23 or minute > 59 or second > 59:
        raise ValueError
    micro = int((found["part"] or "").ljust(6, "0")[:6])
    time = datetime.timedelta(hours=hour, minutes=minute, seconds=second, microseconds=micro)
    return time - _offset(found["zone"])


def _offset(zone: str | None) -> datetime.timedelta:
    if zone is None or zone in "Zz":
        return datetime.timedelta()
    ahead = datetime.timedelta(hours=int(zone[1:3]), minutes=int(zone[-2:]))
    return -ahead if zone[0] == "-" else ahead
