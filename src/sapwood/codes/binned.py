"""The binned table: what boosting sees of X. One byte per cell, twice: by column for splitting, by row for summing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.bins import MOST_BINS, Bins, LevelBins, NumberBins, cut_levels, cut_values
from sapwood.kernels.binning import pack_rows
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all

SAMPLE = 200_000  # rows that decide about the cuts
BLOCK = 8192  # rows whose values stay in the cache while all their columns are coded
LINE = 64  # bytes of a cache line
WORD = 8  # codes of a row are read eight at a time


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """Codes of all cells. `rows` is padded to whole words."""

    bins: tuple[Bins, ...]
    columns: NDArray[np.uint8]  # (features, rows)
    rows: NDArray[np.uint8]  # (rows, features padded)

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

    def part(self, start: int, stop: int) -> BinnedTable:
        """Some consecutive rows."""
        return BinnedTable(self.bins, np.ascontiguousarray(self.columns[:, start:stop]), self.rows[start:stop])

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.array([isinstance(bins, LevelBins) for bins in self.bins])


def find_bins(table: Table, max_bins: int, n_jobs: int = 1) -> tuple[Bins, ...]:
    """Cuts of every column, from a sample where there are many rows."""
    sample = np.arange(table.n_rows)
    if table.n_rows > SAMPLE:  # evenly spaced, so that the sample does not depend on a seed
        sample = (np.arange(SAMPLE) * (table.n_rows / SAMPLE)).astype(np.int64)
    levels = table.schema.n_levels

    def cut(j: int) -> Bins:
        values = table.values(j)
        if table.schema.columns[j].kind == "category":
            return cut_levels(values, int(levels[j]), min(max_bins, MOST_BINS))
        return cut_values(values[sample] if len(sample) < table.n_rows else values, max_bins)

    return tuple(run_all([partial(cut, j) for j in range(table.n_features)], n_jobs))


def bin_table(table: Table, bins: tuple[Bins, ...], n_jobs: int = 1) -> BinnedTable:
    """Code a table, block by block."""
    n, width = table.n_rows, -(-table.n_features // WORD) * WORD
    columns = np.empty((table.n_features, n), dtype=np.uint8)
    rows = _aligned(n, width)
    if table.n_features and table.explicit(0) is not None:  # sparse: never more than one column of values per thread
        run_all([partial(_code_column, table, j, bins[j], columns[j]) for j in range(table.n_features)], n_jobs)
        run_all([partial(pack_rows, columns, *block, rows) for block in blocks(n, BLOCK)], n_jobs)
        return BinnedTable(bins, columns, rows)
    values = [table.values(j) for j in range(table.n_features)]

    def code(start: int, stop: int) -> None:
        for j, column in enumerate(values):
            bins[j].write(column[start:stop], columns[j, start:stop])
        pack_rows(columns, start, stop, rows)

    run_all([partial(code, *block) for block in blocks(n, BLOCK)], n_jobs)
    return BinnedTable(bins, columns, rows)


def _aligned(n: int, width: int) -> NDArray[np.uint8]:
    """Zeros that begin with a cache line, so that a row of up to 32 columns never lies across two."""
    buffer = np.zeros(n * width + LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % LINE
    return buffer[start : start + n * width].reshape(n, width)


def _code_column(table: Table, j: int, bins: Bins, codes: NDArray[np.uint8]) -> None:
    bins.write(table.values(j), codes)


__all__ = ["BinnedTable", "NumberBins", "bin_table", "find_bins"]
