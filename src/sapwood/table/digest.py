"""Digests of data: whether rows are the same as before, without keeping them.

That of rows is a sum over the rows of hashes of a row's number and its cells. So parts of the rows have digests of
their own, and these add up to the digest of all.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import partial

import numpy as np

from sapwood.arrays import Array
from sapwood.kernels.bagging import hash_cells, hash_rows, sum_of_hashes
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all

BEGINNING = "rows:"
"""How digests of rows begin since they add up."""
LANES = 2  # of 64 bits
BLOCK = 1 << 13  # rows
WORD = (1 << 64) - 1


@dataclass(frozen=True)
class RowDigest:
    """The sum of 128-bit hashes of some rows."""

    lanes: tuple[int, ...] = (0,) * LANES

    def __add__(self, other: RowDigest) -> RowDigest:
        return RowDigest(tuple((a + b) & WORD for a, b in zip(self.lanes, other.lanes, strict=True)))

    @classmethod
    def of_table(cls, table: Table, first_row: int = 0, n_jobs: int = 1) -> RowDigest:
        """The cells of rows, the first of which has this number among all."""
        lanes = []
        for keys in _keys(table.n_features):
            hashes = np.zeros(table.n_rows, dtype=np.uint64)
            if isinstance(table.storage, SparseStorage):
                for j in range(table.n_features):
                    rows, values = table.storage.explicit(j)
                    hash_cells(values.astype(np.float64), rows, keys[j], hashes)
            else:
                add = partial(_add_block, table, keys, hashes)
                run_all([partial(add, *block) for block in blocks(table.n_rows, BLOCK)], n_jobs)
            lanes.append(int(sum_of_hashes(hashes, first_row)))
        return cls(tuple(lanes))

    @classmethod
    def of_numbers(cls, numbers: Array, first_row: int = 0) -> RowDigest:
        """Numbers of rows, (n,) or (n, columns)."""
        block = np.ascontiguousarray(numbers[:, None] if numbers.ndim == 1 else numbers, dtype=np.float64)
        lanes = []
        for keys in _keys(block.shape[1]):
            hashes = np.zeros(len(block), dtype=np.uint64)
            hash_rows(block, keys, hashes)
            lanes.append(int(sum_of_hashes(hashes, first_row)))
        return cls(tuple(lanes))

    def text(self, *facts: object) -> str:
        """A digest of the rows and of what else is known of them."""
        known = repr((facts, self.lanes)).encode("utf-8", "replace")
        return BEGINNING + hashlib.sha256(known).hexdigest()


def digest_table(table: Table) -> str:
    """A digest of the columns and of all cells."""
    return text_of_table(RowDigest.of_table(table), table)


def text_of_table(rows: RowDigest, table: Table) -> str:
    """The digest of a table whose rows are known; all parts have its columns."""
    columns = [(c.name, c.kind, c.levels) for c in table.schema.columns]
    absent = table.storage.absent if isinstance(table.storage, SparseStorage) else None
    return rows.text(columns, absent)


def digest_numbers(*arrays: Array | None) -> str:
    """A digest of numbers of the rows; None differs from zeros."""
    found = [None if array is None else (array.shape[1:], RowDigest.of_numbers(array)) for array in arrays]
    return RowDigest().text(found)


def digest_arrays(*arrays: Array | None) -> str:
    """SHA-256 of arrays, their types and shapes; None differs from no rows."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(b"none" if array is None else f"{array.dtype.str}{array.shape}".encode())
        if array is not None:
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()


def _keys(n_columns: int) -> Array:
    """A key for each lane and column."""
    return np.random.default_rng(1).integers(2**64, size=(n_columns, LANES), dtype=np.uint64).T.copy()


def _add_block(table: Table, keys: Array, hashes: Array, start: int, stop: int) -> None:
    hash_rows(table.block(start, stop), keys, hashes[start:stop])
