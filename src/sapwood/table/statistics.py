"""What a model keeps of the values of its training columns, for comparison with new rows: quantiles, shares, counts.

Missing values and levels are counted in all rows. Quantiles are those of all rows, or of a sample of a large table,
which is chosen by the contents of the rows: none of the figures depends on the order of the rows. Weights are ignored.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from sapwood.arrays import Array
from sapwood.table.column import MISSING
from sapwood.table.ranges import matrix_missing
from sapwood.table.row_sample import sample_rows
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.storage import MatrixStorage, SparseStorage, Storage
from sapwood.table.table import Table
from sapwood.threads import run_all

SHARES = (0.0, 0.01, 0.05, 0.10, 0.25, 0.50, 0.75, 0.90, 0.95, 0.99, 1.0)
MOST_COLUMNS = 4096  # a wider table keeps no statistics
MOST_LEVELS = 256  # whose counts are kept, the most frequent ones
MOST_ROWS, LEAST_ROWS, MOST_CELLS = 4_000, 1_000, 1 << 22  # of the sample


@dataclass(frozen=True, eq=False)
class ColumnStatistics:
    """Figures of one training column.

    | name | meaning |
    |---|---|
    | n_rows, n_missing | training rows, and those without a value |
    | quantiles | values at `SHARES` of the rows with a value; empty for categories and columns without values |
    | upto | share of the rows with a value that have at most each of these values |
    | codes, counts | the most frequent levels, and rows that hold each of them |
    | n_single | levels that occur in one row: their share is about that of unseen levels in new rows |
    """

    n_rows: int
    n_missing: int
    quantiles: Array
    upto: Array
    codes: Array
    counts: Array
    n_single: int = 0

    @property
    def n_present(self) -> int:
        """Rows with a value."""
        return self.n_rows - self.n_missing


def with_statistics(table: Table, n_jobs: int = 1) -> Schema:
    """The schema of a training table with statistics of its columns; one that has them stays as it is."""
    schema = table.schema
    if schema.has_statistics or schema.n_features > MOST_COLUMNS:
        return schema
    sample = _Sample(table.storage, sample_rows(table, sample_size(schema.n_features), n_jobs))
    n_missing = _n_missing(table)

    def describe(j: int) -> ColumnSchema:
        column = schema.columns[j]
        if column.kind == "category":
            return replace(column, statistics=_of_codes(table.values(j), len(column.levels)))
        values = sample.column(j)
        if not np.isnan(column.low) and np.isnan(values).all():
            values = table.values(j)  # so few that the sample has none
        found = of_numbers(values, table.n_rows, n_missing[j], (column.low, column.high))
        return replace(column, statistics=found)

    columns = run_all([partial(describe, j) for j in range(schema.n_features)], table.jobs(n_jobs))
    return replace(schema, columns=tuple(columns))


def sample_size(n_features: int) -> int:
    """Maximum number of rows that quantiles are taken from."""
    return min(MOST_ROWS, max(LEAST_ROWS, MOST_CELLS // n_features))


def of_numbers(
    values: Array, n_rows: int, n_missing: int, bounds: tuple[float, float] | None = None
) -> ColumnStatistics:
    """Statistics of a sample of a column of numbers; `bounds` are those of all its rows."""
    ordered = np.sort(values)  # NaN last
    n = int(np.searchsorted(ordered, np.nan)) if len(ordered) and np.isnan(ordered[-1]) else len(ordered)
    ordered = ordered[:n].astype(np.float64)
    quantiles = ordered[_places(n)] if n else ordered
    if bounds is not None and not np.isnan(bounds[0]):
        quantiles[[0, -1]] = bounds
    upto = np.searchsorted(ordered, quantiles, side="right") / max(n, 1)
    return ColumnStatistics(n_rows, n_missing, quantiles, upto, NOTHING, NOTHING)


def _places(n: int) -> Array:
    """Places of the quantiles among n sorted values."""
    places: Array = np.rint(np.array(SHARES) * (n - 1)).astype(np.intp)
    return places


def _of_codes(codes: Array, n_levels: int) -> ColumnStatistics:
    counts = np.bincount(codes - MISSING, minlength=n_levels + 1)
    return of_counts(counts[1:], int(counts[0]))


def of_counts(counts: Array, n_missing: int) -> ColumnStatistics:
    """Statistics of a category, from the rows that hold each level."""
    n_levels = len(counts)
    kept = np.arange(n_levels)
    if n_levels > MOST_LEVELS:
        kept = np.sort(np.argsort(-counts, kind="stable")[:MOST_LEVELS])
    n_single = int(np.count_nonzero(counts == 1))
    none = np.empty(0)
    return ColumnStatistics(int(counts.sum()) + n_missing, n_missing, none, none, kept, counts[kept], n_single)


def _n_missing(table: Table) -> list[int]:
    """Missing values of each column of numbers."""
    has_missing = [column.has_missing and column.kind != "category" for column in table.schema.columns]
    if any(has_missing) and isinstance(table.storage, MatrixStorage):
        counts: list[int] = matrix_missing(table.storage.matrix).tolist()
        return counts
    return [_n_missing_in(table, j) if here else 0 for j, here in enumerate(has_missing)]


def _n_missing_in(table: Table, j: int) -> int:
    stored = table.explicit(j)
    if stored is None:
        return int(np.count_nonzero(np.isnan(table.values(j))))
    absent = table.n_rows - len(stored[1]) if table.schema.sparse_absent == "missing" else 0
    return absent + int(np.count_nonzero(np.isnan(stored[1])))


class _Sample:
    """Some rows of a table, column by column."""

    def __init__(self, storage: Storage, rows: Array | None) -> None:
        is_sparse = isinstance(storage, SparseStorage)
        self._storage = storage.take(rows) if is_sparse and rows is not None else storage
        self._rows = slice(None) if is_sparse or rows is None else rows

    def column(self, j: int) -> Array:
        """Values of column j."""
        return self._storage.cells(j, self._rows)


NOTHING = np.empty(0, dtype=np.int64)
