"""Metrics of numbers against scikit-learn's, or against their formulas in plain Python."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from sklearn import metrics as theirs

from sapwood.errors import InputError
from sapwood.metrics import find_metric
from strategies import examples

Array = NDArray[Any]
Case = tuple[Array, Array, Array | None]


@st.composite
def positive_rows(draw: st.DrawFn) -> Case:
    """Targets and predictions above zero, with or without weights, one of which is zero."""
    n = draw(st.integers(1, 30))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y, predicted = rng.integers(1, 40, size=(2, n)) / 4.0
    weight = rng.integers(0, 4, size=n) / 2.0 + np.eye(1, n)[0]
    return y, predicted, draw(st.sampled_from([None, weight]))


THEIRS: dict[str, Callable[..., float]] = {
    "rmse": theirs.root_mean_squared_error,
    "mae": theirs.mean_absolute_error,
    "mape": theirs.mean_absolute_percentage_error,
    "rmsle": theirs.root_mean_squared_log_error,
    "gamma-deviance": theirs.mean_gamma_deviance,
}


@pytest.mark.parametrize("name", THEIRS)
@examples
@given(positive_rows())
def test_as_in_scikit_learn(name: str, case: Case) -> None:
    y, predicted, weight = case
    expected = THEIRS[name](y, predicted, sample_weight=weight)
    value = find_metric(name).function(y, predicted, weight, None)
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12)
    assert find_metric(name).function(y, predicted[None], weight, None) == value
    assert type(value) is float


FORMULAS: dict[str, Callable[[float, float], float]] = {
    "mphe": lambda y, p: math.sqrt(1 + (y - p) ** 2) - 1,
    "mphe@2": lambda y, p: 4 * (math.sqrt(1 + ((y - p) / 2) ** 2) - 1),
    "poisson-nloglik": lambda y, p: p - y * math.log(p) + math.lgamma(y + 1),
    "gamma-nloglik": lambda y, p: y / p + math.log(p),
    "tweedie-nloglik": lambda y, p: 2 * y / math.sqrt(p) + 2 * math.sqrt(p),
    "tweedie-nloglik@1.2": lambda y, p: y * p**-0.2 / 0.2 + p**0.8 / 0.8,
    "quantile": lambda y, p: abs(y - p) / 2,
    "quantile@0.8": lambda y, p: 0.8 * (y - p) if y > p else 0.2 * (p - y),
}


@pytest.mark.parametrize("name", FORMULAS)
@examples
@given(positive_rows())
def test_as_the_formula_says(name: str, case: Case) -> None:
    y, predicted, weight = case
    losses = [FORMULAS[name](*row) for row in zip(y.tolist(), predicted.tolist(), strict=True)]
    expected = np.average(losses, weights=weight)
    assert find_metric(name).function(y, predicted, weight, None) == pytest.approx(expected, rel=1e-12, abs=1e-12)


@examples
@given(positive_rows())
def test_several_quantiles(case: Case) -> None:
    y, predicted, weight = case
    shares = (0.1, 0.5, 0.9)
    rows = np.array([predicted - 1, predicted, predicted + 2])
    each = [
        theirs.mean_pinball_loss(y, row, sample_weight=weight, alpha=q) for q, row in zip(shares, rows, strict=True)
    ]
    value = find_metric("quantile@0.1,0.5,0.9").function(y, rows, weight, None)
    assert value == pytest.approx(np.mean(each), rel=1e-12)


@pytest.mark.parametrize("name", [*THEIRS, *FORMULAS])
def test_perfect_predictions_are_best(name: str) -> None:
    metric, y = find_metric(name), np.array([1.0, 2.0, 5.0])
    assert not metric.larger_is_better
    best = metric.function(y, y, None, None)
    assert all(metric.function(y, y * factor, None, None) > best for factor in (0.5, 0.9, 1.1, 2.0))


@pytest.mark.parametrize(
    "name", ["poisson-nloglik", "gamma-nloglik", "gamma-deviance", "tweedie-nloglik", "mape", "rmsle"]
)
def test_zeros_and_impossible_predictions_are_finite(name: str) -> None:
    y, predicted = np.array([0.0, 0.0, 3.0]), np.array([0.0, 2.0, -5.0])
    assert math.isfinite(find_metric(name).function(y, predicted, None, None))


def test_wrong_numbers_of_predictions() -> None:
    y, rows = np.ones(4), np.ones((3, 4))
    with pytest.raises(InputError, match="'rmse' needs one prediction for each row, but the model makes 3"):
        find_metric("rmse").function(y, rows, None, None)
    with pytest.raises(InputError, match="'quantile' has 1 quantiles, but the model makes 3"):
        find_metric("quantile").function(y, rows, None, None)


def test_rmsle_refuses_targets_without_logarithm() -> None:
    with pytest.raises(InputError, match=r"y holds -1.0 in row 1, but the metric 'rmsle'"):
        find_metric("rmsle").function(np.array([1.0, -1.0]), np.ones(2), None, None)
