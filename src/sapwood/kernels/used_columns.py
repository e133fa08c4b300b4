"""The columns that a tree may use: drawn for it, and listed, so that nothing is summed up for the others."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.histogram import HALF


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
