"""Models for other programs: every kind, and every loss, link and treatment of levels beyond them."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd

import sapwood as sw
from model_cases import KINDS, fitted, frame, signal, three_classes, two_classes

HOSTILE = (
    "*/ int x = 1; /*",
    'a"b; DROP TABLE rows; --',
    "l'été",
    "two\nlines\r",
    '"""); import os #',
    "{braces} %s \\",
    "\u202etxet\u2066",
    "n" * 500,
)


def counts(X: pd.DataFrame) -> np.ndarray:
    return np.round(signal(X)).clip(0.0) + 1.0


def _small(n_features: int = 4) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(150, n_features))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1], nan=1.0) ** 2


def _float32() -> Any:
    X, y = _small()
    return sw.NewtonBoostingRegressor(n_estimators=6, max_depth=4).fit(X.astype(np.float32), y)


def _infinite(**parameters: Any) -> Any:
    X, y = _small()
    X[:40, 0], X[40:80, 0] = np.inf, -np.inf
    y[:40] += 3.0
    return sw.NewtonBoostingRegressor(n_estimators=4, max_depth=4, **parameters).fit(X, y)


def _early() -> Any:
    X = frame(240)
    model = sw.NewtonBoostingClassifier(
        n_estimators=60, learning_rate=0.9, early_stopping_rounds=2, validation_fraction=0.4, random_state=0
    )
    return model.fit(X, two_classes(X))


