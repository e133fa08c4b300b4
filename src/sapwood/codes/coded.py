"""The coded table: what growth sees of X. See ARCHITECTURE.md, "Codes".

`code_table` chooses a form for each column and prepares it; columns are independent, so they are prepared by many
threads.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.codes.binning import equal_count_cuts
from sapwood.codes.sorted_column import SortedColumn, sort_column
from sapwood.kernels.sorting import write_codes, write_entries
from sapwood.kernels.tree_frame import MISSING, NOTHING, VALUE
from sapwood.table.table import Table
from sapwood.threads import run_all

FEW_VALUES = 255  # a column of at most this many distinct values is coded: counting beats sorting
MISSING_LIST = 2  # of the three lists of a column: below, above, missing
IMPLICIT_SHARE = 0.8  # a value held by more rows than this share is not listed


@dataclass(frozen=True, eq=False)
class CodedTable:
    """Columns as codes or sorted lists.

    `entries` has stretches of n_rows: reserved ones, then one per column; column j's lists are the half-open ranges
    in `ranges[j]` (below, above, missing). A tree of all rows uses the entries up; trees of samples leave them alone.
    """

    n_rows: int
    codes: Array  # (n_features, n_rows)
    is_coded: NDArray[np.bool_]
    is_category: NDArray[np.bool_]
    is_valued: NDArray[np.bool_]  # columns that keep their values, for thresholds drawn between them
    n_codes: NDArray[np.int64]
    entries: NDArray[np.uint32]
    ranges: NDArray[np.int64]  # (n_features, 3, 2)
    implicit: NDArray[np.int8]
    implicit_value: NDArray[np.float64]
    low: tuple[Array, ...]  # coded numbers: least and largest value of each code, index 0 unused
    high: tuple[Array, ...]
    look_up: tuple[Callable[[Any], Array], ...]  # columns that are not coded: values of rows
    value_type: np.dtype

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.is_coded)

    @cached_property
    def some_missing(self) -> NDArray[np.bool_]:
        """Which columns of values have missing ones."""
        by_row = self.values[0] if self.is_valued.any() else np.zeros((self.n_features, 1))
        return np.asarray(np.isnan(by_row[:, :-1]).any(axis=1))

    @property
    def lists(self) -> NDArray[np.int64]:
        """(column, which of its three lists) of all lists that are not empty."""
        return np.argwhere((self.ranges[:, :, 1] > self.ranges[:, :, 0]) & ~self.is_coded[:, None])

    @cached_property
    def values(self) -> tuple[Array, Array]:
        """Values for random thresholds: of listed rows, with the implicit value last; and of codes."""
        by_code = np.zeros((self.n_features, int(self.n_codes.max(initial=0)) + 1))
        for j in np.flatnonzero(self.is_coded & ~self.is_category):
            by_code[j, : len(self.high[j])] = self.high[j]
        if (self.is_coded & ~self.is_valued).all():
            return np.zeros((self.n_features, 1)), by_code
        by_row = np.zeros((self.n_features, self.n_rows + 1), dtype=self.value_type)
        by_row[:, -1] = self.implicit_value
        for j in np.flatnonzero(self.is_valued):
            by_row[j, :-1] = self.look_up[j](slice(None))
        for j, k in self.lists[self.lists[:, 1] < MISSING_LIST]:
            rows = self.entries[slice(*self.ranges[j, k])] >> np.uint32(1)
            by_row[j, rows] = self.look_up[j](rows)
        return by_row, by_code


@dataclass(frozen=True, eq=False)
class Form:
    """How one column turned out."""

    is_coded: bool
    is_valued: bool = False
    n_codes: int = 0
    low: Array = field(default_factory=lambda: np.empty(0))
    high: Array = field(default_factory=lambda: np.empty(0))
    sizes: tuple[int, int, int] = (0, 0, 0)
    implicit: int = NOTHING
    implicit_value: float = np.nan
    look_up: Callable[[Any], Array] = lambda rows: rows


def code_table(
    table: Table,
    *,
    max_bins: int | None = None,
    list_all: bool = False,
    rank_all: bool = False,
    keep_values: bool = False,
    n_reserved: int = 1,
    n_jobs: int = 1,
) -> CodedTable:
    """Prepare a table for growth. Bins have about equal numbers of rows, regardless of their weights.

    `list_all` keeps every row in a list, as the absolute error needs; `rank_all` gives every distinct value a code,
    for trees that look at few columns in each node: lists would have to follow every split. `keep_values` is for
    thresholds that are drawn: numbers need no order then. `n_reserved` stretches of entries are left free in front,
    for the lists that are not columns.
    """
    keep_values = keep_values and max_bins is None and not list_all
    n_rows, n_features = table.n_rows, table.n_features
    levels = table.schema.n_levels
    most = max(FEW_VALUES, max_bins or 0, int(levels.max(initial=0)), n_rows if rank_all and max_bins is None else 0)
    code_type = np.uint8 if most <= np.iinfo(np.uint8).max else np.uint32
    codes = np.empty((n_features, n_rows), dtype=code_type)
    entries = np.empty((n_reserved + n_features, n_rows), dtype=np.uint32)  # pages never written cost nothing

    def prepare(j: int) -> Form:
        if levels[j] > 0 or table.schema.columns[j].kind == "category":
            return _code_categories(table, j, codes[j])
        if keep_values and not _is_thin(table, j):
            return Form(True, is_valued=True, look_up=lambda rows: table.cells(j, rows))
        return _code_numbers(table, j, codes[j], entries[n_reserved + j], max_bins, list_all, rank_all)

    forms = run_all([lambda j=j: prepare(j) for j in range(n_features)], n_jobs)  # type: ignore[misc]
    starts = np.arange(n_reserved, n_reserved + n_features)[:, None] * n_rows + np.array(
        [(0, *np.cumsum(f.sizes)) for f in forms]
    )
    return CodedTable(
        n_rows=n_rows,
        codes=codes,
        is_coded=np.array([f.is_coded for f in forms]),
        is_category=np.array([c.kind == "category" for c in table.schema.columns]),
        is_valued=np.array([f.is_valued for f in forms]),
        n_codes=np.array([f.n_codes for f in forms], dtype=np.int64),
        entries=entries.reshape(-1),
        ranges=np.stack([starts[:, :3], starts[:, 1:]], axis=2),
        implicit=np.array([f.implicit for f in forms], dtype=np.int8),
        implicit_value=np.array([f.implicit_value for f in forms]),
        low=tuple(f.low for f in forms),
        high=tuple(f.high for f in forms),
        look_up=tuple(f.look_up for f in forms),
        value_type=table.dtype,
    )


def _code_categories(table: Table, j: int, codes: Array) -> Form:
    codes[:] = table.values(j) + 1  # missing is -1
    return Form(is_coded=True, n_codes=int(table.schema.n_levels[j]))


def _code_numbers(
    table: Table,
    j: int,
    codes: Array,
    entries: NDArray[np.uint32],
    max_bins: int | None,
    list_all: bool,
    rank_all: bool,
) -> Form:
    n_rows = table.n_rows
    stored = table.explicit(j)
    if stored is not None and not list_all and _is_thin(table, j):
        return _list_sparse(stored[0], stored[1], entries)
    values = table.values(j)

    def look_up(rows: Array) -> Array:
        return table.cells(j, rows)  # read again, because a copy of every column kept for this would be large

    column = sort_column(values)
    if not list_all:
        if column.longest > IMPLICIT_SHARE * n_rows:
            return _list_around_mode(column, values, entries, look_up)
        if len(column.missing) > IMPLICIT_SHARE * n_rows:
            size = _write(column, 0, len(column.rows), entries, 0)
            return Form(False, sizes=(size, 0, 0), implicit=MISSING, look_up=look_up)
    if rank_all or max_bins is not None or column.n_distinct <= FEW_VALUES:
        return _code_runs(column, values, codes, max_bins)
    size = _write(column, 0, len(column.rows), entries, 0)
    sizes = (size, 0, _write_missing(column.missing, entries, size))
    return Form(False, sizes=sizes, look_up=look_up)


def _is_thin(table: Table, j: int) -> bool:
    """Whether most rows of a sparse column are not stored."""
    stored = table.explicit(j)
    return stored is not None and table.n_rows - len(stored[0]) > IMPLICIT_SHARE * table.n_rows


def _code_runs(column: SortedColumn, values: Array, codes: Array, max_bins: int | None) -> Form:
    cuts = column.run_starts()
    if max_bins is not None and len(cuts) - 1 > max_bins:
        cuts = equal_count_cuts(cuts, max_bins)
    codes[column.missing] = 0
    write_codes(column.rows, cuts, codes)
    low, high = np.full(len(cuts), np.nan), np.full(len(cuts), np.nan)
    low[1:] = values[column.rows[cuts[:-1]]]
    high[1:] = values[column.rows[cuts[1:] - 1]]
    return Form(True, n_codes=len(cuts) - 1, low=low, high=high)


def _write(column: SortedColumn, first: int, last: int, entries: NDArray[np.uint32], at: int) -> int:
    write_entries(column.keys, column.rows, first, last, entries[at:])
    return last - first


def _write_missing(rows: Array, entries: NDArray[np.uint32], at: int) -> int:
    entries[at : at + len(rows)] = rows.astype(np.uint32) << np.uint32(1)
    return len(rows)


def _list_around_mode(
    column: SortedColumn, values: Array, entries: NDArray[np.uint32], look_up: Callable[[Any], Array]
) -> Form:
    start, end = column.longest_start, column.longest_start + column.longest
    below = _write(column, 0, start, entries, 0)
    above = _write(column, end, len(column.rows), entries, below)
    missing = _write_missing(column.missing, entries, below + above)
    value = float(values[column.rows[start]])
    return Form(False, sizes=(below, above, missing), implicit=VALUE, implicit_value=value, look_up=look_up)


def _list_sparse(rows: Array, stored: Array, entries: NDArray[np.uint32]) -> Form:
    column = sort_column(stored, rows)
    n_negative = int(np.count_nonzero(stored < 0))
    below = _write(column, 0, n_negative, entries, 0)
    above = _write(column, n_negative, len(column.rows), entries, below)
    missing = _write_missing(column.missing, entries, below + above)

    def look_up(wanted: Array) -> Array:
        return stored[np.searchsorted(rows, wanted)]

    return Form(False, sizes=(below, above, missing), implicit=VALUE, implicit_value=0.0, look_up=look_up)
