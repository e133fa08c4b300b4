"""A fit that fails or is interrupted leaves every estimator exactly as it was."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression, Ridge

import sapwood
from sapwood import SapwoodError

RNG = np.random.default_rng(0)
WIDE = RNG.normal(size=(60, 9))
NARROW = WIDE[:, :2]
NUMBERS = WIDE[:, 8] + WIDE[:, 0]
CLASSES = np.digitize(NUMBERS, [-0.5, 0.5])
GRADES = CLASSES.astype(float)


class Stubborn(BaseEstimator):
    """An estimator of no kind that fails at its third fit."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        type(self).fits += 1
        if type(self).fits == 3:
            raise KeyboardInterrupt
        self.value_ = y[0]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.value_)


def small(name: str, **parameters: Any) -> Any:
    kind = getattr(sapwood, name)
    if not name.startswith("DecisionTree"):
        parameters = {"n_estimators": 3, **parameters}
    return kind(random_state=0, **parameters)


def target_of(name: str) -> np.ndarray:
    if "Ranker" in name:
        return GRADES
    return CLASSES if "Classifier" in name else NUMBERS


def state_of(model: Any) -> dict[str, Any]:
    return dict(vars(model))


def check_unchanged(model: Any, attempt: Callable[[], Any], kind: type[BaseException] = SapwoodError) -> None:
    """The attempt fails; attributes are the same objects as before, and predictions the same numbers."""
    before = state_of(model)
    predicted = model.predict(WIDE) if "schema_" in before else None
    if predicted is not None:
        before = state_of(model)  # some things are made by the first prediction
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with pytest.raises(kind):
            attempt()
    after = state_of(model)
    assert set(after) == set(before)
    assert all(after[name] is before[name] for name in before)
    if predicted is not None:
        np.testing.assert_array_equal(model.predict(WIDE), predicted)


ESTIMATORS = (
    *("DecisionTreeClassifier", "DecisionTreeRegressor", "RandomForestClassifier", "RandomForestRegressor"),
    *("ExtraTreesClassifier", "ExtraTreesRegressor", "BaggingClassifier", "BaggingRegressor"),
    *("AdaBoostClassifier", "AdaBoostRegressor", "GradientBoostingClassifier", "GradientBoostingRegressor"),
    *("NewtonBoostingClassifier", "NewtonBoostingRegressor", "NewtonBoostingRanker"),
)


