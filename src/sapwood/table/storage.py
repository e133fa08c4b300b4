"""Storage of the cells of a table: a matrix, separate columns, or a sparse matrix."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.table.column import MISSING, Column, Level, read_only
from sapwood.table.levels import drop_unobserved
from sapwood.table.ranges import Ranges, matrix_ranges, sparse_ranges

if TYPE_CHECKING:
    from scipy import sparse  # which takes long to import

Absent = Literal["zero", "missing"]  # what a cell means that a sparse matrix does not store
_EXACT_IN_FLOAT32 = 2**24  # category codes up to here survive in a float32 block


class Storage(Protocol):
    """What a table needs of its cells; every array handed out is read-only."""

    dtype: np.dtype
    n_rows: int

    def column(self, j: int) -> Array:
        """Values or codes of column j, contiguous."""

    def cells(self, j: int, rows: Array | slice) -> Array:
        """Some of column j, contiguous: row numbers or a slice."""

    def explicit(self, j: int) -> tuple[Array, Array] | None:
        """Rows and values stored for a sparse column."""

    def block(self, start: int, stop: int) -> Array:
        """Rows as a C-contiguous matrix."""

    def take(self, rows: Array) -> Storage:
        """These rows only."""

    def arrange(self, order: Sequence[int]) -> Storage:
        """These columns only, in this order."""

    def replace(self, columns: Mapping[int, Array]) -> Storage:
        """The same cells but for some columns, given as `column` gives them."""

    def ranges(self) -> Ranges:
        """Range of every column."""

    def levels(self) -> Sequence[tuple[Level, ...]]:
        """Levels of every column, none for numbers."""


class MatrixStorage:
    """A float32 or float64 matrix, used in place."""

    def __init__(self, matrix: Array) -> None:
        self.matrix = read_only(matrix)
        self.dtype = matrix.dtype
        self.n_rows = len(matrix)

    def column(self, j: int) -> Array:
        """Values of column j."""
        return read_only(np.ascontiguousarray(self.matrix[:, j]))

    def cells(self, j: int, rows: Array | slice) -> Array:
        """Some of column j."""
        return np.ascontiguousarray(self.matrix[rows, j])

    def explicit(self, j: int) -> None:
        """Dense columns store every row."""

    def block(self, start: int, stop: int) -> Array:
        """A view where the memory order allows."""
        rows = self.matrix[start:stop]
        return rows if rows.flags.c_contiguous else read_only(np.ascontiguousarray(rows))

    def take(self, rows: Array) -> MatrixStorage:
        """These rows only."""
        return MatrixStorage(self.matrix[rows])

    def arrange(self, order: Sequence[int]) -> MatrixStorage:
        """These columns only, in this order."""
        return MatrixStorage(self.matrix[:, order])

    def replace(self, columns: Mapping[int, Array]) -> MatrixStorage:
        """A copy with other columns, as float64 if one of them needs it."""
        matrix = self.matrix.astype(np.result_type(self.dtype, *columns.values()), order="C")
        for j, values in columns.items():
            matrix[:, j] = values
        return MatrixStorage(matrix)

    def ranges(self) -> Ranges:
        """Range of every column."""
        return matrix_ranges(self.matrix)

    def levels(self) -> Sequence[tuple[Level, ...]]:
        """A matrix holds numbers."""
        return ((),) * int(self.matrix.shape[1])


class ColumnStorage:
    """One array per column."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.columns = [Column(c.kind, read_only(np.ascontiguousarray(c.values)), c.levels) for c in columns]
        self.n_rows = len(self.columns[0].values)
        self.dtype = np.dtype(np.float32 if all(map(_fits_float32, columns)) else np.float64)

    def column(self, j: int) -> Array:
        """Values or codes of column j."""
        return self.columns[j].values

    def cells(self, j: int, rows: Array | slice) -> Array:
        """Some of column j."""
        part: Array = self.columns[j].values[rows]
        return part

    def explicit(self, j: int) -> None:
        """Dense columns store every row."""

    def block(self, start: int, stop: int) -> Array:
        """Columns written side by side."""
        rows = range(self.n_rows)[start:stop]
        block = np.empty((len(rows), len(self.columns)), dtype=self.dtype)
        for j, column in enumerate(self.columns):
            part = column.values[start:stop]
            block[:, j] = part
            if column.kind == "category":
                block[part == MISSING, j] = np.nan
        return read_only(block)

    def take(self, rows: Array) -> ColumnStorage:
        """These rows only."""
        taken = [Column(column.kind, column.values[rows], column.levels) for column in self.columns]
        return ColumnStorage([drop_unobserved(c) if c.kind == "category" else c for c in taken])

    def arrange(self, order: Sequence[int]) -> ColumnStorage:
        """These columns only, in this order."""
        return ColumnStorage([self.columns[j] for j in order])

    def replace(self, columns: Mapping[int, Array]) -> ColumnStorage:
        """The other columns are shared."""
        old = enumerate(self.columns)
        return ColumnStorage([Column(c.kind, columns[j], c.levels) if j in columns else c for j, c in old])

    def ranges(self) -> Ranges:
        """Range of every column; categories have none."""
        parts = [_column_ranges(column) for column in self.columns]
        return Ranges(*(np.concatenate(part) for part in zip(*parts, strict=True)))

    def levels(self) -> Sequence[tuple[Level, ...]]:
        """Levels of every column, none for numbers."""
        return [column.levels for column in self.columns]


