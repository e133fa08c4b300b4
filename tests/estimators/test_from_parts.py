"""Fitted estimators made from their parts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood.errors import ModelFileError
from sapwood.estimators.from_parts import estimator_with, set_boosting, set_forest, set_tree

X = np.random.default_rng(0).normal(size=(120, 4))
NUMBERS = X[:, 0] - 2.0 * X[:, 1] ** 2
CLASSES = np.array(["a", "b", "c"])[np.digitize(NUMBERS, [-2.0, -0.5])]


def empty(model: Any) -> Any:
    return estimator_with(type(model), model.get_params(deep=False))


@pytest.mark.parametrize("model", [sw.DecisionTreeClassifier(max_depth=3), sw.DecisionTreeRegressor(max_depth=3)])
def test_a_tree_made_from_its_parts_is_the_same_model(model: Any) -> None:
    model.fit(X, CLASSES if isinstance(model, sw.DecisionTreeClassifier) else NUMBERS)
    other = empty(model)
    set_tree(other, model.schema_, model.tree_, [model.classes_] if hasattr(model, "classes_") else [])
    assert sw.fingerprint(other) == sw.fingerprint(model)
    assert set(vars(other)) == set(vars(model))


@pytest.mark.parametrize("y", [CLASSES, np.column_stack([CLASSES, CLASSES == "a"])], ids=["one output", "two outputs"])
def test_a_forest_made_from_its_trees_predicts_the_same(y: Any) -> None:
    model = sw.RandomForestClassifier(n_estimators=4, max_depth=3, random_state=0).fit(X, y)
    other = empty(model)
    classes = model.classes_ if isinstance(model.classes_, list) else [model.classes_]
    set_forest(other, model.schema_, [tree.tree_ for tree in model.estimators_], classes, "made")
    np.testing.assert_array_equal(other.predict(X), model.predict(X))
    assert other.n_classes_ == model.n_classes_


@pytest.mark.parametrize("kind", [sw.NewtonBoostingClassifier, sw.NewtonBoostingRegressor])
def test_boosting_made_from_its_parts_is_the_same_model(kind: Any) -> None:
    model = kind(recipe="xgboost", n_estimators=3, max_depth=2).fit(
        X, CLASSES if kind is sw.NewtonBoostingClassifier else NUMBERS
    )
    other = empty(model)
    labels = getattr(model, "classes_", None)
    set_boosting(other, model.schema_, model.ensemble_, model.loss_, labels, model.stopped_reason_)
    assert sw.fingerprint(other) == sw.fingerprint(model)


def test_classes_must_fit_the_scores() -> None:
    model = sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=2).fit(X, CLASSES)
    with pytest.raises(ModelFileError, match="has 2 classes, but scores for 3"):
        set_boosting(empty(model), model.schema_, model.ensemble_, model.loss_, np.array(["a", "b"]), "made")


def test_parameters_that_an_estimator_lacks_or_forbids_are_left_out() -> None:
    model = estimator_with(sw.DecisionTreeRegressor, {"max_depth": 3, "min_samples_leaf": -1, "n_rounds": 7})
    assert (model.max_depth, model.min_samples_leaf) == (3, sw.DecisionTreeRegressor().min_samples_leaf)
