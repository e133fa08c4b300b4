"""The binned table: what boosting sees of X. One byte per cell, twice: by column for splitting, by row for summing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.codes.bins import (
    MOST_BINS,
    Bins,
    GroupedLevels,
    LevelBins,
    NumberBins,
    StatisticBins,
    code_type,
    cut_values,
    level_bins,
)
from sapwood.codes.bundles import Bundles, find_bundles, is_worth_it, separate, spaced
from sapwood.errors import InternalError
from sapwood.kernels.binning import pack_column
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all

SAMPLE = 200_000  # rows that decide about the cuts
BLOCK = 8192  # rows whose values stay in the cache while all their columns are coded
LINE = 64  # bytes of a cache line
MANY_LINES = 8
WORD = 8  # codes of a row are read eight at a time


@dataclass(frozen=True, eq=False)
class BinnedTable:
    """Codes of all cells. `rows` has a byte for each bundle of columns and is padded to whole words."""

    bins: tuple[Bins | StatisticBins, ...]
    columns: NDArray[np.uint8]  # (features, rows)
    rows: NDArray[np.uint8]  # (rows, bundles padded)
    bundles: Bundles
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
    def n_bundles(self) -> int:
        """Bytes of a row without padding."""
        return len(self.bundles.sizes)

    @property
    def is_bundled(self) -> bool:
        """Whether some columns share a byte."""
        return len(self.bundles.meanings) > 0

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """Largest code of each column."""
        return np.array([bins.n_codes for bins in self.bins], dtype=np.int64)

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """Where the codes of each column begin in a histogram, and where the last one ends."""
        return spaced(self.n_codes + 1)

    def part(self, start: int, stop: int) -> BinnedTable:
        """Some consecutive rows."""
        columns = np.ascontiguousarray(self.columns[:, start:stop])
        bundles, levels = replace(self.bundles, codes=()), np.ascontiguousarray(self.levels[:, start:stop])
        return BinnedTable(self.bins, columns, self.rows[start:stop], bundles, levels)

    def take(self, rows: Array) -> BinnedTable:
        """Some rows, ascending, in memory of their own."""
        columns = np.ascontiguousarray(self.columns[:, rows])
        bundles, levels = replace(self.bundles, codes=()), np.ascontiguousarray(self.levels[:, rows])
        return BinnedTable(self.bins, columns, np.ascontiguousarray(self.rows[rows]), bundles, levels)

    def with_own_codes(self) -> BinnedTable:
        """The same table, but other trees may group its levels at the same time."""
        if not len(self.levels):
            return self
        rows = _aligned(*self.rows.shape)
        rows[:] = self.rows
        return replace(self, columns=self.columns.copy(), rows=rows)

    def beside(self, bins: Sequence[StatisticBins], columns: Array, n_jobs: int = 1) -> BinnedTable:
        """The same table, and behind its columns these."""
        codes = np.concatenate([self.columns, columns.astype(np.uint8)])
        return pack_table((*self.bins, *bins), codes, self.levels, n_jobs)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.array([isinstance(bins, LevelBins) for bins in self.bins])


def find_bins(table: Table, max_bins: int, n_jobs: int = 1) -> tuple[Bins, ...]:
    """Cuts of every column, from a sample where there are many rows."""
    sample: Array | slice = slice(None)
    in_sample, n_drawn = None, min(table.n_rows, SAMPLE)
    if table.n_rows > SAMPLE:
        sample = sampled_rows(table.n_rows)
        in_sample = np.zeros(table.n_rows, dtype=np.bool_)
        in_sample[sample] = True
    levels = table.schema.n_levels

    def cut(j: int) -> Bins:
        if table.schema.columns[j].kind == "category":
            return level_bins(int(levels[j]))
        explicit = table.explicit(j)
        if explicit is None:
            return cut_values(table.cells(j, sample), max_bins)
        values = explicit[1] if in_sample is None else explicit[1][in_sample[explicit[0]]]
        return cut_values(values, max_bins, n_drawn - len(values) if table.schema.sparse_absent == "zero" else 0)

    return tuple(run_all([partial(cut, j) for j in range(table.n_features)], n_jobs))


def sampled_rows(n_rows: int) -> NDArray[np.int64]:
    """The rows that decide about the cuts: evenly spaced, so that they do not depend on a seed."""
    if n_rows <= SAMPLE:
        return np.arange(n_rows)
    return (np.arange(SAMPLE) * (n_rows / SAMPLE)).astype(np.int64)


def bin_table(table: Table, bins: tuple[Bins, ...], n_jobs: int = 1) -> BinnedTable:
    """Code a table block by block; `bins` are those of the columns."""
    most = max((own.n_codes for own in bins), default=0)
    if most > MOST_BINS:
        raise InternalError(f"A column of {most} codes does not fit into bytes. Please report this.")
    columns = code_columns(table, bins, range(table.n_features), np.uint8, n_jobs)
    return pack_table(bins, columns, grouped_levels(table, bins, n_jobs), n_jobs)


def pack_table(
    bins: tuple[Bins | StatisticBins, ...], columns: NDArray[np.uint8], levels: Array, n_jobs: int
) -> BinnedTable:
    """Write coded columns row by row, block by block."""
    n, n_codes = columns.shape[1], np.array([own.n_codes for own in bins], dtype=np.int64)
    bundles = find_bundles(columns, n_codes, n_jobs) if is_worth_it(n, n_codes) else separate(columns, n_codes)
    rows = _aligned(n, row_width(len(bundles.sizes)))
    rows[:, len(bundles.sizes) :] = 0

    def pack(start: int, stop: int) -> None:  # a block of rows, which stays in the cache
        for j, column in enumerate(bundles.codes):
            pack_column(column, start, stop, j, rows)

    run_all([partial(pack, *block) for block in blocks(n, BLOCK)], n_jobs)
    return BinnedTable(bins, columns, rows, replace(bundles, codes=()), levels)


def grouped_levels(table: Table, bins: Sequence[object], n_jobs: int = 1) -> Array:
    """Levels, from 1, of the categories that have groups for codes, (columns, rows); 0 for missing."""
    grouped = {j: LevelBins(own.n_levels) for j, own in enumerate(bins) if isinstance(own, GroupedLevels)}
    dtype = code_type(max((own.n_codes for own in grouped.values()), default=0))
    return code_columns(table, list(grouped.values()), list(grouped), dtype, n_jobs)


def code_columns(table: Table, bins: Sequence[Bins], features: Sequence[int], dtype: DTypeLike, n_jobs: int) -> Array:
    """Codes of some columns, (columns, rows), whose bins these are."""
    columns = np.empty((len(features), table.n_rows), dtype=dtype)
    each = list(zip(features, bins, columns, strict=True))

    def code_column(j: int, own: Bins, column: Array) -> None:
        own.write(table.values(j), column)

    def code_rows(start: int, stop: int) -> None:
        for j, own, column in each:
            own.write(table.cells(j, slice(start, stop)), column[start:stop])

    if len(features) and table.explicit(features[0]) is not None:  # sparse: one column of values per thread at a time
        run_all([partial(code_column, *own) for own in each], n_jobs)
    else:
        run_all([partial(code_rows, *block) for block in blocks(table.n_rows, BLOCK)], n_jobs)
    return columns


def row_width(n_bundles: int) -> int:
    """Bytes of a row: whole words; or many lines, an odd number, so that rows do not compete in the caches."""
    if n_bundles < MANY_LINES * LINE:
        return -(-n_bundles // WORD) * WORD
    return (-(-n_bundles // LINE) | 1) * LINE


def _aligned(n: int, width: int) -> NDArray[np.uint8]:
    """Room that begins with a cache line, so that a row of up to 32 columns never lies across two."""
    buffer = np.empty(n * width + LINE, dtype=np.uint8)
    start = -buffer.ctypes.data % LINE
    return buffer[start : start + n * width].reshape(n, width)


__all__ = ["BinnedTable", "NumberBins", "bin_table", "find_bins"]
