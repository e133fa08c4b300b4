"""Columns that name their rows (customer numbers, names, free text): found before training, and named in a warning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from sapwood.data_warnings import is_quiet
from sapwood.errors import IdentifierWarning, warn_user
from sapwood.table.reading import recognise
from sapwood.table.schema import Schema
from sapwood.table.table import Table

LEAST_LEVELS = 20  # a column of fewer levels may well have each of them once by chance
NEARLY_ALL = 0.9  # levels by rows with a value, from which on a column names its rows
MOST_SHOWN = 5  # columns that a warning describes


def identifier_columns(table: Table) -> dict[str, tuple[int, int]]:
    """Category columns whose levels are nearly all different: name to (number of levels, rows with a value)."""
    return _identifiers(table.schema, lambda j: int(np.count_nonzero(table.values(j) >= 0)))


def _identifiers(schema: Schema, n_present_in: Callable[[int], int]) -> dict[str, tuple[int, int]]:
    found = {}
    for j in np.flatnonzero(schema.n_levels >= LEAST_LEVELS).tolist():
        n_levels, n_present = int(schema.n_levels[j]), n_present_in(j)
        if n_levels > NEARLY_ALL * n_present and not _is_convertible(schema.columns[j].levels):
            found[schema.names[j]] = (n_levels, n_present)
    return found


def _is_convertible(levels: Sequence[Any]) -> bool:
    """Whether levels are text that looks like numbers or dates, which another warning advises to convert."""
    if not isinstance(levels[0], str) or not isinstance(levels[-1], str):
        return False
    seen = recognise(levels)
    return seen.is_open or seen.reading() is not None


def warn_of_identifiers(table: Table) -> None:
    """Name the columns of a training table that look like identifiers, in one warning."""
    if not is_quiet():
        _warn(identifier_columns(table))


def warn_of_counted_identifiers(schema: Schema, n_present: Sequence[int]) -> None:
    """The same for columns of which only the rows with a value were counted."""
    if not is_quiet():
        _warn(_identifiers(schema, lambda j: n_present[j]))


def _warn(found: Mapping[str, tuple[int, int]]) -> None:
    if not found:
        return
    described = [f"{name!r} has {k} different values in {n} rows" for name, (k, n) in found.items()]
    more = f", and {len(found) - MOST_SHOWN} more columns are like that" if len(found) > MOST_SHOWN else ""
    warn_user(
        f"{', '.join(described[:MOST_SHOWN])}{more}: like an identifier or free text, which says nothing about new "
        f"rows. Drop {'it' if len(found) == 1 else 'them'} before fit, for example "
        f"X.drop(columns={list(found)[:MOST_SHOWN]!r}), or convert the text to numbers, dates or fewer categories.",
        IdentifierWarning,
    )
