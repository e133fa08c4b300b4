"""How good predictions are, in scikit-learn's measures."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cli.sample import Sample
from sapwood.cli.task import Task
from sapwood.errors import InputError

Scores = dict[str, float]
Floats = NDArray[np.float64]


def scores(estimator: Any, sample: Sample) -> Scores:
    """Measures by name; NaN where one is not defined."""
    if sample.weight is not None and not sample.weight.any():
        raise InputError("The weights of all rows to test on are zero, so nothing can be measured. Change --weight.")
    if sample.task is Task.REGRESSION:
        return number_scores(sample.y, estimator.predict(sample.X), sample.weight)
    classes = sample.classes
    predicted = np.searchsorted(classes, estimator.predict(sample.X))
    probability = np.zeros((sample.n_rows, len(classes)))
    probability[:, np.searchsorted(classes, estimator.classes_)] = estimator.predict_proba(sample.X)
    return class_scores(np.searchsorted(classes, sample.y), predicted, probability, sample.weight)


def baseline(sample: Sample) -> Any:
    """The best constant prediction: shares of the classes, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    constant = DummyClassifier(strategy="prior") if sample.task is Task.CLASSIFICATION else DummyRegressor()
    return constant.fit(np.zeros((sample.n_rows, 1)), sample.y, sample.weight)


def number_scores(y: Floats, predicted: Floats, weight: Floats | None) -> Scores:
    """Measures of regression."""
    from sklearn.metrics import mean_absolute_error, mean_squared_error, r2_score

    return {
        "RMSE": float(np.sqrt(mean_squared_error(y, predicted, sample_weight=weight))),
        "MAE": float(mean_absolute_error(y, predicted, sample_weight=weight)),
        "R²": float(r2_score(y, predicted, sample_weight=weight)) if len(y) > 1 else np.nan,
    }


def class_scores(y: NDArray[Any], predicted: NDArray[Any], probability: Floats, weight: Floats | None) -> Scores:
    """Measures of classification, from codes of classes."""
    from sklearn.metrics import accuracy_score, log_loss, recall_score

    recall = recall_score(y, predicted, labels=np.unique(y), average="macro", sample_weight=weight, zero_division=0)
    codes = np.arange(probability.shape[1])
    return {
        "accuracy": float(accuracy_score(y, predicted, sample_weight=weight)),
        "balanced accuracy": float(recall),
        "log loss": float(log_loss(y, probability, labels=codes, sample_weight=weight)),
        "AUC" if len(codes) == 2 else "AUC (one against the rest)": _auc(y, probability, weight),
    }


def _auc(y: NDArray[Any], probability: Floats, weight: Floats | None) -> float:
    """Mean over the classes that some rows have and some have not."""
    from sklearn.metrics import roc_auc_score

    present = np.unique(y)
    if len(present) < 2:
        return np.nan
    # Of two classes, either one gives the same area
    asked = present[-1:] if probability.shape[1] == 2 else present
    areas = [roc_auc_score(y == code, probability[:, code], sample_weight=weight) for code in asked]
    return float(np.mean(areas))
