"""The same numbers as the package shap and XGBoost, where they have an equal model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose
from sklearn.ensemble import RandomForestRegressor as TheirForest
from sklearn.tree import DecisionTreeClassifier as TheirClassifier
from sklearn.tree import DecisionTreeRegressor as TheirRegressor

from sapwood import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    RandomForestRegressor,
)
from sapwood.explain import shap_interaction_values, shap_values

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)).astype(np.float32).astype(np.float64)  # scikit-learn compares in float32
NUMBERS = X[:, 0] + np.sin(3 * X[:, 1]) * X[:, 2] + 0.3 * RNG.normal(size=300)
CLASSES = np.digitize(NUMBERS, [-0.5, 0.5])
NEAR = {"rtol": 1e-9, "atol": 1e-12}
SINGLE = {"rtol": 1e-5, "atol": 1e-6}  # shap compares with a background in float32, XGBoost sums in it
LIMITS = {"max_depth": 5, "min_samples_leaf": 8}  # smaller nodes have equally good splits
ALL_ROWS = {"bootstrap": False, "max_features": None}

PAIRS: dict[str, tuple[Any, Any, Any]] = {
    "numbers": (DecisionTreeRegressor(**LIMITS), TheirRegressor(**LIMITS, random_state=0), NUMBERS),
    "classes": (DecisionTreeClassifier(**LIMITS), TheirClassifier(**LIMITS, random_state=0), CLASSES),
    "forest": (
        RandomForestRegressor(4, **ALL_ROWS, max_bins=None, **LIMITS),
        TheirForest(4, **ALL_ROWS, random_state=0, **LIMITS),
        NUMBERS,
    ),
}


@pytest.fixture(scope="module")
def shap() -> Any:
    return pytest.importorskip("shap")


def equal_models(name: str) -> tuple[Any, Any]:
    ours, theirs, y = PAIRS[name]
    ours.fit(X, y)
    theirs.fit(X, y)
    said = "predict" if y is NUMBERS else "predict_proba"
    assert_allclose(getattr(ours, said)(X), getattr(theirs, said)(X), **NEAR)
    return ours, theirs


@pytest.mark.parametrize("name", PAIRS)
def test_values_are_those_of_shap(name: str, shap: Any) -> None:
    ours, theirs = equal_models(name)
    found = shap_values(ours, X[:50])
    explainer = shap.TreeExplainer(theirs)
    assert_allclose(found.values, explainer.shap_values(X[:50]), **NEAR)
    assert_allclose(found.base_values[0], np.squeeze(explainer.expected_value), **NEAR)
    assert_allclose(shap_interaction_values(ours, X[:9]).values, explainer.shap_interaction_values(X[:9]), **NEAR)


@pytest.mark.parametrize("name", PAIRS)
def test_values_against_a_background_are_those_of_shap(name: str, shap: Any) -> None:
    ours, theirs = equal_models(name)
    found = shap_values(ours, X[:50], background=X[60:90])
    explainer = shap.TreeExplainer(theirs, data=X[60:90], feature_perturbation="interventional")
    assert_allclose(found.values, explainer.shap_values(X[:50]), **SINGLE)
    assert_allclose(found.base_values[0], np.squeeze(explainer.expected_value), **SINGLE)


def test_explanations_of_shap_can_be_drawn(shap: Any) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    table = pd.DataFrame(X[:, :3], columns=list("abc")).assign(
        level=np.array(["low", "high"])[(X[:, 4] > 0).astype(int)]
    )
    found = shap_values(DecisionTreeClassifier(max_depth=4).fit(table, CLASSES), table.iloc[:40])
    whole = found.to_shap()
    assert isinstance(whole, shap.Explanation)
    assert whole.values.shape == (40, 4, 3)
    one = found.for_output(1).to_shap()
    assert_allclose(one.values, whole[:, :, 1].values)
    shap.plots.waterfall(one[0], show=False)
    shap.plots.bar(one, show=False)
    shap.plots.beeswarm(found.for_output(1).to_shap()[:, :3], show=False)
    plt.close("all")


def test_times_reach_shap_as_numbers_with_words(shap: Any) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    hours = np.array([20, 30, 3, 100])
    table = pd.DataFrame(
        {"stay": pd.to_timedelta(hours, unit="h"), "day": pd.Timestamp("1970-01-01"), "on": hours > 25}
    )
    table["day"] += table["stay"]
    explained = shap_values(DecisionTreeRegressor().fit(table, hours), table).to_shap()
    assert explained.data.tolist() == [[hour * 3600.0, hour * 3600.0, hour > 25] for hour in hours.tolist()]
    assert explained.display_data[1].tolist() == ["1.25 d", "1970-01-02 06:00", "true"]
    shap.plots.beeswarm(explained, show=False)
    shap.plots.waterfall(explained[1], show=False)
    assert "1.25 d = stay" in [text.get_text() for text in plt.gca().get_yticklabels()]
    plt.close("all")


@pytest.mark.parametrize("is_class", [False, True])
def test_values_are_those_of_xgboost(is_class: bool) -> None:
    """Rows to explain are complete: where training rows lack no value, a missing one may go either way."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(1)
    weight = rng.uniform(0.5, 2.0, size=300).astype(np.float32).astype(float)
    complete, y = X.astype(np.float32), (NUMBERS > 0).astype(float) if is_class else NUMBERS.astype(np.float32)
    rows = np.where(rng.random(X.shape) < 0.1, np.float32(np.nan), complete)
    objective = "binary:logistic" if is_class else "reg:squarederror"
    given = {"tree_method": "exact", "eta": 0.3, "base_score": 0.5, "max_depth": 5, "objective": objective}
    theirs = xgboost.train({**given, "nthread": 1}, xgboost.DMatrix(rows, label=y, weight=weight), num_boost_round=6)
    kind = NewtonBoostingClassifier if is_class else NewtonBoostingRegressor
    ours = kind(recipe="xgboost", n_estimators=6, learning_rate=0.3, max_depth=5, base_score=0.5, tree_method="exact")
    ours.fit(rows, y, sample_weight=weight)
    data = xgboost.DMatrix(complete[:60])
    found, expected = shap_values(ours, complete[:60]), theirs.predict(data, pred_contribs=True)
    assert_allclose(found.values, expected[:, :-1], **SINGLE)
    assert_allclose(found.base_values, expected[:, -1], **SINGLE)
    pairs = theirs.predict(data, pred_interactions=True)[:, :-1, :-1]
    assert_allclose(shap_interaction_values(ours, complete[:60]).values, pairs, **SINGLE)
