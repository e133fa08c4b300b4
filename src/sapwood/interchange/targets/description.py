"""Inputs and outputs of a model, for the comments of generated files."""

from __future__ import annotations

from sapwood.interchange.targets.exported_model import output_names
from sapwood.model import Model
from sapwood.one_line import clipped
from sapwood.table.schema import ColumnSchema

LONGEST = 60  # characters of a name
MOST_LEVELS = 1000

_KINDS = {  # by kind, and whether everything is a number
    ("number", True): "number",
    ("number", False): "number",
    ("boolean", True): "0 or 1",
    ("boolean", False): "True or False",
    ("date", True): "seconds since 1970-01-01 (UTC)",
    ("date", False): "date, or seconds since 1970-01-01 (UTC)",
    ("duration", True): "seconds",
    ("duration", False): "duration, or seconds",
    ("category", True): "number of the level, from 0",
    ("category", False): "category",
}


def column_lines(model: Model, row: str, missing: str, *, by_number: bool = True) -> list[str]:
    """One line for each column, and one for each level of a category that is given by number."""
    lines = [f"The columns of {row}. {missing}"]
    for j, column in enumerate(model.schema.columns):
        kind = _KINDS[column.kind, by_number]
        lines.append(f"  {row}[{j}]  {clipped(column.name, LONGEST)}: {kind}")
        lines += _levels(column) if by_number else []
    return lines


def _levels(column: ColumnSchema) -> list[str]:
    shown = [
        f"      {code} = {clipped(repr(level), LONGEST)}" for code, level in enumerate(column.levels[:MOST_LEVELS])
    ]
    more = len(column.levels) - len(shown)
    return [*shown, *([f"      and {more} more"] if more else [])]


def output_lines(model: Model, out: str) -> list[str]:
    """One line for each output."""
    what = "probability of " if model.classes else ""
    names = enumerate(output_names(model))
    return [f"The outputs in {out}.", *(f"  {out}[{k}]  {what}{clipped(name, LONGEST)}" for k, name in names)]
