"""Tables with columns whose codes need more than a byte."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from sapwood.boosting.coding import code, with_bins
from sapwood.codes.binned import BinnedTable, bin_table, find_bins
from sapwood.codes.mixed import MixedTable
from sapwood.table import Table


def frame(n_levels: int, n: int = 3000) -> pd.DataFrame:
    rng = np.random.default_rng(0)
    levels = np.concatenate([np.arange(n_levels), rng.integers(0, n_levels, n)])
    few = rng.choice([None, "x", "y"], len(levels))
    return pd.DataFrame({"a": rng.normal(size=len(levels)), "level": pd.Categorical(levels), "few": few})


@pytest.mark.parametrize(("n_levels", "dtype"), [(256, "u2"), (5000, "u2"), (70_000, "u4")])
def test_wide_columns_are_beside_the_others(n_levels: int, dtype: str) -> None:
    table = Table.from_any(frame(n_levels))
    coded, _ = code(table, "hist", 32, 2)
    assert isinstance(coded, MixedTable)
    assert coded.is_wide.tolist() == [False, True, False]
    assert coded.wide.dtype == np.dtype(dtype)
    assert coded.places.tolist() == [0, 0, 1]
    assert coded.n_codes.tolist()[1:] == [n_levels, 2]
    assert coded.is_category.tolist() == [False, True, True]
    np.testing.assert_array_equal(coded.wide[0], table.values(1) + 1)
    others = Table.from_any(frame(n_levels).drop(columns="level"))
    alone = bin_table(others, find_bins(others, 32))
    np.testing.assert_array_equal(coded.narrow.columns, alone.columns)
    np.testing.assert_array_equal(coded.narrow.rows, alone.rows)


def test_255_levels_need_one_byte() -> None:
    assert isinstance(code(Table.from_any(frame(255)), "hist", 255, 1)[0], BinnedTable)


def test_numbers_of_more_bins_than_a_byte_holds_are_wide() -> None:
    x = np.random.default_rng(0).normal(size=(5000, 2))
    x[::7, 1] = np.nan
    x[:, 0] = x[:, 0].round(1)
    table = Table.from_any(x)
    bins = find_bins(table, 1000)
    coded = with_bins(table, bins, 1)
    assert isinstance(coded, MixedTable)
    assert coded.is_wide.tolist() == [False, True]
    np.testing.assert_array_equal(coded.wide[0] == 0, np.isnan(x[:, 1]))
    np.testing.assert_array_equal(coded.wide[0], bins[1].codes(x[:, 1]))
    assert 900 < coded.wide[0].max() <= 1000


def test_parts_of_a_mixed_table_are_its_rows() -> None:
    coded, _ = code(Table.from_any(frame(300)), "hist", 255, 1)
    part = coded.part(10, 500)
    assert isinstance(part, MixedTable)
    np.testing.assert_array_equal(part.wide, coded.wide[:, 10:500])
    np.testing.assert_array_equal(part.narrow.columns, coded.narrow.columns[:, 10:500])
