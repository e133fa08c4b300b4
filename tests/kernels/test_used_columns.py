"""Drawn columns and the lists that kernels follow, next to plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.boosting.columns import ColumnOptions
from sapwood.kernels.used_columns import draw_columns, list_columns, smallest


@pytest.mark.parametrize("n_columns", [1, 2, 9, 300])
@pytest.mark.parametrize("share", [0.01, 0.4, 0.8, 0.999])
def test_draws_are_those_of_the_options(n_columns: int, share: float) -> None:
    options = ColumnOptions(n_columns, share)
    mask, keys, pool = np.zeros(n_columns, np.bool_), np.empty(n_columns), np.zeros(4, np.uint32)
    for key in range(20):
        draw_columns(np.uint64(key), max(1, round(share * n_columns)), pool, keys, mask)
        np.testing.assert_array_equal(mask, options.choice(key).of_tree)


def test_the_largest_of_the_smallest() -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 7, 100):
        keys = rng.choice([-0.0, 0.0, 5e-324, 0.25, 1.0, 36.7, np.inf], n)
        for wanted in range(1, n + 1):
            assert smallest(keys, wanted) == np.sort(keys)[wanted - 1]


def test_columns_and_bundles_that_are_used() -> None:
    bundle_of, starts = np.array([2, 0, 0, 1, 2]), np.array([0, 12, 20], dtype=np.uint64)
    drawn, places, n_used = np.zeros(5, np.int64), np.zeros(3, np.uint64), np.zeros(2, np.int64)
    list_columns(np.array([True, False, True, False, True]), bundle_of, starts, drawn, places, n_used)
    assert n_used.tolist() == [3, 2]
    assert drawn[:3].tolist() == [0, 2, 4]
    assert places[:2].tolist() == [0, 2 << 32 | 20]
