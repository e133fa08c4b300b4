"""Learning rates: a number, one for each round, or a function."""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np
import pytest
from engine_cases import Data, begin, fit

from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import learning_rate, of_member
from sapwood.errors import ParameterError
from sapwood.losses import Squared


@pytest.mark.parametrize("setting", [0.3, np.float32(0.25), 1, np.int64(1)])
def test_a_number_holds_for_all_rounds(setting: Any) -> None:
    rate = learning_rate(setting)
    assert [rate(t, lambda: 5.0) for t in (0, 1, 99)] == [float(setting)] * 3
    assert type(rate(0, lambda: 1.0)) is float


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_the_last_of_several_holds_on(kind: Any) -> None:
    rate = learning_rate(kind([0.5, 0.25, 0.125]))
    assert [rate(t, lambda: 1.0) for t in range(5)] == [0.5, 0.25, 0.125, 0.125, 0.125]


def test_a_function_of_the_round() -> None:
    rate = learning_rate(lambda t: 1.0 / (t + 1))
    assert [rate(t, lambda: 9.0) for t in range(3)] == [1.0, 0.5, 1 / 3]


def test_a_function_of_the_round_and_the_norm() -> None:
    rate = learning_rate(lambda t, norm: 0.1 * norm + t)
    assert rate(2, lambda: 5.0) == 2.5


def test_other_callables() -> None:
    class Schedule:
        def __call__(self, t: int) -> float:
            return 0.5**t

    assert learning_rate(Schedule())(2, lambda: 1.0) == 0.25
    assert learning_rate(lambda *given: float(len(given)))(0, lambda: 1.0) == 2.0
    assert learning_rate(partial(lambda scale, t: scale + t, 0.5))(1, lambda: 9.0) == 1.5
    assert learning_rate(math.exp)(0, lambda: 7.0) == 1.0


@pytest.mark.parametrize("kind", [int, np.float64, np.float32, np.int64])
def test_functions_may_return_any_number(kind: type) -> None:
    found = learning_rate(lambda _t: kind(1))(0, lambda: 1.0)
    assert found == 1.0
    assert type(found) is float


@pytest.mark.parametrize("bad", [0.0, -0.1, np.nan, np.inf, None, "0.1", [0.1], np.array([0.1]), 1j])
def test_bad_returns_are_named_with_their_round(bad: Any) -> None:
    rate = learning_rate(lambda t: bad if t == 3 else 0.1)
    assert rate(2, lambda: 1.0) == 0.1
    with pytest.raises(ParameterError, match=r"learning_rate returned .* for round 3, .*finite number above 0"):
        rate(3, lambda: 1.0)


def data() -> Data:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    return Data.of(X, X[:, 0] + 0.1 * rng.normal(size=60))


def test_a_rate_multiplies_the_leaves() -> None:
    full, half = (fit(data(), Squared(), TreeOptions(), 1, rate).trees[0][0] for rate in (1.0, 0.5))
    np.testing.assert_array_equal(half.value, 0.5 * full.value)


def test_rounds_and_norms_are_those_of_training() -> None:
    given = []

    def rate(t: int, norm: float) -> float:
        given.append((t, norm))
        return 0.5

    first = begin(data(), Squared(), TreeOptions())
    norms = []
    for _ in range(3):
        norms.append(float(np.sqrt(np.mean((first.score - data().y) ** 2))))
        first.advance(learning_rate(rate))
    assert [t for t, _ in given] == [0, 1, 2]
    np.testing.assert_allclose([norm for _, norm in given], norms)
    second = begin(data(), Squared(), TreeOptions(), start=first.ensemble)
    second.advance(learning_rate(rate))
    assert given[-1][0] == 3  # rounds of the model it continues count
    assert given[-1][1] < norms[-1]


def test_an_error_of_the_function_leaves_the_model_as_it_was() -> None:
    rounds = begin(data(), Squared(), TreeOptions())
    rounds.advance(0.5)
    before = rounds.score.copy()
    with pytest.raises(ParameterError):
        rounds.advance(learning_rate(lambda _t: -1.0))
    assert rounds.n_done == 1
    np.testing.assert_array_equal(rounds.score, before)


def test_members_that_draw_thresholds_take_longer_steps_but_not_too_long_ones() -> None:
    def norm() -> float:
        return 1.0

    for own, expected in ((0.1, 0.2), (0.3, 0.5), (0.8, 0.8)):
        rate = learning_rate(own)
        assert [of_member(rate, number, alternates=True)(0, norm) for number in range(3)] == [own, expected, own]
        assert of_member(rate, 1, alternates=False)(0, norm) == own
