"""Where boosting starts, what losses are by hand, what scores mean, and which targets are refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import ALL, ROBUST, SEVERAL, SMOOTH, Rows, rows
from scipy.optimize import minimize_scalar
from scipy.special import logit

from sapwood.errors import InputError
from sapwood.losses import Exponential, Gamma, Huber, Logistic, Multinomial, Poisson, Quantile, Squared, Tweedie
from sapwood.losses.absolute import Absolute
from sapwood.row_parts.rows import LocalRows
from strategies import examples

ONE_SCORE = [name for name, (loss, _) in ALL.items() if loss.n_scores == 1]


@pytest.mark.parametrize(
    ("loss", "expected"),
    [
        (Squared(), [0.005, 0.02, 0.125, 5.445]),
        (Absolute(), [0.1, 0.2, 0.5, 3.3]),
        (Huber(0.5), [0.005, 0.02, 0.125, 1.525]),
    ],
    ids=lambda case: getattr(case, "name", ""),
)
def test_losses_worked_by_hand(loss: Squared | Absolute | Huber, expected: list[float]) -> None:
    """Worked example 6."""
    y, score = np.array([0.5, 1.2, 2, 5]), np.array([[0.6, 1.4, 1.5, 1.7]])
    np.testing.assert_allclose(loss.losses(y, score), expected, rtol=1e-12)


def best_constant(data: Rows) -> float:
    """The least loss of a constant score, up to the search's precision."""
    return float(minimize_scalar(data.total, bounds=(-30, 30), method="bounded", options={"xatol": 1e-9}).fun)


@pytest.mark.parametrize("name", ONE_SCORE)
@examples
@given(st.data())
def test_no_constant_is_better_than_the_start(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    start = case.loss.start(LocalRows.of(case.y, case.weight))
    assert start.shape == (1,)
    assert np.isfinite(start).all()
    slack = 1e-4 if name == "exponential" else 1e-9  # of one class alone, no constant is best
    assert case.total(float(start[0])) <= best_constant(case) * (1 + 1e-9) + slack


@pytest.mark.parametrize("name", SMOOTH)
@examples
@given(st.data())
def test_the_start_is_a_stationary_point(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    start = case.loss.start(LocalRows.of(case.y, case.weight))
    assert start.shape == (case.loss.n_scores,)
    gradient, _ = case.derivatives(np.repeat(start[:, None], len(case.y), axis=1))
    total = (gradient if case.weight is None else case.weight * gradient).sum(axis=1)
    np.testing.assert_allclose(total, 0, atol=1e-4 if name == "exponential" else 1e-9)  # e^F of a missing class


@pytest.mark.parametrize("name", SEVERAL)
@examples
@given(st.data())
def test_each_quantile_starts_at_itself(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    expected = [Quantile(q).start(LocalRows.of(case.y, case.weight))[0] for q in case.loss.quantiles]
    np.testing.assert_array_equal(case.loss.start(LocalRows.of(case.y, case.weight)), expected)


def test_starts_worked_by_hand() -> None:
    y, weight = np.array([0.0, 1.0, 1.0, 1.0]), np.array([2.0, 1.0, 1.0, 4.0])
    assert Logistic().start(LocalRows.of(y, None))[0] == pytest.approx(np.log(3))
    assert Exponential().start(LocalRows.of(y, weight))[0] == pytest.approx(np.log(3) / 2)
    np.testing.assert_allclose(Multinomial(2).start(LocalRows.of(y, weight)), np.log([0.25, 0.75]))
    np.testing.assert_array_equal(Multinomial(2, prior_start=False).start(LocalRows.of(y, weight)), [0, 0])
    for loss in (Poisson(), Gamma(), Tweedie(1.2)):
        np.testing.assert_allclose(loss.start(LocalRows.of(np.array([1.0, 2.0, 6.0]), None)), [np.log(3)])
    assert Huber(quantile=0.9).start(LocalRows.of(np.array([1.0, 2.0, 100.0]), None))[0] == 2.0


@pytest.mark.parametrize("loss", [Logistic(), Exponential(), Multinomial(3)], ids=lambda loss: loss.name)
def test_classes_without_rows_have_a_finite_start(loss: Logistic) -> None:
    for y in (np.zeros(3), np.ones(3)):
        assert np.isfinite(loss.start(LocalRows.of(y, None))).all()
        assert np.isfinite(loss.start(LocalRows.of(y, np.array([0.5, 1.0, 0.0])))).all()


def test_responses_invert_the_links() -> None:
    p = np.array([[0.01, 0.3, 0.5, 0.9]])
    np.testing.assert_allclose(Logistic().response(logit(p)), p)
    np.testing.assert_allclose(Exponential().response(0.5 * logit(p)), p)
    for loss in (Poisson(), Gamma(), Tweedie()):
        np.testing.assert_allclose(loss.response(np.log(p)), p)
    shares = np.array([[0.2, 0.5], [0.3, 0.25], [0.5, 0.25]])
    np.testing.assert_allclose(Multinomial(3).response(np.log(shares) + 7), shares)
    for loss, _ in ROBUST.values():
        np.testing.assert_array_equal(loss.response(p), p)


@examples
@given(rows(SEVERAL["quantiles"]), rows(SEVERAL["quantiles in disorder"]))
def test_quantiles_cannot_cross(in_order: Rows, in_disorder: Rows) -> None:
    for case in (in_order, in_disorder):
        response = case.loss.response(case.score)
        upwards = np.argsort(case.loss.quantiles)
        assert (np.diff(response[upwards], axis=0) >= 0).all()
        np.testing.assert_array_equal(np.sort(response, axis=0), np.sort(case.score, axis=0))
        assert (case.loss.losses(case.y, response) <= case.loss.losses(case.y, case.score) + 1e-12).all()


@pytest.mark.parametrize(
    ("loss", "y", "message"),
    [
        (Squared(), [1.0, np.inf], "y holds inf in row 1, but the loss 'squared_error' needs finite numbers"),
        (Quantile(), [np.nan], "y holds nan in row 0"),
        (Logistic(), [0, 1, 2], "y holds 2 in row 2, but the loss 'logistic' needs the classes 0 and 1"),
        (Exponential(), [0.5, 1], "y holds 0.5 in row 0"),
        (Multinomial(3), [0, 2, 3], "y holds 3 in row 2, but the loss 'multinomial' needs the classes 0 to 2"),
        (Multinomial(3), [0, -1.0], "y holds -1.0 in row 1"),
        (Multinomial(3), [0, 1.5], "y holds 1.5 in row 1"),
        (Poisson(), [0, 3, -1.0], "y holds -1.0 in row 2, but the loss 'poisson' needs numbers of at least 0"),
        (Poisson(), [0.0, 0.0], "All of y is 0"),
        (Gamma(), [1.0, 0.0], "y holds 0.0 in row 1, but the loss 'gamma' needs numbers above 0"),
        (Tweedie(), [1.0, -2.0], "y holds -2.0 in row 1"),
        (Tweedie(), [1.0, np.nan], "y holds nan in row 1"),
    ],
    ids=str,
)
def test_targets_outside_of_the_domain(loss: Squared, y: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message.replace("(", "\\(")) as raised:
        loss.check_target(np.array(y))
    assert str(raised.value).count(". ") >= 1  # what is wrong, and what to do
    with pytest.raises(InputError, match="the target"):
        loss.check_target(np.array(y), owner="the target")


@pytest.mark.parametrize("name", ALL)
@examples
@given(st.data())
def test_targets_of_the_domain_pass(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    case.loss.check_target(case.y)
