"""The mixed table: columns whose codes need more than a byte are kept beside the binned table of the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cached_property import cached_property
from sapwood.codes.binned import BinnedTable, bin_table, code_columns
from sapwood.codes.bins import MOST_BINS, Bins, LevelBins, code_type
from sapwood.table.table import Table


@dataclass(frozen=True, eq=False)
class MixedTable:
    """Codes of all cells: bytes of the narrow columns, two bytes (or four, from 65 536 codes on) of the wide ones."""

    bins: tuple[Bins, ...]  # of all columns
    narrow: BinnedTable
    wide: NDArray[Any]  # (wide columns, rows)
    is_wide: NDArray[np.bool_]  # of all columns

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.wide.shape[1])

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.bins)

    @cached_property
    def places(self) -> NDArray[np.int64]:
        """Of each column, its number among the wide or the narrow ones."""
        return np.where(self.is_wide, np.cumsum(self.is_wide), np.cumsum(~self.is_wide)) - 1

    @cached_property
    def n_codes(self) -> NDArray[np.int64]:
        """Largest code of each column."""
        return np.array([bins.n_codes for bins in self.bins], dtype=np.int64)

    @property
    def is_category(self) -> NDArray[np.bool_]:
        """Which columns hold categories."""
        return np.array([isinstance(bins, LevelBins) for bins in self.bins])

    def part(self, start: int, stop: int) -> MixedTable:
        """Some consecutive rows."""
        wide = np.ascontiguousarray(self.wide[:, start:stop])
        return MixedTable(self.bins, self.narrow.part(start, stop), wide, self.is_wide)


def wide_columns(bins: Sequence[Any]) -> NDArray[np.bool_]:
    """Which columns have more codes than a byte holds."""
    return np.array([own.n_codes > MOST_BINS for own in bins], dtype=np.bool_)


def mixed_table(table: Table, bins: tuple[Bins, ...], is_wide: NDArray[np.bool_], n_jobs: int = 1) -> MixedTable:
    """Code a table, some of whose columns are wide."""
    wide, narrow = np.flatnonzero(is_wide).tolist(), np.flatnonzero(~is_wide).tolist()
    of_wide = [bins[j] for j in wide]
    dtype = code_type(max(own.n_codes for own in of_wide))
    codes = code_columns(table, of_wide, wide, dtype, n_jobs)
    return MixedTable(bins, bin_table(table, tuple(bins[j] for j in narrow), n_jobs, narrow), codes, is_wide)
