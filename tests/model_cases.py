"""A small frame of every kind of column, and every kind of model fitted to it."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression, LogisticRegression

import sapwood as sw


def frame(n: int = 120, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": rng.integers(18, 80, n),
            "income": rng.normal(50.0, 20.0, n).round(1),
            "colour": pd.Categorical(rng.choice([None, "red", "green", "blue"], n)),
            "member": rng.random(n) < 0.5,
            "since": pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(0, 900, n), "D"),
        }
    )
    X.loc[rng.random(n) < 0.15, "income"] = np.nan
    return X


def signal(X: pd.DataFrame) -> np.ndarray:
    noise = np.random.default_rng(len(X)).normal(size=len(X))
    told = X["age"] / 20 + X["income"].fillna(60.0) / 30 + 2.0 * (X["colour"] == "red") + X["member"]
    return (told + 0.2 * noise).to_numpy()


def two_classes(X: pd.DataFrame) -> np.ndarray:
    numbers = signal(X)
    return np.where(numbers > np.median(numbers), "yes", "no")


def three_classes(X: pd.DataFrame) -> np.ndarray:
    numbers = signal(X)
    return np.array(["low", "mid", "top"])[np.digitize(numbers, np.quantile(numbers, [0.3, 0.7]))]


def two_targets(X: pd.DataFrame) -> pd.DataFrame:
    return pd.DataFrame({"told": signal(X), "years": 1000.0 * (X["age"] / 10.0) ** 2})


_SMALL = {"n_estimators": 4, "random_state": 0}
_MAKERS: dict[str, Any] = {
    "tree numbers": lambda X: sw.DecisionTreeRegressor(max_depth=4).fit(X, signal(X)),
    "tree classes": lambda X: sw.DecisionTreeClassifier(max_depth=4).fit(X, three_classes(X)),
    "forest numbers": lambda X: sw.RandomForestRegressor(max_depth=4, **_SMALL).fit(X, signal(X)),
    "forest classes": lambda X: sw.RandomForestClassifier(max_depth=4, **_SMALL).fit(X, three_classes(X)),
    "forest votes": lambda X: sw.RandomForestClassifier(voting="hard", **_SMALL).fit(X, two_classes(X)),
    "extra trees": lambda X: sw.ExtraTreesRegressor(max_depth=4, **_SMALL).fit(X, signal(X)),
    "bagging": lambda X: sw.BaggingClassifier(max_features=0.6, **_SMALL).fit(X, two_classes(X)),
    "adaboost two": lambda X: sw.AdaBoostClassifier(**_SMALL).fit(X, two_classes(X)),
    "adaboost three": lambda X: sw.AdaBoostClassifier(
        sw.DecisionTreeClassifier(max_depth=2), n_estimators=4, random_state=0
    ).fit(X, three_classes(X)),
    "adaboost numbers": lambda X: sw.AdaBoostRegressor(**_SMALL).fit(X, signal(X)),
    "newton numbers": lambda X: sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=4, max_depth=3).fit(
        X, signal(X)
    ),
    "newton two": lambda X: sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=4, max_depth=3).fit(
        X, two_classes(X)
    ),
    "newton three": lambda X: sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=4, max_depth=3).fit(
        X, three_classes(X)
    ),
    "newton vectors": lambda X: sw.NewtonBoostingClassifier(
        n_estimators=4, max_depth=3, multi_strategy="multi_output_tree", random_state=0
    ).fit(X, three_classes(X)),
    "newton targets": lambda X: sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=4, max_depth=3).fit(
        X, two_targets(X)
    ),
    "newton target vectors": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=4, max_depth=3, multi_strategy="multi_output_tree", random_state=0
    ).fit(X, two_targets(X)),
    "newton ranks": lambda X: sw.NewtonBoostingRanker(recipe="xgboost", n_estimators=4).fit(
        X, np.digitize(signal(X), [4.0, 5.0])
    ),
    "gradient numbers": lambda X: sw.GradientBoostingRegressor(**_SMALL).fit(X, signal(X)),
    "gradient three": lambda X: sw.GradientBoostingClassifier(**_SMALL).fit(X, three_classes(X)),
    "two outputs": lambda X: sw.DecisionTreeClassifier(max_depth=3).fit(
        X, np.column_stack([two_classes(X), three_classes(X)])
    ),
}
KINDS = tuple(_MAKERS)
OF_TARGETS = ("newton targets", "newton target vectors")  # models of several numbers


@cache
def fitted(kind: str) -> Any:
    """A model of this kind; do not change it."""
    return _MAKERS[kind](frame())


def foreign(kind: str) -> tuple[Any, np.ndarray, np.ndarray]:
    """A model with estimators of other kinds inside, and the numbers it was fitted to."""
    X = np.random.default_rng(3).normal(size=(80, 3))
    y = X[:, 0] + 0.5 * X[:, 1]
    if kind == "bagging":
        return sw.BaggingClassifier(LogisticRegression(), **_SMALL).fit(X, y > 0), X, y > 0
    if kind == "adaboost":
        return sw.AdaBoostRegressor(LinearRegression(), **_SMALL).fit(X, y), X, y
    return sw.GradientBoostingRegressor(init=LinearRegression(), **_SMALL).fit(X, y), X, y
