"""Columns of text in data files that are numbers or dates: found, converted, and said."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sapwood.cli.layout import Layout
from sapwood.cli.task import is_text
from sapwood.errors import DataFileError
from sapwood.table.column import first_row
from sapwood.table.reading import Reading, Recognition, odd_value, recognise
from sapwood.table.text_warning import said

Readings = Mapping[str, Reading]
_KINDS = {"number": "numbers", "date": "dates"}
_MOST_NOTES = 8
_FIRST_ROWS = 1000


def find_readings(
    table: Any, names: Iterable[str], layout: Layout, decimal: str
) -> tuple[dict[str, Reading], list[str]]:
    """How to read the columns of text among these, and what to say of it."""
    from pyarrow import types

    readings, notes = {}, []
    for name in names:
        kind = table.schema.field(name).type
        if not is_text(kind) or types.is_dictionary(kind):  # a dictionary is called categorical by its file
            continue
        levels = _telling_levels(table.column(name))
        recognition = recognise(levels)
        reading = recognition.reading(decimal if decimal == "," else None, layout.day_first)
        if reading is not None:
            readings[name] = reading
            notes.append(_note(name, reading, levels))
        elif recognition.is_open:
            notes.append(
                f"{name!r} stays text: in {levels[0]!r} day and month may be either way round. Use --day-first or "
                "--month-first."
            )
        elif (odd := odd_value(levels)) is not None:
            notes.append(f"{name!r} stays text: {odd!r} is no number, but most values are. Leave such cells empty.")
    return readings, notes


def _telling_levels(column: Any) -> list[str]:
    """All distinct values, or those of the first rows where they show that the column is text."""
    first = levels_of(column.slice(0, _FIRST_ROWS))
    is_text_alone = bool(first) and not recognise(first).look(()) and odd_value(first) is None
    return first if is_text_alone else levels_of(column)


def _note(name: str, reading: Reading, levels: list[str]) -> str:
    longest = max(levels[:100], key=len)
    return f"{name!r} was read as {_KINDS[reading.kind]}: {longest!r} is {said(reading.value(longest))}."


def shortened(notes: list[str]) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 1 else [*notes[:_MOST_NOTES], f"… and {more} more columns like these."]


def convert(table: Any, readings: Readings, path: Path) -> Any:
    """The table with the columns of text that have a reading as numbers and dates."""
    for name, reading in readings.items():
        if name in table.column_names and is_text(table.schema.field(name).type):
            position = table.column_names.index(name)
            table = table.set_column(position, name, _values(table.column(position), name, reading, path))
    return table


def _values(column: Any, name: str, reading: Reading, path: Path) -> Any:
    import pyarrow as pa

    coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):  # combine_chunks of older versions
        coded = coded.unify_dictionaries().combine_chunks()
    levels = coded.dictionary.to_pylist()
    values, bad = reading.values(levels)
    if bad.any():
        raise DataFileError(
            f"Column {name!r} of {str(path)!r} holds {levels[first_row(bad)]!r}, which is no {reading.kind} as in the "
            "training file. Correct it or leave it empty."
        )
    kind = pa.float64() if reading.kind == "number" else pa.timestamp("us")
    indices = coded.indices.to_numpy(zero_copy_only=False)
    none = np.isnan(indices) if indices.dtype.kind == "f" else np.zeros(len(indices), dtype=bool)
    cells = values[np.where(none, 0, indices).astype(np.intp)] if levels else np.zeros(len(indices), dtype=values.dtype)
    return pa.array(cells, kind, mask=none)


def expected_reading(recognition: Recognition, name: str, kind: str, layout: Layout, path: Path) -> Reading | None:
    """How to read text where the model expects numbers or dates; None to leave it to the model to refuse it."""
    reading = recognition.reading(None, layout.day_first)
    if reading is None and recognition.is_open and kind == "date":
        raise DataFileError(
            f"In column {name!r} of {str(path)!r} day and month may be either way round. Use --day-first or "
            "--month-first."
        )
    return reading if reading is not None and reading.kind == kind else None


def levels_of(column: Any) -> list[str]:
    """The distinct values."""
    return [value for value in column.cast("string").unique().to_pylist() if value is not None]
