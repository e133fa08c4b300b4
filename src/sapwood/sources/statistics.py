"""Statistics of columns from a source: those that `with_statistics` finds for a table of all rows.

If many rows are equal, a table takes every k-th row in the order of their hashes. Of more rows than the sample of the
bins has, evenly spaced rows are taken instead: only then, quantiles may differ from those of the table.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.codes.binned import sampled_rows
from sapwood.sources.survey import Survey
from sapwood.table.row_sample import are_spread, bucket_sizes, limit_of, sample_in_order
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.statistics import MOST_COLUMNS, of_counts, of_numbers, sample_size
from sapwood.table.table import Table

MOST_TIMES = 16  # as many rows as wanted may be kept


class StatisticsReading:
    """The sample of rows, chosen by their contents batch by batch."""

    def __init__(self, found: Survey) -> None:
        self._found, n = found, found.n_rows
        self._most = sample_size(found.schema.n_features)
        self.is_wanted = found.schema.n_features <= MOST_COLUMNS
        self._n_sampled = len(sampled_rows(n))
        self._limit = limit_of(n, self._most) if n > self._most else None
        self._numbers = [j for j, own in enumerate(found.schema.columns) if own.kind != "category"]
        self._sizes = np.zeros(1, dtype=np.int64)
        self._hashes: list[Array] = []  # of all rows, if they are few
        self._parts: list[list[Array]] = []  # of each batch, cells of the columns of numbers
        self._n_kept = 0

    def add(self, table: Table, hashes: Array) -> None:
        """Look at some rows, whose cells have these hashes."""
        if not self.is_wanted or self._limit is None:
            return
        self._sizes = self._sizes + bucket_sizes(hashes)
        if self._n_sampled == self._found.n_rows:
            self._hashes.append(hashes)
        chosen = np.flatnonzero(hashes < self._limit)
        self._n_kept += len(chosen)
        if self._n_kept > MOST_TIMES * self._most:
            self._parts = []  # many rows are equal, so that these are no fair sample
        elif len(chosen):
            self._parts.append([table.values(j)[chosen] for j in self._numbers])

    def schema(self) -> Schema:
        """The schema with statistics."""
        found = self._found
        if not self.is_wanted:
            return found.schema
        cells = dict(zip(self._numbers, self._sample(), strict=True))
        columns = [self._described(j, column, cells) for j, column in enumerate(found.schema.columns)]
        return replace(found.schema, columns=tuple(columns))

    def _described(self, j: int, column: ColumnSchema, cells: dict[int, Array]) -> ColumnSchema:
        facts = self._found.columns[j]
        if column.kind == "category":
            return replace(column, statistics=of_counts(facts.counts(column.levels), facts.n_missing))
        values = cells[j]
        if not np.isnan(column.low) and np.isnan(values).all():
            values = facts.sample() if facts.few is None else facts.few
        bounds = column.low, column.high
        return replace(column, statistics=of_numbers(values, self._found.n_rows, facts.n_missing, bounds))

    def _sample(self) -> list[Array]:
        """Cells of the sample, of each column of numbers."""
        if self._limit is None:
            return [self._found.columns[j].sample() for j in self._numbers]
        if are_spread(self._sizes, self._most) and self._parts:
            return [np.concatenate(own) for own in zip(*self._parts, strict=True)] or []
        if self._hashes:
            rows = sample_in_order(np.concatenate(self._hashes), self._most)
        else:
            rows = np.arange(self._most) * self._n_sampled // self._most
        return [self._found.columns[j].sample()[rows] for j in self._numbers]


def cells_to_hash(table: Table, keys: list[Floats | None]) -> list[Array]:
    """Columns of numbers as they are, categories as the keys of their levels."""
    columns = []
    for j, own in enumerate(keys):
        values = table.values(j)
        columns.append(values if own is None else own[values])
    return columns
