"""Draws of rows: for the trees of a forest, and for the rounds of boosting.

Each is a hash of the tree and the draw, or of the round and the row, so no order or division of work matters.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.draws import mix, uniform
from sapwood.kernels.float_bits import bits_of

MISSING_BITS = np.uint64(0xFFFFFFFFFFFFFFFF)


@part
def cell_bits(x):
    """Bits of a float64; all missing values have the same."""
    return bits_of(x) if x == x else MISSING_BITS  # noqa: PLR0124 - not NaN


@lean_kernel
def hash_cells(values, rows, key, hashes):
    """Add hashes of the cells of a column (float64) to those of their rows; zeros add nothing. OUT hashes.

    A sum does not depend on the order of columns, and absent cells need no work.
    """
    for i in range(len(values)):
        if values[i] != 0.0:
            hashes[rows[i]] += mix(key, cell_bits(values[i]))


@lean_kernel
def hash_rows(block, keys, hashes):
    """The same for all columns of some rows, whose cells lie side by side (float32 or float64); OUT hashes."""
    for row in range(block.shape[0]):
        total = hashes[row]
        for j in range(block.shape[1]):
            x = np.float64(block[row, j])
            if x != 0.0:
                total += mix(keys[j], cell_bits(x))
        hashes[row] = total


@lean_kernel
def sum_of_hashes(hashes, first_row):
    """The sum of hashes of rows and their numbers, of which the first is given; it may overflow."""
    total = np.uint64(0)
    for i in range(len(hashes)):
        total += mix(hashes[i], np.int64(first_row + i))
    return total


@lean_kernel
def place_of(ends, position):
    """The first place whose end is beyond the position: the inverse of cumulative weights."""
    low, high = 0, len(ends) - 1
    while low < high:
        middle = (low + high) >> 1
        if ends[middle] > position:
            high = middle
        else:
            low = middle + 1
    return low


@lean_kernel
def count_draws(key, n_draws, order, ends, counts):
    """Draw rows with replacement and count them; OUT counts.

    `order` is the order of rows that draws refer to, `ends` their cumulative weights, or None for equal ones.
    """
    n = len(order)
    for i in range(n_draws):
        share = uniform(mix(key, i))
        if ends is None:
            place = np.int64(share * n)
        else:
            place = place_of(ends, share * ends[n - 1])
        counts[order[place]] += 1


@lean_kernel
def draw_rows(key, shares, share, candidates, first_row, rows):
    """Draw each candidate (None: all rows) with its own share or the common one; OUT rows; returns how many.

    The rows are a part of all rows, among which they begin with `first_row`.
    """
    count = 0
    for i in range(len(rows)):
        row = i if candidates is None else candidates[i]
        wanted = share if shares is None else shares[row]
        rows[count] = row
        count += np.int64(uniform(mix(key, np.int64(first_row + row))) < wanted)
    return count
