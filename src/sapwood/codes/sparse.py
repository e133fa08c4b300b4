"""The sparse table: of every row, only the cells whose code is not the one that absent cells of their column have.

A column of a histogram has no more room than it has codes, so a cell is one number: `starts[column] + code`.

    columns a (codes 0 … 3) and b (codes 0 … 2), absent cells have code 1 in both: starts are 0, 4, 7
    a row with code 3 in a and an absent b is [3]; one with an absent a and code 2 in b is [4 + 2]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.codes.binned import BinnedTable
from sapwood.codes.bins import Bins, NumberBins
from sapwood.kernels.entries import Entries
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import run_all

MOST_FILLED = 0.1  # a table with a larger share of stored cells is faster, and hardly larger, as a dense one
COLUMNS_PER_TASK = 256


@dataclass(frozen=True, eq=False)
class SparseTable:
    """Codes of the cells that are stored, row by row."""

    bins: tuple[NumberBins, ...]
    entries: Entries

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.entries.first) - 1

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.bins)

    @property
    def starts(self) -> NDArray[np.int64]:
        """Where the codes of each column begin in a histogram, and where the last one ends."""
        return self.entries.starts

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """Largest code of each column."""
        return np.diff(self.starts) - 1

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """A sparse matrix holds numbers."""
        return np.zeros(self.n_features, dtype=np.bool_)

    def with_own_codes(self) -> SparseTable:
        """Itself: trees change nothing."""
        return self

    def part(self, start: int, stop: int) -> SparseTable:
        """Some consecutive rows."""
        own = self.entries
        first = own.first[start : stop + 1]
        cells = own.cells[first[0] : first[-1]]
        return SparseTable(self.bins, own._replace(first=first - first[0], cells=cells))


Binned = BinnedTable | SparseTable


def suits_sparse(table: Table) -> bool:
    """Whether so few cells are stored that the others are better left out."""
    storage = table.storage
    return isinstance(storage, SparseStorage) and storage.n_stored <= MOST_FILLED * table.n_rows * table.n_features


def sparse_table(table: Table, bins: tuple[Bins, ...], n_jobs: int = 1) -> SparseTable:
    """Code the stored cells of a table, column by column, and turn them into rows."""
    from scipy import sparse

    numbers = tuple(own for own in bins if isinstance(own, NumberBins))  # a sparse matrix holds nothing else
    starts = np.concatenate([[0], np.cumsum([own.n_codes + 1 for own in numbers])]).astype(np.int64)
    nothing = np.array([0.0 if table.schema.sparse_absent == "zero" else np.nan])
    absent = np.array([own.codes(nothing)[0] for own in numbers], dtype=np.uint8)

    def code(first: int, last: int) -> tuple[Array, Array, Array]:
        rows, cells, counts = [], [], []
        for j in range(first, last):
            own, values = table.explicit(j) or (np.empty(0, np.int32), nothing[:0])
            codes = numbers[j].codes(values)
            differs = codes != absent[j]
            rows.append(own[differs])
            cells.append((starts[j] + codes[differs]).astype(np.uint32))
            counts.append(len(cells[-1]))
        return np.concatenate(rows), np.concatenate(cells), np.array(counts)

    borders = [*range(0, table.n_features, COLUMNS_PER_TASK), table.n_features]
    parts = run_all([partial(code, *pair) for pair in pairwise(borders)], n_jobs)
    rows, cells, counts = (np.concatenate(part) for part in zip(*parts, strict=True))
    ends = np.concatenate([[0], np.cumsum(counts)])
    by_row = sparse.csc_array((cells, rows, ends), shape=(table.n_rows, table.n_features)).tocsr()
    return SparseTable(numbers, Entries(by_row.indptr.astype(np.int64), by_row.data, starts, absent))
