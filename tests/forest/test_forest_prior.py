"""The shares of the classes count as `prior_weight` trees, and how many columns forests draw."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forest_cases import frame, signal
from sklearn.base import clone

import sapwood as sw
from sapwood import ExtraTreesClassifier, ExtraTreesRegressor, RandomForestClassifier, RandomForestRegressor

X = frame()
TWO, THREE = (signal(X) > 0.5).astype(int), np.digitize(signal(X), [0.0, 1.5])
WEIGHT = 1.0 + np.arange(len(X)) % 4
FORESTS: dict[str, Any] = {
    "two classes": (RandomForestClassifier(6, random_state=0), TWO, None),
    "three classes": (RandomForestClassifier(6, random_state=0, prior_weight=2.5), THREE, None),
    "weights": (RandomForestClassifier(6, random_state=0, class_weight="balanced"), THREE, WEIGHT),
    "balanced bags": (RandomForestClassifier(6, random_state=0, class_weight="balanced_subsample"), THREE, None),
    "extra": (ExtraTreesClassifier(6, random_state=0), THREE, WEIGHT),
    "trees without a split": (RandomForestClassifier(6, random_state=0, min_samples_leaf=0.4), TWO, None),
}


@pytest.fixture(params=FORESTS)
def case(request: pytest.FixtureRequest) -> Any:
    forest, y, weight = FORESTS[request.param]
    return clone(forest), y, weight


def test_four_rows_by_hand() -> None:
    """Both trees are sure of each row; one class has three rows of four, and counts as one more tree."""
    forest = RandomForestClassifier(2, bootstrap=False, prior_weight=1.0, random_state=0)
    forest.fit([[1.0], [2.0], [3.0], [4.0]], ["a", "a", "a", "b"])
    np.testing.assert_allclose(forest.predict_proba([[1.0], [4.0]]), [[2.75 / 3, 0.25 / 3], [0.75 / 3, 2.25 / 3]])
    assert forest.predict([[4.0]]) == ["b"]


def test_probabilities_are_the_mean_of_the_trees_and_of_their_roots(case: Any) -> None:
    forest, y, weight = case
    forest.fit(X, y, sample_weight=weight)
    total = sum(tree.predict_proba(X) for tree in forest.estimators_)
    root = np.mean([tree.tree_.value[0, 0] for tree in forest.estimators_], axis=0)
    expected = (total + forest.prior_weight * root) / (len(forest) + forest.prior_weight)
    np.testing.assert_allclose(forest.predict_proba(X), expected, rtol=1e-12)
    forest.set_params(prior_weight=0.0)
    np.testing.assert_allclose(forest.predict_proba(X), total / len(forest), rtol=1e-12)


def test_no_class_is_impossible_by_default() -> None:
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        forest = kind(10, random_state=0).fit(X, THREE)
        shares = forest.predict_proba(X)
        assert shares.min() > 0
        np.testing.assert_allclose(shares.sum(axis=1), 1.0, rtol=1e-12)
        assert forest.set_params(prior_weight=0.0).predict_proba(X).min() == 0


def test_outputs_have_priors_of_their_own() -> None:
    y = np.stack([TWO, THREE], axis=1)
    forest = RandomForestClassifier(3, random_state=0, prior_weight=3.0, max_depth=1, bootstrap=False).fit(X, y)
    for o, own in enumerate(forest.predict_proba(X)):
        trees = np.mean([tree.predict_proba(X)[o] for tree in forest.estimators_], axis=0)
        np.testing.assert_allclose(own, (trees + np.bincount(y[:, o]) / len(y)) / 2, rtol=1e-12)


@pytest.mark.parametrize("class_weight", [None, {0: 3.0}, "balanced_subsample"])
def test_out_of_bag_shares_have_the_same_prior(class_weight: Any) -> None:
    forest = RandomForestClassifier(90, random_state=0, prior_weight=2.0, oob_score=True, class_weight=class_weight)
    forest.fit(X, THREE)
    sums, counts = np.zeros((len(X), 3)), np.zeros((len(X), 1))
    for tree, rows in zip(forest.estimators_, forest.estimators_samples_, strict=True):
        outside = np.setdiff1d(np.arange(len(X)), rows)
        sums[outside] += tree.predict_proba(X.iloc[outside])
        counts[outside] += 1
    rows = np.bincount(THREE)
    total = rows * [1.0 if class_weight is None else 3.0, 1.0, 1.0]
    prior = np.ones(3) / 3 if class_weight == "balanced_subsample" else total / total.sum()
    expected = (sums + 2.0 * prior) / (counts + 2.0)
    np.testing.assert_allclose(forest.oob_decision_function_, expected, rtol=1e-12)
    assert forest.oob_curve_[-1] == pytest.approx(1 - forest.oob_score_)


def test_hard_votes_are_counted_alone() -> None:
    forest = RandomForestClassifier(4, random_state=0, voting="hard", prior_weight=5.0).fit(X, THREE)
    assert set(np.unique(forest.predict_proba(X))) <= {0.0, 0.25, 0.5, 0.75, 1.0}


def test_a_file_keeps_the_prior(tmp_path: Path, case: Any) -> None:
    forest, y, weight = case
    sw.save(forest.fit(X, y, sample_weight=weight), tmp_path / "forest.sapwood")
    expected = forest.predict_proba(X)
    for again in (sw.load(tmp_path / "forest.sapwood"), sw.load_model(tmp_path / "forest.sapwood")):
        np.testing.assert_array_equal(again.predict_proba(X), expected)


def test_the_prior_is_part_of_the_fingerprint() -> None:
    forest = RandomForestClassifier(3, random_state=0).fit(X, TWO)
    usual = sw.fingerprint(forest)
    assert sw.fingerprint(forest.set_params(prior_weight=0.0)) != usual


DRAWN = {RandomForestClassifier: 5, ExtraTreesClassifier: 5, RandomForestRegressor: 7, ExtraTreesRegressor: 10}


@pytest.mark.parametrize("kind", DRAWN)
def test_columns_of_a_split_by_default(kind: Any) -> None:
    table = np.random.default_rng(0).normal(size=(40, 10))
    y = (table[:, 0] > 0).astype(int)
    assert kind(2).fit(table, y).max_features_ == DRAWN[kind]


@pytest.mark.parametrize("max_features", [0.5, "third", "sqrt", None])
def test_a_tree_of_a_forest_can_be_fitted_again(max_features: Any) -> None:
    forest = RandomForestClassifier(2, random_state=0, max_features=max_features).fit(X, TWO)
    again = clone(forest.estimators_[0]).fit(X, TWO)
    assert again.max_features_ == forest.max_features_
