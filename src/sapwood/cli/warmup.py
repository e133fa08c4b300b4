"""`sapwood warmup`: compile every kernel now, so that no later call has to."""

from __future__ import annotations

import itertools
import time
import warnings
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cli.console import say, track
from sapwood.cli.options import TracebackOption

_ROWS = 600  # more than 255 distinct values, so that columns of both forms occur
_MANY_ROWS = 1 << 17  # from here on, boosting packs its sums
_TARGETS = ("two classes", "three classes", "numbers", "absolute error")
_SPLITTERS = ("best", "random")
_COLUMNS = ("numbers", "categories")
_EXTRAS: dict[str, dict[str, Any]] = {
    "bins": {"max_bins": 16},
    "best nodes first": {"max_leaf_nodes": 8},
    "pruning": {"ccp_alpha": 0.001},
    "test of significance": {"significance": 0.05},
}

_BOOSTING: dict[str, dict[str, Any]] = {
    "numbers": {},
    "categories": {"categorical_features": [0]},
    "weights": {"class_weight": "balanced"},
    "rows drawn": {"subsample": 0.5},
    "rows drawn by gradient": {"subsample": 0.5, "sampling_method": "gradient_based"},
    "weights, rows drawn": {"class_weight": "balanced", "subsample": 0.5},
    "held-out rows": {"validation_fraction": 0.2, "subsample": 0.5},
    "least rows of leaves": {"min_child_samples": 5},
    "constraints": {"monotone_constraints": [1, 0, 0, 0], "grow_policy": "lossguide"},
    "exact splits": {"tree_method": "exact"},
    "exact splits, weights, rows drawn": {"tree_method": "exact", "class_weight": "balanced", "subsample": 0.5},
    "exact splits, categories": {"tree_method": "exact", "categorical_features": [0]},
    "approximate splits": {"tree_method": "approx"},
}
_FEW_ROWS = {"min_child_samples", "categorical_features", "tree_method"}  # compile the same for many rows


def warmup(_traceback: TracebackOption = False) -> None:
    """Compile every kernel now, once per machine, so that no later call has to wait for it."""
    start = time.perf_counter()
    for estimator, y in track(*_variants()):
        _use(estimator, y)
    say(f"All kernels are compiled ({time.perf_counter() - start:.1f} s).")


def _variants() -> tuple[list[tuple[Any, NDArray[Any]]], list[str]]:
    """Estimators with targets, and what to call them. The kernels differ by target, splitter and kind of column."""
    steps, names = [], []
    for target, splitter, column in itertools.product(_TARGETS, _SPLITTERS, _COLUMNS):
        categories = [0] if column == "categories" else None
        steps.append(_variant(target, splitter=splitter, categorical_features=categories))
        names.append(f"{target}, {splitter} splitter, columns of {column}")
    for (name, parameters), target in itertools.product(_EXTRAS.items(), _TARGETS):
        steps.append(_variant(target, **parameters))
        names.append(f"{target}, {name}")
    steps.append(_variant("numbers", leaf="median"))
    names.append("numbers, medians in leaves")
    others = _forest_variants() | _boosting_variants()
    return [*steps, *others.values()], [*names, *others]


def _forest_variants() -> dict[str, tuple[Any, NDArray[Any]]]:
    """Forests look at few columns of each node, so that values are ranks; AdaBoost has weights that are no counts."""
    from sapwood import AdaBoostClassifier, RandomForestClassifier, RandomForestRegressor

    numbers = _classes(_ROWS, 11).astype(np.float64)
    found: dict[str, tuple[Any, NDArray[Any]]] = {}
    for name, parameters in {"bins": {}, "ranks": {"max_bins": None, "max_features": 1}}.items():
        options: dict[str, Any] = {"n_estimators": 2, "oob_score": lambda *_: 0.0, "max_samples": 0.5, **parameters}
        for n_classes in (2, 3):
            found[f"forest, {n_classes} classes, {name}"] = (
                RandomForestClassifier(**options),
                _classes(_ROWS, n_classes),
            )
        found[f"forest, numbers, {name}"] = RandomForestRegressor(**options), numbers
    for name, categories in {"numbers": None, "categories": [0]}.items():  # trees too large to be played to their end
        large = RandomForestRegressor(2, max_bins=None, max_features=1.0, categorical_features=categories)
        found[f"forest, large trees, {name}"] = large, np.arange(_ROWS) * 7.0 % 601
    found["AdaBoost"] = AdaBoostClassifier(n_estimators=2), _classes(_ROWS, 2)
    return found


