"""The recipe 2026.1: rounds by themselves, and a final model that has learned from all rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GroupKFold, KFold, TimeSeriesSplit
from sklearn.utils.estimator_checks import parametrize_with_checks

import sapwood as sw
from sapwood.boosting import internal_validation, recipe
from sapwood.boosting.internal_validation import draw_folds
from sapwood.explain import shap_values

CANCER, DIABETES, IRIS = (load(return_X_y=True) for load in (load_breast_cancer, load_diabetes, load_iris))
# Few rounds, so that the tests are fast.
QUICK: dict[str, Any] = {"recipe": "2026.1", "learning_rate": 0.2, "random_state": 0}


@pytest.fixture(scope="module")
def flowers() -> tuple[np.ndarray, np.ndarray]:
    """Three classes, and enough rows to validate on."""
    X, y = IRIS
    noise = np.random.default_rng(0).normal(scale=0.3, size=(300, 4))
    return np.concatenate([X, X]) + noise, np.concatenate([y, y])


def test_folds_divide_rows_and_classes_evenly_and_depend_on_seed_and_number_alone() -> None:
    classes = np.repeat([0.0, 1.0, 2.0], [50, 30, 23])
    folds = draw_folds(5, 103, classes, seed=7)
    assert np.array_equal(np.sort(np.concatenate(folds)), np.arange(103))
    for label in range(3):
        sizes = [int((classes[fold] == label).sum()) for fold in folds]
        assert max(sizes) - min(sizes) <= 1
    assert all(np.array_equal(one, two) for one, two in zip(folds, draw_folds(5, 103, classes, 7), strict=True))
    assert not np.array_equal(folds[0], draw_folds(5, 103, classes, 8)[0])


def test_members_are_averaged_and_each_has_its_own_rounds() -> None:
    X, y = CANCER
    model = sw.NewtonBoostingClassifier(**QUICK).fit(X, y)
    curves = model.evals_result()
    assert list(curves) == [f"fold {k}" for k in range(1, 5)]
    best = [int(np.argmin(curve["logloss"])) + 1 for curve in curves.values()]
    lengths = [len(curve["logloss"]) for curve in curves.values()]
    stretch = [len(y) / (len(y) - len(fold)) for fold in draw_folds(4, len(y), y.astype(float), model._seed)]
    expected = [min(int(np.ceil(s * n)), m) for s, n, m in zip(stretch, best, lengths, strict=True)]
    assert model.ensemble_.n_rounds == sum(expected)
    assert f"Best numbers of rounds in validation: {', '.join(map(str, best))};" in model.recipe_[-1]


@pytest.mark.parametrize("task", ["two", "three", "numbers"])
def test_the_same_model_for_any_number_of_threads(task: str, flowers: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = {"two": CANCER, "three": flowers, "numbers": DIABETES}[task]
    kind = sw.NewtonBoostingRegressor if task == "numbers" else sw.NewtonBoostingClassifier
    one, two = (kind(**QUICK, n_jobs=n).fit(X, y) for n in (1, 2))
    assert sw.fingerprint(one) == sw.fingerprint(two)


def test_models_of_every_other_fold_draw_their_thresholds() -> None:
    X, y = DIABETES
    every, drawn, alternate = (
        sw.NewtonBoostingRegressor(**QUICK, extra_trees=extra).fit(X, y).ensemble_.rounds
        for extra in (False, True, "alternate")
    )
    for k in range(4):  # the first rounds are the first ones of the four models
        same, other = (drawn, every) if k % 2 else (every, drawn)
        assert np.array_equal(alternate[k][0].threshold, same[k][0].threshold)
        assert not np.array_equal(alternate[k][0].threshold, other[k][0].threshold)


def test_out_of_fold_predictions_are_those_of_models_that_did_not_see_the_row() -> None:
    """Targets of one fold that are wrong do not change its own predictions, but those of the other folds."""
    X, y = DIABETES
    folds = draw_folds(4, len(y), None, 0)
    pairs = [(np.delete(np.arange(len(y)), fold), fold) for fold in folds]
    wrong = y.copy()
    wrong[folds[0]] *= 1.0001
    one, two = (sw.NewtonBoostingRegressor(**QUICK, cv=pairs).fit(X, target) for target in (y, wrong))
    close = np.isclose(one.oof_prediction_, two.oof_prediction_, rtol=1e-12)
    assert close[folds[0]].all()
    assert not close[folds[1]].all()
    rmse = [curve["rmse"] for curve in one.evals_result().values()]
    for fold, curve in zip(folds, rmse, strict=True):
        assert np.sqrt(np.mean((one.oof_prediction_[fold] - y[fold]) ** 2)) == pytest.approx(min(curve), rel=1e-12)


def test_out_of_fold_probabilities_and_rows_that_no_fold_holds_out(flowers: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = flowers
    weight = np.ones(len(y))
    weight[:7] = 0.0
    model = sw.NewtonBoostingClassifier(**QUICK).fit(X, y, sample_weight=weight)
    assert model.oof_prediction_.shape == (len(y), 3)
    assert np.isnan(model.oof_prediction_[:7]).all()
    assert np.allclose(model.oof_prediction_[7:].sum(axis=1), 1.0)
    numbers = sw.NewtonBoostingRegressor(**QUICK, cv=TimeSeriesSplit(3)).fit(*DIABETES)
    n = len(DIABETES[1])
    assert np.isnan(numbers.oof_prediction_).sum() == n - 3 * (n // 4)


@pytest.mark.parametrize(
    "cv",
    [3, KFold(3), GroupKFold(3).split(np.zeros((442, 1)), None, np.arange(442) // 10)],
    ids=["3", "KFold", "groups"],
)
def test_folds_of_the_user(cv: Any) -> None:
    folds = cv if isinstance(cv, (int, KFold)) else list(cv)
    model = sw.NewtonBoostingRegressor(**QUICK, cv=folds).fit(*DIABETES)
    assert list(model.evals_result()) == ["fold 1", "fold 2", "fold 3"]
    assert np.isfinite(model.oof_prediction_).all()


def test_one_fold_of_the_user_chooses_the_rounds_of_a_model_of_all_rows() -> None:
    X, y = DIABETES
    model = sw.NewtonBoostingRegressor(**QUICK, cv=[(np.arange(300), np.arange(300, 442))]).fit(X, y)
    best = int(np.argmin(model.evals_result()["validation"]["rmse"])) + 1
    assert model.n_estimators_ == int(np.ceil(442 / 300 * best))
    assert np.isnan(model.oof_prediction_[:300]).all()


def test_folds_of_the_user_are_kept_apart_by_group() -> None:
    """A group's own rows are predicted by a model that knows none of them, though they are copies of each other."""
    rng = np.random.default_rng(0)
    X, noise = rng.normal(size=(60, 5)), rng.normal(size=60)
    X, y, groups = np.repeat(X, 8, axis=0), np.repeat(noise, 8), np.repeat(np.arange(60), 8)
    by_group = list(GroupKFold(4).split(X, y, groups))
    apart, mixed = (sw.NewtonBoostingRegressor(**QUICK, cv=cv).fit(X, y) for cv in (by_group, None))
    error = [np.mean((model.oof_prediction_ - y) ** 2) for model in (apart, mixed)]
    assert error[0] > 0.8 * y.var() > 3 * error[1]


