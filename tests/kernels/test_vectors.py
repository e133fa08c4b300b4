"""Vectors of lanes against NumPy, bit for bit."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.vectors import ALL, LANES, lanes_with, load, pick, spread, store
from strategies import examples


@lean_kernel
def combine(a, b, place, codes, code, number, out):
    """(a b + number) where the code is found, else a + b."""
    found = lanes_with(codes, place, code)
    first, second = load(a, place), load(b, place)
    store(out, place, pick(found, first * second + spread(number), first + second))
    return found


numbers = st.lists(st.floats(-1e6, 1e6), min_size=3 * LANES, max_size=3 * LANES).map(np.array)


@examples
@given(numbers, numbers, st.integers(0, 2 * LANES), st.floats(-9, 9), st.integers(0, 2), st.data())
def test_vectors_work_lane_by_lane(a, b, place, number, code, data) -> None:
    codes = np.array(data.draw(st.lists(st.integers(0, 2), min_size=3 * LANES, max_size=3 * LANES)), dtype=np.uint8)
    out = np.full(3 * LANES, -1.0)
    found = combine(a, b, np.uint64(place), codes, np.uint8(code), number, out)
    lanes = slice(place, place + LANES)
    expected = np.full(3 * LANES, -1.0)
    expected[lanes] = np.where(codes == code, a * b + number, a + b)[lanes]
    assert out.tobytes() == expected.tobytes()
    assert [found >> k & 1 for k in range(LANES)] == (codes[lanes] == code).tolist()
    assert found <= ALL
