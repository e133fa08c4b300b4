"""Statistics of the training columns in a model file: an extension, since a model predicts the same without them.

Columns one after the other: `rows` and `missing` and `single` hold a number for each, `quantiles` and `upto` a row for
each column of numbers that has values, `levels` the number of levels of each whose `codes` and `counts` follow.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.files.checks import floats, ints, whole
from sapwood.files.values import Json, expect
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.statistics import MOST_LEVELS, NOTHING, SHARES, ColumnStatistics

EXTENSION = "statistics"
PLACE = f"extensions.{EXTENSION}"
PARTS = ("missing", "single", "quantiles", "upto", "levels", "codes", "counts")
NO_NUMBERS = np.empty(0)


def write_statistics(schema: Schema) -> tuple[dict[str, Json], dict[str, Array]]:
    """The extension and its arrays; neither if the schema has no statistics."""
    kept = [column.statistics for column in schema.columns]
    known = [one for one in kept if one is not None]
    if len(known) < len(kept):
        return {}, {}
    numbers = [one for one in known if len(one.quantiles)]
    parts: dict[str, Array] = {
        "missing": np.array([one.n_missing for one in known], dtype=np.int64),
        "single": np.array([one.n_single for one in known], dtype=np.int64),
        "quantiles": np.array([one.quantiles for one in numbers], dtype=np.float64).reshape(-1, len(SHARES)),
        "upto": np.array([one.upto for one in numbers], dtype=np.float64).reshape(-1, len(SHARES)),
        "levels": np.array([len(one.codes) for one in known], dtype=np.int64),
        "codes": np.concatenate([one.codes for one in known]).astype(np.int32),
        "counts": np.concatenate([one.counts for one in known]).astype(np.int64),
    }
    return {EXTENSION: {"rows": known[0].n_rows}}, {f"{PLACE}.{name}": parts[name] for name in PARTS}


def read_statistics(schema: Schema, extensions: Mapping[str, Json], arrays: Mapping[str, Array]) -> Schema:
    """The schema with the statistics that a file holds, if it holds any."""
    found = extensions.get(EXTENSION)
    if found is None:
        return schema
    expect(isinstance(found, dict) and set(found) == {"rows"}, PLACE, "must have the number of rows")
    whole(1)(found["rows"], f"{PLACE}.rows")
    parts = {name: arrays.get(f"{PLACE}.{name}") for name in PARTS}
    _check(parts, schema, found["rows"])
    columns, read = [], _Parts(parts, found["rows"])
    for j, column in enumerate(schema.columns):
        columns.append(replace(column, statistics=read.column(j, column)))
    return replace(schema, columns=tuple(columns))


def _check(parts: Mapping[str, Any], schema: Schema, n_rows: int) -> None:
    """Lengths fit the columns, and numbers are those of rows and levels that there are."""
    for name in ("missing", "single", "levels", "codes", "counts"):
        ints(n_rows + 1 if name in ("missing", "single", "counts") else None)(parts[name], f"{PLACE}.{name}")
    for name in ("quantiles", "upto"):
        floats(2)(parts[name], f"{PLACE}.{name}")
        expect(not np.isnan(parts[name]).any(), f"{PLACE}.{name}", "holds numbers that are missing")
    d = schema.n_features
    fits = all(len(parts[name]) == d for name in ("missing", "single", "levels"))
    expect(fits, PLACE, "does not match the columns")
    expect(
        bool((parts["levels"] == np.minimum(schema.n_levels, MOST_LEVELS)).all()), PLACE, "does not match the levels"
    )
    total = int(parts["levels"].sum())
    expect(len(parts["codes"]) == len(parts["counts"]) == total, PLACE, "does not match the levels")
    has_values = [not np.isnan(column.low) for column in schema.columns]
    shape = (sum(has_values), len(SHARES))
    expect(parts["quantiles"].shape == parts["upto"].shape == shape, PLACE, "does not match the columns of numbers")


class _Parts:
    """Arrays of a file, read column by column."""

    def __init__(self, parts: Mapping[str, Any], n_rows: int) -> None:
        self._parts, self._n_rows = parts, n_rows
        self._number = self._level = 0

    def column(self, j: int, column: ColumnSchema) -> ColumnStatistics:
        """The next column, which is number j."""
        parts = self._parts
        quantiles, upto, codes, counts = NO_NUMBERS, NO_NUMBERS, NOTHING, NOTHING
        if not np.isnan(column.low):
            quantiles, upto = parts["quantiles"][self._number], parts["upto"][self._number]
            self._number += 1
        n = int(parts["levels"][j])
        if n:
            cells = slice(self._level, self._level + n)
            codes, counts = parts["codes"][cells].astype(np.int64), parts["counts"][cells]
            ints(len(column.levels))(codes, f"{PLACE}.codes")
            self._level += n
        n_missing, n_single = int(parts["missing"][j]), int(parts["single"][j])
        return ColumnStatistics(self._n_rows, n_missing, quantiles, upto, codes, counts, n_single)
