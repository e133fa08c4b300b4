"""The sparse table holds the codes of the dense one, and leaves out those that absent cells have."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import sparse

from sapwood.codes import binned
from sapwood.codes.binned import bin_table, find_bins
from sapwood.codes.sparse import SparseTable, sparse_table, suits_sparse
from sapwood.kernels.entries import code_at
from sapwood.table import Table

Array = NDArray[Any]


def matrix(n: int = 300, n_features: int = 40, density: float = 0.05, seed: int = 0) -> sparse.csr_array:
    """Values of both signs, few different ones in some columns, none in the last, some stored NaN."""
    rng = np.random.default_rng(seed)
    found = np.where(rng.random((n, n_features)) < density, rng.normal(size=(n, n_features)), 0.0)
    found[:, ::3] = np.ceil(found[:, ::3])
    found[:, -1] = 0.0
    found[::50, 1] = np.nan
    return sparse.csr_array(found)


def dense_codes(table: SparseTable) -> Array:
    """Codes of all cells, (features, rows)."""
    cells = [[code_at(table.entries, row, j) for row in range(table.n_rows)] for j in range(table.n_features)]
    return np.array(cells)


@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_codes_are_those_of_the_dense_table(absent: Any, n_jobs: int) -> None:
    table = Table.from_any(matrix(), sparse_absent=absent)
    bins = find_bins(table, 16, n_jobs)
    coded = sparse_table(table, bins, n_jobs)
    np.testing.assert_array_equal(dense_codes(coded), bin_table(table, bins).columns)
    assert coded.n_codes.tolist() == [own.n_codes for own in bins]
    assert len(coded.entries.cells) <= matrix().nnz


@pytest.mark.parametrize("sample", [10**6, 100])
def test_bins_are_those_of_the_dense_table(monkeypatch: pytest.MonkeyPatch, sample: int) -> None:
    monkeypatch.setattr(binned, "SAMPLE", sample)
    x = matrix(density=0.4)
    for max_bins in (4, 255):
        ours, theirs = (find_bins(Table.from_any(table), max_bins) for table in (x, x.toarray()))
        for own, other in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(own.cuts, other.cuts)


def test_a_part_has_the_same_codes() -> None:
    table = Table.from_any(matrix())
    coded = sparse_table(table, find_bins(table, 255))
    np.testing.assert_array_equal(dense_codes(coded.part(100, 200)), dense_codes(coded)[:, 100:200])


def test_cells_of_a_row_ascend_and_hold_no_absent_code() -> None:
    table = Table.from_any(matrix())
    entries = sparse_table(table, find_bins(table, 3)).entries
    absent = entries.starts[:-1] + entries.absent
    assert not np.isin(entries.cells, absent).any()
    for first, last in zip(entries.first[:-1], entries.first[1:], strict=True):
        assert (np.diff(entries.cells[first:last].astype(np.int64)) > 0).all()


def test_only_tables_of_few_stored_cells_are_sparse() -> None:
    assert suits_sparse(Table.from_any(matrix(density=0.05)))
    assert not suits_sparse(Table.from_any(matrix(density=0.3)))
    assert not suits_sparse(Table.from_any(matrix().toarray()))
