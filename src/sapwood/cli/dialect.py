"""How a CSV file separates its values, guessed from its beginning."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable
from dataclasses import dataclass

from sapwood.errors import ParameterError
from sapwood.table.reading import recognise

_DELIMITERS = ",;\t|"
_NAMED = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";"}
_DECIMAL_COMMA = re.compile(r"\s*[-+]?\d+,\d+\s*")
_DECIMAL_POINT = re.compile(r"\s*[-+]?\d+\.\d+\s*")


@dataclass(frozen=True)
class Dialect:
    """The character between values, and the one before decimals."""

    delimiter: str
    decimal: str


def guess_dialect(head: str, complete: bool, delimiter: str | None) -> Dialect:
    """The dialect of a file that begins with this text; `complete` if that is all of it."""
    delimiter = _checked(delimiter) if delimiter else _guess_delimiter(head, complete)
    return Dialect(delimiter, _guess_decimal(_rows(head, delimiter, complete), delimiter))


def looks_like_data(names: list[str]) -> bool:
    """Whether the names of columns are rather values: a quarter of them are numbers or dates."""
    values = [name for name in names if _is_value(name)]
    return 4 * len(values) >= len(names)


def _is_value(name: str) -> bool:
    if re.fullmatch(r"[-+]?\d+", name):
        return True
    return recognise([name]).reading() is not None if name else False


def _checked(delimiter: str) -> str:
    delimiter = _NAMED.get(delimiter, delimiter)
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n':
        raise ParameterError(f"--delimiter {delimiter!r} is not allowed: it must be one character, or tab.")
    return delimiter


def _guess_delimiter(head: str, complete: bool) -> str:
    """The delimiter that gives every row the same number of values, and of several the one that gives the most."""

    def merit(delimiter: str) -> tuple[bool, int]:
        widths = [len(row) for row in _rows(head, delimiter, complete)]
        width = widths[0] if widths else 1
        return width > 1 and len(set(widths)) == 1, width

    return max(_DELIMITERS, key=merit)


def _rows(head: str, delimiter: str, complete: bool) -> list[list[str]]:
    try:
        rows = [row for row in csv.reader(io.StringIO(head, newline=""), delimiter=delimiter) if row]
    except csv.Error:
        return []
    return rows if complete else rows[:-1]


def _guess_decimal(rows: Iterable[list[str]], delimiter: str) -> str:
    if delimiter == ",":
        return "."
    values = [value for row in rows for value in row]
    has_point = any(map(_DECIMAL_POINT.fullmatch, values))
    return "," if not has_point and any(map(_DECIMAL_COMMA.fullmatch, values)) else "."
