"""scikit-learn's metrics as metrics of boosting: their direction, and what they are given."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest
from sklearn import metrics as sk

from sapwood.errors import ParameterError
from sapwood.metrics.metric import CLASSES, NUMBERS, TWO_CLASSES
from sapwood.metrics.names import metric_for

rng = np.random.default_rng(0)
N = 60
NUMBER, GUESS = rng.uniform(1, 2, N), rng.uniform(1, 2, N)
TWO, P = rng.integers(0, 2, N).astype(float), rng.uniform(size=N)
THREE = rng.integers(0, 3, N).astype(float)
P3 = rng.dirichlet(np.ones(3), N).T
WEIGHT = rng.uniform(0.5, 2, N)


def value(item: Any, kind: str, y: Any, said: Any, weight: Any = None) -> float:
    return metric_for(item, kind, "a model", None).function(y, said, weight, None)


@pytest.mark.parametrize(
    ("function", "larger"),
    [
        (sk.r2_score, True),
        (sk.explained_variance_score, True),
        (sk.d2_pinball_score, True),
        (sk.mean_squared_error, False),
        (sk.root_mean_squared_error, False),
        (sk.mean_pinball_loss, False),
        (sk.mean_tweedie_deviance, False),
        (sk.max_error, False),
    ],
)
def test_functions_of_numbers(function: Any, larger: bool) -> None:
    metric = metric_for(function, NUMBERS, "a model")
    assert metric.larger_is_better == larger
    assert metric.knows_direction
    assert metric.function(NUMBER, GUESS, None, None) == function(NUMBER, GUESS)
    if function is not sk.max_error:
        assert metric.function(NUMBER, GUESS, WEIGHT, None) == function(NUMBER, GUESS, sample_weight=WEIGHT)


@pytest.mark.parametrize(
    ("function", "larger", "given"),
    [
        (sk.roc_auc_score, True, P),
        (sk.average_precision_score, True, P),
        (sk.brier_score_loss, False, P),
        (sk.log_loss, False, P),
        (sk.accuracy_score, True, P > 0.5),
        (sk.balanced_accuracy_score, True, P > 0.5),
        (sk.f1_score, True, P > 0.5),
        (sk.cohen_kappa_score, True, P > 0.5),
        (sk.zero_one_loss, False, P > 0.5),
        (sk.hamming_loss, False, P > 0.5),
        (sk.matthews_corrcoef, True, P > 0.5),
    ],
)
def test_functions_of_two_classes(function: Any, larger: bool, given: Any) -> None:
    metric = metric_for(function, TWO_CLASSES, "a model")
    assert metric.larger_is_better == larger
    assert metric.decides == (given.dtype == bool)
    assert metric.function(TWO, P, None, None) == pytest.approx(function(TWO.astype(int), given))
    assert metric.function(TWO, P, WEIGHT, None) == pytest.approx(
        function(TWO.astype(int), given, sample_weight=WEIGHT)
    )


def test_functions_of_three_classes() -> None:
    said = P3.argmax(axis=0)
    assert value(sk.accuracy_score, CLASSES, THREE, P3) == sk.accuracy_score(THREE, said)
    assert value(sk.log_loss, CLASSES, THREE, P3) == pytest.approx(sk.log_loss(THREE, P3.T))
    macro = partial(sk.f1_score, average="macro")
    assert value(macro, CLASSES, THREE, P3) == sk.f1_score(THREE, said, average="macro")
    areas = partial(sk.roc_auc_score, multi_class="ovr")
    assert value(areas, CLASSES, THREE, P3) == sk.roc_auc_score(THREE, P3.T, multi_class="ovr")


def test_rows_may_lack_a_class() -> None:
    some = THREE < 2
    expected = sk.log_loss(THREE[some], P3.T[some], labels=[0, 1, 2])
    assert value(sk.log_loss, CLASSES, THREE[some], P3[:, some]) == pytest.approx(expected)


@pytest.mark.parametrize("name", ["roc_auc", "accuracy", "f1", "neg_log_loss", "neg_brier_score", "average_precision"])
def test_names_of_scorers_of_classes(name: str) -> None:
    scorer = sk.get_scorer(name)
    for item in (name, scorer):
        metric = metric_for(item, TWO_CLASSES, "a model")
        assert metric.larger_is_better
        by_hand = scorer._score_func(TWO.astype(int), P > 0.5 if metric.decides else P)
        assert metric.function(TWO, P, None, None) == pytest.approx(scorer._sign * by_hand)
    assert metric_for(name, TWO_CLASSES, "a model").name == name


def test_scorers_of_numbers() -> None:
    metric = metric_for("neg_root_mean_squared_error", NUMBERS, "a model")
    assert metric.larger_is_better
    assert metric.function(NUMBER, GUESS, None, None) == -sk.root_mean_squared_error(NUMBER, GUESS)

    def half(y_true: Any, y_pred: Any) -> float:
        return 0.5 * float(np.abs(y_true - y_pred).mean())

    own = metric_for(sk.make_scorer(half, greater_is_better=False), NUMBERS, "a model")
    assert own.name == "neg_half"
    assert own.function(NUMBER, GUESS, None, None) == -half(NUMBER, GUESS)


@pytest.mark.parametrize(
    ("item", "kind", "words"),
    [
        (sk.accuracy_score, NUMBERS, "'accuracy_score' is for .*two classes.*Use 'rmse', 'mae'"),
        ("f1", NUMBERS, "'f1' is for .*classes.*'rmse'"),
        (
            sk.r2_score,
            TWO_CLASSES,
            "'r2_score' is for numbers or several targets, but a model predicts two classes. Use .*'logloss'",
        ),
        (sk.confusion_matrix, CLASSES, "not a metric of predictions with a known direction"),
        (sk.classification_report, CLASSES, "not a metric of predictions"),
        (partial(sk.f1_score, NUMBER), CLASSES, "Set them by name"),
    ],
)
def test_what_does_not_fit(item: Any, kind: str, words: str) -> None:
    with pytest.raises(ParameterError, match=words):
        metric_for(item, kind, "a model")


def test_complaints_of_scikit_learn_are_passed_on() -> None:
    with pytest.raises(
        ParameterError, match=r"The metric 'f1_score' cannot be computed: Target is multiclass.*partial"
    ):
        value(sk.f1_score, CLASSES, THREE, P3)
    with pytest.raises(ParameterError, match=r"'roc_auc_score' cannot be computed: multi_class must be in"):
        value(sk.roc_auc_score, CLASSES, THREE, P3)


@pytest.mark.parametrize(
    ("name", "meant"),
    [("mse", "rmse"), ("binary_logloss", "logloss"), ("roc_auc_score", "roc_auc"), ("AUC", "auc"), ("RMSE", "rmse")],
)
def test_names_of_other_packages(name: str, meant: str) -> None:
    with pytest.raises(ParameterError, match=f"Did you mean eval_metric='{meant}'"):
        metric_for(name, NUMBERS, "a model")
