"""Draws of rows for the trees of a forest; each is a hash of the tree and the draw, so no order of work matters."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.draws import mix, uniform


@intrinsic
def float_bits(_context: Any, _x: Any) -> Any:
    """The bits of a float64 as a whole number."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.int64(types.float64), generate


@part
def bits_of(x):
    """Bits of a float64; all missing values have the same."""
    return float_bits(x) if x == x else np.int64(-1)  # noqa: PLR0124 - not NaN


@lean_kernel
def hash_cells(values, rows, key, hashes):
    """Add hashes of the cells of a column (float64) to those of their rows; zeros add nothing. OUT hashes.

    A sum does not depend on the order of columns, and absent cells need no work.
    """
    for i in range(len(values)):
        if values[i] != 0.0:
            hashes[rows[i]] += mix(key, bits_of(values[i]))


@lean_kernel
def hash_rows(block, keys, hashes):
    """The same for all columns of some rows, whose cells lie side by side (float32 or float64); OUT hashes."""
    for row in range(block.shape[0]):
        total = hashes[row]
        for j in range(block.shape[1]):
            x = np.float64(block[row, j])
            if x != 0.0:
                total += mix(keys[j], bits_of(x))
        hashes[row] = total


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
