"""Warnings of text that looks like numbers or dates, and of text targets with very many classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.data_warnings import is_quiet
from sapwood.errors import TextColumnWarning, warn_user
from sapwood.table.column import Column
from sapwood.table.reading import Recognition, recognise

MANY_CLASSES = 100
_FEW_ROWS = 10  # of a class, on average
_MOST_NAMED = 5


def warn_of_text(columns: Mapping[str, Column]) -> None:
    """Name the columns of text that look like numbers or dates, unless their type calls them categorical."""
    if is_quiet():
        return
    found = []
    for name, column in columns.items():
        if column.kind == "category" and not column.declared and column.levels and _all_text(column.levels):
            example = example_of(recognise(column.levels), column.levels)
            found += [f"{name!r} ({example})"] if example else []
    if not found:
        return
    more = f" and {len(found) - _MOST_NAMED} more" if len(found) > _MOST_NAMED else ""
    columns_hold = "Column" if len(found) == 1 else "Columns"
    _warn(
        f"{columns_hold} {', '.join(found[:_MOST_NAMED])}{more} of X: text that looks like numbers or dates is "
        "treated as categories. Convert it with X = sapwood.parse_text(X), and new rows with "
        "sapwood.parse_text(X_new, like=model); or name such columns in categorical_features to keep them."
    )


def warn_of_classes(targets: Sequence[Array], n_rows: int) -> None:
    """Warn if classes of text, of each target, look like numbers, or if there are very many with few rows each."""
    if is_quiet():
        return
    for classes in targets:
        if classes.dtype.kind not in "OUT" or not isinstance(classes[0], str):
            continue
        recognition = recognise(classes.tolist())
        reading = recognition.reading()
        if reading is not None and reading.kind == "number" and len(classes) > 2:
            _warn(
                f"y holds text that looks like numbers ({example_of(recognition, classes.tolist())}) and is "
                f"treated as {len(classes)} classes. For numbers, fit the regressor to sapwood.parse_text(y)."
            )
        elif len(classes) > MANY_CLASSES and n_rows < _FEW_ROWS * len(classes):
            _warn(
                f"y holds text with {len(classes)} different values in {n_rows} rows, each of which becomes "
                "a class. Check that y is the intended target, or merge rare classes."
            )


def example_of(recognition: Recognition, levels: Sequence[str]) -> str:
    """The longest of some values, and what it is; nothing if the text is neither number nor date."""
    longest = max(levels[:: max(1, len(levels) // 100)], key=len)
    if recognition.is_open:
        return f"{str(longest)!r} is a date"
    reading = recognition.reading()
    return "" if reading is None else f"{str(longest)!r} is {short_text(reading.value(longest))}"


def short_text(value: Any) -> str:
    """A number without a zero fraction, or a date without a time of midnight."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return str(np.datetime64(value, "D" if value.time() == value.min.time() else "s"))


def _all_text(levels: Sequence[object]) -> bool:
    return isinstance(levels[0], str) and isinstance(levels[-1], str)


def _warn(message: str) -> None:
    warn_user(message, TextColumnWarning)
