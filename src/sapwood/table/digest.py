"""Digests of data: whether rows are the same as before, without keeping them."""

from __future__ import annotations

import hashlib

import numpy as np

from sapwood.arrays import Array
from sapwood.table.storage import SparseStorage
from sapwood.table.table import BLOCK_CELLS, Table


def digest_table(table: Table) -> str:
    """SHA-256 of the columns and of all cells."""
    found = hashlib.sha256(repr([(c.name, c.kind, c.levels) for c in table.schema.columns]).encode("utf-8", "replace"))
    if isinstance(table.storage, SparseStorage):
        matrix = table.storage.matrix
        found.update(digest_arrays(matrix.data, matrix.indices, matrix.indptr).encode())
        return found.hexdigest()
    width = max(1, BLOCK_CELLS // max(1, table.n_features))
    for start in range(0, table.n_rows, width):
        found.update(np.ascontiguousarray(table.block(start, start + width), dtype=np.float64).data)
    return found.hexdigest()


def digest_arrays(*arrays: Array | None) -> str:
    """SHA-256 of arrays, their types and shapes; None differs from no rows."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(b"none" if array is None else f"{array.dtype.str}{array.shape}".encode())
        if array is not None:
            found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
