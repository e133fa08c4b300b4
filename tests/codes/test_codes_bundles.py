"""Bundles: columns that share a byte tell the same as columns that do not."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.codes import bundles
from sapwood.codes.binned import bin_table, find_bins
from sapwood.codes.bundles import FEW, find_bundles, is_worth_it, separate
from sapwood.table import Table
from strategies import examples

Array = NDArray[Any]


def flags(n: int, n_columns: int, seed: int = 0) -> Array:
    """Columns (rows, columns) of which one is set in each row."""
    chosen = np.random.default_rng(seed).integers(0, n_columns, n)
    return (chosen[:, None] == np.arange(n_columns)).astype(np.float32)


def columns_of(found: Any, n_columns: int) -> Array:
    """Codes of the columns, told from those of the bundles."""
    out = []
    for j in range(n_columns):
        codes = found.codes[found.bundle_of[j]]
        out.append(codes if found.meaning_of[j] < 0 else found.meanings[found.meaning_of[j]][codes])
    return np.array(out)


@examples
@given(st.integers(0, 2**32), st.integers(1, 30), st.integers(1, 3))
def test_every_column_can_be_told_from_its_bundle(seed: int, n_columns: int, n_jobs: int) -> None:
    rng = np.random.default_rng(seed)
    n_codes = rng.choice([1, 2, 3, FEW, FEW + 1, 200], n_columns)
    codes = np.array([rng.integers(0, most, 300, endpoint=True) for most in n_codes]).astype(np.uint8)
    found = find_bundles(codes, n_codes, n_jobs)
    np.testing.assert_array_equal(columns_of(found, n_columns), codes)
    assert all(own.max() < size <= 256 for own, size in zip(found.codes, found.sizes, strict=True))


def test_flags_of_which_one_is_set_share_one_byte() -> None:
    codes = (flags(5000, 40).T + 1).astype(np.uint8)
    found = find_bundles(codes, np.full(40, 2))
    assert found.sizes.tolist() == [40]
    assert set(found.bundle_of.tolist()) == {0}


def test_columns_with_too_many_combinations_stay_apart() -> None:
    codes = np.random.default_rng(0).integers(1, 17, size=(3, 20_000)).astype(np.uint8)
    found = find_bundles(codes, np.full(3, 16))
    assert found.bundle_of.tolist() == [0, 0, 1]  # 256 combinations fit into a byte, 4 096 do not
    assert found.sizes.tolist() == [256, 17]


def test_columns_that_all_stay_apart_keep_their_order() -> None:
    rng = np.random.default_rng(0)
    n_codes = np.array([16, 200, 16])  # 17 * 17 combinations of the first and the last
    codes = rng.integers(0, n_codes[:, None], size=(3, 20_000), endpoint=True).astype(np.uint8)
    found = find_bundles(codes, n_codes)
    assert found.bundle_of.tolist() == [0, 1, 2]
    np.testing.assert_array_equal(np.array(found.codes), codes)


def test_columns_of_many_codes_are_left_alone() -> None:
    codes = np.random.default_rng(0).integers(1, 200, size=(2, 5000)).astype(np.uint8)
    found = find_bundles(codes, np.full(2, 199))
    alone = separate(codes, np.full(2, 199))
    for name in ("sizes", "bundle_of", "meaning_of", "meanings"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))


def test_rows_of_a_table_hold_bundles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bundles, "LEAST_ROWS", 100)
    X = np.hstack([flags(200, 30), np.random.default_rng(1).normal(size=(200, 2)).astype(np.float32)])
    table = Table.from_any(X)
    coded = bin_table(table, find_bins(table, 255))
    assert coded.is_bundled
    assert coded.n_bundles == 3
    assert coded.rows.shape == (200, 8)
    part = coded.part(50, 120)
    np.testing.assert_array_equal(part.rows, coded.rows[50:120])
    np.testing.assert_array_equal(columns_of(find_bundles(coded.columns, coded.n_codes), 32), coded.columns)


def test_few_rows_and_single_flags_are_not_worth_it() -> None:
    assert not is_worth_it(bundles.LEAST_ROWS - 1, np.array([2, 2]))
    assert not is_worth_it(10**6, np.array([2, 200]))
    assert is_worth_it(10**6, np.array([2, 200, 2]))