@pytest.mark.parametrize(
    "given", [{"n_estimators": 7}, {"recipe": "xgboost", "n_estimators": 7}], ids=["2026", "xgboost"]
)
def test_folds_of_the_user_validate_up_to_the_rounds_that_were_given(given: dict[str, Any]) -> None:
    model = sw.NewtonBoostingRegressor(**(QUICK | given), cv=3).fit(*DIABETES)
    assert [len(curve["rmse"]) for curve in model.evals_result().values()] == [7, 7, 7]
    assert model.n_estimators_ <= 21


def test_huber_follows_the_residuals_in_members_too() -> None:
    """A target of other units gives the same model in these units."""
    X, y = DIABETES
    one, other = (sw.NewtonBoostingRegressor(**QUICK, objective="huber").fit(X, y * unit) for unit in (1.0, 1024.0))
    np.testing.assert_allclose(other.predict(X), 1024.0 * one.predict(X), rtol=1e-6)
    assert one.score(X, y) > 0.5


def test_labels_of_any_type_are_stratified_and_folds_must_train_on_all_classes() -> None:
    X, y = CANCER
    model = sw.NewtonBoostingClassifier(**QUICK, cv=3).fit(X, y.astype(object))
    assert np.isfinite(model.oof_prediction_).all()
    order = np.argsort(y, kind="stable")
    with pytest.raises(sw.errors.InputError, match="Fold 1 of cv has no row of the class 0"):
        sw.NewtonBoostingClassifier(**QUICK, cv=KFold(2)).fit(X[order], y[order])


