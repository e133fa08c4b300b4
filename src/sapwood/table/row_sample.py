"""Some rows of a large table, chosen by their contents: the same ones for any order of the rows."""

from __future__ import annotations

from functools import partial

import numpy as np

from sapwood.arrays import Array
from sapwood.kernels.bagging import hash_cells, hash_rows
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all

BLOCK = 1 << 13  # rows
BUCKET_BITS = 16
LARGEST_GROUP = 0.01  # of the sample: rows of equal contents are in it together, or not at all


def sample_rows(table: Table, most: int, n_jobs: int = 1) -> Array | None:
    """Numbers of about `most` rows; None for all rows of a smaller table.

    Rows whose hash is below a limit are a fair sample unless many rows are equal. Then it is every k-th row in
    the order of the hashes, which takes longer.
    """
    if table.n_rows <= most:
        return None
    hashes = _hashes(table, n_jobs)
    if are_spread(bucket_sizes(hashes), most):
        chosen = np.flatnonzero(hashes < limit_of(table.n_rows, most))
        if len(chosen):
            return chosen
    return sample_in_order(hashes, most)


def bucket_sizes(hashes: Array) -> Array:
    """How many rows have hashes that begin alike."""
    found: Array = np.bincount((hashes >> np.uint64(64 - BUCKET_BITS)).view(np.int64), minlength=1 << BUCKET_BITS)
    return found


def are_spread(sizes: Array, most: int) -> bool:
    """Whether few rows are equal, so that those with low hashes are a fair sample."""
    return bool(sizes.max() <= 4 * sizes.sum() / len(sizes) + LARGEST_GROUP * most)


def limit_of(n_rows: int, most: int) -> np.uint64:
    """The hash below which about `most` rows are."""
    return np.uint64(2**64 * (most / n_rows))


def sample_in_order(hashes: Array, most: int) -> Array:
    """Every k-th row in the order of the hashes."""
    places = np.arange(most) * len(hashes) // most
    return np.sort(np.argsort(hashes, kind="stable")[places])


def _hashes(table: Table, n_jobs: int) -> Array:
    keys = np.random.default_rng(0).integers(2**64, size=table.n_features, dtype=np.uint64)
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    if isinstance(table.storage, SparseStorage):
        for j in range(table.n_features):
            rows, values = table.storage.explicit(j)
            hash_cells(values.astype(np.float64), rows, keys[j], hashes)
        return hashes

    def add(start: int, stop: int) -> None:
        hash_rows(table.block(start, stop), keys, hashes[start:stop])

    run_all([partial(add, *block) for block in blocks(table.n_rows, BLOCK)], n_jobs)
    return hashes
