"""The tail of the F distribution against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sapwood import DecisionTreeRegressor
from sapwood.kernels.significance import f_tail
from strategies import examples


@examples
@given(st.floats(0.0, 1e12), st.floats(1e-3, 1e5))
def test_the_tail_is_that_of_scipy(f: float, v: float) -> None:
    assert f_tail(f, v) == pytest.approx(stats.f.sf(f, 1, v), rel=1e-8, abs=1e-300)


def test_the_ends() -> None:
    assert f_tail(0.0, 2.5) == 1.0
    assert f_tail(np.inf, 2.5) == 0.0


@pytest.mark.parametrize("weight", [0.75, 1.1, 1.37])
def test_weights_that_are_no_whole_numbers_have_their_own_limits(weight: float) -> None:
    X, y, w = np.array([[0.0], [0.0], [1.0]]), np.array([0.0, 1.0, 3.0]), np.full(3, weight)
    freedom, mean = 3 * weight - 2, y.mean()
    between = weight * (2 * (0.5 - mean) ** 2 + (3 - mean) ** 2)
    p = stats.f.sf(between * freedom / (weight * 0.5), 1, freedom)
    for level, nodes in ((p * 0.999, 1), (p * 1.001, 3)):
        assert DecisionTreeRegressor(max_depth=1, significance=level).fit(X, y, w).tree_.node_count == nodes
