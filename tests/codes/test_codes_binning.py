"""Bins of about equal counts: what every choice of cuts must respect."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.codes.binning import equal_count_cuts
from strategies import examples

Ints = NDArray[np.int64]


def run_starts(sizes: list[int]) -> Ints:
    """Where each value begins in the sorted column, and the end."""
    return np.cumsum([0, *sizes], dtype=np.int64)


@st.composite
def columns(draw: st.DrawFn) -> tuple[list[int], int]:
    """Rows of each value, in order, and a number of bins that is smaller than the number of values."""
    sizes = draw(st.lists(st.sampled_from([1, 1, 1, 2, 5, 40, 1000]), min_size=3, max_size=80))
    return sizes, draw(st.integers(2, len(sizes) - 1))


@examples
@given(columns())
def test_cuts_cover_all_rows_in_ascending_bins_and_divide_no_value(case: tuple[list[int], int]) -> None:
    sizes, n_bins = case
    starts = run_starts(sizes)
    cuts = equal_count_cuts(starts, n_bins)
    assert (cuts[0], cuts[-1]) == (0, sum(sizes))
    assert (np.diff(cuts) > 0).all()
    assert set(cuts.tolist()) <= set(starts.tolist())
    assert 1 <= len(cuts) - 1 <= n_bins


@examples
@given(columns())
def test_no_bin_holds_more_than_two_shares_beyond_one_value(case: tuple[list[int], int]) -> None:
    sizes, n_bins = case
    share = sum(sizes) / n_bins
    cuts = equal_count_cuts(run_starts(sizes), n_bins)
    ends = np.cumsum(sizes)
    for first, last in pairwise(cuts.tolist()):
        inside = np.array(sizes)[(ends > first) & (ends <= last)]
        assert np.minimum(inside, share).sum() <= 2 * share + 1e-9  # half a value may stand out on either side


@pytest.mark.parametrize(("n_values", "n_bins"), [(1000, 10), (1000, 255), (256, 255), (300, 7)])
def test_distinct_values_give_all_bins_of_equal_counts(n_values: int, n_bins: int) -> None:
    counts = np.diff(equal_count_cuts(run_starts([1] * n_values), n_bins))
    assert len(counts) == n_bins
    assert counts.max() - counts.min() <= 1


def test_a_heavy_value_does_not_swallow_its_neighbours() -> None:
    sizes = [1] * 50 + [100_000] + [1] * 50
    counts = np.diff(equal_count_cuts(run_starts(sizes), 21))
    assert 100_000 in counts
    assert len(counts) >= 3


@pytest.mark.parametrize("heavy", [[100_000], [450, 450]])
def test_heavy_values_do_not_cost_the_others_their_bins(heavy: list[int]) -> None:
    sizes = [1] * 33 + heavy[:1] + [1] * 33 + heavy[1:] + [1] * 34
    n_bins = 20
    cuts = equal_count_cuts(run_starts(sizes), n_bins)
    assert len(cuts) - 1 >= n_bins - len(heavy) - 1


def test_one_bin() -> None:
    assert equal_count_cuts(run_starts([3, 1, 2]), 1).tolist() == [0, 6]


def test_bins_do_not_depend_on_a_common_factor_of_the_counts() -> None:
    sizes = [1, 3, 2, 2, 5, 1, 1, 4, 2, 7]
    few, many = equal_count_cuts(run_starts(sizes), 4), equal_count_cuts(run_starts([64 * s for s in sizes]), 4)
    assert (64 * few).tolist() == many.tolist()
