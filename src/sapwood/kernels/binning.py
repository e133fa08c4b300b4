"""Binning: values to codes of one byte, and codes of columns to rows.

A code is 1 + the number of cuts below the value; 0 is missing. A small table, indexed by the leading bits of the value
as a float32, tells a code to begin with that is never too large; a few comparisons finish it.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel

CELL_BITS = 14
SHIFT = np.uint32(32 - CELL_BITS)
SIGN = np.uint32(1 << 31)
ONE = np.uint32(1)
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
def pack_rows(columns, first, last, rows):
    """Codes of a block from columns to rows, 64 rows at a time so that both stay in the cache; OUT rows."""
    start = first
    while start < last:
        stop = min(start + 64, last)
        for j in range(columns.shape[0]):
            for i in range(start, stop):
                rows[i, j] = columns[j, i]
        start = stop
