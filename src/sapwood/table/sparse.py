"""Scipy's sparse matrices and arrays."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from sapwood.errors import InputTypeError
from sapwood.table.arrays import array_column, check_dtype
from sapwood.table.column import Column, float_dtype
from sapwood.table.names import numbered_names
from sapwood.table.shape import check_dimensions, check_shape
from sapwood.table.source import Whole
from sapwood.table.storage import Absent, SparseStorage

if TYPE_CHECKING:
    from scipy import sparse


def is_sparse(x: object) -> bool:
    """Whether x is a matrix or array of scipy.sparse, which is not imported: a caller that has one did so."""
    if "scipy.sparse" not in sys.modules:
        return False
    from scipy.sparse import issparse

    return bool(issparse(x))


class SparseSource:
    """A sparse matrix of any format; it stays sparse unless columns are read as categories."""

    named = False

    def __init__(self, matrix: sparse.spmatrix | sparse.sparray, absent: Absent = "zero") -> None:
        check_dtype(matrix.dtype)
        check_dimensions(matrix.ndim)
        check_shape(*matrix.shape)
        if matrix.dtype.kind not in "biuf":
            raise InputTypeError(f"X is a sparse matrix of dtype {matrix.dtype}. Convert it with X.astype(float).")
        # in this order, because duplicates of small integers would overflow when summed
        self.storage = SparseStorage(matrix.astype(float_dtype(matrix.dtype), copy=False), absent)
        self.n_rows = int(matrix.shape[0])
        self.names = numbered_names(int(matrix.shape[1]))

    def column(self, j: int, as_category: bool) -> Column:
        """Column j, absent cells filled in."""
        return array_column(self.storage.column(j), self.names[j], as_category)

    def whole(self) -> Whole:
        """The sparse matrix."""
        return Whole("number", self.storage)
