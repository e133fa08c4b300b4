"""Steps of leaves, weighted quantiles and Huber's minimiser against trying everything."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from loss_cases import ALL, QUARTERS, ROBUST, SMOOTH, WEIGHTS, Array, Rows, rows
from scipy.optimize import minimize_scalar

from sapwood.losses import Huber, Quantile, Squared
from sapwood.losses.loss import Loss
from sapwood.row_parts.rows import LocalRows, targets_of
from strategies import examples


def quantile(values: Array, weight: Array | None, share: float) -> float:
    return LocalRows.of(values, weight).quantile(targets_of, share)


def step_of(loss: Loss, y: Array, score: Array, weight: Array | None, k: int = 0) -> float:
    """The step of a leaf of all rows."""
    (step,) = loss.leaf_steps(LocalRows.of(y, weight, score), k).tolist()
    return float(step)


def minimiser(loss: Huber, values: Array, weight: Array | None) -> float:
    return float(loss.start(LocalRows.of(values, weight))[0])


def slow_quantile(values: Array, weight: Array, share: float) -> float:
    """The specification: the middle of all values of least loss; these are values of rows, and all between."""
    residual = values[:, None] - values
    losses = (weight[:, None] * np.maximum(share * residual, (share - 1) * residual)).sum(axis=0)
    best = values[losses <= losses.min() + 1e-9]
    return float(0.5 * best.min() + 0.5 * best.max())


@st.composite
def weighted(draw: st.DrawFn) -> tuple[Array, Array]:
    n = draw(st.integers(1, 16))
    values = np.array(draw(st.lists(QUARTERS, min_size=n, max_size=n)))
    weight = np.array(draw(st.lists(draw(st.sampled_from([WEIGHTS, st.just(1.0)])), min_size=n, max_size=n)))
    weight[0] += 0.125
    return values, weight


@examples
@given(weighted(), st.sampled_from([0.1, 0.25, 0.3, 0.5, 0.7, 0.75, 0.9]))
def test_weighted_quantiles(data: tuple[Array, Array], share: float) -> None:
    values, weight = data
    assert quantile(values, weight, share) == slow_quantile(values, weight, share)
    assert quantile(values, None, share) == slow_quantile(values, np.ones(len(values)), share)
    assert quantile(values, None, share) == quantile(values, np.full(len(values), 0.1), share)
    assert quantile(values, weight, share) == quantile(values, weight * 0.3, share)


def test_centres_worked_by_hand() -> None:
    values = np.array([3.0, 1.0, 2.0, 10.0])
    assert quantile(values, None, 0.5) == 2.5
    assert quantile(values, None, 0.75) == 6.5
    assert quantile(values, None, 0.7) == 3.0
    assert quantile(values, np.array([1.0, 1.0, 1.0, 3.0]), 0.5) == 6.5
    assert quantile(values, np.array([0.0, 1.0, 0.0, 1.0]), 0.5) == 5.5  # rows without weight are not there
    assert LocalRows.of(values, np.array([1.0, 0.0, 1.0, 2.0])).mean(targets_of) == 6.25


@pytest.mark.parametrize("name", ROBUST)
@examples
@given(st.data())
def test_no_step_is_better_than_the_leafs(name: str, data: st.DataObject) -> None:
    case = data.draw(rows(ALL[name]))
    step = step_of(case.loss, case.y, case.score, case.weight)

    def total(step: float) -> float:
        return case.total_at(case.score + step)

    searched = minimize_scalar(total, bounds=(-15, 15), method="bounded", options={"xatol": 1e-9})
    candidates = [float(searched.fun), *map(total, case.y - case.score[0])]
    assert total(step) <= min(candidates) + 1e-12 * (1 + total(0.0))


@examples
@given(rows(ROBUST["absolute"]))
def test_the_median_residual_is_the_middle_of_the_best(case: Rows) -> None:
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    expected = slow_quantile(case.y - case.score[0], weight, 0.5)
    assert step_of(case.loss, case.y, case.score, case.weight) == expected


@pytest.mark.parametrize("k", range(3))
def test_each_of_several_quantiles_steps_to_itself(k: int) -> None:
    shares = (0.1, 0.5, 0.9)
    y, score = np.random.default_rng(0).normal(size=(2, 50))
    expected = step_of(Quantile(shares[k]), y, score[None], None)
    assert step_of(Quantile(shares), y, np.stack([score] * 3), None, k) == expected


@pytest.mark.parametrize("name", SMOOTH)
def test_other_leaves_are_newtons(name: str) -> None:
    loss, _ = ALL[name]
    assert not loss.robust
    with pytest.raises(NotImplementedError, match=loss.name):
        step_of(loss, np.ones(2), np.ones((1, 2)), None)


def test_hubers_minimiser_worked_by_hand() -> None:
    loss = Huber(delta=1.0)
    assert minimiser(loss, np.array([-10.0, 10.0]), None) == pytest.approx(0.0, abs=1e-12)  # all of [-9, 9] is best
    assert minimiser(loss, np.array([-10.0, 10.0]), np.array([0.1, 0.1])) == pytest.approx(0.0, abs=1e-12)
    assert minimiser(loss, np.array([0.0, 0.5, 100.0]), None) == pytest.approx(0.75)  # -c + (0.5 - c) + 1 = 0
    assert minimiser(loss, np.array([4.0]), np.array([3.0])) == pytest.approx(4.0, abs=1e-12)
    assert minimiser(Huber(delta=1e6), np.array([1.0, 2.0, 6.0]), None) == pytest.approx(3.0, abs=1e-9)


def test_hubers_minimiser_where_delta_is_lost_in_rounding() -> None:
    loss = Huber(delta=1.0)
    assert minimiser(loss, np.full(3, 1e17), None) == 1e17
    assert minimiser(loss, np.array([1e17, 2e17, 9e17]), np.ones(3)) == pytest.approx(2e17, rel=1e-9)


@pytest.mark.parametrize("scale", [1e-200, 1e-6, 1.0, 1e6, 1e200])
def test_hubers_minimiser_at_any_scale(scale: float) -> None:
    r, weight = np.random.default_rng(0).normal(size=(2, 101))
    weight = np.abs(weight)
    expected = minimiser(Huber(delta=0.5), r, weight)
    assert minimiser(Huber(delta=0.5 * scale), r * scale, weight) == pytest.approx(expected * scale, rel=1e-9)
    assert minimiser(Huber(delta=0.5), r, weight * scale) == pytest.approx(expected, rel=1e-9)


@examples
@given(rows(ROBUST["huber"]))
def test_an_adaptive_huber_steps_once_from_the_median(case: Rows) -> None:
    r = case.y - case.score[0]
    weight = np.ones(len(r)) if case.weight is None else case.weight
    loss = Huber(quantile=0.75).begin_round(LocalRows.of(case.y, case.weight, case.score))
    median = slow_quantile(r, weight, 0.5)
    pulls = np.sign(r - median) * np.minimum(loss.delta, np.abs(r - median))
    expected = median + (weight * pulls).sum() / weight.sum()
    assert step_of(loss, case.y, case.score, case.weight) == pytest.approx(expected, abs=1e-12)


@examples
@given(rows(ROBUST["huber"]), st.sampled_from([0.5, 0.75, 0.9]))
def test_an_adaptive_delta_is_the_quantile_of_the_residuals(case: Rows, share: float) -> None:
    loss = Huber(quantile=share)
    following = loss.begin_round(LocalRows.of(case.y, case.weight, case.score))
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    assert following.delta == slow_quantile(np.abs(case.y - case.score[0]), weight, share)
    assert loss.delta == 1.0  # the round's loss is a copy
    assert following.begin_round(LocalRows.of(case.y, None, case.y[None])).delta == 1.0  # nothing is left to learn


def test_delta_is_positive_where_most_rows_are_fitted() -> None:
    y, score = np.array([*np.zeros(20), 3.0, 5.0]), np.zeros((1, 22))
    assert Huber(quantile=0.9).begin_round(LocalRows.of(y, None, score)).delta == 5.0
    assert Huber(quantile=0.9).begin_round(LocalRows.of(y, np.ones(22), score)).delta == 5.0


def test_other_losses_stay_as_they_are() -> None:
    for loss in (Squared(), Huber(delta=2.0), Quantile(0.3)):
        assert loss.begin_round(LocalRows.of(np.ones(2), None, np.zeros((1, 2)))) is loss