@pytest.mark.parametrize("given", [{"validation_fraction": 0.2}, {"max_seconds": 100.0}], ids=["fraction", "seconds"])
def test_folds_beside_another_validation_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(sw.errors.ParameterError, match="cv=3 is for other fits: it is not used with"):
        sw.NewtonBoostingRegressor(**(QUICK | given), cv=3).fit(*DIABETES)


def test_rows_of_weight_zero_neither_train_nor_validate() -> None:
    X, y = DIABETES
    weight = np.ones(len(y))
    weight[300:] = 0.0
    wrong = np.where(weight > 0, y, 1e6)
    model = sw.NewtonBoostingRegressor(**QUICK).fit(X, wrong, sample_weight=weight)
    without = sw.NewtonBoostingRegressor(**QUICK).fit(X[:300], y[:300], sample_weight=weight[:300])
    assert np.array_equal(model.predict(X), without.predict(X))


def test_a_hold_out_chooses_the_rounds_of_a_model_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recipe, "MANY_ROWS", 2000)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 3))
    y = X[:, 0] + rng.normal(size=2000)
    model = sw.NewtonBoostingRegressor(**QUICK).fit(X, y)
    best = int(np.argmin(model.evals_result()["validation"]["rmse"])) + 1
    n_rounds = int(np.ceil(1.25 * best))
    linear = {"linear_tree": model.params_["linear_tree"]}
    direct = sw.NewtonBoostingRegressor(**(QUICK | linear | {"n_estimators": n_rounds})).fit(X, y)
    assert model.n_estimators_ == n_rounds
    assert np.array_equal(model.predict(X), direct.predict(X))


def test_leaves_of_members_have_learned_from_all_rows() -> None:
    """The mean of the first tree over all rows is the mean target: the base, as squared errors of all rows say."""
    X, y = DIABETES
    params = QUICK | {"reg_lambda": 0.0, "subsample": 1.0, "max_leaves": 4}
    model = sw.NewtonBoostingRegressor(**params).fit(X, y)
    first = model.ensemble_.rounds[0][0]
    leaf = model.ensemble_.leaves(model.schema_.match(X))[:, 0, 0]
    for one in np.unique(leaf):
        expected = 0.2 * (y[leaf == one].mean() - y.mean()) / 4
        assert first.value[one, 0, 0] == pytest.approx(expected, rel=1e-9)


def test_absolute_error_is_validated_too_and_trained_again() -> None:
    n = len(DIABETES[1])
    model = sw.NewtonBoostingRegressor(**QUICK, objective="absolute_error").fit(*DIABETES)
    best = [int(np.argmin(curve["mae"])) + 1 for curve in model.evals_result().values()]
    stretch = [n / (n - len(fold)) for fold in draw_folds(4, n, None, model._seed)]
    assert model.n_estimators_ == int(np.ceil(np.mean(np.array(stretch) * best)))


