"""Fitted attributes of an estimator: which of them a file holds, and how an estimator gets them back."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from sapwood.estimators.estimator import Estimator
from sapwood.files.records import ConstantInit, PriorInit
from sapwood.files.saved_estimator import SavedEstimator

DERIVED = {
    *("n_features_in_", "feature_names_in_", "n_classes_", "_model"),
    *("n_estimators_", "n_iter_", "n_trees_per_iteration_", "estimators_"),
}
"""Attributes that follow from the others; no file holds them."""


def fitted_state(model: Estimator) -> dict[str, Any]:
    """What a file must hold of a fitted model."""
    left_out = {*DERIVED, *model.get_params(deep=False)}
    return {name: value for name, value in vars(model).items() if name not in left_out}


def restore(model: Any, saved: SavedEstimator) -> None:
    """Give an estimator its fitted attributes, those that follow from the others included."""
    for name, value in saved.fitted.items():
        setattr(model, name, _with_dummies(value))
    model._describe(saved.schema, saved.classes, saved.single)
    if "ensemble_" in saved.fitted:
        model.n_estimators_ = model.n_iter_ = model.ensemble_.n_rounds
    if "learning_rates_" in saved.fitted:
        model.n_trees_per_iteration_ = model.ensemble_.n_scores


def _with_dummies(value: Any) -> Any:
    """What gradient boosting starts from is an estimator of scikit-learn."""
    if isinstance(value, ConstantInit):
        return DummyRegressor(strategy="constant", constant=value.constant).fit(np.zeros((1, 1)), [value.constant])
    if isinstance(value, PriorInit):
        n = len(value.prior)
        init = DummyClassifier(strategy="prior").fit(np.zeros((n, 1)), np.arange(n))
        init.class_prior_ = value.prior
        return init
    return value
