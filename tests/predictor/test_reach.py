"""No kernel reads beyond the table it is given, whatever was done to the fitted model."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from sapwood import (
    AdaBoostClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    NewtonBoostingRegressor,
    RandomForestClassifier,
    explain,
)
from sapwood.errors import SapwoodError, SchemaError
from sapwood.predictor.reach import check_reach, check_scores, columns_needed
from sapwood.table.table import Table

N_COLUMNS = 3000
MODELS = {
    "tree": DecisionTreeClassifier(),
    "forest": RandomForestClassifier(3, random_state=0),
    "extra trees": ExtraTreesRegressor(3, random_state=0),
    "bagging": BaggingRegressor(n_estimators=3, random_state=0),
    "adaboost": AdaBoostClassifier(n_estimators=3, random_state=0),
    "gradient boosting": GradientBoostingClassifier(n_estimators=3),
    "newton boosting": NewtonBoostingRegressor(n_estimators=3),
}


@pytest.fixture(scope="module")
def rows() -> tuple[np.ndarray, np.ndarray]:
    """Only the last columns say something."""
    random = np.random.default_rng(0)
    X = np.zeros((60, N_COLUMNS))
    X[:, -20:] = random.normal(size=(60, 20))
    return X, (X[:, -1] + X[:, -2] > 0).astype(int)


def tampered(name: str, rows: tuple[np.ndarray, np.ndarray]) -> Any:
    """A model of many columns that claims to have two."""
    model = MODELS[name].fit(*rows)
    model.schema_ = Table.from_any(np.zeros((3, 2))).schema
    model.n_features_in_ = 2
    return model


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize(
    "X", [np.zeros((1, 2)), np.zeros((5000, 2)), np.zeros((40, 2), dtype=np.float32), sparse.csr_array(np.eye(300, 2))]
)
def test_prediction_is_refused(name: str, X: Any, rows: tuple[np.ndarray, np.ndarray]) -> None:
    with pytest.raises(SapwoodError, match="2 columns"):
        tampered(name, rows).predict(X)


@pytest.mark.parametrize("name", MODELS)
def test_one_row_is_refused(name: str, rows: tuple[np.ndarray, np.ndarray]) -> None:
    model = tampered(name, rows)
    for row in ([0.0, 0.0], np.zeros(2)):
        with pytest.raises(SapwoodError, match="2 columns"):
            model.predict_one(row)


@pytest.mark.parametrize("name", ["tree", "forest", "newton boosting"])
def test_leaves_and_shapley_values_are_refused(name: str, rows: tuple[np.ndarray, np.ndarray]) -> None:
    model = tampered(name, rows)
    with pytest.raises(SapwoodError, match="2 columns"):
        model.apply(np.zeros((10, 2)))
    with pytest.raises(SapwoodError, match="2 columns"):
        explain.shap_values(model, np.zeros((10, 2)))
    with pytest.raises(SapwoodError):
        explain.shap_values(model, np.zeros((10, 2)), background=np.zeros((4, 2)))


def test_more_classes_than_before_are_refused() -> None:
    """Trees of three classes do not write behind the scores of two."""
    random = np.random.default_rng(0)
    X, y = random.normal(size=(90, 3)), np.arange(90) % 3
    model = DecisionTreeClassifier(max_depth=3).fit(X, y)
    scorer = model.model_.scorer
    scorer.tree_sum = replace(scorer.tree_sum, base=np.zeros(2))
    with pytest.raises(SchemaError, match="3 scores"):
        scorer.scores(model.model_.match(X))


def test_limits() -> None:
    steps = np.zeros(2, dtype=[("test", np.uint32)])
    steps["test"] = [5, 2 * 7]
    assert columns_needed(steps) == 8
    assert columns_needed(steps[:0]) == 0
    check_reach(8, 8)
    check_reach(0, 0)
    with pytest.raises(SchemaError, match=r"column 7.*7 columns"):
        check_reach(8, 7)
    check_scores(np.array([0, 2]), 1, 3)
    with pytest.raises(SchemaError, match=r"3 scores.*has 2"):
        check_scores(np.array([0, 2]), 1, 2)
