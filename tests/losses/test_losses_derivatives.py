"""Gradients and hessians against finite differences; rows in blocks; scores far out."""

from __future__ import annotations

import pickle
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import ALL, ROBUST, SEVERAL, SMOOTH, Array, Rows, rows

from sapwood.losses import Logistic, Loss, Multinomial
from sapwood.row_parts.rows import LocalRows
from strategies import examples

STEP = 1e-5


def moved(score: Array, k: int, step: float) -> Array:
    score = score.copy()
    score[k] += step
    return score


def slope(data: Rows, k: int) -> Array:
    """Central differences of the rows' losses in score k."""
    high, low = (data.loss.losses(data.y, moved(data.score, k, step)) for step in (STEP, -STEP))
    return (high - low) / (2 * STEP)


@pytest.mark.parametrize("name", ROBUST | SMOOTH)
@examples
@given(st.data())
def test_the_gradient_is_the_slope_of_the_loss(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    gradient, _ = case.derivatives()
    for k in range(case.loss.n_scores):
        np.testing.assert_allclose(gradient[k], slope(case, k), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SEVERAL)
@examples
@given(st.data())
def test_each_quantile_has_its_own_gradient(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    gradient, _ = case.derivatives()
    for k in range(case.loss.n_scores):
        np.testing.assert_allclose(gradient[k], slope(case, k) * case.loss.n_scores, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", SMOOTH)
@examples
@given(st.data())
def test_the_hessian_is_the_slope_of_the_gradient(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    _, hessian = case.derivatives()
    for k in range(case.loss.n_scores):
        high, low = (case.derivatives(moved(case.score, k, step))[0][k] for step in (STEP, -STEP))
        np.testing.assert_allclose(hessian[k], (high - low) / (2 * STEP), rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", ALL)
def test_a_constant_hessian_is_one(name: str) -> None:
    loss, _ = ALL[name]
    case = Rows(loss, np.ones(3), None, np.full((loss.n_scores, 3), 0.3))
    assert loss.constant_hessian == (name in ROBUST or name in SEVERAL or name == "squared")
    assert not loss.constant_hessian or (case.derivatives()[1] == 1).all()


@pytest.mark.parametrize("name", ALL)
@examples
@given(st.data())
def test_rows_do_not_depend_on_their_block(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name], least_rows=2))
    rng = np.random.default_rng(data.draw(st.integers(0, 99)))
    n = 500
    y, score = rng.choice(case.y, size=n), rng.normal(scale=3, size=(case.loss.n_scores, n))
    gradient, hessian = Rows(case.loss, y, None, score).derivatives()
    blocks = np.zeros((2, *score.shape))
    cuts = [0, 1, *sorted(rng.integers(1, n, size=3)), n - 1, n]
    for first, last in pairwise(cuts):
        block = slice(first, last)
        case.loss.derivatives(y[block], score[:, block], blocks[0][:, block], blocks[1][:, block])
    np.testing.assert_array_equal(blocks, [gradient, hessian])


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("far", [-800.0, -300.5, -40.0, 0.0, 40.0, 300.5, 800.0])
def test_far_scores_are_harmless(name: str, far: float) -> None:
    loss, _ = ALL[name]
    y = np.array([1.0, 1.0, 0.0 if name != "gamma" else 1e-9])
    score = np.full((loss.n_scores, 3), far)
    score[-1] *= -1 if loss.n_scores > 1 else 1
    with np.errstate(all="raise", under="ignore"):
        gradient, hessian = Rows(loss, y, None, score).derivatives()
        numbers = [gradient, hessian, loss.losses(y, score), loss.response(score), np.square(gradient.sum())]
    assert all(np.isfinite(array).all() for array in numbers)
    assert (hessian >= 1e-16).all()
    assert (loss.losses(y, score) >= -1e-12).all()


def test_nothing_is_lost_of_small_probabilities() -> None:
    score = np.array([[-40.0, 40.0]])
    case = Rows(Logistic(), np.array([0.0, 1.0]), None, score)
    np.testing.assert_allclose(case.derivatives()[0], [[np.exp(-40), -np.exp(-40)]], rtol=1e-12)
    np.testing.assert_allclose(case.loss.losses(case.y, score), np.exp([-40, -40]), rtol=1e-12)


@pytest.mark.parametrize("name", ["logistic", "exponential", "multinomial"])
def test_codes_may_be_integers(name: str) -> None:
    loss, _ = ALL[name]
    codes = np.array([0, 1, 1, 0])
    score = np.random.default_rng(0).normal(size=(loss.n_scores, 4))
    numbers, integers = (Rows(loss, y, None, score) for y in (codes.astype(np.float64), codes))
    loss.check_target(codes)
    np.testing.assert_array_equal(numbers.derivatives(), integers.derivatives())
    np.testing.assert_array_equal(loss.losses(numbers.y, score), loss.losses(codes, score))
    np.testing.assert_array_equal(loss.start(LocalRows.of(numbers.y, None)), loss.start(LocalRows.of(codes, None)))


def test_binomial_newton_leaf_in_half_log_odds() -> None:
    """Worked example 10: Σ ỹ / Σ |ỹ| (2 - |ỹ|) on half log-odds is half the Newton step on log-odds."""
    rng = np.random.default_rng(0)
    sign, half = rng.choice([-1.0, 1.0], size=30), rng.normal(size=30)
    response = 2 * sign / (1 + np.exp(2 * sign * half))
    leaf = response.sum() / (np.abs(response) * (2 - np.abs(response))).sum()
    gradient, hessian = Rows(Logistic(), (sign + 1) / 2, None, 2 * half[None]).derivatives()
    np.testing.assert_allclose(2 * leaf, -gradient.sum() / hessian.sum(), rtol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_friedmans_multinomial_leaf(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    y, score = rng.integers(0, n_classes, size=40), rng.normal(size=(n_classes, 40))
    loss = Multinomial(n_classes, friedman=True)
    gradient, hessian = Rows(loss, y, None, score).derivatives()
    for k in range(n_classes):
        r = (y == k) - loss.response(score)[k]
        expected = (n_classes - 1) / n_classes * r.sum() / (np.abs(r) * (1 - np.abs(r))).sum()
        np.testing.assert_allclose(loss.step_factor * -gradient[k].sum() / hessian[k].sum(), expected, rtol=1e-12)
    assert Multinomial(n_classes).step_factor == 1.0


@pytest.mark.parametrize("name", ALL)
def test_losses_survive_pickling(name: str) -> None:
    loss: Any = ALL[name][0]
    copy: Loss = pickle.loads(pickle.dumps(loss))
    assert repr(copy) == repr(loss)
    assert type(loss).__name__ in repr(loss)
