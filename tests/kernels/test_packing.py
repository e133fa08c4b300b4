"""Class weights and impurities of packed trees against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.kernels.packing import gini_of_many, gini_of_two, write_class_weights
from strategies import examples


def class_weights(seed: int, n_classes: int, most: int) -> Any:
    rng = np.random.default_rng(seed)
    weights = rng.integers(0, most, (30, n_classes))
    weights[:, 0] += 1
    return weights


def impurity(formula: Any, weights: Any) -> Any:
    out = np.empty(len(weights))
    formula(weights.astype(np.uint32), out)
    return out


@examples
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([2, 100, 2**24]))
def test_weights_follow_from_shares(seed: int, n_classes: int, most: int) -> None:
    weights = class_weights(seed, n_classes, most)
    total = weights.sum(axis=1)
    out = np.empty(weights.shape, dtype=np.uint32)
    assert write_class_weights(weights / total[:, None], total.astype(np.float64), out)
    np.testing.assert_array_equal(out, weights)


@pytest.mark.parametrize("share", [0.3, np.nan, -0.5, 2.0**40, np.inf])
def test_other_shares_are_told(share: float) -> None:
    shares, weight = np.array([[0.25, 0.75], [share, 1.0 - share]]), np.array([4.0, 4.0])
    assert not write_class_weights(shares, weight, np.empty((2, 2), dtype=np.uint32))
    assert not write_class_weights(shares[:1], np.zeros(1), np.empty((1, 2), dtype=np.uint32))


@examples
@given(st.integers(0, 2**32 - 1), st.integers(2, 9), st.sampled_from([2, 100, 2**24]))
def test_impurities_are_those_of_numpy(seed: int, n_classes: int, most: int) -> None:
    weights = class_weights(seed, n_classes, most)
    w, s, squares = weights.sum(axis=1).astype(np.float64), weights[:, 1].astype(np.float64), np.zeros(len(weights))
    for column in weights.T.astype(np.float64):
        squares += column * column
    assert impurity(gini_of_many, weights).tobytes() == (np.maximum(w - squares / w, 0.0) / w).tobytes()
    if n_classes == 2:
        assert impurity(gini_of_two, weights).tobytes() == (np.maximum(2.0 * s * (w - s) / w, 0.0) / w).tobytes()