class SparseStorage:
    """A canonical CSC array; absent cells are zero, or missing, and stored NaN are missing."""

    def __init__(self, matrix: sparse.spmatrix | sparse.sparray, absent: Absent = "zero") -> None:
        self.matrix = canonical(matrix, drop_zeros=absent == "zero")
        self.absent = absent
        self.dtype = self.matrix.dtype
        self.n_rows = int(matrix.shape[0])

    @property
    def n_stored(self) -> int:
        """Number of cells that are not absent."""
        return int(self.matrix.nnz)

    @property
    def n_columns(self) -> int:
        """Number of columns."""
        return int(self.matrix.shape[1])

    def column(self, j: int) -> Array:
        """Values of column j, absent cells filled in."""
        rows, stored = self.explicit(j)
        values = self._filled(self.n_rows)
        values[rows] = stored
        return read_only(values)

    def cells(self, j: int, rows: Array | slice) -> Array:
        """Some of column j."""
        part: Array = self.column(j)[rows]
        return part

    def explicit(self, j: int) -> tuple[Array, Array]:
        """Rows, ascending, and values that are stored."""
        cells = slice(self.matrix.indptr[j], self.matrix.indptr[j + 1])
        rows = self.matrix.indices[cells].astype(np.int32, copy=False)
        return read_only(rows), read_only(self.matrix.data[cells])

    def block(self, start: int, stop: int) -> Array:
        """Rows with absent cells filled in."""
        part = self._by_row[start:stop].tocoo()
        block = self._filled(part.shape)
        block[part.row, part.col] = part.data
        return read_only(block)

    def take(self, rows: Array) -> SparseStorage:
        """These rows only."""
        return SparseStorage(self._by_row[rows], self.absent)

    def every(self, step: int) -> sparse.csr_array:
        """Every step-th row, stored cells only."""
        return self._by_row[::step]

    def arrange(self, order: Sequence[int]) -> SparseStorage:
        """These columns only, in this order."""
        return SparseStorage(self.matrix[:, list(order)], self.absent)

    def replace(self, columns: Mapping[int, Array]) -> SparseStorage:
        """Only cells that are not absent are stored."""
        from scipy import sparse

        edges = [*sorted(columns), self.matrix.shape[1]]
        parts = [self.matrix[:, : edges[0]]]
        for j, after in pairwise(edges):
            parts += [self._stored(columns[j]), self.matrix[:, j + 1 : after]]
        return SparseStorage(sparse.hstack(parts, format="csc"), self.absent)

    def _stored(self, values: Array) -> sparse.csc_array:
        """A column without its absent cells."""
        from scipy import sparse

        rows = np.flatnonzero(values if self.absent == "zero" else ~np.isnan(values))
        return sparse.csc_array((values[rows], (rows, np.zeros_like(rows))), shape=(self.n_rows, 1))

    def ranges(self) -> Ranges:
        """Range of every column."""
        return sparse_ranges(self.matrix, self.absent == "zero")

    def levels(self) -> Sequence[tuple[Level, ...]]:
        """A sparse matrix holds numbers."""
        return ((),) * int(self.matrix.shape[1])

    def _filled(self, shape: int | tuple[int, ...]) -> Array:
        return np.full(shape, 0.0 if self.absent == "zero" else np.nan, dtype=self.dtype)

    @cached_property
    def _by_row(self) -> sparse.csr_array:
        return self.matrix.tocsr()


def canonical(matrix: sparse.spmatrix | sparse.sparray, drop_zeros: bool = True) -> sparse.csc_array:
    """A CSC array with ascending rows, duplicates summed and, if wanted, zeros dropped; the argument is not changed."""
    from scipy import sparse

    result = sparse.csc_array(matrix, copy=False)
    if not result.has_canonical_format or (drop_zeros and not result.data.all()):
        result = result.copy()  # the next two calls work in place
        result.sum_duplicates()
        if drop_zeros:
            result.eliminate_zeros()
    return result


def _fits_float32(column: Column) -> bool:
    if column.kind == "category":
        return len(column.levels) <= _EXACT_IN_FLOAT32
    return column.values.dtype == np.float32


def _column_ranges(column: Column) -> Ranges:
    if column.kind != "category":
        return matrix_ranges(column.values[:, np.newaxis])
    nothing = np.array([np.nan])
    return Ranges(nothing, nothing, np.array([bool((column.values == MISSING).any())]))