def _boosting_variants() -> dict[str, tuple[Any, NDArray[Any]]]:
    """The kernels of boosting differ by rows drawn, weights, kinds of columns, and whether there are many rows."""
    from sapwood import (
        GradientBoostingRegressor,
        NewtonBoostingClassifier,
        NewtonBoostingRanker,
        NewtonBoostingRegressor,
    )

    found: dict[str, tuple[Any, NDArray[Any]]] = {}
    for name, parameters in _BOOSTING.items():
        model = NewtonBoostingClassifier(n_estimators=2, random_state=0, **parameters)
        found[f"boosting, {name}"] = model, _classes(_ROWS, 2)
        if not parameters.keys() & _FEW_ROWS:
            found[f"boosting, {name}, many rows"] = model, _classes(_MANY_ROWS, 2)
    found["boosting, three classes"] = NewtonBoostingClassifier(n_estimators=2), _classes(_ROWS, 3)
    found["boosting, three classes, many rows"] = NewtonBoostingClassifier(n_estimators=2), _classes(_MANY_ROWS, 3)
    found["boosting, ranking"] = NewtonBoostingRanker(n_estimators=2), _classes(_ROWS, 3)
    numbers = _classes(_ROWS, 11).astype(np.float64)
    for loss in ("squared_error", "absolute_error", "huber", "poisson"):
        found[f"boosting, {loss}"] = NewtonBoostingRegressor(n_estimators=2, objective=loss), numbers
        found[f"gradient boosting, {loss}"] = (
            GradientBoostingRegressor(n_estimators=2, subsample=0.5, loss=loss),
            numbers,
        )
    return found


def _classes(n_rows: int, n_classes: int) -> NDArray[Any]:
    return np.asarray(np.arange(n_rows) * 7 % 11 % n_classes)


def _variant(target: str, **parameters: Any) -> tuple[Any, NDArray[Any]]:
    from sapwood import DecisionTreeClassifier, DecisionTreeRegressor

    if target.endswith("classes"):
        n_classes = 2 if target.startswith("two") else 3
        return DecisionTreeClassifier(random_state=0, **parameters), _classes(_ROWS, n_classes)
    if target == "absolute error":
        parameters["criterion"] = "absolute_error"
    return DecisionTreeRegressor(random_state=0, **parameters), _classes(_ROWS, 11).astype(np.float64)


def _use(estimator: Any, y: NDArray[Any]) -> None:
    """Fit and predict with both widths of floats, with missing values, and with a sparse matrix; save and load."""
    from scipy import sparse

    values = _table(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few trees have rows in every bag
        for X in (values, values.astype(np.float32), sparse.csc_matrix(np.nan_to_num(values))):
            estimator.fit(X, y).predict(X)
            estimator.predict_one(values[0])
            if hasattr(estimator, "decision_path"):
                estimator.decision_path(X)
                _explain(estimator, X[:3])
    _save_and_load(estimator)


def _save_and_load(estimator: Any) -> None:
    """Enter the kernels of model files; a loaded model is like any other."""
    from sapwood import load, save

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.sapwood"
        save(estimator, path)
        load(path, mmap=False)  # a file in use could not be removed everywhere


def _explain(estimator: Any, rows: Any) -> None:
    """Enter the kernels of explanations; the trees of other models are the same to them."""
    from sapwood.explain import partial_dependence, shap_interaction_values, shap_values

    shap_values(estimator, rows)
    shap_values(estimator, rows, background=rows)
    shap_interaction_values(estimator, rows)
    partial_dependence(estimator, rows, 0, method="recursion")


def _table(n_rows: int) -> NDArray[np.float64]:
    """Few distinct values, twice, many, and many with missing ones."""
    row = np.arange(n_rows, dtype=np.float64)
    many = row * 389 % _ROWS
    return np.column_stack([row % 5, row % 3, many, np.where(row % 10 == 0, np.nan, many)])
