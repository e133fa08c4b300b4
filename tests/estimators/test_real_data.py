"""Real data sets: full trees fit what can be fitted, and training rows keep their leaves.

SAPWOOD_DATA names a folder with `load.py`, whose `load(name, cats=…)` returns a data frame and a description.
"""

from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from law_cases import assert_leaves_kept
from sapwood import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestRegressor, parse_text

FOLDER = os.environ.get("SAPWOOD_DATA")
pytestmark = [
    pytest.mark.skipif(not FOLDER, reason="the environment variable SAPWOOD_DATA names no folder of data sets"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),  # the loader leaves its index open
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

CLASSES = ("mushroom", "titanic", "hypothyroid", "soybean", "credit_a", "letter", "adult")
IDENTIFIERS = ("Name", "Ticket", "Cabin", "PID")  # a level for nearly every row, which a tree does not part
NUMBERS = ("boston", "ozone_la", "ames_raw", "abalone", "bike_hour")


def load(name: str) -> tuple[pd.DataFrame, pd.Series]:
    spec = importlib.util.spec_from_file_location("sapwood_test_data", Path(str(FOLDER)) / "load.py")
    module: Any = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    frame, about = module.load(name, cats="string")
    frame = frame[frame[about["target"]].notna()]
    return parse_text(frame.drop(columns=about["target"])), frame[about["target"]]


def alike(X: pd.DataFrame) -> np.ndarray:
    """Rows that no tree can tell apart have the same number."""
    return X.astype(object).where(X.notna(), "<missing>").groupby(list(X.columns), sort=False).ngroup().to_numpy()


@pytest.mark.parametrize("name", CLASSES)
def test_classes(name: str) -> None:
    X, y = load(name)
    X = X.drop(columns=[column for column in IDENTIFIERS if column in X])
    model = DecisionTreeClassifier().fit(X, y)
    assert_leaves_kept(model, X)
    counts = pd.DataFrame({"row": alike(X), "y": y.to_numpy()}).groupby(["row", "y"]).size()
    attainable = counts.groupby("row").max().sum()
    assert np.sum(model.predict(X) == y.to_numpy()) == attainable
    assert model.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers(name: str) -> None:
    X, y = load(name)
    X = X.drop(columns=[column for column in IDENTIFIERS if column in X])
    model = DecisionTreeRegressor().fit(X, y)
    assert_leaves_kept(model, X)
    attainable = y.astype(float).groupby(alike(X)).transform("mean")
    np.testing.assert_allclose(model.predict(X), attainable, rtol=1e-9, atol=1e-9)
    stump = DecisionTreeRegressor(max_depth=1).fit(X, y)
    assert 0 < stump.score(X, y) < model.score(X, y)


@pytest.mark.parametrize("name", ["boston", "abalone", "bike_hour", "california_housing"])
def test_intervals_out_of_bag_hold_the_share_of_new_rows_that_they_promise(name: str) -> None:
    X, y = load(name)
    order = np.random.default_rng(0).permutation(len(X))[:6000]
    X, y = X.iloc[order], y.iloc[order].astype(float)
    hits = []
    for fold in range(4):  # all rows are new once, so that the share is not that of a few
        test = np.arange(len(X)) % 4 == fold
        model = RandomForestRegressor(100, random_state=0, oob_score=True, n_jobs=2).fit(X[~test], y[~test])
        low, high = model.predict_interval(X[test], 0.9).T
        hits.append((low <= y[test]) & (y[test] <= high))
    assert np.mean(np.concatenate(hits)) == pytest.approx(0.9, abs=0.03)
