"""Small nodes: a histogram of 256 codes is more than a few rows need.

Their rows are counted column by column into one small histogram, of which only the codes present are looked at and
cleared again; and a larger sibling's histogram is the parent's less these rows, one by one.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, lowest_bit
from sapwood.kernels.code_list import BIT, LOW_6, SIX
from sapwood.kernels.histogram import HALF, LOW, SIXTEEN, add_code

SMALL = 96  # rows


@lean_kernel
def gather(records, first, last, quantized, rows, values):
    """Rows of a node and their whole numbers; OUT rows, values."""
    for i in range(first, last):
        record = records[i]
        row = record >> HALF
        rows[i - first] = np.uint32(row)
        if quantized is None:
            values[i - first, 0] = np.int64(np.int16(record >> SIXTEEN))
            values[i - first, 1] = np.int64(record & LOW)
        else:
            values[i - first, 0], values[i - first, 1] = quantized[row, 0], quantized[row, 1]


@lean_kernel
def remove_rows(rows, values, n, columns, hists):
    """Take rows out of a histogram; OUT hists."""
    for f in range(columns.shape[0]):
        column, hist = columns[f], hists[256 * f : 256 * f + 256]
        for i in range(n):
            code = column[rows[i]]
            hist[code, 0] -= values[i, 0]
            hist[code, 1] -= values[i, 1]
            if hist.shape[1] > 2:
                hist[code, 2] -= 1


@lean_kernel
def count_rows(rows, values, n, column, present, hist):
    """Histogram of one column, and a bitmap of its codes; OUT hist, present."""
    for word in range(4):
        present[word] = 0
    for i in range(np.uint64(n)):
        code = np.uint64(column[rows[i]])
        add_code(hist, code, values[i, 0], values[i, 1])
        present[code >> SIX] |= BIT << (code & LOW_6)


@lean_kernel
def list_present(present, hist, codes):
    """Codes of values in a bitmap, ascending, but those whose rows weigh nothing; OUT codes; returns how many."""
    count = 0
    for word in range(4):
        bits = present[word]
        while bits != 0:
            code = 64 * word + np.int64(lowest_bit(bits))
            bits &= bits - BIT
            codes[count] = code
            count += np.int64(code > 0 and (hist[code, 1] != 0 or hist[code, 0] != 0))
    return count


@lean_kernel
def clear_present(present, hist):
    """Make the codes in a bitmap zero again; OUT hist."""
    for word in range(4):
        bits = present[word]
        while bits != 0:
            code = np.uint64(64 * word) + lowest_bit(bits)
            bits &= bits - BIT
            for d in range(hist.shape[1]):
                hist[code, d] = 0
