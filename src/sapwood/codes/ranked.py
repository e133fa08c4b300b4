"""The ranked table: for the exact method, every distinct value has a code of its own, its rank."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.bins import LevelBins
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

    def thresholds(self, codes: NDArray[Any], next_codes: NDArray[Any]) -> NDArray[np.float64]:
        """Midpoints between values that are neighbours in their nodes; +inf where there is no value above."""
        above = np.append(np.inf, self.values)[next_codes]
        return np.where(next_codes == 0, np.inf, midpoints(self.values[codes - 1], above))


@dataclass(frozen=True, eq=False)
class RankedTable:
    """Ranks of all cells, 0 for missing, and the rows of each column in order (categories: none)."""

    bins: tuple[Ranks | LevelBins, ...]
    columns: NDArray[np.uint32]  # (features, rows)
    orders: tuple[NDArray[np.uint32], ...]

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


def rank_table(table: Table, n_jobs: int = 1) -> RankedTable:
    """Rank a table, column by column."""
    columns = np.zeros((table.n_features, table.n_rows), dtype=np.uint32)

    def rank(j: int) -> tuple[Ranks | LevelBins, NDArray[Any]]:
        values = table.values(j)
        if table.schema.columns[j].kind == "category":
            bins = LevelBins(int(table.schema.n_levels[j]))
            bins.write(values, columns[j])
            return bins, np.empty(0, dtype=np.uint32)
        column = sort_column(np.ascontiguousarray(values))
        starts = column.run_starts()
        columns[j, column.rows] = np.repeat(np.arange(1, len(starts)), np.diff(starts))
        return Ranks(values[column.rows[starts[:-1]]].astype(np.float64)), column.rows

    found = run_all([partial(rank, j) for j in range(table.n_features)], n_jobs)
    return RankedTable(tuple(bins for bins, _ in found), columns, tuple(order for _, order in found))
