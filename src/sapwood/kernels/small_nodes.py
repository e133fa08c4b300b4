"""Small nodes: a histogram of 256 codes is more than a few rows need.

Their rows are counted column by column into one small histogram, of which only the codes present are looked at and
cleared again; and a larger sibling's histogram is the parent's less these rows, one by one.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lowest_bit, part
from sapwood.kernels.code_list import BIT, LOW_6, SIX
from sapwood.kernels.histogram import add_code

SMALL = 96  # rows, where columns have 255 codes; fewer where they have fewer


@part
def codes_of(shard, f, by_row):
    """Codes of a column, at the places of rows (`gather_rows`).

    Where there are many columns, they are read from codes by row: those of its next columns share a cache line.
    """
    return shard.cells[f:] if by_row else shard.columns[f]


@inner_kernel
def remove_rows(rows, values, n, shard, by_row, hists):
    """Take rows out of a histogram of the tree's columns; OUT hists."""
    for place in range(shard.n_used[0]):
        f = shard.drawn[place]
        column, hist = codes_of(shard, f, by_row), hists[shard.starts[f] :]
        for i in range(np.uint64(n)):
            code = np.uint64(column[rows[i]])
            hist[code, 0] -= values[i, 0]
            hist[code, 1] -= values[i, 1]
            if hist.shape[1] > 2:
                hist[code, 2] -= 1


@inner_kernel
def count_rows(rows, values, n, column, present, hist, codes):
    """Histogram of one column, and its codes but 0, ascending; OUT hist, codes; returns how many.

    `present` is a bitmap of codes, zero before and after.
    """
    for i in range(np.uint64(n)):
        code = np.uint64(column[rows[i]])
        add_code(hist, code, values[i, 0], values[i, 1])
        present[code >> SIX] |= BIT << (code & LOW_6)
    count = 0
    for word in range(len(present)):
        bits = present[word]
        present[word] = 0
        while bits != 0:
            codes[count] = 64 * word + np.int64(lowest_bit(bits))
            bits &= bits - BIT
            count += np.int64(codes[count] > 0)
    return count


@inner_kernel
def clear_codes(codes, count, hist):
    """Make the sums of code 0 and of some others zero again; OUT hist."""
    for i in range(-1, count):
        code = np.uint64(codes[i] if i >= 0 else 0)
        hist[code, 0], hist[code, 1] = 0, 0
        if hist.shape[1] > 2:
            hist[code, 2] = 0
