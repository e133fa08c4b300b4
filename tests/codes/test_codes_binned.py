"""The binned table: the same codes by column and by row, whoever computes them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sapwood.codes import binned
from sapwood.codes.binned import BinnedTable, bin_table, find_bins
from sapwood.codes.bins import LevelBins, NumberBins
from sapwood.table import Table


def mixed_table(n_rows: int = 500, n_numbers: int = 9) -> Table:
    rng = np.random.default_rng(0)
    columns = {f"x{j}": np.round(rng.normal(size=n_rows), j % 4) for j in range(n_numbers)}
    columns["x0"][::7] = np.nan
    columns["few"] = pd.Categorical(rng.choice(["red", "green", "blue"], n_rows))
    columns["many"] = pd.Categorical([None if k % 11 == 0 else f"level {k}" for k in rng.integers(0, 400, n_rows)])
    return Table.from_any(pd.DataFrame(columns))


def code(table: Table, max_bins: int = 255, n_jobs: int = 1) -> BinnedTable:
    return bin_table(table, find_bins(table, max_bins, n_jobs), n_jobs)


def test_every_column_has_its_own_codes() -> None:
    table = mixed_table()
    coded = code(table)
    for j, bins in enumerate(coded.bins):
        expected = np.empty(table.n_rows, dtype=np.uint8)
        bins.write(table.values(j), expected)
        np.testing.assert_array_equal(coded.columns[j], expected)


@pytest.mark.parametrize("n_numbers", [1, 5, 6, 7, 14, 15])
def test_rows_are_columns_transposed_and_padded_with_zeros(n_numbers: int) -> None:
    coded = code(mixed_table(200, n_numbers))
    n = coded.n_features
    assert coded.rows.shape[1] % 8 == 0
    assert coded.rows.shape[1] - n < 8
    np.testing.assert_array_equal(coded.rows[:, :n], coded.columns.T)
    assert not coded.rows[:, n:].any()


@pytest.mark.parametrize("n_jobs", [2, 5])
@pytest.mark.parametrize("block", [1, 63, 8192])
def test_codes_do_not_depend_on_threads_and_blocks(monkeypatch: pytest.MonkeyPatch, n_jobs: int, block: int) -> None:
    table = mixed_table(200)
    alone = code(table, 20)
    monkeypatch.setattr(binned, "BLOCK", block)
    together = code(table, 20, n_jobs)
    np.testing.assert_array_equal(alone.columns, together.columns)
    np.testing.assert_array_equal(alone.rows, together.rows)


def test_kinds_and_numbers_of_codes() -> None:
    table = mixed_table()
    coded = code(table, max_bins=16)
    assert coded.is_category.tolist() == [False] * 9 + [True, True]
    assert (coded.n_codes[~coded.is_category] <= 16).all()
    assert coded.n_codes[coded.is_category].tolist() == table.schema.n_levels[-2:].tolist()  # not limited by bins
    assert coded.n_codes.tolist() == [bins.n_codes for bins in coded.bins]
    assert isinstance(coded.bins[0], NumberBins)
    assert isinstance(coded.bins[-1], LevelBins)
    assert coded.n_codes[9] == 3
    assert (coded.columns.max(axis=1) == coded.n_codes).all()


@pytest.mark.parametrize(("start", "stop"), [(0, 500), (0, 1), (123, 321), (499, 500)])
def test_a_part_has_the_same_codes(start: int, stop: int) -> None:
    coded = code(mixed_table())
    part = coded.part(start, stop)
    assert part.n_rows == stop - start
    np.testing.assert_array_equal(part.columns, coded.columns[:, start:stop])
    np.testing.assert_array_equal(part.rows, coded.rows[start:stop])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_arrays_of_both_types(dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(1000, 3)).astype(dtype)
    coded = code(Table.from_any(X))
    for j, bins in enumerate(coded.bins):
        np.testing.assert_array_equal(coded.columns[j], 1 + np.searchsorted(bins.cuts, X[:, j], side="left"))


def test_new_rows_are_coded_by_the_cuts_of_the_old_ones() -> None:
    X = np.random.default_rng(0).normal(size=(300, 2))
    bins = find_bins(Table.from_any(X), 255)
    new = np.array([[-99.0, 99.0], [np.nan, np.inf], [-np.inf, 0.0]])
    coded = bin_table(Table.from_any(new), bins)
    assert coded.columns[0].tolist() == [1, 0, 1]
    assert coded.columns[1, :2].tolist() == [bins[1].n_codes, bins[1].n_codes]


def test_cuts_of_a_sample_are_those_of_evenly_spaced_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).normal(size=(1000, 2))
    monkeypatch.setattr(binned, "SAMPLE", 100)
    sampled, spaced = find_bins(Table.from_any(X), 16), find_bins(Table.from_any(X[::10]), 16)
    for first, second in zip(sampled, spaced, strict=True):
        np.testing.assert_array_equal(first.cuts, second.cuts)


def test_a_level_outside_of_the_sample_has_its_own_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(binned, "SAMPLE", 10)
    column = pd.Categorical(["a"] * 99 + ["b"])
    table = Table.from_any(pd.DataFrame({"x": column}))
    assert code(table).columns[0].tolist() == [1] * 99 + [2]


def test_one_row_and_one_column() -> None:
    coded = code(Table.from_any(np.array([[3.0]])))
    assert coded.columns.tolist() == [[1]]
    assert coded.rows.tolist() == [[1] + [0] * 7]
