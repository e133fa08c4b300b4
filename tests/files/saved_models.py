"""Models of every kind with every option that a file must hold, and rows for them."""

from __future__ import annotations

import warnings
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse

import sapwood as sw
from model_cases import KINDS, fitted, frame, signal, three_classes, two_classes

SMALL: dict[str, Any] = {"n_estimators": 4, "random_state": 0}
SHALLOW: dict[str, Any] = {**SMALL, "max_depth": 3}


def matrix(n: int = 80, seed: int = 0, missing: bool = False) -> np.ndarray:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4)).round(2)
    if missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    return X


def numbers(X: np.ndarray) -> np.ndarray:
    known = np.nan_to_num(X)
    return known[:, 0] + 0.5 * known[:, 1] * known[:, 2] + 0.1 * np.sin(np.arange(len(X)))


def classes(X: np.ndarray, k: int = 2) -> np.ndarray:
    y = numbers(X)
    return np.digitize(y, np.quantile(y, np.arange(1, k) / k))


def squared(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return score - y, np.ones_like(y)


def log_odds(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    p = 1.0 / (1.0 + np.exp(-score))
    return p - y, p * (1.0 - p)


def first_error(y: np.ndarray, said: np.ndarray) -> float:
    return float(np.abs(y - said)[0])


first_error.greater_is_better = False  # type: ignore[attr-defined]


def never(progress: Any) -> bool:
    return False


def _with_evals(X: np.ndarray) -> Any:
    model = sw.NewtonBoostingRegressor(
        n_estimators=30, max_depth=2, early_stopping_rounds=2, eval_metric=["mae", first_error], callbacks=[never]
    )
    return model.fit(X[:50], numbers(X)[:50], eval_set=[(X[50:], numbers(X)[50:])])


def _with_given_bags(X: np.ndarray) -> Any:
    bags, columns = [[0, 1, 2, 3, 4, 4, 9], list(range(40)), list(range(10, 80))], [[0, 1], [1, 2, 3], [0, 3]]
    return sw.RandomForestRegressor(random_state=0, n_estimators=3).fit(X, numbers(X), rows=bags, features=columns)


def _without_oob_predictions(X: np.ndarray) -> Any:
    """Rows that were in every bag have NaN, whose sign depends on the processor."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        return sw.RandomForestClassifier(oob_score=True, n_estimators=2, random_state=0).fit(X, classes(X))


def _ranker(X: np.ndarray) -> Any:
    grades = classes(X, 4)
    return sw.NewtonBoostingRanker(n_estimators=3, max_depth=2).fit(X, grades, group=[30, 20, 30])


def _two_targets(X: np.ndarray) -> np.ndarray:
    return np.column_stack([numbers(X), -(np.nan_to_num(X[:, 3]) ** 2)])


def _two_labels(X: np.ndarray) -> np.ndarray:
    return np.column_stack([classes(X, 2), classes(X[:, ::-1], 3)])


_OF_NUMBERS: dict[str, Any] = {
    "tree of two numbers": lambda X: sw.DecisionTreeRegressor(max_depth=3).fit(X, _two_targets(X)),
    "tree of medians": lambda X: sw.DecisionTreeRegressor(max_depth=3, criterion="absolute_error").fit(X, numbers(X)),
    "tree of one leaf": lambda X: sw.DecisionTreeRegressor().fit(X, np.ones(len(X))),
    "weighted tree": lambda X: sw.DecisionTreeClassifier(max_depth=4, class_weight={0: 0.3, 1: 2.0, 2: 1.0}).fit(
        X, classes(X, 3), np.linspace(0.0, 1.0, len(X))
    ),
    "pruned tree of entropy": lambda X: sw.DecisionTreeClassifier(criterion="entropy", ccp_alpha=0.01).fit(
        X, classes(X)
    ),
    "forest with everything": lambda X: sw.RandomForestRegressor(
        oob_score=True,
        keep_targets=True,
        max_samples=0.7,
        feature_sampling="tree",
        max_features=3,
        **{**SHALLOW, "n_estimators": 20},
    ).fit(X, numbers(X), np.arange(len(X)) % 9),
    "forest of rows in every bag": _without_oob_predictions,
    "forest of two numbers": lambda X: sw.RandomForestRegressor(keep_targets=True, **SHALLOW).fit(X, _two_targets(X)),
    "forest of given bags": _with_given_bags,
    "forest that stops": lambda X: sw.RandomForestClassifier(
        n_estimators=40, random_state=0, oob_stop=True, oob_score=True, class_weight="balanced"
    ).fit(X, classes(X, 3)),
    "forest of two labels": lambda X: sw.RandomForestClassifier(oob_score=True, **{**SHALLOW, "n_estimators": 30}).fit(
        X, _two_labels(X)
    ),
    "hard forest of two labels": lambda X: sw.RandomForestClassifier(voting="hard", **SHALLOW).fit(X, _two_labels(X)),
    "subsampled forest": lambda X: sw.ExtraTreesClassifier(
        bootstrap=True, class_weight="balanced_subsample", **SHALLOW
    ).fit(X, classes(X)),
    "bagging of a tree": lambda X: sw.BaggingRegressor(
        sw.DecisionTreeRegressor(max_depth=2), oob_score=True, bootstrap_features=True, **{**SMALL, "n_estimators": 20}
    ).fit(X, numbers(X)),
    "bagging without replacement": lambda X: sw.BaggingClassifier(
        max_samples=0.5, max_features=2, bootstrap=False, **SMALL
    ).fit(X, classes(X, 3)),
    "adaboost of trees": lambda X: sw.AdaBoostRegressor(
        sw.DecisionTreeRegressor(max_depth=2, n_jobs=1), loss="square", resample=True, **SMALL
    ).fit(X, numbers(X)),
    "newton with evals": _with_evals,
    "newton of held-out rows": lambda X: sw.NewtonBoostingClassifier(
        n_estimators=9,
        max_depth=2,
        early_stopping_rounds=3,
        validation_fraction=0.3,
        class_weight="balanced",
        random_state=0,
    ).fit(X, classes(X, 3)),
    "newton of quantiles": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3, objective="quantile", quantile_alpha=[0.1, 0.5, 0.9], max_depth=2
    ).fit(X, numbers(X)),
    "newton of huber": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3, objective="huber", huber_delta=0.3, max_depth=2
    ).fit(X, numbers(X)),
    "newton of tweedie": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3, objective="tweedie", tweedie_variance_power=1.3, max_depth=2
    ).fit(X, np.abs(numbers(X))),
    "newton of my objective": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3, objective=squared, base_score=0.3, max_depth=2
    ).fit(X, numbers(X)),
    "newton of my odds": lambda X: sw.NewtonBoostingClassifier(n_estimators=3, objective=log_odds, max_depth=2).fit(
        X, classes(X)
    ),
    "newton with constraints": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3,
        monotone_constraints=(1, 0, -1, 0),
        interaction_constraints=[[0, 1], [2, 3]],
        feature_weights=np.array([1.0, 2.0, 1.0, 0.5]),
        colsample_bynode=0.5,
        random_state=np.int64(7),
        learning_rate=np.float32(0.25),
        max_depth=np.int16(3),
    ).fit(X, numbers(X)),
    "newton of weighted classes": lambda X: sw.NewtonBoostingClassifier(
        n_estimators=3, class_weight={0: 0.5, 1: 3}, learning_rate=[0.5, 0.1], max_depth=2
    ).fit(X, classes(X)),
    "newton of linear leaves": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3, linear_tree=True, max_depth=2, random_state=0
    ).fit(X, numbers(X)),
    "newton of linear leaves and classes": lambda X: sw.NewtonBoostingClassifier(
        n_estimators=2, linear_tree=True, linear_lambda=0.1, max_depth=1, random_state=0
    ).fit(X, classes(X, 3)),
    "newton of queries": _ranker,
    "gradient of huber": lambda X: sw.GradientBoostingRegressor(loss="huber", alpha=0.8, **SMALL).fit(X, numbers(X)),
    "gradient of a quantile": lambda X: sw.GradientBoostingRegressor(loss="quantile", alpha=0.2, **SMALL).fit(
        X, numbers(X)
    ),
    "gradient of drawn rows": lambda X: sw.GradientBoostingRegressor(
        subsample=0.6, n_iter_no_change=3, learning_rate=lambda stage: 0.5 / (1 + stage), max_features="sqrt", **SMALL
    ).fit(X, numbers(X)),
    "gradient from zero": lambda X: sw.GradientBoostingClassifier(init="zero", loss="exponential", **SMALL).fit(
        X, classes(X)
    ),
    "gradient of weighted classes": lambda X: sw.GradientBoostingClassifier(
        class_weight="balanced", monotonic_cst={"x0": 1}, line_search=True, **SMALL
    ).fit(pd.DataFrame(X, columns=["x0", "x1", "x2", "x3"]), classes(X)),
}
NAMES = (*KINDS, *_OF_NUMBERS, "sparse", "large trees", "many levels")


def _large_trees() -> tuple[Any, Any]:
    """Trees of more than 255 splits, which prediction takes another way."""
    X = np.random.default_rng(0).normal(size=(700, 3)).astype(np.float32)
    y = np.random.default_rng(1).normal(size=700).round(1)
    return sw.RandomForestRegressor(n_estimators=2, random_state=0).fit(X, y), X[:30]


def _many_levels() -> tuple[Any, Any]:
    """Levels that take more than one word of 32 bits."""
    random = np.random.default_rng(0)
    X = pd.DataFrame({"level": random.integers(0, 70, 300).astype(str), "x": random.normal(size=300)})
    y = (X["level"].astype(int) % 7 + X["x"]).to_numpy()
    return sw.NewtonBoostingRegressor(n_estimators=3, max_depth=4).fit(X, y), X[:30]


def _sparse() -> tuple[Any, Any]:
    X = sparse.random_array((90, 12), density=0.2, rng=np.random.default_rng(0), format="csr")
    model = sw.NewtonBoostingRegressor(n_estimators=3, max_depth=3, sparse_absent="missing")
    return model.fit(X, X.toarray().sum(axis=1)), X[:20]


_WITH_ROWS = {"sparse": _sparse, "large trees": _large_trees, "many levels": _many_levels}


@cache
def saved_model(name: str) -> tuple[Any, Any]:
    """A fitted model and other rows for it; change neither."""
    if name in KINDS:
        return fitted(name), frame(40, seed=1)
    if name in _WITH_ROWS:
        return _WITH_ROWS[name]()
    new = matrix(40, seed=1, missing=True)
    X = matrix(missing=True)
    model = _OF_NUMBERS[name](X)
    return model, pd.DataFrame(new, columns=model.feature_names_in_) if model.schema_.named else new


__all__ = ["NAMES", "saved_model", "signal", "three_classes", "two_classes"]
