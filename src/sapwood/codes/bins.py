"""Bins of one column: where they are cut, and what their codes mean."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.codes.binning import equal_count_cuts
from sapwood.codes.separation import midpoints, round_down
from sapwood.kernels.binning import N_CELLS, SHIFT, SIGN, code_values

MOST_BINS = 255  # a code is a byte, and 0 is missing


def code_type(n_codes: int) -> type[np.uint8 | np.uint16 | np.uint32]:
    """The shortest type that holds the codes 0…n_codes."""
    if n_codes <= MOST_BINS:
        return np.uint8
    return np.uint16 if n_codes < 2**16 else np.uint32


@dataclass(frozen=True, eq=False)
class NumberBins:
    """Code c holds the values above cuts[c - 2] and up to cuts[c - 1]."""

    cuts: NDArray[np.float64]

    @property
    def n_codes(self) -> int:
        """Largest code."""
        return len(self.cuts) + 1

    def thresholds(self, codes: Array, next_codes: Array) -> NDArray[np.float64]:  # noqa: ARG002 - cuts are fixed
        """Values up to them have at most these codes; +inf if there are no others."""
        found: NDArray[np.float64] = np.append(self.cuts, np.inf)[codes - 1]
        return found

    def codes(self, values: Array) -> Array:
        """Codes of a few values; of many, `write` finds them faster if they are bytes."""
        found = 1 + np.searchsorted(self.cuts, values, side="left")
        return np.where(np.isnan(values), 0, found).astype(code_type(self.n_codes))

    def write(self, values: Array, codes: Array) -> None:
        """Code values; OUT codes."""
        if self.n_codes > MOST_BINS:
            codes[:] = self.codes(values)
            return
        with np.errstate(over="ignore"):
            bits = values.astype(np.float32).view(np.uint32)
        start = self._exact_start if values.dtype == np.float32 else self._safe_start
        code_values(values, bits, start.cuts, start.code, start.n_pairs, codes)

    @cached_property
    def _exact_start(self) -> Start:
        below = _cuts_below_cells(self.cuts)
        return Start.of(round_down(self.cuts, np.dtype(np.float32)), below, np.append(below[1:], len(self.cuts)))

    @cached_property
    def _safe_start(self) -> Start:
        """Rounding to float32 may lift a value into the next cell, so a cell begins where the one before it does."""
        below = _cuts_below_cells(self.cuts)
        return Start.of(self.cuts, np.append(0, below[:-1]), np.append(below[1:], len(self.cuts)))


@dataclass(frozen=True, eq=False)
class Start:
    """For each cell of float32 values the code to begin with, less one, and how often two comparisons may be needed."""

    cuts: Array
    code: NDArray[np.uint8]
    n_pairs: int

    @classmethod
    def of(cls, cuts: Array, first: Array, last: Array) -> Start:
        """From the least and the largest number of cuts below a value of each cell."""
        n_pairs = int((last - first).max() + 1) // 2
        padding = np.full(2 * n_pairs + 1, np.inf, dtype=cuts.dtype)
        return cls(np.concatenate([cuts, padding]), first.astype(np.uint8), n_pairs)


def _cuts_below_cells(cuts: NDArray[np.float64]) -> NDArray[np.int64]:
    """How many of the cuts are below each cell: there are fewer cuts to look up than cells."""
    first_above = np.searchsorted(_lowest_of_cells(), cuts, side="right")
    found: NDArray[np.int64] = np.cumsum(np.bincount(first_above, minlength=N_CELLS)[:N_CELLS])
    return found


@cache
def _lowest_of_cells() -> NDArray[np.float64]:
    keys = np.arange(N_CELLS, dtype=np.uint32) << SHIFT
    with np.errstate(invalid="ignore"):
        lowest = np.where(keys & SIGN, keys ^ SIGN, ~keys).view(np.float32).astype(np.float64)
    lowest[np.isnan(lowest)] = np.where(keys[np.isnan(lowest)] & SIGN, np.inf, -np.inf)
    return lowest


@dataclass(frozen=True, eq=False)
class LevelBins:
    """Every level of a category has a code of its own."""

    n_codes: int

    def write(self, levels: Array, codes: Array) -> None:
        """Code levels; missing ones are -1 and unseen ones -2, and both are coded as missing. OUT codes."""
        codes[:] = np.maximum(levels + 1, 0)


@dataclass(frozen=True, eq=False)
class GroupedLevels:
    """A category of more levels than a byte holds. Its codes are groups of levels, others for each tree."""

    n_levels: int
    n_codes: ClassVar[int] = MOST_BINS

    def write(self, levels: Array, codes: Array) -> None:  # noqa: ARG002 - there are no groups yet
        """All rows are missing until a tree groups the levels; OUT codes."""
        codes[:] = 0


Bins = NumberBins | LevelBins | GroupedLevels


@dataclass(frozen=True, eq=False)
class StatisticBins:
    """Bins of a statistic of a category's levels. A split by it is a split of the category, by the codes of its levels.

    Rows that train may have other codes than their levels, see `boosting/target_statistics.py`.
    """

    origin: int  # the column of the category
    n_codes: int
    code_of_level: NDArray[np.uint8]  # (levels,)


def origins_of(bins: Sequence[object]) -> NDArray[np.int64]:
    """The column that each one is derived from, or that it is."""
    own = [one.origin if isinstance(one, StatisticBins) else j for j, one in enumerate(bins)]
    return np.array(own, dtype=np.int64)


def level_bins(n_levels: int) -> LevelBins | GroupedLevels:
    """Codes of a category."""
    return LevelBins(n_levels) if n_levels <= MOST_BINS else GroupedLevels(n_levels)


def cut_values(values: Array, max_bins: int, n_zeros: int = 0) -> NumberBins:
    """Bins of about equal counts from (a sample of) the values of a column; a bin for each value while they are few.

    A sparse column has `n_zeros` zeros beside its values, none of which is zero. They are not stored: in the sorted
    column they would be at the positions `zeros` to `zeros + n_zeros`.
    """
    ordered = np.sort(values[~np.isnan(values)])
    n, zeros = len(ordered), int(np.searchsorted(ordered, 0.0))
    starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]])[:n])
    if n_zeros:
        starts = np.concatenate([starts[starts < zeros], [zeros], starts[starts >= zeros] + n_zeros])
    runs = np.append(starts, n + n_zeros)
    if len(starts) > max_bins:
        runs = equal_count_cuts(runs, max_bins)

    def value(place: Array) -> Array:
        is_zero = (place >= zeros) & (place < zeros + n_zeros)
        found = np.zeros(len(place), dtype=ordered.dtype)
        found[~is_zero] = ordered[np.where(place < zeros, place, place - n_zeros)[~is_zero]]
        return found

    inner = runs[1:-1]
    return NumberBins(midpoints(value(inner - 1), value(inner)))