def _halved(y: np.ndarray, score: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return score - y, np.full(len(y), 2.0)


def _hostile() -> Any:
    X = frame()
    for i, name in enumerate(HOSTILE[:4]):
        X = X.rename(columns={X.columns[i]: name})
    X["levels"] = pd.Categorical([HOSTILE[i % len(HOSTILE)] for i in range(len(X))])
    labels = np.array(HOSTILE[3:6])[np.arange(len(X)) % 8 % 3]
    return sw.NewtonBoostingClassifier(n_estimators=3, max_depth=4, max_cat_to_onehot=1).fit(X, labels)


def _newton(**parameters: Any) -> Any:
    return sw.NewtonBoostingRegressor(n_estimators=4, max_depth=3, **parameters)


def _linear(of: Any, n_estimators: int) -> Any:
    return of(n_estimators=n_estimators, max_depth=3, linear_tree=True, random_state=0)


_MAKERS: dict[str, Any] = {
    "float32": lambda X: _float32(),
    "infinite": lambda X: _infinite(),
    "early stopped": lambda X: _early(),
    "poisson": lambda X: _newton(objective="poisson").fit(X, counts(X)),
    "gamma": lambda X: _newton(objective="gamma").fit(X, counts(X)),
    "tweedie": lambda X: _newton(objective="tweedie").fit(X, counts(X)),
    "poisson targets": lambda X: _newton(objective="poisson").fit(X, np.column_stack([counts(X), 9.0 * counts(X)])),
    "absolute": lambda X: _newton(objective="absolute_error").fit(X, signal(X)),
    "huber": lambda X: _newton(objective="huber").fit(X, signal(X)),
    "quantile": lambda X: _newton(objective="quantile", quantile_alpha=0.8).fit(X, signal(X)),
    "quantiles": lambda X: _newton(objective="quantile", quantile_alpha=[0.9, 0.1, 0.5]).fit(X, signal(X)),
    "vectors of quantiles": lambda X: _newton(
        objective="quantile", quantile_alpha=[0.9, 0.1, 0.5], multi_strategy="multi_output_tree", random_state=0
    ).fit(X, signal(X)),
    "statistics of levels": lambda X: _newton(
        target_statistics=True, max_cat_to_onehot=2, min_data_per_group=100, random_state=0
    ).fit(X, signal(X)),
    "custom": lambda X: _newton(objective=_halved).fit(X, signal(X)),
    "exponential": lambda X: sw.GradientBoostingClassifier(loss="exponential", n_estimators=4).fit(X, two_classes(X)),
    "weighted two": lambda X: sw.NewtonBoostingClassifier(n_estimators=4, scale_pos_weight=5.0).fit(X, two_classes(X)),
    "weighted three": lambda X: sw.NewtonBoostingClassifier(
        n_estimators=3, class_weight={"low": 1.0, "mid": 3.0, "top": 0.5}
    ).fit(X, three_classes(X)),
    "nearly one class": lambda X: sw.NewtonBoostingClassifier(n_estimators=3, min_child_weight=0, gamma=1e9).fit(
        X, np.arange(len(X)) > 0
    ),
    "two numbers": lambda X: sw.RandomForestRegressor(n_estimators=3, max_depth=3, random_state=0).fit(
        X, np.column_stack([signal(X), -2.0 * signal(X)])
    ),
    "stops at unseen": lambda X: sw.RandomForestClassifier(
        n_estimators=3, max_depth=4, unseen="node", random_state=0, max_features=None
    ).fit(X, three_classes(X)),
    "refuses unseen": lambda X: sw.DecisionTreeRegressor(max_depth=4, unseen="error").fit(X, signal(X)),
    "lone leaf": lambda X: sw.DecisionTreeRegressor(max_depth=2).fit(X, np.ones(len(X))),
    "durations": lambda X: sw.DecisionTreeRegressor(max_depth=3).fit(
        X[["age"]].assign(waited=pd.to_timedelta(X["age"] % 7 * 1.7, "h")), X["age"] % 7
    ),
    "number levels": lambda X: sw.NewtonBoostingRegressor(
        n_estimators=3, categorical_features=["age", "member"], max_cat_to_onehot=1
    ).fit(X, signal(X)),
    "linear numbers": lambda X: _linear(sw.NewtonBoostingRegressor, 70).fit(X, signal(X)),
    "linear two": lambda X: _linear(sw.NewtonBoostingClassifier, 4).fit(X, two_classes(X)),
    "linear three": lambda X: _linear(sw.NewtonBoostingClassifier, 4).fit(X, three_classes(X)),
    "linear infinite": lambda X: _infinite(linear_tree=True),
    "linear poisson": lambda X: _newton(objective="poisson", linear_tree=True).fit(X, counts(X)),
    "hostile": lambda X: _hostile(),
}
EXPORTS = (*KINDS, *_MAKERS)
LINEAR = tuple(kind for kind in EXPORTS if kind.startswith("linear"))  # leaves
SUMS = tuple(  # of trees, and functions of them that XGBoost has
    kind
    for kind in EXPORTS
    if kind
    not in (
        *("tree classes", "forest classes", "forest votes", "bagging", "adaboost numbers", "two outputs"),
        *("quantiles", "vectors of quantiles", "stops at unseen"),
        *LINEAR,
    )
)


@cache
def exported(kind: str) -> Any:
    """A model of this kind; do not change it."""
    return fitted(kind) if kind in KINDS else _MAKERS[kind](frame())


def new_cells(model: Any, n: int = 60) -> np.ndarray:
    """Rows that the model has not seen, as cells: numbers, levels by number, missing and, if allowed, unseen."""
    rng = np.random.default_rng(11)
    columns = model.schema_.columns
    cells = np.empty((n, len(columns)))
    for j, column in enumerate(columns):
        if column.kind == "category":
            least = 0 if model.model_.unseen == "error" else -1
            drawn = rng.integers(least, len(column.levels), n).astype(float)
            cells[:, j] = np.where(drawn < 0, -2.0, drawn)
        elif column.kind == "boolean":
            cells[:, j] = rng.integers(0, 2, n)
        else:
            low, high = np.nan_to_num([column.low, column.high], posinf=3.0, neginf=-3.0)
            cells[:, j] = rng.uniform(low, high, n)
    cells[rng.random(cells.shape) < 0.15] = np.nan
    return cells


def answers(model: Any, cells: np.ndarray) -> np.ndarray:
    """Probabilities (rows, classes of all outputs) or predictions (rows, outputs)."""
    from sapwood.table.storage import MatrixStorage
    from sapwood.table.table import Table

    table = Table(model.schema_, MatrixStorage(cells))
    said = model.predict_proba(table) if hasattr(model, "classes_") else model.predict(table)
    return np.concatenate(said, axis=1) if isinstance(said, list) else np.reshape(said, (len(cells), -1))


def natives(model: Any, cells: np.ndarray) -> list[list[Any]]:
    """The same rows as a user would write them."""
    columns = model.schema_.columns
    return [[_native(column, cell) for column, cell in zip(columns, row, strict=True)] for row in cells.tolist()]


def _native(column: Any, cell: float) -> Any:
    if np.isnan(cell):
        return None
    if column.kind != "category":
        return cell
    numbers = all(isinstance(level, (int, float)) for level in column.levels)
    return column.levels[int(cell)] if cell >= 0 else (1e9 if numbers else "never seen")