@pytest.mark.parametrize("fitted", [True, False])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_rows(name: str, fitted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    model, y = small(name), target_of(name)
    if fitted:
        model.fit(WIDE, y)
    check_unchanged(model, lambda: model.fit(NARROW, y[:7]))
    check_unchanged(model, lambda: model.fit(NARROW, ["a"] * 59 + [None]))
    model.set_params(random_state="bad")
    check_unchanged(model, lambda: model.fit(NARROW, y))
    model.set_params(random_state=0)

    def interrupt(*_: Any, **__: Any) -> Any:
        raise KeyboardInterrupt

    for place in INSIDE[name.replace("Classifier", "").replace("Regressor", "").replace("Ranker", "")]:
        monkeypatch.setattr(place, interrupt)
        check_unchanged(model, lambda: model.fit(NARROW, y), KeyboardInterrupt)
        monkeypatch.undo()


INSIDE = {  # where training is, in the end
    "DecisionTree": ("sapwood.estimators.tree.grow_tree", "sapwood.estimators.tree.tree_model"),
    "RandomForest": ("sapwood.estimators.forest.grow_forest", "sapwood.estimators.forest.Forest"),
    "ExtraTrees": ("sapwood.estimators.forest.grow_forest", "sapwood.estimators.forest.Forest"),
    "Bagging": ("sapwood.estimators.forest.grow_forest", "sapwood.estimators.forest.Forest"),
    "AdaBoost": ("sapwood.growth.forest_grower.code_for_many", "sapwood.adaboost.training.normalised"),
    "GradientBoosting": ("sapwood.estimators.gradient.fit_ensemble",),
    "NewtonBoosting": ("sapwood.estimators.newton_training.fit_ensemble",),
}


@pytest.mark.parametrize("name", [name for name in ESTIMATORS if "Forest" in name or "Extra" in name or "Bag" in name])
def test_rows_that_do_not_exist(name: str) -> None:
    """Trees of nine columns must not meet a table of two."""
    model, y = small(name).fit(WIDE, target_of(name)), target_of(name)
    check_unchanged(model, lambda: model.fit(NARROW, y, rows=[[10**9]]))
    check_unchanged(model, lambda: model.fit(NARROW, y, rows=[[0, 1]], features=[["no such column"]]))
    with pytest.raises(SapwoodError, match="9"):
        model.predict(NARROW)


@pytest.mark.parametrize("name", ["BaggingRegressor", "AdaBoostRegressor"])
def test_a_member_that_is_interrupted(name: str) -> None:
    model = small(name, estimator=Ridge()).fit(WIDE, NUMBERS)
    model.set_params(estimator=Stubborn())
    Stubborn.fits = 2
    check_unchanged(model, lambda: model.fit(NARROW, NUMBERS), KeyboardInterrupt)


@pytest.mark.parametrize("name", ["RandomForestClassifier", "BaggingClassifier", "GradientBoostingClassifier"])
def test_a_warm_start_that_fails(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, whole = small(name, warm_start=True).fit(WIDE, CLASSES), small(name, n_estimators=6)
    model.set_params(n_estimators=6)
    check_unchanged(model, lambda: model.fit(NARROW, CLASSES))
    check_unchanged(model, lambda: model.fit(WIDE, CLASSES + 1))
    place = "gradient.GradientBoosting._keep" if "Gradient" in name else "forest.ForestEstimator._keep"
    monkeypatch.setattr(f"sapwood.estimators.{place}", lambda *_: 1 / 0)
    check_unchanged(model, lambda: model.fit(WIDE, CLASSES), ZeroDivisionError)
    monkeypatch.undo()
    grown = model.fit(WIDE, CLASSES)
    np.testing.assert_array_equal(grown.predict_proba(WIDE), whole.fit(WIDE, CLASSES).predict_proba(WIDE))


def test_a_warm_start_of_other_members_that_fails() -> None:
    model = small("BaggingClassifier", estimator=LogisticRegression(), warm_start=True).fit(WIDE, CLASSES)
    members = list(model.estimators_)
    model.set_params(n_estimators=6, estimator=Stubborn())
    Stubborn.fits = 1
    check_unchanged(model, lambda: model.fit(WIDE, CLASSES), KeyboardInterrupt)
    assert model.estimators_ == members


@pytest.mark.parametrize("name", ["NewtonBoostingRegressor", "GradientBoostingRegressor"])
def test_a_callback_that_fails(name: str) -> None:
    def fail(progress: Any) -> bool:
        if progress.round == 2:
            raise ZeroDivisionError
        return False

    model = small(name).fit(WIDE, NUMBERS).set_params(callbacks=[fail])
    check_unchanged(model, lambda: model.fit(NARROW, NUMBERS), ZeroDivisionError)


def test_a_monitor_that_fails() -> None:
    seen = []

    def look(stage: int, model: Any, facts: dict[str, Any]) -> bool:
        seen.append((len(model.predict(NARROW)), facts["self"] is model))
        return bool(1 // (1 - stage))

    model = small("GradientBoostingRegressor").fit(WIDE, NUMBERS)
    assert len(model.estimators_) == 3
    check_unchanged(model, lambda: model.fit(NARROW, NUMBERS, monitor=lambda *a: look(*a) and False), ZeroDivisionError)
    assert seen == [(60, True), (60, True)]


def test_a_subclass_keeps_the_rule() -> None:
    class Noting(sapwood.RandomForestRegressor):
        def fit(self, X: Any, y: Any) -> Any:
            self.noted_ = "before"
            super().fit(X, y)
            self.noted_ = "after" if len(y) == 60 else 1 / 0
            return self

    model = Noting(n_estimators=3)
    check_unchanged(model, lambda: model.fit(NARROW[:9], NUMBERS[:9]), ZeroDivisionError)
    assert model.fit(WIDE, NUMBERS) is model
    assert model.noted_ == "after"
    check_unchanged(model, lambda: model.fit(NARROW[:9], NUMBERS[:9]), ZeroDivisionError)


def test_warnings_point_at_the_caller() -> None:
    for model in (small("BaggingRegressor"), small("RandomForestRegressor"), small("NewtonBoostingRegressor")):
        with pytest.warns(UserWarning, match="column-vector") as caught:
            model.fit(WIDE, NUMBERS[:, None])
        assert caught[0].filename == __file__


def test_what_a_callback_sets_on_the_model_stays() -> None:
    model = small("NewtonBoostingRegressor")

    def watch(progress: Any) -> None:
        model.seen = progress.round
        model.set_params(n_jobs=1)

    model.set_params(callbacks=[watch]).fit(WIDE, NUMBERS)
    assert model.seen == model.n_estimators
    assert model.n_jobs == 1
    assert model.predict(WIDE).shape == (60,)
