"""The columns that a tree may use: drawn for it, and listed, so that nothing is summed up for the others."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.draws import mix
from sapwood.kernels.float_bits import bits_of, float_of
from sapwood.kernels.histogram import HALF
from sapwood.kernels.logarithm import logarithm
from sapwood.kernels.philox import write_uniforms

BY_TREE = np.int64(1)  # keeps draws of columns apart, see `boosting/columns.py`


@inner_kernel
def smallest(keys, wanted):
    """The largest of so many smallest numbers, none of which is negative, by halving the range of their bits."""
    low, high = np.uint64(0), bits_of(np.inf)
    while low < high:
        middle = low + ((high - low) >> np.uint64(1))
        most, count = float_of(middle), 0
        for key in keys:
            count += np.int64(key <= most)
        if count >= wanted:
            high = middle
        else:
            low = middle + np.uint64(1)
    return float_of(low)


@lean_kernel
def draw_columns(key, wanted, pool, keys, mask):
    """So many columns, all equally likely; OUT mask; scratch: pool, keys.

    Those of the smallest -log(1 - u), of equal ones the first, as `ColumnOptions.draw` has it.
    """
    write_uniforms(mix(key, BY_TREE), pool, keys)
    for j in range(len(keys)):
        keys[j] = -logarithm(1.0 - keys[j])
    most, n_equal = smallest(keys, wanted), wanted
    for j in range(len(keys)):
        n_equal -= np.int64(keys[j] < most)
    for j in range(len(keys)):
        is_equal = keys[j] == most and n_equal > 0
        mask[j] = keys[j] < most or is_equal
        n_equal -= np.int64(is_equal)


@lean_kernel
def list_columns(mask, bundle_of, bundle_starts, drawn, places, n_used):
    """Columns in the mask, and the bundles that hold one of them, both ascending.

    A place is the byte of a bundle in a row << 32 | where its sums begin. OUT drawn, places, and how many there are of
    both: n_used.
    """
    n_drawn, n_places = 0, 0
    places[:] = 0
    for f in range(len(mask)):
        if mask[f]:
            drawn[n_drawn] = f
            n_drawn += 1
            places[bundle_of[f]] = 1
    for bundle in range(np.uint64(len(places))):
        if places[bundle] > 0:
            places[n_places] = bundle << HALF | bundle_starts[bundle]
            n_places += 1
    n_used[0], n_used[1] = n_drawn, n_places
