"""Bagging of the library's own trees, and of any estimator."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.svm import LinearSVC

from sapwood import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    RandomForestClassifier,
)
from sapwood.errors import ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(200, 6))
NUMBERS = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=200)
TWO, THREE = (NUMBERS > 1).astype(int), np.digitize(NUMBERS, [0.3, 1.5])


def test_bagged_trees_are_a_forest_that_looks_at_all_columns() -> None:
    bagging = BaggingClassifier(n_estimators=6, random_state=0).fit(X, THREE)
    forest = RandomForestClassifier(6, random_state=0, max_features=None, max_bins=None, prior_weight=0.0).fit(X, THREE)
    np.testing.assert_array_equal(bagging.predict_proba(X), forest.predict_proba(X))
    np.testing.assert_array_equal(bagging.estimators_samples_, forest.estimators_samples_)


MEMBERS: list[tuple[Any, Any]] = [
    (BaggingClassifier(DecisionTreeClassifier(max_depth=3)), THREE),
    (BaggingRegressor(DecisionTreeRegressor(max_features="sqrt")), NUMBERS),
    (BaggingClassifier(LogisticRegression()), THREE),
    (BaggingClassifier(KNeighborsClassifier()), THREE),
    (BaggingClassifier(LinearSVC()), TWO),
    (BaggingRegressor(Ridge()), NUMBERS),
    (BaggingRegressor(KNeighborsRegressor()), NUMBERS),
]


@pytest.mark.parametrize(("bagging", "y"), MEMBERS)
@pytest.mark.parametrize(
    "sampling",
    [
        {},
        {"max_samples": 0.5, "max_features": 0.5},
        {"bootstrap": False, "max_samples": 100, "max_features": 3},
        {"bootstrap_features": True},
    ],
)
def test_members_predict_from_their_columns(bagging: Any, y: Any, sampling: dict[str, Any]) -> None:
    options = {"n_estimators": 5, "random_state": 0, **sampling}
    model = type(bagging)(bagging.estimator, **options).fit(X, y)
    members = zip(model.estimators_, model.estimators_features_, strict=True)
    said = np.array([member.predict(X[:, features]) for member, features in members])
    if isinstance(model, BaggingRegressor):
        np.testing.assert_allclose(model.predict(X), said.mean(axis=0))
    elif isinstance(bagging.estimator, LinearSVC):
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], said.mean(axis=0))
    else:
        members = zip(model.estimators_, model.estimators_features_, strict=True)
        shares = [member.predict_proba(X[:, features]) for member, features in members]
        np.testing.assert_allclose(model.predict_proba(X), np.mean(shares, axis=0))
    again = type(bagging)(bagging.estimator, n_jobs=3, **options).fit(X, y)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_samples() -> None:
    model = BaggingClassifier(n_estimators=3, bootstrap=False, max_samples=50, random_state=0).fit(X, TWO)
    assert all(len(set(rows)) == 50 for rows in model.estimators_samples_)
    whole = BaggingClassifier(n_estimators=3, bootstrap=False, random_state=0).fit(X, TWO)
    assert all(rows.tolist() == list(range(200)) for rows in whole.estimators_samples_)
    with pytest.raises(ParameterError, match="without replacement"):
        BaggingClassifier(bootstrap=False, max_samples=300).fit(X, TWO)


@pytest.mark.parametrize("estimator", [None, LogisticRegression(), KNeighborsClassifier()])
def test_out_of_bag(estimator: Any) -> None:
    model = BaggingClassifier(estimator, 40, oob_score=True, random_state=0).fit(X, THREE)
    sums, counts = np.zeros((200, 3)), np.zeros(200)
    for member, rows in zip(model.estimators_, model.estimators_samples_, strict=True):
        outside = np.setdiff1d(np.arange(200), rows)
        sums[outside] += member.predict_proba(X[outside])
        counts[outside] += 1
    np.testing.assert_allclose(model.oob_decision_function_, sums / counts[:, None])
    assert model.oob_score_ == pytest.approx(np.mean(sums.argmax(axis=1) == THREE))
    with pytest.raises(ParameterError, match="bootstrap=True"):
        BaggingClassifier(estimator, bootstrap=False, oob_score=True).fit(X, THREE)


@pytest.mark.parametrize("estimator", [None, Ridge()])
def test_numbers_out_of_bag_and_intervals(estimator: Any) -> None:
    model = BaggingRegressor(estimator, 40, oob_score=True, random_state=0).fit(X, NUMBERS)
    assert model.oob_prediction_.shape == (200,)
    low, high = model.predict_interval(X, 0.9).T
    assert (low < high).all()


@pytest.mark.parametrize("estimator", [None, LogisticRegression()])
def test_warm_start(estimator: Any) -> None:
    whole = BaggingClassifier(estimator, 6, random_state=0).fit(X, TWO)
    part = BaggingClassifier(estimator, 2, random_state=0, warm_start=True).fit(X, TWO)
    part.set_params(n_estimators=6).fit(X, TWO)
    np.testing.assert_array_equal(whole.predict_proba(X), part.predict_proba(X))
    with pytest.raises(ParameterError, match="n_estimators=3"):
        part.set_params(n_estimators=3).fit(X, TWO)


def test_decision_functions_are_averaged() -> None:
    model = BaggingClassifier(LinearSVC(), 4, random_state=0).fit(X, TWO)
    expected = np.mean([member.decision_function(X) for member in model.estimators_], axis=0)
    np.testing.assert_allclose(model.decision_function(X), expected)
    assert not hasattr(BaggingClassifier(), "decision_function")


def test_strings_and_holes() -> None:
    frame = pd.DataFrame(X, columns=list("abcdef"))
    frame["level"] = np.where(TWO == 1, "high", "low")
    frame.loc[::9, "a"] = np.nan
    model = BaggingClassifier(n_estimators=5, max_features=0.6, random_state=0).fit(frame, TWO)
    names = [tree.feature_names_in_.tolist() for tree in model.estimators_]
    assert all(len(own) == 4 for own in names)
    tree, features = model.estimators_[0], model.estimators_features_[0]
    assert tree.predict(frame.iloc[:, features]).shape == (200,)
    assert model.score(frame, TWO) > 0.8
    assert model.feature_importances_.shape == (7,)


def test_an_estimator_of_the_wrong_kind() -> None:
    for bagging in (BaggingClassifier(DecisionTreeRegressor()), BaggingClassifier(Ridge())):
        with pytest.raises(ParameterError, match="not a classifier"):
            bagging.fit(X, TWO)
    with pytest.raises(ParameterError, match="not a regressor"):
        BaggingRegressor(LogisticRegression()).fit(X, NUMBERS)


@pytest.mark.parametrize("estimator", [None, Ridge()])
def test_all_rows_once_keep_their_weights(estimator: Any) -> None:
    weight = np.arange(200) % 4 + 1
    model = BaggingRegressor(estimator, 2, bootstrap=False, random_state=0).fit(X, NUMBERS, sample_weight=weight)
    alone = (DecisionTreeRegressor() if estimator is None else Ridge()).fit(X, NUMBERS, sample_weight=weight)
    np.testing.assert_allclose(model.predict(X), alone.predict(X))
    assert len(model) == 2
