"""Sorting, runs, entries and codes against NumPy's stable sort."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.codes.sorted_column import sort_column
from sapwood.kernels.sorting import count_runs, order_keys, write_codes, write_entries
from strategies import examples

Array = NDArray[Any]
TINY = {np.float32: 1e-45, np.float64: 5e-324}


@st.composite
def columns(draw: st.DrawFn) -> Array:
    """Either type; corner values, few values with many ties, or anything."""
    dtype = draw(st.sampled_from([np.float32, np.float64]))
    width = 8 * np.dtype(dtype).itemsize
    top = float(np.finfo(dtype).max)
    corners = st.sampled_from(
        [np.nan, -np.inf, np.inf, -0.0, 0.0, TINY[dtype], -TINY[dtype], top, -top, 1.0, -1.0, 1.5]
    )
    ties = st.integers(-2, 2).map(float)
    cells = draw(st.sampled_from([corners, ties, st.floats(width=width), st.one_of(corners, st.floats(width=width))]))
    return np.array(draw(st.lists(cells, max_size=60)), dtype=dtype)


def is_tied(values: Array, rows: Array) -> Array:
    """Whether each row has the value of the row before it."""
    return np.array([i > 0 and values[row] == values[rows[i - 1]] for i, row in enumerate(rows)], dtype=bool)


@examples
@given(columns())
def test_rows_are_in_stable_order_of_their_values(values: Array) -> None:
    column = sort_column(values)
    n_present = np.count_nonzero(~np.isnan(values))
    assert column.rows.tolist() == np.argsort(values, kind="stable")[:n_present].tolist()
    assert column.missing.tolist() == np.flatnonzero(np.isnan(values)).tolist()


@examples
@given(columns())
def test_keys_are_equal_exactly_where_values_are(values: Array) -> None:
    column = sort_column(values)
    tied = is_tied(values, column.rows)
    assert (column.keys[1:] == column.keys[:-1]).tolist() == tied[1:].tolist()
    assert (column.keys[1:] >= column.keys[:-1]).all()


@examples
@given(columns())
def test_runs_are_the_distinct_values(values: Array) -> None:
    column = sort_column(values)
    distinct, first, sizes = np.unique(values[column.rows], return_index=True, return_counts=True)
    assert column.n_distinct == len(distinct)
    assert column.run_starts().tolist() == [*first.tolist(), len(column.rows)]
    if len(distinct):
        assert column.longest == sizes.max()
        assert column.longest_start == first[np.argmax(sizes)]  # the first of the longest


@examples
@given(columns())
def test_given_rows_are_carried_along(values: Array) -> None:
    rows = 3 * np.arange(len(values), dtype=np.uint32) + 1
    plain, carried = sort_column(values), sort_column(values, rows)
    assert carried.rows.tolist() == rows[plain.rows].tolist()
    assert carried.missing.tolist() == rows[plain.missing].tolist()


@examples
@given(columns(), st.data())
def test_entries_hold_row_and_tie_bit(values: Array, data: Any) -> None:
    column = sort_column(values)
    first = data.draw(st.integers(0, len(column.rows)))
    last = data.draw(st.integers(first, len(column.rows)))
    entries = np.full(len(values), 7, dtype=np.uint32)
    write_entries(column.keys, column.rows, first, last, entries)
    stretch = column.rows[first:last]
    assert (entries[: last - first] >> 1).tolist() == stretch.tolist()
    assert (entries[: last - first] & 1).tolist() == is_tied(values, stretch).tolist()
    assert (entries[last - first :] == 7).all()


@examples
@given(st.lists(st.integers(0, 4), max_size=40))
def test_count_runs(keys: list[int]) -> None:
    ordered = np.array(sorted(keys), dtype=np.uint64)
    sizes = {key: keys.count(key) for key in sorted(set(keys))}
    longest = max(sizes, key=sizes.get, default=None)
    start = 0 if longest is None else ordered.tolist().index(longest)
    assert count_runs(ordered) == (len(sizes), max(sizes.values(), default=0), start)


@examples
@given(st.permutations(range(12)), st.sets(st.integers(1, 11)))
def test_codes_count_the_cuts_at_or_before_a_row(rows: list[int], inner: set[int]) -> None:
    cuts = np.array(sorted({0, *inner, 10}), dtype=np.int64)
    cuts = cuts[cuts <= 10]  # the last two rows are missing and keep what they have
    codes = np.full(12, 99, dtype=np.uint16)
    write_codes(np.array(rows, dtype=np.uint32), cuts, codes)
    expected = [int(np.count_nonzero(cuts <= position)) if position < 10 else 99 for position in range(12)]
    assert codes[rows].tolist() == expected


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_many_rows_of_every_magnitude(dtype: type) -> None:
    rng = np.random.default_rng(5)
    bits = rng.integers(0, 2**63, 20_000, dtype=np.uint64) * np.uint64(2) + np.uint64(1)
    values = bits.view(np.float64) if dtype is np.float64 else (bits >> np.uint64(32)).astype(np.uint32).view(dtype)
    values = np.concatenate([values, values[:500], np.round(rng.normal(size=500), 1).astype(dtype)])
    with np.errstate(invalid="ignore"):
        expected = np.argsort(values, kind="stable")[: np.count_nonzero(~np.isnan(values))]
    assert (sort_column(values).rows == expected).all()


def test_order_keys_order_like_floats() -> None:
    values = np.array([-np.inf, -1.5, -5e-324, 0.0, 5e-324, 1.0, np.inf])
    bits = values.view(np.uint64)
    keys = np.empty_like(bits)
    order_keys(bits, np.uint64(1 << 63), keys)
    assert (keys[1:] > keys[:-1]).all()


def test_input_is_left_alone() -> None:
    values = np.array([3.0, -0.0, np.nan, 1.0, 0.0])
    before, rows = values.copy(), np.arange(5, dtype=np.uint32)
    sort_column(values, rows)
    assert values.tobytes() == before.tobytes()
    assert rows.tolist() == [0, 1, 2, 3, 4]
