"""Boosting on categories of more levels than a byte holds."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import sapwood
from sapwood import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    cross_validate_boosting,
    explain,
)
from sapwood.errors import ParameterError

FOLDER = os.environ.get("SAPWOOD_DATA")
Array = NDArray[Any]


def levels_and_target(n_levels: int, n: int, noise: float = 0.3) -> tuple[pd.DataFrame, Array]:
    rng = np.random.RandomState(0)
    level = rng.randint(0, n_levels, n)
    y = rng.randn(n_levels)[level] + noise * rng.randn(n)
    return pd.DataFrame({"level": pd.Categorical(level), "x": rng.randn(n)}), y


@pytest.fixture(scope="module")
def thousand() -> tuple[pd.DataFrame, Array]:
    return levels_and_target(1000, 20_000)


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_a_thousand_levels_are_told_apart(method: str, thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    model = NewtonBoostingRegressor(recipe="xgboost", tree_method=method).fit(X[["level"]][:15_000], y[:15_000])
    assert model.score(X[["level"]][15_000:], y[15_000:]) > 0.9


def test_classes_of_a_thousand_levels(thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    for model in (NewtonBoostingClassifier(recipe="xgboost"), GradientBoostingClassifier(max_depth=6)):
        assert model.fit(X[:15_000], y[:15_000] > 0).score(X[15_000:], y[15_000:] > 0) > 0.87


def test_gradient_boosting_tells_a_thousand_levels_apart(thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    assert GradientBoostingRegressor().fit(X[:15_000], y[:15_000]).score(X[15_000:], y[15_000:]) > 0.9


@pytest.mark.parametrize("method", ["hist", "approx"])
def test_bins_of_numbers_do_not_limit_levels(method: str) -> None:
    X, y = levels_and_target(40, 4000, noise=0.05)
    few, many = (
        NewtonBoostingRegressor(recipe="xgboost", tree_method=method, max_bin=bins, n_estimators=50).fit(
            X[["level"]], y
        )
        for bins in (16, 255)
    )
    assert few.score(X, y) > 0.99
    assert sapwood.fingerprint(few.set_params(max_bin=255)) == sapwood.fingerprint(many)


@pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")
@pytest.mark.parametrize("kind", [NewtonBoostingRegressor, GradientBoostingRegressor])
def test_an_identifier_is_not_used(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"x": rng.normal(size=3000), "id": [f"row {i}" for i in rng.permutation(3000)]})
    y = X["x"].to_numpy() + rng.standard_t(2, 3000)
    model = kind(n_estimators=20).fit(X, y)
    assert model.feature_importances_[1] == 0.0


def test_70_000_levels_and_unseen_ones(tmp_path: Path) -> None:
    rng, n_levels = np.random.default_rng(0), 70_000
    level = np.concatenate([np.arange(n_levels), np.repeat(rng.permutation(n_levels)[:300], 100)])
    effect = np.zeros(n_levels)
    effect[level[n_levels:]] = 3.0 * rng.choice([-1.0, 1.0], len(level) - n_levels)
    effect[: n_levels // 2] = np.abs(effect[: n_levels // 2])
    y = effect[level] + rng.normal(size=len(level))
    X = pd.DataFrame({"level": pd.Categorical(level)})
    model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=20).fit(X, y)
    frequent = slice(n_levels, None)
    assert model.score(X[frequent], y[frequent]) > 0.85
    new = pd.DataFrame({"level": [10**6, None]})
    assert model.predict(new)[0] == model.predict(new)[1]
    path = tmp_path / "levels.sapwood"
    sapwood.save(model, path)
    np.testing.assert_array_equal(sapwood.load(path).predict(X), model.predict(X))
    assert sapwood.fingerprint(sapwood.load(path)) == sapwood.fingerprint(model)


def test_threads_do_not_matter(thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    parameters = {"n_estimators": 5, "subsample": 0.7, "random_state": 3, "colsample_bynode": 0.5}
    one, many = (NewtonBoostingRegressor(recipe="xgboost", n_jobs=n, **parameters).fit(X, y) for n in (1, 4))
    assert sapwood.fingerprint(one) == sapwood.fingerprint(many.set_params(n_jobs=1))


def test_going_on_gives_the_model_of_one_go(thousand: tuple[pd.DataFrame, Array], tmp_path: Path) -> None:
    X, y = thousand
    whole = NewtonBoostingRegressor(recipe="xgboost", n_estimators=6, subsample=0.8, random_state=0).fit(X, y)
    half = NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, subsample=0.8, random_state=0).fit(X, y)
    more = NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, subsample=0.8, random_state=0).fit(
        X, y, init_model=half
    )
    np.testing.assert_array_equal(more.predict(X), whole.predict(X))

    def stop(progress: Any) -> None:
        if progress.round == 4:
            raise KeyError("killed")

    again = NewtonBoostingRegressor(recipe="xgboost", n_estimators=6, subsample=0.8, random_state=0, callbacks=[stop])
    place = sapwood.Checkpoint(tmp_path / "half.sapwood", rounds=1)
    with pytest.raises(KeyError):
        again.fit(X, y, checkpoint=place)
    again.set_params(callbacks=None).fit(X, y, checkpoint=place)
    np.testing.assert_array_equal(again.predict(X), whole.predict(X))


def test_cross_validation_by_rounds(thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    found = cross_validate_boosting(
        NewtonBoostingRegressor(recipe="xgboost", n_estimators=40), X, y, cv=3, metric="rmse"
    )
    assert found.test_curve.mean[-1] < 0.5 * found.test_curve.mean[0]


def test_constraints_hold_and_are_certified(thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    y = y + 0.5 * X["x"].to_numpy()
    model = NewtonBoostingRegressor(
        recipe="xgboost", n_estimators=5, monotone_constraints={"x": 1}, interaction_constraints=[["level"], ["x"]]
    ).fit(X, y)
    assert model.certify()
    for (tree,) in model.ensemble_.rounds:
        assert len(set(tree.feature[tree.feature >= 0].tolist())) == 1


def test_shapley_values_add_up(thousand: tuple[pd.DataFrame, Array]) -> None:
    X, y = thousand
    model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=5).fit(X, y)
    found = explain.shap_values(model, X[:50])
    total = np.asarray(found.values).reshape(50, -1).sum(axis=1) + np.ravel(found.base_values)
    np.testing.assert_allclose(total, model.predict(X[:50]), atol=1e-6)


class TestBins:
    def test_256_bins_are_those_of_a_byte(self) -> None:
        rng = np.random.default_rng(0)
        X, y = rng.normal(size=(2000, 3)), rng.normal(size=2000)
        usual, xgboosts = (
            NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, max_bin=bins).fit(X, y) for bins in (255, 256)
        )
        np.testing.assert_array_equal(usual.predict(X), xgboosts.predict(X))

    @pytest.mark.parametrize("kind", [NewtonBoostingRegressor, GradientBoostingRegressor])
    def test_more_bins_find_finer_thresholds(self, kind: Any) -> None:
        X = np.random.default_rng(0).random((20_000, 1))
        y = (np.floor(X[:, 0] * 1000) % 2 == 0).astype(float)
        name = "max_bin" if kind is NewtonBoostingRegressor else "max_bins"
        scores = [
            kind(n_estimators=30, max_depth=8, learning_rate=0.5, **{name: bins}).fit(X, y).score(X, y)
            for bins in (255, 10_000)
        ]
        assert scores[1] > scores[0] + 0.05

    def test_as_many_bins_as_values_are_the_exact_method(self) -> None:
        rng = np.random.default_rng(0)
        X = rng.normal(size=(1500, 3))
        X[rng.random(X.shape) < 0.1] = np.nan
        y = np.nansum(X, axis=1) + rng.normal(size=1500)
        hist = NewtonBoostingRegressor(recipe="xgboost", n_estimators=5, max_bin=2000).fit(X, y)
        exact = NewtonBoostingRegressor(recipe="xgboost", n_estimators=5, tree_method="exact").fit(X, y)
        np.testing.assert_allclose(hist.predict(X), exact.predict(X), rtol=1e-9)

    def test_more_than_two_bytes_hold_are_refused(self) -> None:
        with pytest.raises(ParameterError, match=r"max_bin=65536.*65535"):
            NewtonBoostingRegressor(recipe="xgboost", max_bin=65_536).fit([[1.0], [2.0]], [1.0, 2.0])


@pytest.mark.skipif(not FOLDER, reason="the environment variable SAPWOOD_DATA names no folder of data sets")
def test_amazon_access_gains_by_its_rare_levels() -> None:
    """With the 254 most frequent levels and the others as one: log loss 0.249; without the columns AUC 0.753."""
    from sklearn.metrics import log_loss, roc_auc_score
    from sklearn.model_selection import train_test_split

    frame = pd.read_parquet(Path(str(FOLDER)) / "amazon_access.parquet")
    y = frame.pop("ACTION").astype(int).to_numpy()
    frame = frame.astype(str).astype("category")
    X, X_test, y, y_test = train_test_split(frame, y, test_size=0.3, random_state=0)
    model = NewtonBoostingClassifier(recipe="xgboost", n_estimators=100, learning_rate=0.3, random_state=0).fit(X, y)
    probability = model.predict_proba(X_test)[:, 1]
    assert roc_auc_score(y_test, probability) > 0.83
    assert log_loss(y_test, probability) < 0.18
