"""The ranked table: for the exact method, every distinct value has a code of its own, its rank."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.codes.binned import code_columns, grouped_levels
from sapwood.codes.bins import Bins, LevelBins, StatisticBins, level_bins
from sapwood.codes.separation import midpoints
from sapwood.codes.sorted_column import sort_column
from sapwood.table.table import Table
from sapwood.threads import run_all


@dataclass(frozen=True, eq=False)
class Ranks:
    """Code c is the c-th smallest value."""

    values: NDArray[np.float64]

    @property
    def n_codes(self) -> int:
        """Largest code."""
        return len(self.values)

    def thresholds(self, codes: Array, next_codes: Array) -> NDArray[np.float64]:
        """Midpoints between values that are neighbours in their nodes; +inf where there is no value above."""
        above = np.append(np.inf, self.values)[next_codes]
        return np.where(next_codes == 0, np.inf, midpoints(self.values[codes - 1], above))


@dataclass(frozen=True, eq=False)
class RankedTable:
    """Ranks of all cells, 0 for missing, and the rows of each column in order (categories: none)."""

    bins: tuple[Ranks | Bins | StatisticBins, ...]
    columns: NDArray[np.uint32]  # (features, rows)
    orders: list[NDArray[np.uint32]]
    levels: Array  # (grouped columns, rows) of the categories whose codes are groups; 0: missing

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.columns.shape[1])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.columns.shape[0])

    @property
    def n_codes(self) -> NDArray[np.int64]:
        """Largest code of each column."""
        return np.array([bins.n_codes for bins in self.bins], dtype=np.int64)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.array([isinstance(bins, LevelBins) for bins in self.bins])

    def sort(self, j: int) -> None:
        """Sort the rows of a column that was rewritten; OUT orders."""
        self.orders[j] = _sorted_rows(self.columns[j])

    def with_own_codes(self) -> RankedTable:
        """The same table, but other trees may group its levels at the same time."""
        return replace(self, columns=self.columns.copy(), orders=list(self.orders)) if len(self.levels) else self

    def beside(self, bins: Sequence[StatisticBins], columns: Array, n_jobs: int = 1) -> RankedTable:
        """The same table, and behind its columns these."""
        codes = np.concatenate([self.columns, columns.astype(np.uint32)])
        orders = run_all([partial(_sorted_rows, column) for column in codes[self.n_features :]], n_jobs)
        return replace(self, bins=(*self.bins, *bins), columns=codes, orders=[*self.orders, *orders])


def rank_table(table: Table, n_jobs: int = 1) -> RankedTable:
    """Rank a table, column by column."""
    columns = np.zeros((table.n_features, table.n_rows), dtype=np.uint32)

    def rank(j: int) -> tuple[Ranks | Bins, Array]:
        values = table.values(j)
        if table.schema.columns[j].kind == "category":
            bins = level_bins(int(table.schema.n_levels[j]))
            bins.write(values, columns[j])
            return bins, np.empty(0, dtype=np.uint32)
        column = sort_column(np.ascontiguousarray(values))
        starts = column.run_starts()
        columns[j, column.rows] = np.repeat(np.arange(1, len(starts)), np.diff(starts))
        return Ranks(values[column.rows[starts[:-1]]].astype(np.float64)), column.rows

    found = run_all([partial(rank, j) for j in range(table.n_features)], n_jobs)
    bins = tuple(bins for bins, _ in found)
    return RankedTable(bins, columns, [order for _, order in found], grouped_levels(table, bins, n_jobs))


def rank_bins(table: Table, bins: tuple[Bins, ...], n_jobs: int = 1) -> RankedTable:
    """Rank a table by bins, of which there may be more than a byte holds."""
    columns = code_columns(table, bins, range(table.n_features), np.uint32, n_jobs)
    orders = run_all([partial(_sorted_rows, column) for column in columns], n_jobs)
    return RankedTable(bins, columns, orders, grouped_levels(table, bins, n_jobs))


def _sorted_rows(column: NDArray[np.uint32]) -> NDArray[np.uint32]:
    """Rows that have a value, in the order of their codes."""
    order = np.argsort(column, kind="stable").astype(np.uint32)
    return order[np.count_nonzero(column == 0) :]
