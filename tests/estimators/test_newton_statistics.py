"""`target_statistics` of Newton boosting: no leak, and models that are like any other."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_matrix

import sapwood as sw
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor, cross_validate_boosting, explain
from sapwood.errors import InputError, ModelFileError
from sapwood.estimators import checkpoint
from sapwood.files.content import read_content, write_content
from sapwood.interchange.targets.python.to_python import to_python

Array = NDArray[Any]
N, N_LEVELS = 900, 90
FOLDS = pytest.mark.parametrize("fixed", [{"n_estimators": 12}, {}], ids=["rounds", "folds"])


def wide_frame(n: int = N, n_levels: int = N_LEVELS, seed: int = 0) -> tuple[pd.DataFrame, Array]:
    """A level of many decides about the target, beside numbers; some are missing."""
    rng = np.random.default_rng(seed)
    level = rng.integers(0, n_levels, n)
    X = pd.DataFrame({"x": rng.normal(size=n), "level": [f"l{i}" for i in level], "z": rng.normal(size=n)})
    y = np.random.default_rng(1).normal(size=n_levels)[level] + 0.5 * X["x"] + 0.5 * rng.normal(size=n)
    X.loc[rng.random(n) < 0.05, "level"] = None
    return X, y.to_numpy()


X, Y = wide_frame()
THREE = np.array(["low", "mid", "top"])[np.digitize(Y, [-0.6, 0.6])]
NEW = wide_frame(200, N_LEVELS + 5, seed=2)[0]  # some levels are new


def regressor(**parameters: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(**{"target_statistics": True, "random_state": 0} | parameters)


STEPS = {"recipe": "xgboost", "learning_rate": 0.1, "n_estimators": 30, "min_data_per_group": 10**6}  # no subsets


@FOLDS
def test_levels_of_few_rows_are_told_apart(fixed: dict[str, Any]) -> None:
    """Ten rows of each level are too few to be split from the others by subsets."""
    X_test, y_test = wide_frame(2000, seed=3)
    without, own = (regressor(target_statistics=on, **fixed).fit(X, Y) for on in (False, True))
    assert own.score(X_test, y_test) > without.score(X_test, y_test) + 0.1
    assert own.feature_importances_[1] > without.feature_importances_[1]


@pytest.mark.parametrize("parameters", [{}, STEPS], ids=["folds", "rounds"])
@pytest.mark.parametrize("n_levels", [200, 500])
def test_noise_by_level_is_learned_no_more_than_noise_of_numbers(n_levels: int, parameters: dict[str, Any]) -> None:
    """An identifier of some rows each, and a target that has nothing to do with it.

    A mean that includes the row's own target would explain the training rows, and be what most splits are on.
    """
    rng = np.random.default_rng(0)
    level, x, noise = rng.integers(0, n_levels, 3000), rng.normal(size=3000), rng.normal(size=(2, 3000))
    rows = pd.DataFrame({"of nothing": [f"l{i}" for i in level], "x": x})
    y = x + noise[0]
    losses, importances = [], []
    for X_own in (rows, rows.assign(**{"of nothing": noise[1]})):
        model = regressor(**parameters).fit(X_own[:1500], y[:1500])
        losses.append(np.mean((model.predict(X_own[1500:]) - y[1500:]) ** 2))
        importances.append(model.feature_importances_[0])
    assert losses[0] < 1.02 * losses[1]
    assert importances[0] < 1.2 * importances[1] + 0.05


def test_an_unrelated_identifier_is_rarely_split() -> None:
    rng = np.random.default_rng(0)
    rows = pd.DataFrame({"level": [f"l{i}" for i in rng.integers(0, 600, 1500)]})
    y = rng.normal(size=1500)
    assert regressor().fit(rows, y).predict(rows).std() < 0.1 * y.std()


@FOLDS
@pytest.mark.parametrize("y", [Y, THREE, THREE == "mid"], ids=["numbers", "three", "two"])
def test_models_are_like_any_other(y: Array, fixed: dict[str, Any], tmp_path: Path) -> None:
    """File, export, Shapley values and explanations know of subsets of levels only."""
    kind = NewtonBoostingRegressor if y is Y else NewtonBoostingClassifier
    fixed = fixed or {"cv": 2, "n_estimators": 30}
    model = kind(target_statistics=True, random_state=0, **fixed).fit(X, y)
    predict = model.predict if y is Y else model.predict_proba
    sw.save(model, tmp_path / "model.sapwood")
    loaded = sw.load(tmp_path / "model.sapwood")
    assert sw.fingerprint(loaded) == sw.fingerprint(model)
    np.testing.assert_array_equal((loaded.predict if y is Y else loaded.predict_proba)(NEW), predict(NEW))
    found = explain.shap_values(model, NEW[:40])
    margin = model.predict(NEW[:40], output_margin=True) if y is Y else model.decision_function(NEW[:40])
    values = np.asarray(found.values)
    total = values.sum(axis=1) + np.asarray(found.base_values)
    np.testing.assert_allclose(np.squeeze(total), np.squeeze(margin), rtol=1e-9, atol=1e-9)
    space: dict[str, Any] = {}
    exec(compile(to_python(model), "model", "exec"), space)
    rows = NEW[:40].astype(object).where(NEW[:40].notna(), None).to_numpy().tolist()
    answers = [space["predict" if y is Y else "predict_proba"](row) for row in rows]
    np.testing.assert_allclose(np.array(answers, dtype=float), predict(NEW[:40]), rtol=1e-12)
    assert model.feature_importances_.shape == (3,)


@FOLDS
def test_bits_do_not_depend_on_threads(fixed: dict[str, Any]) -> None:
    prints = {sw.fingerprint(regressor(n_jobs=n_jobs, **fixed).fit(X, Y)) for n_jobs in (1, 2)}
    assert len(prints) == 1
    assert sw.fingerprint(regressor(random_state=1, subsample=1.0, **fixed).fit(X, Y)) not in prints


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_losses_of_rows_that_do_not_train_are_those_of_the_model(method: str) -> None:
    """So statistics do not know the targets of validation rows, which see the totals of the others."""
    options = {"n_estimators": 15, "tree_method": method, "eval_metric": "rmse"}
    model = regressor(**options).fit(X[:600], Y[:600], eval_set=[(X[600:], Y[600:])])
    for n_rounds in (1, 15):
        error = np.sqrt(np.mean((model.predict(X[600:], n_rounds=n_rounds) - Y[600:]) ** 2))
        assert model.evals_result_["validation_0"]["rmse"][n_rounds - 1] == pytest.approx(error, rel=1e-12)
    weight = np.ones(N)
    weight[600:] = 0.0  # as if they were not there
    weighted = regressor(**options).fit(X, Y, weight)
    np.testing.assert_array_equal(weighted.predict(X), model.predict(X))


def test_folds_do_not_know_what_they_hold_out() -> None:
    """Targets of the rows that are held out change nothing in the models that predict them."""
    held_out = np.arange(0, N, 3)
    folds = [(np.delete(np.arange(N), held_out), held_out)]
    changed = Y.copy()
    changed[held_out] += 5.0 * np.random.default_rng(0).normal(size=len(held_out))
    one, two = (regressor(cv=folds, n_estimators=1).fit(X, y).oof_prediction_ for y in (Y, changed))
    np.testing.assert_array_equal(one[held_out], two[held_out])


def test_cross_validation() -> None:
    model = regressor(n_estimators=20, learning_rate=0.2)
    found = cross_validate_boosting(model, X, Y, cv=3)
    without = cross_validate_boosting(model.set_params(target_statistics=False), X, Y, cv=3)
    assert found.curves["test"]["rmse"].mean[-1] < without.curves["test"]["rmse"].mean[-1]


def test_models_of_folds_keep_the_statistics_of_their_rows() -> None:
    found = cross_validate_boosting(regressor(n_estimators=2), X, Y, cv=3)
    for model, (train, _) in zip(found.estimators, found.splits, strict=True):
        alone = regressor(n_estimators=2).fit(X.iloc[train], Y[train])
        for name, table in alone.target_statistics_.items():
            np.testing.assert_array_equal(model.target_statistics_[name], table)


def test_statistics_of_levels_are_kept() -> None:
    model = regressor(n_estimators=2).fit(X, Y)
    (table,) = model.target_statistics_.values()
    levels, prior = model.schema_.columns[1].levels, Y.mean()
    wanted = [(Y[X["level"] == level].sum() + prior) / ((X["level"] == level).sum() + 1.0) for level in levels]
    np.testing.assert_allclose(table[:, 0], wanted, rtol=1e-9)
    assert list(model.target_statistics_) == ["level"]
    assert regressor(n_estimators=2, max_cat_to_onehot=N_LEVELS).fit(X, Y).target_statistics_ == {}
    assert NewtonBoostingRegressor(n_estimators=2).fit(X, Y).target_statistics_ == {}


def test_constraints_hold() -> None:
    """A split by a statistic is a split of its column; numbers beside it may be constrained."""
    settings = {"n_estimators": 20, "monotone_constraints": {"x": 1}, "interaction_constraints": [["x", "level"]]}
    for validation in ({}, {"cv": 3}):
        model = regressor(**settings, **validation).fit(X, Y)
        assert model.certify()
        assert model.feature_importances_[0] > 0.0
    alone = regressor(n_estimators=20, interaction_constraints=[["x", "z"]]).fit(X, Y)
    assert alone.certify()


def test_refit_and_continued_training() -> None:
    model = regressor(n_estimators=10, learning_rate=0.2).fit(X, Y)
    later, y_later = wide_frame(seed=5)
    again = model.refit(later, y_later)
    assert again.score(later, y_later) > 0.3
    longer = regressor(n_estimators=10, learning_rate=0.2).fit(later, y_later, init_model=model)
    assert longer.n_estimators_ == 20
    X_test, y_test = wide_frame(1000, seed=6)
    assert longer.score(X_test, y_test) > model.score(X_test, y_test)


def test_gradients_of_other_losses_and_rankings() -> None:
    model = regressor(n_estimators=15, objective="quantile", quantile_alpha=[0.2, 0.8]).fit(X, Y)
    low, high = model.predict(NEW).T
    assert (low <= high).all()
    grades = np.digitize(Y, [-0.5, 0.5, 1.5])
    ranker = sw.NewtonBoostingRanker(n_estimators=10, target_statistics=True, random_state=0)
    assert ranker.fit(X, grades, group=[300] * 3).score(X, grades, group=[300] * 3) > 0.8


def test_a_checkpoint_without_the_scores_of_all_rows_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "part.sapwood"
    model = regressor(n_estimators=6, max_seconds=1e-9)
    model.fit(X, Y, checkpoint=path)
    assert model.n_estimators_ == 1
    _, document, arrays = read_content(path, mmap=False)
    scores = arrays[checkpoint.SCORES]
    assert scores.shape == (1, N)
    for wrong, error in (
        (scores[:, :-1].copy(), InputError),
        (np.full_like(scores, np.nan), ModelFileError),
        (scores.astype(np.float32), ModelFileError),
        (None, ModelFileError),
    ):
        kept = {name: array for name, array in arrays.items() if name != checkpoint.SCORES}
        write_content(path, document, kept if wrong is None else {**kept, checkpoint.SCORES: wrong}, None)
        with pytest.raises(error, match=r"scores|start over"):
            regressor(n_estimators=6).fit(X, Y, checkpoint=path)


def test_statistics_in_files_match_the_levels(tmp_path: Path) -> None:
    path = tmp_path / "model.sapwood"
    sw.save(regressor(n_estimators=2).fit(X, Y), path)
    _, document, arrays = read_content(path, mmap=False)
    name = "fitted.target_statistics_.level"
    np.testing.assert_array_equal(sw.load(path).target_statistics_["level"], arrays[name])
    for wrong in (arrays[name][1:].copy(), np.full_like(arrays[name], np.inf)):
        write_content(path, document, {**arrays, name: wrong}, None)
        with pytest.raises(ModelFileError, match="target_statistics_"):
            sw.load(path)


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_categories_of_sparse_matrices(method: str) -> None:
    rng = np.random.default_rng(0)
    cells = np.zeros((500, 30))
    cells[:, 0] = rng.integers(0, 40, 500) * (rng.random(500) < 0.1)
    cells[:, 3] = rng.random(500) * (rng.random(500) < 0.05)
    y = cells[:, 0] + rng.normal(size=500)
    options = {"n_estimators": 5, "tree_method": method, "categorical_features": [0]}
    sparse, dense = (regressor(**options).fit(rows, y) for rows in (csr_matrix(cells), cells))
    assert list(sparse.target_statistics_) == ["x0"]
    np.testing.assert_array_equal(sparse.predict(cells), dense.predict(cells))
