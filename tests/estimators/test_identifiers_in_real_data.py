"""Identifiers in real tables: they cost next to nothing, and are named."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import r2_score, roc_auc_score
from sklearn.model_selection import KFold

from sapwood import AdaBoostClassifier, DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.errors import IdentifierWarning

FOLDER = os.environ.get("SAPWOOD_DATA")
pytestmark = pytest.mark.skipif(not FOLDER, reason="the environment variable SAPWOOD_DATA names no folder of data sets")


def mean_score(model: Any, X: pd.DataFrame, y: np.ndarray) -> float:
    """R² of numbers, AUC of classes, over five folds."""
    scores = []
    for train, test in KFold(5, shuffle=True, random_state=0).split(X):
        with pytest.warns(IdentifierWarning, match="different values"):
            model.fit(X.iloc[train], y[train])
        if hasattr(model, "predict_proba"):
            scores.append(roc_auc_score(y[test], model.predict_proba(X.iloc[test])[:, 1]))
        else:
            scores.append(r2_score(y[test], model.predict(X.iloc[test])))
    return float(np.mean(scores))


def table(name: str, target: str) -> tuple[pd.DataFrame, pd.Series]:
    frame = pd.read_parquet(Path(str(FOLDER)) / f"{name}.parquet")
    return frame.drop(columns=target), frame[target]


@pytest.mark.parametrize(("name", "target", "positive"), [("titanic", "Survived", 1), ("telco_churn", "Churn", "Yes")])
def test_classes(name: str, target: str, positive: Any) -> None:
    """Trees that saw names were no better than a coin."""
    X, y = table(name, target)
    known = (y == positive).to_numpy().astype(int)
    assert mean_score(DecisionTreeClassifier(max_depth=5, random_state=0), X, known) > 0.7
    assert mean_score(AdaBoostClassifier(random_state=0), X, known) > 0.82


def test_numbers() -> None:
    X, y = table("ames_raw", "SalePrice")
    X = X.assign(PID=X["PID"].astype(str))
    assert mean_score(DecisionTreeRegressor(random_state=0), X, y.to_numpy(dtype=float)) > 0.7
