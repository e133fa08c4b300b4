"""Bins of one column: every code is a count of cuts, and cuts part what they should."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.codes.bins import MOST_BINS, LevelBins, NumberBins, code_type, cut_values
from sapwood.codes.separation import midpoints, round_down
from sapwood.table import MISSING, UNSEEN
from strategies import EXAMPLES, examples

Array = NDArray[Any]
many = settings(examples, max_examples=8 * EXAMPLES)

SINGLE, DOUBLE = np.finfo(np.float32), np.finfo(np.float64)
EDGES = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, 5e-324, -5e-324, 1e-310, 1e300, -1e300, 1.5e308, -1.5e308]
EDGES += [float(sign * edge) for edge in (SINGLE.max, SINGLE.tiny, SINGLE.smallest_subnormal) for sign in (-1, 1)]
EDGES += [np.nextafter(float(SINGLE.max), np.inf), np.nextafter(-float(SINGLE.max), -np.inf), DOUBLE.max, DOUBLE.min]

edges = st.sampled_from(EDGES)
numbers = st.one_of(edges, st.floats(allow_nan=False), st.floats(-4, 4), st.integers(-3, 3).map(float))
cells = st.one_of(numbers, st.just(np.nan))


def slow_codes(values: Array, cuts: Array) -> Array:
    """The specification: 1 + the number of cuts below the value; 0 for NaN."""
    codes = 1 + np.searchsorted(cuts, values.astype(np.float64), side="left")
    return np.where(np.isnan(values), 0, codes)


def write(bins: Any, values: Array) -> Array:
    codes = np.full(len(values), 77, dtype=code_type(bins.n_codes))
    bins.write(values, codes)
    return codes


def as_type(values: list[float], dtype: type) -> Array:
    with np.errstate(over="ignore"):
        return np.array(values).astype(dtype)


def just_above(values: Any) -> Any:
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(values, np.inf)


@st.composite
def cuts_and_values(draw: st.DrawFn, dtype: type) -> tuple[Array, Array]:
    """Finite or infinite cuts, ascending; some values are cuts, or their neighbours in either type."""
    cuts = np.unique(draw(st.lists(numbers, max_size=40)))
    cuts = cuts[cuts < np.inf]  # nothing is above +inf
    near = st.sampled_from(cuts.tolist()) if len(cuts) else numbers
    beside = near.map(lambda cut: float(just_above(cut)))
    rounded = near.map(lambda cut: float(as_type([cut], np.float32)[0]))
    values = draw(st.lists(st.one_of(cells, near, beside, rounded), max_size=60))
    return cuts, as_type(values, dtype)


@many
@given(st.data(), st.sampled_from([np.float32, np.float64]))
def test_a_code_counts_the_cuts_below_a_value(data: st.DataObject, dtype: type) -> None:
    cuts, values = data.draw(cuts_and_values(dtype))
    np.testing.assert_array_equal(write(NumberBins(cuts), values), slow_codes(values, cuts))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e-3, 1.0, 1e30, 1e300])
def test_many_narrow_bins(dtype: type, scale: float) -> None:
    rng = np.random.default_rng(0)
    cuts = np.unique(scale * (1 + 1e-3 * rng.normal(size=254)))  # most of them in one cell of the starting table
    values = np.concatenate([cuts, just_above(cuts), scale * rng.normal(size=2000), EDGES])
    values = as_type(values.tolist(), dtype)
    np.testing.assert_array_equal(write(NumberBins(cuts), values), slow_codes(values, cuts))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_bins_over_the_whole_range_of_floats(dtype: type) -> None:
    cuts = np.concatenate([-(10.0 ** np.arange(308, -308, -5)), [0.0], 10.0 ** np.arange(-308, 308, 5)])
    values = as_type([*cuts, *just_above(cuts), *-just_above(-cuts), *EDGES], dtype)
    np.testing.assert_array_equal(write(NumberBins(cuts), values), slow_codes(values, cuts))


@many
@given(st.lists(cells, max_size=80), st.integers(2, 20), st.sampled_from([np.float32, np.float64]))
def test_cuts_part_the_values_they_were_made_from(values: list[float], max_bins: int, dtype: type) -> None:
    column = as_type(values, dtype)
    bins = cut_values(column, max_bins)
    known = np.unique(column[~np.isnan(column)])
    codes = write(bins, known)
    assert (np.diff(bins.cuts) > 0).all()
    assert bins.n_codes <= max_bins
    assert (np.diff(codes.astype(int)) >= 0).all()
    if len(known):
        assert set(codes.tolist()) == set(range(1, bins.n_codes + 1))  # no bin is empty
    if len(known) <= max_bins:
        assert len(set(codes.tolist())) == len(known)


@examples
@given(st.lists(numbers, min_size=2, max_size=80), st.integers(2, 20))
def test_cuts_do_not_depend_on_the_order_of_rows(values: list[float], max_bins: int) -> None:
    first, second = (cut_values(np.array(v), max_bins) for v in (values, values[::-1]))
    np.testing.assert_array_equal(first.cuts, second.cuts)


@examples
@given(st.lists(st.floats(allow_nan=False), min_size=2, max_size=60, unique=True), st.integers(2, 20))
def test_a_threshold_is_where_its_code_ends(values: list[float], max_bins: int) -> None:
    column = np.array(values)
    bins = cut_values(column, max_bins)
    codes = write(bins, column)
    for code in range(1, bins.n_codes + 1):
        np.testing.assert_array_equal(column <= bins.thresholds(np.array([code]), np.array([0]))[0], codes <= code)


def test_a_column_of_missing_values_has_one_empty_bin() -> None:
    bins = cut_values(np.full(3, np.nan), 255)
    assert (bins.n_codes, len(bins.cuts)) == (1, 0)
    assert write(bins, np.array([np.nan, 1.0])).tolist() == [0, 1]


def test_many_distinct_values_fill_all_bins() -> None:
    values = np.random.default_rng(0).normal(size=10_000)
    counts = np.bincount(write(cut_values(values, MOST_BINS), values), minlength=256)
    assert counts[0] == 0
    assert counts[1:].min() >= 10_000 // MOST_BINS
    assert counts[1:].max() <= 10_000 // MOST_BINS + 1


@examples
@given(st.lists(st.tuples(numbers, numbers), max_size=40), st.sampled_from([np.float32, np.float64]))
def test_midpoints_lie_between(pairs: list[tuple[float, float]], dtype: type) -> None:
    ends = np.sort(as_type([end for pair in pairs for end in pair], dtype).reshape(-1, 2), axis=1)
    below, above = ends[ends[:, 0] < ends[:, 1]].T
    middle = midpoints(below, above)
    assert (below <= middle).all()
    assert (middle < above).all()
    easy = (np.abs(below) < 1e3) & (np.abs(above) < 1e3) & (above / 2 - below / 2 > 1e-3)
    np.testing.assert_allclose(middle[easy], (below[easy].astype(float) + above[easy]) / 2)


@many
@given(st.lists(numbers, min_size=1, max_size=40), st.lists(numbers, min_size=1, max_size=40))
def test_rounding_down_keeps_every_float32_on_its_side(thresholds: list[float], values: list[float]) -> None:
    single, t = as_type(values + thresholds, np.float32), np.array(thresholds)
    rounded = round_down(t, np.dtype(np.float32))
    assert rounded.dtype == np.float32
    np.testing.assert_array_equal(single[:, None] <= rounded, single[:, None].astype(float) <= t)


@pytest.mark.parametrize("n_levels", [1, 2, 254, 255, 256, 5000, 70_000])
def test_every_level_has_a_code_of_its_own(n_levels: int) -> None:
    levels = np.arange(n_levels, dtype=np.int32)
    bins = LevelBins(n_levels)
    assert bins.n_codes == n_levels
    assert write(bins, levels).tolist() == list(range(1, n_levels + 1))


@pytest.mark.parametrize(("n_codes", "dtype"), [(0, "u1"), (255, "u1"), (256, "u2"), (65_535, "u2"), (65_536, "u4")])
def test_codes_are_as_short_as_they_can_be(n_codes: int, dtype: str) -> None:
    assert np.dtype(code_type(n_codes)) == np.dtype(dtype)
    assert np.array([n_codes]).astype(code_type(n_codes))[0] == n_codes


@pytest.mark.parametrize("n_levels", [1, 3, 300])
def test_missing_levels_have_code_0(n_levels: int) -> None:
    assert write(LevelBins(n_levels), np.array([MISSING, 0, MISSING], dtype=np.int32)).tolist() == [0, 1, 0]


@pytest.mark.parametrize("n_levels", [1, 3, 300])
def test_unseen_levels_have_the_code_of_missing_ones(n_levels: int) -> None:
    assert write(LevelBins(n_levels), np.array([UNSEEN, 0], dtype=np.int32)).tolist() == [0, 1]


def test_a_category_without_levels() -> None:
    assert write(LevelBins(0), np.full(2, MISSING, dtype=np.int32)).tolist() == [0, 0]


@examples
@given(st.data())
def test_codes_of_blocks_are_those_of_the_column(data: st.DataObject) -> None:
    cuts, values = data.draw(cuts_and_values(np.float64))
    assume(len(values))
    at = data.draw(st.integers(0, len(values)))
    bins = NumberBins(cuts)
    parts = np.concatenate([write(bins, values[:at]), write(bins, values[at:])])
    np.testing.assert_array_equal(parts, write(bins, values))
