"""Tables that are not what a model was trained on, and every estimator to ask about them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import sapwood as sw

N = 400


def customers(n: int = N, seed: int = 0) -> pd.DataFrame:
    """Columns such as those of a churn table: an identifier, a category, numbers, a date and missing values."""
    random = np.random.default_rng(seed)
    charges = random.uniform(18, 119, n).round(2)
    return pd.DataFrame(
        {
            "customer": [f"id{seed}-{i}" for i in range(n)],
            "contract": random.choice(["monthly", "yearly"], n),
            "tenure": random.integers(0, 73, n),
            "charges": charges,
            "total": np.where(random.random(n) < 0.1, np.nan, charges * 10),
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(random.integers(0, 900, n), unit="D"),
        }
    )


def churn(frame: pd.DataFrame) -> np.ndarray:
    """A class that depends on the columns."""
    return np.where((frame["tenure"] > 30) ^ (frame["contract"] == "yearly"), "stays", "leaves")


def drifted(frame: pd.DataFrame) -> pd.DataFrame:
    """The three ways of a new table to be another one."""
    return frame.assign(contract="weekly", tenure=9999, charges=np.nan)


DRIFTED = ("contract", "tenure", "charges")
CLASSIFIERS = {
    "tree": lambda **more: sw.DecisionTreeClassifier(max_depth=4, **more),
    "forest": lambda **more: sw.RandomForestClassifier(n_estimators=4, random_state=0, **more),
    "extra trees": lambda **more: sw.ExtraTreesClassifier(n_estimators=4, random_state=0, **more),
    "bagging": lambda **more: sw.BaggingClassifier(n_estimators=4, random_state=0, **more),
    "adaboost": lambda **more: sw.AdaBoostClassifier(n_estimators=4, random_state=0, **more),
    "gradient boosting": lambda **more: sw.GradientBoostingClassifier(n_estimators=4, random_state=0, **more),
    "newton boosting": lambda **more: sw.NewtonBoostingClassifier(n_estimators=4, random_state=0, **more),
}
METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "apply", "score")


def asked(model: Any, method: str, frame: pd.DataFrame) -> Any:
    """What a method of a fitted model says."""
    return model.score(frame, churn(frame)) if method == "score" else getattr(model, method)(frame)
