"""Types of columns: text read as numbers or dates, and a summary of the columns of a training file."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sapwood.cli.options import FileFormat
from sapwood.counted import counted
from sapwood.errors import DataFileError
from sapwood.table.column import first_row
from sapwood.table.reading import Reading, Recognition, odd_value, recognise
from sapwood.table.text_warning import short_text

if TYPE_CHECKING:
    from pyarrow import Array as ArrowArray
    from pyarrow import ChunkedArray, DataType, Table

    from sapwood.sources.files import DataFiles

_KINDS = ("number", "category", "boolean", "date", "duration")
_MOST_NAMES = 5
_MOST_NOTES = 8
_FIRST_ROWS = 1000
_UNIQUE = 0.9  # share of distinct values from which on text is likely an identifier
_FEWEST_ROWS = 20  # to call text nearly unique


def text_columns(table: Table) -> list[str]:
    """Names of the columns of strings."""
    return [each.name for each in table.schema if is_text(each.type)]


def is_text(kind: DataType) -> bool:
    """Whether a column of this type holds strings."""
    from pyarrow import types

    if types.is_dictionary(kind):
        return is_text(kind.value_type)
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def expected_kind(kind: DataType) -> str | None:
    """What text must be to be read as this type: a number, a date, or neither."""
    from pyarrow import types

    if is_number(kind):
        return "number"
    return "date" if types.is_date(kind) or types.is_timestamp(kind) else None


def is_number(kind: DataType) -> bool:
    """Whether a column of this type holds numbers."""
    from pyarrow import types

    return bool(types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind))


def find_readings(
    table: Table, names: Iterable[str], file_format: FileFormat, decimal: str
) -> tuple[dict[str, Reading], list[str]]:
    """How to read the columns of text among these, and notes about it for the user."""
    from pyarrow import types

    readings, notes = {}, []
    for name in names:
        kind = table.schema.field(name).type
        if not is_text(kind) or types.is_dictionary(kind):  # the file declares a dictionary as categorical
            continue
        levels = _levels_to_judge(table.column(name))
        recognition = recognise(levels)
        reading = recognition.reading(decimal if decimal == "," else None, file_format.day_first)
        if reading is not None:
            readings[name] = reading
            notes.append(_note(name, reading, levels))
        elif recognition.is_open:
            notes.append(f"{name!r} stays text: {levels[0]!r} is an ambiguous date. Use --day-first or --month-first.")
        elif (odd := odd_value(levels)) is not None:
            notes.append(f"{name!r} stays text: {odd!r} is not a number, but most values are. Leave such cells empty.")
    return readings, notes


def readings_of_batches(
    files: DataFiles, names: Iterable[str], file_format: FileFormat
) -> tuple[dict[str, Reading], list[str]]:
    """The same for files that are read batch by batch; the columns that are text are not read to the end."""
    from pyarrow import types

    kinds = files.types()
    found = {name: Recognition() for name in names if is_text(kinds[name]) and not types.is_dictionary(kinds[name])}
    longest = dict.fromkeys(found, "")
    for batch in files.batches(list(found)) if found else ():
        for name in list(found):
            levels = levels_of(batch.frame.column(name))
            if levels and not found[name].look(levels):
                del found[name]
            longest[name] = max([longest[name], *levels], key=len)
        if not found:
            break
    readings, notes = {}, []
    for name, recognition in found.items():
        reading = recognition.reading(files.decimal if files.decimal == "," else None, file_format.day_first)
        if reading is not None:
            readings[name] = reading
            notes.append(_note(name, reading, [longest[name]]))
        elif recognition.is_open:
            notes.append(f"{name!r} stays text: its dates are ambiguous. Use --day-first or --month-first.")
    return readings, notes


def _levels_to_judge(column: ChunkedArray) -> list[str]:
    """All distinct values, or those of the first rows where they show that the column is text."""
    first = levels_of(column.slice(0, _FIRST_ROWS))
    is_text_alone = bool(first) and not recognise(first).look(()) and odd_value(first) is None
    return first if is_text_alone else levels_of(column)


def _note(name: str, reading: Reading, levels: list[str]) -> str:
    longest = max(levels[:100], key=len)
    return f"{name!r} was read as {reading.kind}s: {longest!r} is {short_text(reading.value(longest))}."


def shortened(notes: list[str]) -> list[str]:
    """The first notes, and how many more there are."""
    more = len(notes) - _MOST_NOTES
    return notes if more <= 1 else [*notes[:_MOST_NOTES], f"… and {more} more columns."]


def convert(table: Table, readings: Mapping[str, Reading], path: Path) -> Table:
    """The table with columns of text converted to numbers and dates."""
    for name, reading in readings.items():
        if name in table.column_names and is_text(table.schema.field(name).type):
            position = table.column_names.index(name)
            table = table.set_column(position, name, _values(table.column(position), name, reading, path))
    return table


def _values(column: ChunkedArray, name: str, reading: Reading, path: Path) -> ArrowArray:
    import pyarrow as pa

    coded = column.cast(pa.string()).combine_chunks().dictionary_encode()
    if isinstance(coded, pa.ChunkedArray):  # combine_chunks of older versions
        coded = coded.unify_dictionaries().combine_chunks()
    levels = coded.dictionary.to_pylist()
    values, bad = reading.values(levels)
    if bad.any():
        raise DataFileError(
            f"Column {name!r} of {str(path)!r} holds {levels[first_row(bad)]!r}, which is not a {reading.kind} as in "
            "the training file. Correct it or leave it empty."
        )
    kind = pa.float64() if reading.kind == "number" else pa.timestamp("us")
    indices = coded.indices.to_numpy(zero_copy_only=False)
    none = np.isnan(indices) if indices.dtype.kind == "f" else np.zeros(len(indices), dtype=bool)
    cells = values[np.where(none, 0, indices).astype(np.intp)] if levels else np.zeros(len(indices), dtype=values.dtype)
    return pa.array(cells, kind, mask=none)


def expected_readings(
    found: Mapping[str, Recognition], kinds: Mapping[str, str], file_format: FileFormat, path: Path
) -> dict[str, Reading]:
    """How to read text in columns of numbers or dates; other text is left, for the model to refuse it."""
    readings = {}
    for name, recognition in found.items():
        reading = recognition.reading(None, file_format.day_first)
        if reading is None and recognition.is_open and kinds[name] == "date":
            raise DataFileError(
                f"The dates in column {name!r} of {str(path)!r} are ambiguous. Use --day-first or --month-first."
            )
        if reading is not None and reading.kind == kinds[name]:
            readings[name] = reading
    return readings


def levels_of(column: ChunkedArray) -> list[str]:
    """The distinct values."""
    return [value for value in column.cast("string").unique().to_pylist() if value is not None]


def column_summary(X: Table, category: Collection[str]) -> str:
    """Kinds of columns with their names, and columns of no use: constant ones and identifiers."""
    names: dict[str, list[str]] = {}
    for each in X.schema:
        names.setdefault(_kind(each.type, each.name in category), []).append(each.name)
    kinds = [f"{counted(len(names[kind]), kind)} ({_listed(names[kind])})" for kind in _KINDS if kind in names]
    distinct = {each.name: _distinct(X.column(each.name)) for each in X.schema}
    parts = [f"{counted(X.num_columns, 'column')}: {', '.join(kinds)}"]
    constant = [name for name, number in distinct.items() if number <= 1]
    if constant:
        parts.append(f"constant: {_listed(constant)}")
    unique = [name for name in text_columns(X) if _is_unique(X.column(name), distinct[name])]
    if unique:
        parts.append(f"nearly unique: {_listed(unique)} (leave out with --drop {','.join(unique[:_MOST_NAMES])})")
    return "; ".join(parts) + "."


def _kind(kind: DataType, is_category: bool) -> str:
    from pyarrow import types

    if is_category or is_text(kind):
        return "category"
    if types.is_boolean(kind):
        return "boolean"
    return "duration" if types.is_duration(kind) else expected_kind(kind) or "number"


def _distinct(column: ChunkedArray) -> int:
    """Number of distinct values, missing among them; all of lists and the like, which cannot be compared."""
    import pyarrow as pa

    try:
        return len(column.unique())
    except pa.ArrowNotImplementedError:
        return len(column)


def _is_unique(column: ChunkedArray, distinct: int) -> bool:
    n_rows = len(column) - int(column.null_count)
    return n_rows >= _FEWEST_ROWS and distinct - (n_rows < len(column)) >= _UNIQUE * n_rows


def _listed(names: list[str]) -> str:
    more = len(names) - _MOST_NAMES
    return ", ".join(names) if more <= 0 else f"{', '.join(names[:_MOST_NAMES])} and {more} more"
