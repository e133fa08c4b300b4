"""One numeric column in order of its values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.kernels.sorting import BUCKETS, count_runs, order_keys, radix_sort


@dataclass(frozen=True, eq=False)
class SortedColumn:
    """Present rows in order of value (ties in order of row), their sort keys, and the missing rows."""

    keys: Array
    rows: Array
    missing: Array
    n_distinct: int
    longest: int  # rows that hold the most frequent value
    longest_start: int

    def run_starts(self) -> NDArray[np.int64]:
        """Positions at which a new value begins, and the end."""
        if len(self.keys) == 0:
            return np.zeros(1, dtype=np.int64)
        changes = np.flatnonzero(self.keys[1:] != self.keys[:-1]) + 1
        return np.concatenate(([0], changes, [len(self.keys)])).astype(np.int64)


def sort_column(values: Array, rows: Array | None = None) -> SortedColumn:
    """Sort values (float32 or float64; NaN is missing), which belong to `rows`, by default 0, 1, 2, and so on."""
    if rows is None:
        rows = np.arange(len(values), dtype=np.uint32)
    rows = rows.astype(np.uint32, copy=False)
    is_missing = np.isnan(values)
    missing = rows[:0]
    if is_missing.any():
        missing, rows, values = rows[is_missing], rows[~is_missing], values[~is_missing]
    if len(values) == 0:
        return SortedColumn(np.empty(0, np.uint32), rows, missing, 0, 0, 0)
    keys, rows = _sorted_keys(values, rows)
    n_distinct, longest, longest_start = count_runs(keys)
    return SortedColumn(keys, rows, missing, n_distinct, longest, longest_start)


def _sorted_keys(values: Array, rows: Array) -> tuple[Array, Array]:
    unsigned = np.uint32 if values.dtype == np.float32 else np.uint64
    bits = (values + values.dtype.type(0)).view(unsigned)  # adding zero turns -0.0 into 0.0: they are equal
    n_bits = 8 * bits.dtype.itemsize
    order_keys(bits, unsigned(1) << unsigned(n_bits - 1), bits)
    count = np.empty(BUCKETS, dtype=np.int64)
    result: tuple[Array, Array] = radix_sort(bits, rows.copy(), n_bits, np.empty_like(bits), np.empty_like(rows), count)
    return result
