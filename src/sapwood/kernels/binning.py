"""Binning: values to codes of one byte, and codes of columns to rows.

A code is 1 + the number of cuts below the value; 0 is missing. A small table, indexed by the leading bits of the value
as a float32, tells a code to begin with that is never too large; a few comparisons finish it.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel

CELL_BITS = 14
SHIFT = np.uint32(32 - CELL_BITS)
SIGN = np.uint32(1 << 31)
EIGHT = np.uint64(8)
N_CELLS = 1 << CELL_BITS


@lean_kernel
def code_values(values, bits, cuts, begin, n_pairs, codes):
    """Codes of values; `bits` are those of the values as float32. `cuts` end with enough infinities; OUT codes."""
    for i in range(np.uint64(len(values))):
        key = bits[i] ^ (np.uint32(np.int32(bits[i]) >> 31) | SIGN)  # orders as the values do
        code = np.uint32(begin[key >> SHIFT])
        x = values[i]
        for _ in range(n_pairs):  # two steps at a time: a loop of single steps costs twice as much
            code += np.uint32(x > cuts[code])
            code += np.uint32(x > cuts[code])
        codes[i] = np.uint8(0) if x != x else np.uint8(code + ONE)  # noqa: PLR0124 - NaN


@lean_kernel
def pack_column(column, first, last, j, rows):
    """Codes of a column to rows, at place j of each; OUT rows."""
    for i in range(np.uint64(first), np.uint64(last)):
        rows[i, j] = column[i]


@lean_kernel
def equal_counts(run_starts, n_bins, share, cuts):
    """Cut runs into bins of about equal counts, where no run counts more than the share; OUT cuts; returns how many."""
    total = 0.0
    for i in range(len(run_starts) - 1):
        total += min(np.float64(run_starts[i + 1] - run_starts[i]), share)
    before, last, count = 0.0, -1, 0
    for i in range(len(run_starts) - 1):
        counted = min(np.float64(run_starts[i + 1] - run_starts[i]), share)
        before += counted
        own = np.int64((before - counted / 2) * (n_bins / total))
        if own != last:
            cuts[count] = run_starts[i]
            count += 1
            last = own
    return count


@lean_kernel
def heavy_runs(run_starts, share):
    """How many runs are longer than a share, and how many rows they have together."""
    count, rows = 0, 0
    for i in range(len(run_starts) - 1):
        size = run_starts[i + 1] - run_starts[i]
        is_heavy = size > share
        count += np.int64(is_heavy)
        rows += size if is_heavy else 0
    return count, rows


@lean_kernel
def mark_pairs(codes, other, first, last, seen):
    """Note which pairs of codes occur in a block; OUT seen; returns how many are new, at least 257 if it gave up."""
    count = 0
    for i in range(np.uint64(first), np.uint64(last)):
        pair = seen[codes[i]]
        if pair[other[i]] == 0:
            pair[other[i]] = 1
            count += 1
            if count > 256:
                break
    return count


@lean_kernel
def join_codes(codes, other, first, last, new_code, out):
    """One code for each pair of codes; OUT out."""
    for i in range(np.uint64(first), np.uint64(last)):
        out[i] = new_code[np.uint64(codes[i]) << EIGHT | np.uint64(other[i])]
