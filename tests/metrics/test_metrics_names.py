"""Metrics by name, the model's own loss, and metrics of the user's own."""

from __future__ import annotations

import pickle
from dataclasses import FrozenInstanceError
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import max_error

from sapwood.errors import ParameterError
from sapwood.losses import Multinomial, Squared
from sapwood.metrics import METRICS, Metric, custom_metric, find_metric

WITH_OPTION = ["error@0.3", "mphe@0.5", "quantile@0.1,0.9", "tweedie-nloglik@1.7", "ndcg@5", "map@5"]
LARGER = {"auc", "aucpr", "ndcg", "map"}


@pytest.mark.parametrize("name", [*METRICS, *WITH_OPTION])
def test_every_name(name: str) -> None:
    metric = find_metric(name)
    assert metric.name == name
    assert metric.larger_is_better == (name.partition("@")[0] in LARGER)
    assert not metric.uses_score
    assert pickle.loads(pickle.dumps(metric)).name == name


def test_metrics_are_frozen() -> None:
    with pytest.raises(FrozenInstanceError):
        find_metric("rmse").name = "other"  # type: ignore[misc]


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("rsme", "eval_metric='rsme' is not allowed .* Did you mean eval_metric='rmse'"),
        ("loglos", "Did you mean eval_metric='logloss'"),
        ("ndgc@10", "Did you mean eval_metric='ndcg'"),
        ("rmse@3", "eval_metric='rmse@3' is not allowed"),
        ("ndcg@", "eval_metric='ndcg@' is not allowed"),
        (None, "eval_metric=None is not allowed"),
        (["rmse"], "is not allowed"),
        ("ndcg@0", "what follows the @ must be an integer of at least 1. Use for example 'ndcg@10'"),
        ("ndcg@ten", "what follows the @ must be an integer"),
        ("map@2.5", "what follows the @ must be an integer"),
        ("error@1.5", "what follows the @ must be a number above 0 and below 1"),
        ("error@nan", "what follows the @ must be a number"),
        ("quantile@0.1,,0.9", "what follows the @ must be a number"),
        ("tweedie-nloglik@2", "what follows the @ must be a number above 1 and below 2"),
        ("mphe@-1", "what follows the @ must be a finite number above 0"),
    ],
    ids=str,
)
def test_unknown_names(name: Any, message: str) -> None:
    with pytest.raises(ParameterError, match=message):
        find_metric(name)


def test_the_models_own_loss() -> None:
    y, weight = np.array([1.0, 2.0, 4.0]), np.array([1.0, 1.0, 2.0])
    metric = find_metric("loss", Squared().losses)
    assert (metric.name, metric.larger_is_better, metric.uses_score) == ("loss", False, True)
    for score in (np.zeros(3), np.zeros((1, 3))):
        assert metric.function(y, score, weight, None) == pytest.approx((0.5 + 2 + 16) / 4)
    several = find_metric("loss", Multinomial(3).losses)
    assert several.function(np.array([0, 1, 2]), np.zeros((3, 3)), None, None) == pytest.approx(np.log(3))


def test_the_models_own_loss_must_be_known() -> None:
    with pytest.raises(ParameterError, match="needs the model's own loss"):
        find_metric("loss")


def test_custom_metrics() -> None:
    metric = custom_metric(max_error)
    assert isinstance(metric, Metric)
    assert (metric.name, metric.larger_is_better) == ("max_error", False)
    assert metric.function(np.array([1.0, 2.0]), np.array([1.5, 4.0]), np.ones(2), None) == 2.0


def test_custom_metrics_may_be_maximised() -> None:
    def accuracy(y_true: Any, y_pred: Any) -> Any:
        assert y_pred.shape == (3, 2)
        return np.mean(y_pred.argmax(axis=1) == y_true)

    accuracy.greater_is_better = True  # type: ignore[attr-defined]
    metric = custom_metric(accuracy)
    assert metric.larger_is_better
    value = metric.function(np.array([0, 1, 1]), np.array([[0.9, 0.2, 0.6], [0.1, 0.8, 0.4]]), None, None)
    assert value == pytest.approx(2 / 3)
    assert type(value) is float


@pytest.mark.parametrize("answer", [2, 2.0, np.float32(2), np.array(2.0), np.array([2.0])], ids=repr)
def test_answers_that_are_numbers(answer: Any) -> None:
    assert custom_metric(lambda y, p: answer).function(np.ones(2), np.ones(2), None, None) == 2.0


@pytest.mark.parametrize("answer", [None, np.nan, np.inf, "2", ("mae", 2.0), np.ones(2), 1j], ids=repr)
def test_answers_that_are_not(answer: Any) -> None:
    def strange(y_true: Any, y_pred: Any) -> Any:
        return answer

    with pytest.raises(ParameterError, match=r"The metric 'strange' returned .*: it must return a finite number"):
        custom_metric(strange).function(np.ones(2), np.ones(2), None, None)


def test_a_custom_metric_is_a_function() -> None:
    with pytest.raises(ParameterError, match=r"eval_metric=3 is not allowed .* it must be a function"):
        custom_metric(3)  # type: ignore[arg-type]
