"""A double on the left side is one that is on the left side after it was rounded to float32, and no other."""

from __future__ import annotations

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from sapwood.interchange.sources.float32_threshold import double_at_most, double_below

LARGEST = float(np.finfo(np.float32).max)
LEAST = float(np.finfo(np.float32).smallest_subnormal)
CORNERS = [0.0, -0.0, LEAST, -LEAST, LARGEST, -LARGEST, 1.0, -1.0, 2.0**-126, -(2.0**-126)]

floats32 = st.one_of(st.sampled_from(CORNERS), st.floats(width=32, allow_nan=False))
doubles = st.one_of(floats32, st.floats(allow_nan=False))


def rounded(x: float) -> np.float32:
    with np.errstate(over="ignore", under="ignore"):
        return np.float32(x)


def around(t: float) -> list[float]:
    """The double, its neighbours, float32 neighbours, and the points half way between them."""
    with np.errstate(over="ignore", under="ignore"):
        near = np.float32(t)
        few = [near, np.nextafter(near, np.float32(-np.inf)), np.nextafter(near, np.float32(np.inf))]
        exact = [t, *map(float, few)]
        halves = [(a + b) / 2 for a in exact for b in exact if np.isfinite(a + b)]
        points = [*exact, *halves]
        return [*points, *(float(np.nextafter(p, d)) for p in points for d in (-np.inf, np.inf))]


@given(t=doubles, x=doubles)
@example(t=LARGEST, x=2.0**128 - 2.0**103)
@example(t=-np.inf, x=-(2.0**128 - 2.0**103))
@example(t=LEAST / 2, x=LEAST / 2)
def test_at_most(t: float, x: float) -> None:
    found = double_at_most(np.array([t]))[0]
    for point in (x, *around(t), *around(float(found))):
        assert (float(rounded(point)) <= t) == (point <= found)


@given(t=floats32, x=doubles)
@example(t=np.inf, x=LARGEST)
@example(t=-LARGEST, x=-np.inf)
@example(t=0.0, x=-LEAST / 2)
def test_below(t: float, x: float) -> None:
    found = double_below(np.array([t], dtype=np.float32))[0]
    for point in (x, *around(t), *around(float(found))):
        assert (rounded(point) < np.float32(t)) == (point <= found) or t == point == -np.inf


def test_nothing_finite_is_below_minus_infinity() -> None:
    assert double_below(np.array([-np.inf], dtype=np.float32))[0] == -np.inf


def test_numbers_of_float32_are_compared_as_they_were() -> None:
    grid = np.linspace(-2, 2, 41).astype(np.float32)
    below, at_most = double_below(grid), double_at_most(grid.astype(np.float64))
    for x in grid:
        np.testing.assert_array_equal(x < grid, float(x) <= below)
        np.testing.assert_array_equal(x <= grid, float(x) <= at_most)
