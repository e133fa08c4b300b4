"""Vectors of many lanes against their plain twins."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.lanes import FAN, LANES, choose, count_below
from strategies import examples

bytes_of_lanes = st.lists(st.integers(0, 255), min_size=LANES, max_size=LANES)


@numba.njit
def chosen(slots, codes, threshold):
    choose(slots, np.uint64(2 * LANES), codes, np.uint64(0), threshold, np.uint64(0), np.uint64(LANES))


@numba.njit
def counted(x, cuts, first):
    return count_below(x, cuts, np.uint64(first))


@examples
@given(bytes_of_lanes, bytes_of_lanes, bytes_of_lanes, st.integers(0, 255))
def test_the_right_slot_is_chosen_where_codes_are_above(left: list, right: list, codes: list, threshold: int) -> None:
    slots = np.array([*left, *right, *[7] * LANES], dtype=np.uint8)
    chosen(slots, np.array(codes, dtype=np.uint8), np.uint8(threshold))
    twin = [r if code > threshold else own for own, r, code in zip(left, right, codes, strict=True)]
    assert slots.tolist() == [*left, *right, *twin]


@pytest.mark.parametrize("real", [np.float32, np.float64])
@examples
@given(st.data())
def test_cuts_below_a_number_are_counted(real: type, data: st.DataObject) -> None:
    width = 32 if real is np.float32 else 64
    numbers = st.floats(width=width, allow_nan=False)
    cuts: NDArray = np.array(data.draw(st.lists(numbers, min_size=2 * FAN, max_size=2 * FAN)), dtype=real)
    x = data.draw(st.one_of(st.sampled_from(cuts.tolist()), st.floats(width=width)))
    for first in (0, 5, FAN):
        assert counted(real(x), cuts, first) == sum(bool(cut < x) for cut in cuts[first : first + FAN])
