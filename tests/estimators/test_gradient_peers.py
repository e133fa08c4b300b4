"""The same model as scikit-learn's, where the definitions agree.

They differ in these points, which the tests avoid:

* a median or quantile that lies between two rows is their midpoint here, the lower one in scikit-learn (for F_0, leaves
  and Huber's delta); random weights leave no such case;
* scikit-learn draws among equally good splits, here the first column wins; random weights leave only those that part
  the rows alike, which is seen in nothing but the importances;
* by rounding, scikit-learn may split a node whose gradients are all equal. Losses whose gradients have few values meet
  that in small nodes, so their leaves are large;
* thresholds lie between the values of the whole column, not of the node: training rows go the same ways, others that
  lie between two values of a node may not. Where others matter, every node holds every value;
* an estimator given as `init` sees X as it is, not as float32. To trees, small integers are the same;
* sums of a leaf are whole numbers of some 2^-40 of the largest summand: leaves whose rows are all surer of their class
  than that make no step. (Steps of scikit-learn's have no effect on their loss either.)
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradient_cases import make_data
from sklearn import ensemble
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sapwood import GradientBoostingClassifier, GradientBoostingRegressor
from sapwood.estimators.validation_sets import hold_out

DATA = make_data()
COARSE = make_data(n=1500, n_values=4)
REGRESSION = ("squared_error", "absolute_error", "huber", "quantile")
ROBUST = {"min_samples_leaf": 40, "max_depth": 2, "alpha": 0.83}


def fit_both(kind: str, y: Any, weight: Any = DATA.weight, X: Any = DATA.X, **parameters: Any) -> tuple[Any, Any]:
    own, other = {
        "numbers": (GradientBoostingRegressor, ensemble.GradientBoostingRegressor),
        "classes": (GradientBoostingClassifier, ensemble.GradientBoostingClassifier),
    }[kind]
    parameters = {"n_estimators": 20, "random_state": 0, **parameters}
    return own(**parameters).fit(X, y, weight), other(**parameters).fit(X, y, weight)


def assert_same(own: Any, other: Any, X: Any = DATA.X) -> None:
    assert own.n_estimators_ == other.n_estimators_
    if hasattr(own, "classes_"):
        np.testing.assert_allclose(own.decision_function(X), other.decision_function(X), atol=1e-6)
        np.testing.assert_allclose(own.predict_proba(X), other.predict_proba(X), atol=1e-6)
    np.testing.assert_allclose(own.predict(X), other.predict(X), atol=1e-6)
    np.testing.assert_allclose(own.train_score_, other.train_score_, rtol=1e-6)


@pytest.mark.parametrize("loss", REGRESSION)
def test_numbers(loss: str) -> None:
    options = {} if loss == "squared_error" else ROBUST
    own, other = fit_both("numbers", DATA.number, loss=loss, **options)
    assert_same(own, other)
    np.testing.assert_allclose(own.feature_importances_, other.feature_importances_, atol=1e-3)


def test_numbers_without_weights() -> None:
    assert_same(*fit_both("numbers", DATA.number, None))


@pytest.mark.parametrize(("loss", "target"), [("log_loss", "two"), ("log_loss", "three"), ("exponential", "two")])
def test_classes(loss: str, target: str) -> None:
    own, other = fit_both("classes", getattr(DATA, target), loss=loss)
    assert_same(own, other)
    np.testing.assert_allclose(own.feature_importances_, other.feature_importances_, atol=1e-3)


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 5, "min_samples_leaf": 17},
        {"max_depth": 5, "min_samples_split": 0.2, "min_samples_leaf": 0.03},
        {"max_depth": 5, "min_weight_fraction_leaf": 0.07},
        {"max_depth": None, "max_leaf_nodes": 9},
        {"max_depth": 2, "max_leaf_nodes": 4},
        {"max_depth": 5, "min_impurity_decrease": 0.3},
        {"max_depth": 5, "ccp_alpha": 0.2},
        {"max_leaf_nodes": 12, "ccp_alpha": 0.05, "learning_rate": 0.5},
    ],
)
def test_limits_of_trees(limits: dict[str, Any]) -> None:
    own, other = fit_both("numbers", DATA.number, **limits)
    assert_same(own, other)
    for mine, theirs in zip(own.estimators_.ravel(), other.estimators_.ravel(), strict=True):
        assert mine.get_n_leaves() == theirs.get_n_leaves()
    if "min_impurity_decrease" not in limits:
        assert_same(*fit_both("classes", DATA.three, n_estimators=4, **limits))


def test_attributes_have_the_same_shapes() -> None:
    for own, other in (
        fit_both("classes", DATA.three, subsample=0.5, max_features="sqrt"),
        fit_both("classes", DATA.two, subsample=0.5, max_features=0.5),
        fit_both("numbers", DATA.number, subsample=0.5, max_features=2),
    ):
        assert own.max_features_ == other.max_features_ == 2
        assert own.n_trees_per_iteration_ == other.n_trees_per_iteration_
        for name in ("estimators_", "train_score_", "oob_improvement_", "oob_scores_", "feature_importances_"):
            assert getattr(own, name).shape == getattr(other, name).shape
        assert np.shape(own.oob_score_) == ()
        assert own.apply(DATA.X).shape == other.apply(DATA.X).shape
        assert own.predict(DATA.X).shape == other.predict(DATA.X).shape
        if hasattr(own, "classes_"):
            stages = next(own.staged_decision_function(DATA.X)), next(other.staged_decision_function(DATA.X))
            assert stages[0].shape == stages[1].shape
            assert own.n_classes_ == other.n_classes_


def test_trees_are_those_before_the_learning_rate() -> None:
    own, other = fit_both("classes", DATA.three, learning_rate=0.3)
    for mine, theirs in zip(own.estimators_[:5].ravel(), other.estimators_[:5].ravel(), strict=True):
        np.testing.assert_allclose(mine.predict(DATA.X), theirs.predict(DATA.X), atol=1e-6)
        np.testing.assert_array_equal(mine.tree_.n_node_samples, theirs.tree_.n_node_samples)


@pytest.mark.parametrize("kind", ["numbers", "classes"])
def test_init_zero_and_init_by_an_estimator(kind: str) -> None:
    options = {"max_depth": 1, "min_samples_leaf": 200, "random_state": 0}  # all classes in both leaves
    model = DecisionTreeRegressor(**options) if kind == "numbers" else DecisionTreeClassifier(**options)
    for init in ("zero", model):
        assert_same(*fit_both(kind, DATA.number if kind == "numbers" else DATA.two, init=init))
    if kind == "classes":
        assert_same(*fit_both(kind, DATA.three, init=model))
        assert_same(*fit_both(kind, DATA.two, init=model, loss="exponential"))


@pytest.mark.parametrize(("kind", "target"), [("numbers", "number"), ("classes", "three")])
def test_early_stopping_stops_at_the_same_stage(kind: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the same rows held out; scikit-learn draws them as a permutation of all."""

    def split(*arrays: Any, test_size: float, stratify: Any, **_: Any) -> list[Any]:
        classes = None if stratify is None else np.unique(stratify, return_inverse=True)[1].astype(np.float64)
        rest = np.ones(len(arrays[0]), dtype=np.bool_)
        rest[hold_out(len(rest), test_size, classes, None, seed=0)] = False
        return [array[chosen] for array in arrays for chosen in (rest, ~rest)]

    monkeypatch.setattr("sklearn.ensemble._gb.train_test_split", split)
    given = getattr(COARSE, target), COARSE.weight, COARSE.X
    options = {"n_iter_no_change": 3, "validation_fraction": 0.3, "n_estimators": 100, "max_depth": 2}
    own, other = fit_both(kind, *given, **options, learning_rate=0.3, tol=0.003)
    assert own.n_estimators_ < 100
    assert_same(own, other, COARSE.X)
    assert own.stopped_reason_ == "no better stage for n_iter_no_change=3"
    assert own.validation_score_.shape == (own.n_estimators_,)


def test_parameters_of_scikit_learn_are_accepted() -> None:
    own = GradientBoostingRegressor(**ensemble.GradientBoostingRegressor().get_params())
    assert own.fit(DATA.X, DATA.number).score(DATA.X, DATA.number) > 0.9
    GradientBoostingClassifier(**ensemble.GradientBoostingClassifier().get_params(), n_jobs=1).fit(DATA.X, DATA.two)
    for criterion in ("friedman_mse", "squared_error"):
        other = GradientBoostingRegressor(criterion=criterion).fit(DATA.X, DATA.number)
        np.testing.assert_array_equal(other.predict(DATA.X), own.predict(DATA.X))