@pytest.mark.parametrize(
    "given",
    [
        {"n_estimators": 7},
        {"early_stopping_rounds": 5, "validation_fraction": 0.2},
        {"validation_fraction": 0.2},
        {"max_seconds": 100.0},
        {"callbacks": [lambda _: None]},
    ],
)
def test_nothing_is_validated_that_was_not_asked_for(given: dict[str, Any]) -> None:
    model = sw.NewtonBoostingRegressor(**QUICK, **given).fit(*DIABETES)
    assert set(model.evals_result()) <= {"validation"}


def test_what_was_chosen_is_told_and_kept_in_files(tmp_path: Path) -> None:
    model = sw.NewtonBoostingRegressor(recipe="2026.1", n_estimators=20, random_state=0).fit(*DIABETES)
    assert model.params_["max_leaves"] == 15
    assert model.params_["n_estimators"] == 20
    assert model.get_params()["max_leaves"] == "auto"
    assert any(sentence.startswith("max_leaves=15: ") for sentence in model.recipe_)
    sw.save(model, tmp_path / "m.sapwood")
    loaded = sw.load(tmp_path / "m.sapwood")
    assert loaded.recipe_ == model.recipe_
    assert loaded.params_ == model.params_


def test_auto_is_what_it_stands_for() -> None:
    model = sw.NewtonBoostingRegressor(recipe="2026.1", n_estimators=20, random_state=0).fit(*DIABETES)
    chosen = {name: value for name, value in model.params_.items() if model.get_params()[name] == "auto"}
    explicit = sw.NewtonBoostingRegressor(n_estimators=20, random_state=0, **chosen).fit(*DIABETES)
    assert sw.fingerprint(model) == sw.fingerprint(explicit)


def test_xgboosts_numbers_are_those_of_the_recipe_xgboost() -> None:
    usual = {"max_depth": 6, "learning_rate": 0.3, "n_estimators": 100, "reg_lambda": 1.0, "min_child_weight": 1.0}
    one = sw.NewtonBoostingClassifier(recipe="xgboost", random_state=0).fit(*CANCER)
    two = sw.NewtonBoostingClassifier(recipe="xgboost", random_state=0, **usual).fit(*CANCER)
    assert sw.fingerprint(one) == sw.fingerprint(two)


def test_shapley_values_of_members_add_up(flowers: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = flowers
    model = sw.NewtonBoostingClassifier(**QUICK).fit(X, y)
    found = shap_values(model, X[:20])
    scores = model.decision_function(X[:20])
    assert np.allclose(found.values.sum(axis=1) + found.base_values, scores, atol=1e-8)


def test_an_interrupted_validation_gives_a_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(advance: Any, *_: Any) -> str:
        for _round in range(1):
            advance(0.0)
        return "interrupted by SIGINT"

    monkeypatch.setattr(internal_validation, "advance_until_stop", interrupted)
    model = sw.NewtonBoostingRegressor(**QUICK).fit(*DIABETES)
    assert 1 <= model.n_estimators_ <= 4 * internal_validation.STEP * internal_validation.STEPS
    assert np.isfinite(model.predict(DIABETES[0])).all()
    assert model.recipe_[-1].endswith("has learned from all rows.")
    refitted = sw.NewtonBoostingRegressor(**QUICK, objective="absolute_error").fit(*DIABETES)
    assert refitted.n_estimators_ <= internal_validation.STEP * internal_validation.STEPS
    assert refitted.recipe_[-1].endswith("the rows that did not validate, as training was interrupted.")


def test_a_class_of_one_row_is_learned_though_one_fold_trains_without_it() -> None:
    X, y = CANCER
    labels = y.astype(str)
    labels[0] = "rare"
    shares = sw.NewtonBoostingClassifier(**QUICK).fit(X, labels).predict_proba(X)
    assert shares.shape == (len(y), 3)
    assert np.isfinite(shares).all()


@pytest.mark.filterwarnings("default")
@parametrize_with_checks([sw.NewtonBoostingClassifier(**QUICK), sw.NewtonBoostingRegressor(**QUICK)])
def test_scikit_learn_accepts_the_recipe(estimator: Any, check: Any) -> None:
    check(estimator)
