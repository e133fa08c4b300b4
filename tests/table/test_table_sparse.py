"""Sparse matrices keep their zeros implicit and agree with the dense matrix."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from sapwood.table import Table

FORMATS = ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"]


def dense():
    X = np.array([[0, 1.5, 0, 5], [-2, 0, 0, 5], [np.nan, 0, 0, 5], [0, np.inf, 0, 5]])
    X.flags.writeable = False
    return X


def assert_same(table, X):
    np.testing.assert_array_equal(table.block(0, len(X)), X)
    np.testing.assert_array_equal(table.block(1, 3), X[1:3])
    for j in range(X.shape[1]):
        np.testing.assert_array_equal(table.values(j), X[:, j])
        rows, values = table.explicit(j)
        assert rows.dtype == np.int32
        np.testing.assert_array_equal(rows, np.flatnonzero(X[:, j]))
        np.testing.assert_array_equal(values, X[rows, j])


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("family", ["array", "matrix"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_format_agrees_with_dense(form, family, dtype):
    X = dense().astype(dtype)
    matrix = getattr(sparse, f"{form}_{family}")(X)
    table = Table.from_any(matrix)
    assert table.dtype == dtype
    assert table.schema == Table.from_any(X).schema
    assert_same(table, X)
    assert_same(table.schema.match(matrix), X)


def test_dense_tables_have_no_explicit_entries():
    assert Table.from_any(dense()).explicit(0) is None
    assert Table.from_any([[1, "a"]]).explicit(0) is None


@pytest.mark.parametrize("index", ["int32", "int64"])
def test_disorder_is_cleaned_up_in_a_copy(index):
    data, rows, starts = np.array([4.0, 0.0, 1.0, 2.0]), np.array([2, 0, 1, 1], index), np.array([0, 3, 4], index)
    matrix = sparse.csc_array((data, rows, starts), shape=(3, 2))
    matrix.indices, matrix.indptr = rows, starts
    table = Table.from_any(matrix)
    assert_same(table, np.array([[0, 0], [1, 2], [4, 0]]))
    assert matrix.data.tolist() == [4, 0, 1, 2]
    assert matrix.indices.tolist() == [2, 0, 1, 1]


def test_duplicates_are_summed_without_overflow():
    matrix = sparse.coo_array((np.array([100, 100], np.int8), ([0, 0], [0, 0])), shape=(2, 1))
    assert Table.from_any(matrix).values(0).tolist() == [200, 0]
    assert matrix.nnz == 2


@pytest.mark.parametrize("rows", [[3, 1], np.array([True, False, True, False]), [0, 0, 2]])
def test_take(rows):
    X = dense()
    table = Table.from_any(sparse.csr_array(X)).take(rows)
    assert_same(table, X[rows])
    assert table.schema == Table.from_any(X[rows]).schema


def test_categories_of_a_sparse_matrix():
    table = Table.from_any(sparse.csr_array(dense()), categorical_features=[0])
    assert table.schema.columns[0].levels == (-2, 0)
    assert table.values(0).tolist() == [1, 0, -1, 1]
    matched = table.schema.match(sparse.csc_array([[0, 1.0, 0, 0], [9, 1.0, 0, 0]]))
    assert matched.values(0).tolist() == [1, -2]


class TestAbsentCellsAreMissing:
    matrix = sparse.csr_array(
        (np.array([1.5, 0.0, -2.0, np.nan]), (np.array([0, 1, 2, 3]), np.array([0, 0, 1, 1]))), shape=(4, 3)
    )
    dense = np.array([[1.5, np.nan, np.nan], [0, np.nan, np.nan], [np.nan, -2, np.nan], [np.nan] * 3])

    def test_stored_zeros_are_zeros_and_all_others_missing(self):
        table = Table.from_any(self.matrix, sparse_absent="missing")
        np.testing.assert_array_equal(table.block(0, 4), self.dense)
        np.testing.assert_array_equal(table.block(1, 3), self.dense[1:3])
        for j in range(3):
            np.testing.assert_array_equal(table.values(j), self.dense[:, j])
            np.testing.assert_array_equal(table.cells(j, [2, 0]), self.dense[[2, 0], j])

    def test_the_schema_is_that_of_a_dense_matrix_but_for_the_meaning(self):
        schema = Table.from_any(self.matrix, sparse_absent="missing").schema
        assert schema.columns == Table.from_any(self.dense).schema.columns
        assert schema.sparse_absent == "missing"

    def test_rows_taken_and_new_rows_keep_the_meaning(self):
        table = Table.from_any(self.matrix, sparse_absent="missing")
        np.testing.assert_array_equal(table.take([3, 1]).block(0, 2), self.dense[[3, 1]])
        np.testing.assert_array_equal(table.schema.match(self.matrix[2:]).block(0, 2), self.dense[2:])
        np.testing.assert_array_equal(table.take([0]).schema.match(self.matrix).block(0, 4), self.dense)
