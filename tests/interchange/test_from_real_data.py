"""Models of other libraries on real data with missing values and categories predict the same here.

SAPWOOD_DATA names a folder with `load.py`, whose `load(name, cats=…)` returns a data frame and a description.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor, RandomForestClassifier
from threadpoolctl import threadpool_limits

from sapwood.interchange import from_lightgbm, from_sklearn, from_xgboost

FOLDER = os.environ.get("SAPWOOD_DATA")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="the environment variable SAPWOOD_DATA names no folder of data sets"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # the loader leaves its index open
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]
CLASSES = ("titanic", "hypothyroid", "soybean")
NUMBERS = ("ames_raw", "ozone_la")


@pytest.fixture(autouse=True)
def _one_thread() -> Iterator[None]:
    with threadpool_limits(1):
        yield


@cache
def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
    """Strings as categories; those of very many values left out, as some libraries do not take them."""
    spec = importlib.util.spec_from_file_location("sapwood_test_data", Path(str(FOLDER)) / "load.py")
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    table, about = module.load(name, cats="string")
    table = table[table[about["target"]].notna()].dropna(axis=1, how="all").reset_index(drop=True)
    X, y = table.drop(columns=about["target"]), table[about["target"]]
    X.columns = [column.replace(" ", "_") for column in map(str, X.columns)]  # as LightGBM does
    texts = [column for column in X if not pd.api.types.is_numeric_dtype(X[column])]
    X = X.drop(columns=[column for column in texts if X[column].nunique() > 200])
    for column in set(texts) & set(X):
        X[column] = X[column].astype(str).where(X[column].notna()).astype("category")
    return X.astype({column: float for column in X if column not in texts}), y


def codes(y: pd.Series) -> np.ndarray:
    return np.unique(y.astype(str), return_inverse=True)[1]


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    xgb, lgb = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    X, y = load(name)
    assert X.isna().any(axis=None)
    few = {"n_estimators": 4, "n_jobs": 1}
    boosted = xgb.XGBClassifier(**few, enable_categorical=True, max_cat_to_onehot=2).fit(X, codes(y))
    np.testing.assert_allclose(from_xgboost(boosted).predict_proba(X), boosted.predict_proba(X), rtol=1e-5, atol=1e-6)
    light = lgb.LGBMClassifier(**few, verbose=-1, min_child_samples=5).fit(X, y.astype(str))
    np.testing.assert_allclose(from_lightgbm(light).predict_proba(X), light.predict_proba(X), rtol=1e-12)
    np.testing.assert_array_equal(from_lightgbm(light).predict(X), light.predict(X))
    hist = HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=5).fit(X, y.astype(str))
    np.testing.assert_allclose(from_sklearn(hist).predict_proba(X), hist.predict_proba(X), rtol=1e-12)
    numbers = X.select_dtypes("number")
    if numbers.shape[1]:
        forest = RandomForestClassifier(10, max_depth=8, random_state=0).fit(numbers, y.astype(str))
        ours = from_sklearn(forest)
        np.testing.assert_allclose(ours.predict_proba(numbers), forest.predict_proba(numbers), rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    xgb, lgb = pytest.importorskip("xgboost"), pytest.importorskip("lightgbm")
    X, y = load(name)
    y = y.astype(float)
    few = {"n_estimators": 10, "n_jobs": 1}
    boosted = xgb.XGBRegressor(**few, enable_categorical=True).fit(X, y)
    np.testing.assert_allclose(from_xgboost(boosted).predict(X), boosted.predict(X), rtol=1e-5)
    light = lgb.LGBMRegressor(**few, verbose=-1).fit(X, y)
    np.testing.assert_allclose(from_lightgbm(light).predict(X), light.predict(X), rtol=1e-12)
    hist = HistGradientBoostingRegressor(max_iter=10).fit(X, y)
    np.testing.assert_allclose(from_sklearn(hist).predict(X), hist.predict(X), rtol=1e-12)
