"""The same loss for each of several targets."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood.boosting.eval_metrics import find_metrics
from sapwood.errors import InputError, ParameterError
from sapwood.losses import Absolute, Gamma, Huber, Loss, PerTarget, Poisson, Quantile, Squared, Tweedie
from sapwood.metrics.metric import TARGETS
from sapwood.row_parts.rows import LocalRows

RNG = np.random.default_rng(0)
NAMES = ("a", "b", "c")
Y = np.exp(RNG.normal(size=(40, 3))) * [1.0, 1e6, 1e-6]
WEIGHT = RNG.integers(0, 3, 40).astype(np.float64)
LOSSES = [Squared(), Absolute(), Huber(2.0, newton=True), Huber(quantile=0.9), Quantile(0.8), Poisson(), Gamma()]


def several(loss: Loss, y: np.ndarray = Y, weight: np.ndarray | None = None) -> PerTarget:
    return PerTarget.of(loss, NAMES[: y.shape[1]], LocalRows.of(y, weight))


@pytest.mark.parametrize("loss", [*LOSSES, Tweedie(1.3)], ids=repr)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_each_target_has_what_it_has_alone(loss: Loss, weight: np.ndarray | None) -> None:
    joint = several(loss, weight=weight)
    start = joint.start(LocalRows.of(Y, weight))
    score = start[:, None] + 0.1 * RNG.normal(size=(3, 40))
    joint = joint.begin_round(LocalRows.of(Y, weight, score))
    gradient, hessian = np.empty((2, 3, 40))
    joint.derivatives(Y, score, gradient, hessian)
    for k in range(3):
        y, own = Y[:, k].copy(), np.empty((2, 1, 40))
        assert loss.start(LocalRows.of(y, weight))[0] == start[k]
        alone = loss.begin_round(LocalRows.of(y, weight, score[k : k + 1]))
        alone.derivatives(y, score[k : k + 1], *own)
        np.testing.assert_array_equal(own, [gradient[k : k + 1], hessian[k : k + 1]])
        np.testing.assert_array_equal(joint.response(score)[k], alone.response(score[k : k + 1])[0])
        np.testing.assert_array_equal(
            joint.link(joint.response(score))[k], alone.link(alone.response(score[k : k + 1]))[0]
        )
        if loss.robust:
            together, single = LocalRows.of(Y, weight, score), LocalRows.of(y, weight, score[k : k + 1])
            assert joint.leaf_steps(together, k).tolist() == alone.leaf_steps(single).tolist()
    assert (joint.robust, joint.constant_hessian, joint.above_zero) == (
        loss.robust,
        loss.constant_hessian,
        loss.above_zero,
    )


@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_a_worked_example_of_sizes(weight: np.ndarray | None) -> None:
    """For the squared error these are half the variance, the standard deviation, and 1."""
    joint = several(Squared(), weight=weight)
    mean = np.average(Y, axis=0, weights=weight)
    variance = np.average((Y - mean) ** 2, axis=0, weights=weight)
    np.testing.assert_allclose(joint.factors, 2.0 / variance)
    np.testing.assert_allclose(joint.scales, [1.0 / np.sqrt(variance), [1.0, 1.0, 1.0]])
    score = np.repeat(mean[:, None], 40, axis=1)
    assert np.average(joint.losses(Y, score), weights=weight) == pytest.approx(1.0)
    np.testing.assert_allclose(joint.losses(Y, score), ((Y - mean) ** 2 / variance).mean(axis=1))


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_the_loss_of_the_best_constants_is_one(loss: Loss) -> None:
    joint = several(loss)
    score = np.repeat(joint.start(LocalRows.of(Y))[:, None], 40, axis=1)
    assert joint.begin_round(LocalRows.of(Y, None, score)).losses(Y, score).mean() == pytest.approx(1.0)


@pytest.mark.parametrize("constant", [0.0, 0.1, 1e9])
def test_a_constant_target_counts_for_nothing(constant: float) -> None:
    y = np.column_stack([Y[:, 0], np.full(40, constant), Y[:, 1]])
    y[7, 1] *= 1.0 + 1e-15  # rounding of the user's
    joint, rest = several(Squared(), y), PerTarget.of(Squared(), "ac", LocalRows.of(y[:, [0, 2]]))
    assert joint.scales is not None
    assert rest.scales is not None
    assert (joint.scales[:, 1] == 0.0).all()
    assert joint.factors[1] == 0.0
    np.testing.assert_array_equal(joint.scales[:, [0, 2]], rest.scales)
    score = RNG.normal(size=(3, 40))
    np.testing.assert_allclose(joint.losses(y, score), rest.losses(y[:, [0, 2]], score[[0, 2]]))
    nothing = several(Squared(), np.full((5, 2), 3.0))
    assert (nothing.losses(np.zeros((5, 2)), np.ones((2, 5))) == 0.0).all()


def test_rows_without_weight_do_not_make_a_target_vary() -> None:
    y = np.column_stack([np.arange(4.0), [1.0, 1.0, 1.0, 9.0]])
    assert several(Squared(), y, np.array([1.0, 1.0, 1.0, 0.0])).factors[1] == 0.0


def test_legal_targets() -> None:
    wrong = Y.copy()
    wrong[3, 1] = -1.0
    joint = several(Poisson())
    assert not joint.admits(wrong)[3, 1]
    assert joint.admits(wrong).sum() == wrong.size - 1
    for check in (joint.check_target, joint.check_domain):
        with pytest.raises(InputError, match=r"^target 'b' of y holds -1.0 in row 3, but the loss 'poisson' needs"):
            check(wrong)
    wrong[:, 2] = 0.0
    joint.check_domain(np.abs(wrong))
    with pytest.raises(InputError, match=r"^All of target 'c' of y is 0"):
        joint.check_target(np.abs(wrong))


def test_several_quantiles_of_several_targets_are_refused() -> None:
    with pytest.raises(ParameterError, match=r"'quantile' has 2 scores, but y has 3 targets.* Use one quantile"):
        several(Quantile([0.1, 0.9]))
    with pytest.raises(ParameterError, match="2 losses for 1 targets"):
        PerTarget([Squared(), Squared()], ["a"])


def test_metrics_are_means_over_targets() -> None:
    joint, score = several(Squared()), RNG.normal(size=(3, 40))
    found = {m.name: m for m in find_metrics(["rmse", "mae", "loss"], joint, TARGETS, "it")}
    error = Y - score.T
    assert found["rmse"].function(Y, score, None, None) == pytest.approx(np.sqrt((error**2).mean()))
    expected = np.average(np.abs(error).mean(axis=1), weights=WEIGHT)
    assert found["mae"].function(Y, score, WEIGHT, None) == pytest.approx(expected)
    (default,) = find_metrics(None, joint, TARGETS, "it")
    assert default.name == "loss"
    assert default.function(Y, score, None, None) == found["loss"].function(Y, score, None, None)
    with pytest.raises(ParameterError, match="is for numbers or two classes, but it predicts several targets"):
        find_metrics("auc", joint, TARGETS, "it")


def test_the_default_metric_of_a_huber_loss_that_changes() -> None:
    joint, score = several(Huber(quantile=0.9)), RNG.normal(size=(3, 40))
    (metric,) = find_metrics(None, joint, TARGETS, "it")
    assert metric.name == "relative mae"
    assert joint.scales is not None
    expected = (np.abs(Y - score.T) * joint.scales[0]).mean()
    assert metric.function(Y, score, None, None) == pytest.approx(expected)
    with pytest.raises(ParameterError, match="another loss in each round"):
        find_metrics("loss", joint, TARGETS, "it")
    pinball = several(Quantile(0.8))
    (metric,) = find_metrics("quantile", pinball, TARGETS, "it")
    error = Y - score.T
    assert metric.function(Y, score, None, None) == pytest.approx(np.maximum(0.8 * error, -0.2 * error).mean())


def test_each_target_has_its_own_delta() -> None:
    joint = several(Huber(quantile=0.9))
    score = np.zeros((3, 40))
    begun = joint.begin_round(LocalRows.of(Y, None, score))
    assert isinstance(begun, PerTarget)
    deltas = [loss.delta for loss in begun.losses_of if isinstance(loss, Huber)]
    alone = [LocalRows.of(Y[:, k].copy(), None, score[:1]) for k in range(3)]
    assert deltas == [Huber(quantile=0.9).begin_round(own).delta for own in alone]
    assert repr(begun).startswith("PerTarget(Huber(")
    assert repr(begun).endswith("targets=['a', 'b', 'c'])")
    steady = several(Squared())
    assert steady.begin_round(LocalRows.of(Y, None, score)) is steady
