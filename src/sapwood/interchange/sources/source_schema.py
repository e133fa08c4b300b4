"""Columns of another library's model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from sapwood.errors import InputError, ModelFileError
from sapwood.table.column import Level
from sapwood.table.levels import is_missing, to_level
from sapwood.table.names import nearest_name, numbered_names, repeated_names, shorten
from sapwood.table.schema import ColumnSchema, Schema

Levels = Sequence[object]
LevelNames = Mapping[str, Levels]  # by column


def schema_of(
    names: Sequence[str] | None,
    levels: Sequence[Levels | None],
    ranges: Mapping[int, tuple[float, float]] | None = None,
) -> Schema:
    """A schema from the levels of each column, None for numbers; any column may have missing values."""
    shown = numbered_names(len(levels)) if names is None else tuple(map(str, names))
    if repeated_names(shown):
        raise ModelFileError(f"The model has columns of the same name: {repeated_names(shown)}.")
    columns = []
    for j, (name, own) in enumerate(zip(shown, levels, strict=True)):
        if own is None:
            low, high = (ranges or {}).get(j, (np.nan, np.nan))
            columns.append(ColumnSchema(name, "number", (), low, high, True))
        else:
            columns.append(ColumnSchema(name, "category", _distinct(own, name), has_missing=True))
    return Schema(tuple(columns), named=names is not None)


def _distinct(levels: Levels, name: str) -> tuple[Level, ...]:
    """Categories as a table has them, in the order of their codes."""
    found = tuple(to_level(level) for level in levels if not is_missing(level))
    if len(set(found)) < len(found):
        raise ModelFileError(f"Column {name!r} of the model has the same category twice.")
    if not found:
        raise ModelFileError(f"Column {name!r} of the model has categories, but none of them is known.")
    return found


def named_levels(
    names: Sequence[str] | None, levels: Sequence[Levels | None], given: LevelNames
) -> list[Levels | None]:
    """Levels of each column; those that the caller names replace the codes 0, 1, 2, … of the model."""
    columns = list(numbered_names(len(levels)) if names is None else names)
    found = list(levels)
    for name, own in given.items():
        if name not in columns:
            raise InputError(
                f"levels names the column {name!r}, which the model does not have.{nearest_name(str(name), columns)} "
                f"Its columns are {shorten(columns)}."
            )
        j = columns.index(name)
        known = found[j]
        if known is None:
            raise InputError(f"levels names the column {name!r}, which the model does not split as categories.")
        if len(own) < len(known):
            raise InputError(
                f"levels[{name!r}] has {len(own)} categories, but the model has {len(known)}. Name all of them, in "
                "the order of their codes."
            )
        found[j] = list(own)
    return found
