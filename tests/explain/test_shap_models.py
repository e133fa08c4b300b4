"""Shapley values of every kind of model lead to what the model says, whatever the table is made of."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from scipy import sparse
from sklearn.linear_model import LinearRegression

from sapwood import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRanker,
    NewtonBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sapwood.explain import ShapValues, shap_interaction_values, shap_values

N = 120
NEAR = {"rtol": 1e-9, "atol": 1e-9}


def frame(seed: int = 0) -> pd.DataFrame:
    """Numbers with gaps and infinities, levels, dates, and a column that nobody needs."""
    rng = np.random.default_rng(seed)
    found = pd.DataFrame(rng.normal(size=(N, 3)).round(1), columns=list("abc"))
    found.loc[rng.random(N) < 0.2, "b"] = np.nan
    found.loc[rng.random(N) < 0.1, "c"] = np.inf
    found.loc[rng.random(N) < 0.1, "c"] = -np.inf
    found["level"] = pd.Categorical(rng.choice([None, *"stuvw"], N))
    found["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, N), unit="D")
    found["nothing"] = 1.0
    return found


X = frame()
LEVEL = X["level"].cat.codes.to_numpy()
NUMBERS = (
    X["a"].to_numpy() + np.where(LEVEL % 2 == 0, X["b"].fillna(2.0), -1.0) + (X["c"] > 0) * (X["day"].dt.month > 5)
)
TWO, THREE = np.where(NUMBERS > 0.5, "yes", "no"), np.digitize(NUMBERS, [0.0, 1.0])
PAIR = np.column_stack([NUMBERS, X["a"]])
NEW = X.sample(40, random_state=0).assign(level=[*["unheard", None] * 10, *list("stuvw") * 4])

Case = tuple[Any, Any, Callable[[Any, Any], Any]]


def probabilities(model: Any, rows: Any) -> Any:
    said = model.predict_proba(rows)
    return np.hstack(said) if isinstance(said, list) else said


def votes(model: Any, rows: Any) -> Any:
    return model.predict_proba(rows)


def predict(model: Any, rows: Any) -> Any:
    return model.predict(rows)


def decision(model: Any, rows: Any) -> Any:
    return model.decision_function(rows)


TREES = {"n_estimators": 8, "random_state": 0}
CASES: dict[str, Case] = {
    "tree, numbers": (DecisionTreeRegressor(max_depth=5), NUMBERS, predict),
    "tree, stopping": (DecisionTreeRegressor(unseen="node"), NUMBERS, predict),
    "tree, two numbers": (DecisionTreeRegressor(max_depth=4, unseen="node"), PAIR, predict),
    "tree, two classes": (DecisionTreeClassifier(max_depth=4), TWO, probabilities),
    "tree, three classes": (DecisionTreeClassifier(unseen="node", leaf="softmax"), THREE, probabilities),
    "tree, outputs": (DecisionTreeClassifier(max_depth=4), np.column_stack([TWO == "yes", THREE]), probabilities),
    "stump of one leaf": (DecisionTreeRegressor(min_samples_split=1000), NUMBERS, predict),
    "forest": (RandomForestClassifier(**TREES), THREE, probabilities),
    "forest, stopping": (RandomForestClassifier(**TREES, unseen="node"), TWO, probabilities),
    "forest, numbers": (RandomForestRegressor(**TREES, max_depth=6), NUMBERS, predict),
    "forest, two numbers": (RandomForestRegressor(**TREES), PAIR, predict),
    "forest, outputs": (RandomForestClassifier(**TREES), np.column_stack([TWO == "yes", THREE]), probabilities),
    "forest, hard votes": (RandomForestClassifier(**TREES, voting="hard"), THREE, votes),
    "extra trees": (ExtraTreesClassifier(**TREES), TWO, probabilities),
    "extra trees, numbers": (ExtraTreesRegressor(**TREES), NUMBERS, predict),
    "bagging": (BaggingClassifier(**TREES, max_features=3), TWO, probabilities),
    "bagging, numbers": (BaggingRegressor(**TREES, max_features=0.5, bootstrap_features=True), NUMBERS, predict),
    "bagging, stopping": (BaggingRegressor(DecisionTreeRegressor(unseen="node"), **TREES), NUMBERS, predict),
    "AdaBoost": (AdaBoostClassifier(n_estimators=6), TWO, decision),
    "AdaBoost, three": (AdaBoostClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=6), THREE, decision),
    "gradient": (GradientBoostingClassifier(n_estimators=8), TWO, decision),
    "gradient, three": (GradientBoostingClassifier(n_estimators=5), THREE, decision),
    "gradient, numbers": (GradientBoostingRegressor(n_estimators=8, subsample=0.5, random_state=0), NUMBERS, predict),
    "newton": (NewtonBoostingClassifier(n_estimators=8), TWO, decision),
    "newton, three": (NewtonBoostingClassifier(n_estimators=5), THREE, decision),
    "newton, numbers": (NewtonBoostingRegressor(n_estimators=8), NUMBERS, predict),
    "newton, few rounds": (
        NewtonBoostingRegressor(n_estimators=60, early_stopping_rounds=2, validation_fraction=0.3, random_state=0),
        NUMBERS,
        predict,
    ),
}


@pytest.fixture(scope="module")
def fitted() -> dict[str, Any]:
    return {}


def fit(name: str, fitted: dict[str, Any]) -> tuple[Any, Callable[[Any, Any], Any]]:
    model, y, score = CASES[name]
    if name not in fitted:
        fitted[name] = model.fit(X, y)
    return fitted[name], score


def assert_leads_to(found: ShapValues, scores: Any) -> None:
    assert_allclose(found.base_values + found.values.sum(axis=1), scores, **NEAR)


@pytest.mark.parametrize("background", [None, X.iloc[::11]], ids=["along trees", "background"])
@pytest.mark.parametrize("name", CASES)
def test_values_lead_to_what_the_model_says(name: str, background: Any, fitted: dict[str, Any]) -> None:
    model, score = fit(name, fitted)
    before = NEW.copy(deep=True)
    found = shap_values(model, NEW, background=background, n_jobs=2)
    scores = np.asarray(score(model, NEW))
    assert_leads_to(found, scores)
    assert found.values.shape == (len(NEW), X.shape[1], *scores.shape[1:])
    assert found.base_values.shape == scores.shape
    assert (found.values[:, 5] == 0.0).all()
    assert found.feature_names == tuple(X.columns)
    assert len(found.output_names) == (scores.shape[1] if scores.ndim > 1 else 1)
    if background is not None:
        assert_allclose(found.base_values[0], np.asarray(score(model, background)).mean(axis=0), **NEAR)
    pd.testing.assert_frame_equal(NEW, before)


@pytest.mark.parametrize("name", ["tree, stopping", "tree, outputs", "forest, hard votes", "newton, three"])
def test_interactions_sum_up_to_values(name: str, fitted: dict[str, Any]) -> None:
    model, score = fit(name, fitted)
    pairs = shap_interaction_values(model, NEW, n_jobs=2)
    assert_allclose(pairs.values, pairs.values.swapaxes(1, 2), **NEAR)
    assert_allclose(pairs.summed().values, shap_values(model, NEW).values, **NEAR)
    assert_leads_to(pairs.summed(), score(model, NEW))


@pytest.mark.parametrize("name", ["forest", "newton, three", "tree, stopping"])
def test_threads_batches_and_pickles_give_the_same_bits(name: str, fitted: dict[str, Any]) -> None:
    model, _ = fit(name, fitted)
    whole = shap_values(model, X, n_jobs=1)
    assert shap_values(pickle.loads(pickle.dumps(model)), X, n_jobs=3).values.tobytes() == whole.values.tobytes()
    parts = [shap_values(model, X.iloc[at : at + 7], n_jobs=2).values for at in range(0, N, 7)]
    assert np.concatenate(parts).tobytes() == whole.values.tobytes()


def test_an_init_of_its_own_goes_into_the_base_values() -> None:
    numbers = np.nan_to_num(X[["a", "b"]].to_numpy())
    model = GradientBoostingRegressor(n_estimators=5, init=LinearRegression()).fit(numbers, NUMBERS)
    for background in (None, numbers[:9]):
        found = shap_values(model, numbers, background=background)
        assert np.ptp(found.base_values) > 0
        assert_leads_to(found, model.predict(numbers))


def test_ranking_scores() -> None:
    numbers = np.nan_to_num(X[["a", "b"]].to_numpy())
    model = NewtonBoostingRanker(n_estimators=4).fit(numbers, THREE, group=[60, 60])
    found = shap_values(model, numbers)
    assert_leads_to(found, model.predict(numbers))
    assert found.output_names == ("score",)


def test_sparse_tables_and_float32() -> None:
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((80, 6)) < 0.3, rng.normal(size=(80, 6)), 0.0).astype(np.float32)
    model = NewtonBoostingRegressor(n_estimators=6).fit(dense, dense[:, 0] - dense[:, 1] * dense[:, 2])
    found = shap_values(model, dense)
    for given in (sparse.csr_array(dense), dense.astype(np.float64), np.asfortranarray(dense), dense.tolist()):
        assert shap_values(model, given).values.tobytes() == found.values.tobytes()
    assert_allclose(
        shap_values(model, dense, background=dense[:9].astype(np.float64)).values,
        shap_values(model, sparse.csr_array(dense), background=sparse.csc_array(dense[:9])).values,
        **NEAR,
    )


def test_adaboost_of_numbers_is_a_median_and_its_values_are_enumerated() -> None:
    model = AdaBoostRegressor(n_estimators=5, random_state=0).fit(X, NUMBERS)
    background = X.iloc[:8]
    found = shap_values(model, NEW, background=background)
    assert_leads_to(found, model.predict(NEW))
    assert_allclose(found.base_values, model.predict(background).mean(), **NEAR)
    assert found.output_names == ("prediction",)
    assert (found.values[:, 5] == 0.0).all()


def test_trees_deeper_than_their_features_and_paths_of_many_features() -> None:
    rng = np.random.default_rng(3)
    many = rng.normal(size=(300, 40))
    model = DecisionTreeRegressor(max_features=1, random_state=0).fit(many, rng.normal(size=300))
    found = shap_values(model, many[:20])
    assert_leads_to(found, model.predict(many[:20]))
    one = rng.normal(size=(300, 1))
    model = DecisionTreeRegressor().fit(one, rng.normal(size=300))
    assert_allclose(shap_values(model, one).values[:, 0], model.predict(one) - model.tree_.value[0, 0, 0], **NEAR)


@pytest.mark.parametrize("y", [[-1.7e308] * 4 + [1.7e308] * 4, [1e200] * 3 + [-1e150] * 5, [1e-308] * 4 + [3e-308] * 4])
def test_numbers_of_any_size(y: list[float]) -> None:
    rows = np.arange(8.0)[:, None] * [1.0, -1.0]
    model = DecisionTreeRegressor().fit(rows, y)
    for background in (None, rows):
        found = shap_values(model, rows, background=background)
        assert np.isfinite(found.values).all()
        assert_allclose(found.base_values, (np.array(y) / 8).sum(), rtol=1e-9, atol=0)
