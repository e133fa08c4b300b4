"""Shapley values by enumeration: games with known values, and the worth of subsets."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sapwood.explain.shap.enumeration import enumerate_values, shapley_of_game, worth_of_subsets
from strategies import examples


def test_the_glove_game() -> None:
    """Players 0 and 1 have a left glove, player 2 the right one; a pair is worth 1: 1/6, 1/6, 2/3."""
    worth = np.array([0, 0, 0, 0, 0, 1, 1, 1], dtype=float)
    assert_allclose(shapley_of_game(worth), [1 / 6, 1 / 6, 2 / 3])


@examples
@given(st.integers(0, 4), st.data())
def test_values_are_shared_out(n: int, data: st.DataObject) -> None:
    worth = np.array(data.draw(st.lists(st.floats(-9, 9), min_size=1 << n, max_size=1 << n)))
    values = shapley_of_game(worth)
    assert len(values) == n
    assert values.sum() == pytest.approx(worth[-1] - worth[0], abs=1e-9)


def test_a_linear_function_gives_each_column_its_own_part(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    cells, background, slope = rng.normal(size=(7, 4)), rng.normal(size=(5, 4)), np.array([1.0, 0.0, -2.0, 3.0])

    def predict(rows: np.ndarray) -> np.ndarray:
        return rows @ slope

    monkeypatch.setattr("sapwood.explain.shap.enumeration.MOST_PREDICTED", 12)  # two rows at a time
    found = enumerate_values(predict, cells, background, [0, 2, 3])
    assert_allclose(found, (cells - background.mean(axis=0)) * slope, atol=1e-12)
    worth = worth_of_subsets(predict, cells, background, [0, 2, 3])
    assert_allclose(worth[0], predict(background).mean())
    assert_allclose(worth[-1], predict(cells) + 0 * worth[-1], atol=1e-12)
