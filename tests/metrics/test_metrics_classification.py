"""Metrics of classes against scikit-learn's; the area under precision and recall against numerical integration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.integrate import quad
from sklearn import metrics as theirs

from sapwood.errors import InputError
from sapwood.metrics import find_metric
from strategies import examples

Array = NDArray[Any]
Case = tuple[Array, Array, Array | None]


@st.composite
def two_classes(draw: st.DrawFn) -> Case:
    """Classes and probabilities with many ties or none; both classes have weight."""
    n = draw(st.integers(2, 40))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    y = rng.integers(0, 2, size=n)
    y[:2] = 0, 1
    probability = draw(st.sampled_from([rng.integers(1, 8, size=n) / 8, rng.uniform(0.01, 0.99, size=n)]))
    weight = rng.integers(0, 4, size=n) / 2.0
    weight[:2] += 0.5
    return draw(st.sampled_from([y, y.astype(np.float64)])), probability, draw(st.sampled_from([None, weight]))


@examples
@given(two_classes())
def test_log_loss_and_error(case: Case) -> None:
    y, p, weight = case
    assert find_metric("logloss").function(y, p, weight, None) == pytest.approx(
        theirs.log_loss(y, p, sample_weight=weight), rel=1e-12
    )
    for name, threshold in (("error", 0.5), ("error@0.25", 0.25)):
        wrong = theirs.zero_one_loss(y, (p > threshold).astype(y.dtype), sample_weight=weight)
        assert find_metric(name).function(y, p, weight, None) == pytest.approx(wrong, abs=1e-12)


@examples
@given(two_classes())
def test_auc(case: Case) -> None:
    y, p, weight = case
    expected = theirs.roc_auc_score(y, p, sample_weight=weight)
    assert find_metric("auc").function(y, p, weight, None) == pytest.approx(expected, rel=1e-12, abs=1e-15)
    assert find_metric("auc").function(y, p[None], weight, None) == find_metric("auc").function(y, p, weight, None)


def slow_aucpr(y: Array, p: Array, weight: Array) -> float:
    """The specification: between distinct predictions both classes come in at constant rates."""
    area, positive, negative = 0.0, 0.0, 0.0
    total = weight[y == 1].sum()
    for value in np.unique(p)[::-1]:
        more, less = (weight[(p == value) & (y == label)].sum() for label in (1, 0))

        def precision(x: float, share: tuple[float, float, float, float] = (positive, negative, more, less)) -> float:
            positive, negative, more, less = share
            hits, misses = positive + x * more, negative + x * less
            return more * hits / (hits + misses) if hits > 0 else 0.0

        start = 1e-300 if positive + negative == 0 else 0.0  # 0 / 0 at the first row
        area += quad(precision, start, 1, epsabs=1e-12, epsrel=1e-12)[0]
        positive, negative = positive + more, negative + less
    return area / total


@examples
@given(two_classes())
def test_aucpr(case: Case) -> None:
    y, p, weight = case
    expected = slow_aucpr(y, p, np.ones(len(y)) if weight is None else weight)
    assert find_metric("aucpr").function(y, p, weight, None) == pytest.approx(expected, rel=1e-7)


def test_aucpr_is_near_the_average_precision_of_many_rows() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, size=5000)
    p = y + rng.normal(size=5000)
    assert find_metric("aucpr").function(y, p, None, None) == pytest.approx(
        theirs.average_precision_score(y, p), abs=1e-3
    )


def test_curves_worked_by_hand() -> None:
    y = np.array([1, 0, 1, 0])
    assert find_metric("auc").function(y, np.array([0.9, 0.8, 0.7, 0.1]), None, None) == 0.75
    assert find_metric("auc").function(y, np.full(4, 0.5), None, None) == 0.5
    assert find_metric("aucpr").function(y, np.full(4, 0.5), None, None) == 0.5
    assert find_metric("aucpr").function(y, np.array([0.9, 0.1, 0.8, 0.2]), None, None) == 1.0


@pytest.mark.parametrize("name", ["auc", "aucpr"])
def test_curves_need_both_classes(name: str) -> None:
    with pytest.raises(InputError, match=f"'{name}' needs rows of the classes 0 and 1, but there are none of class 0"):
        find_metric(name).function(np.ones(3), np.ones(3), None, None)
    with pytest.raises(InputError, match="none of class 1"):
        find_metric(name).function(np.array([0, 1]), np.ones(2), np.array([1.0, 0.0]), None)
    with pytest.raises(InputError, match="one prediction for each row"):
        find_metric(name).function(np.array([0, 1]), np.ones((3, 2)), None, None)


@examples
@given(st.integers(2, 5), st.integers(0, 10**6), st.booleans())
def test_several_classes(n_classes: int, seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    y, p = rng.integers(0, n_classes, size=20), rng.dirichlet(np.ones(n_classes), size=20)
    weight = rng.uniform(0, 2, size=20) if weighted else None
    log_loss = theirs.log_loss(y, p, sample_weight=weight, labels=np.arange(n_classes))
    assert find_metric("mlogloss").function(y, p.T, weight, None) == pytest.approx(log_loss, rel=1e-9)
    wrong = theirs.zero_one_loss(y, p.argmax(axis=1), sample_weight=weight)
    assert find_metric("merror").function(y, p.T, weight, None) == pytest.approx(wrong, abs=1e-12)


@examples
@given(two_classes())
def test_metrics_of_several_classes_understand_two(case: Case) -> None:
    y, p, weight = case
    for single, several in (("logloss", "mlogloss"), ("error", "merror")):
        expected = find_metric(single).function(y, p, weight, None)
        for prediction in (p, p[None], np.array([1 - p, p])):
            assert find_metric(several).function(y, prediction, weight, None) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", ["logloss", "mlogloss"])
def test_impossible_classes_cost_a_finite_amount(name: str) -> None:
    value = find_metric(name).function(np.array([0, 1]), np.array([1.0, 0.0]), None, None)
    assert 36 < value < 37
    assert math.isfinite(value)
