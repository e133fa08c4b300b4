"""Digests of rows that are added up batch by batch: the same for any division of the rows into batches."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np

from sapwood.arrays import Array
from sapwood.kernels.bagging import hash_rows
from sapwood.threads import blocks, run_all

BLOCK = 1 << 13  # rows
_MASK = 2**64 - 1
_FIRST, _SECOND = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xD1B54A32D192ED03)


class RowDigest:
    """The sum over rows of hashes of (number of the row, cells of the row), as 128 bits."""

    def __init__(self) -> None:
        self._sums = [0, 0]

    def add(self, hashes: Array, start: int) -> None:
        """Add rows, of which `hashes` are those of the cells, from row `start` on."""
        rows = np.arange(start + 1, start + 1 + len(hashes), dtype=np.uint64)
        for k, odd in enumerate((_FIRST, _SECOND)):
            self._sums[k] = (self._sums[k] + int(_mixed(hashes + _mixed(rows * odd)).sum())) & _MASK

    def __str__(self) -> str:
        """32 digits."""
        return "".join(f"{one:016x}" for one in self._sums)


def hash_columns(columns: Sequence[Array], n_jobs: int = 1) -> Array:
    """A hash of each row of some columns of numbers; missing values are alike."""
    n = len(columns[0])
    keys = np.random.default_rng(0).integers(2**64, size=len(columns), dtype=np.uint64)
    hashes = np.zeros(n, dtype=np.uint64)

    def add(start: int, stop: int) -> None:
        block = np.empty((stop - start, len(columns)))
        for j, column in enumerate(columns):
            block[:, j] = column[start:stop]
        hash_rows(block, keys, hashes[start:stop])

    run_all([partial(add, *block) for block in blocks(n, BLOCK)], n_jobs)
    return hashes


def _mixed(values: Array) -> Array:
    """The finaliser of splitmix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    found: Array = values ^ (values >> np.uint64(31))
    return found
