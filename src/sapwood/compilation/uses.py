"""Small fits and predictions which, together, enter every kernel with the types that it usually has.

A kernel is compiled for each combination of types: each option is used here with each kind of target, but not with
every other option. What is left out is compiled when it is first met.
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array

Case = tuple[Any, Array]

_ROWS = 600  # more than 255 distinct values, so that columns of both forms occur
_MANY_ROWS = 1 << 17  # from here on, boosting packs its sums
_TARGETS = ("two classes", "three classes", "numbers", "absolute error")
_SPLITTERS = ("best", "random")
_COLUMNS = ("numbers", "categories")
_CATEGORIES: dict[str, list[int] | None] = {"numbers": None, "categories": [0]}
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
    "rows drawn, leaves of all": {"subsample": 0.5, "leaf_rows": "all"},
    "held-out rows": {"validation_fraction": 0.2, "subsample": 0.5},
    "least rows of leaves": {"min_child_samples": 5},
    "constraints": {"monotone_constraints": [1, 0, 0, 0], "grow_policy": "lossguide"},
    "exact splits": {"tree_method": "exact"},
    "exact splits, weights, rows drawn": {"tree_method": "exact", "class_weight": "balanced", "subsample": 0.5},
    "exact splits, categories": {"tree_method": "exact", "categorical_features": [0]},
    "approximate splits": {"tree_method": "approx"},
    "many levels": {"categorical_features": [2]},
    "linear leaves": {"linear_tree": True},
    "symmetric trees": {"grow_policy": "symmetric"},
    "step by step": {"gamma": 1e-9},
    "rows drawn, step by step": {"gamma": 1e-9, "subsample": 0.5},
    "many levels, exact splits": {"tree_method": "exact", "categorical_features": [2]},
}
_FEW_ROWS = {"min_child_samples", "categorical_features", "tree_method", "linear_tree", "gamma"}  # as for many rows


def uses() -> dict[str, Callable[[], None]]:
    """What to do, by name; neighbours have kernels in common."""
    cases = _tree_cases() | _forest_cases() | _boosting_cases()
    others = {
        "boosting, sparse": _use_sparse,
        "boosting, ranking, evaluated": _use_ranking,
        "forest, random splits, nothing missing": _use_drawn,
    }
    return {name: partial(use, *case) for name, case in cases.items()} | others


def _tree_cases() -> dict[str, Case]:
    """The kernels of trees differ by target, splitter and kind of column."""
    found: dict[str, Case] = {}
    for target, splitter, column in itertools.product(_TARGETS, _SPLITTERS, _COLUMNS):
        name = f"{target}, {splitter} splitter, columns of {column}"
        found[name] = _tree(target, splitter=splitter, categorical_features=_CATEGORIES[column])
    for (name, parameters), target in itertools.product(_EXTRAS.items(), _TARGETS):
        found[f"{target}, {name}"] = _tree(target, **parameters)
    for target, column in itertools.product(("outputs of classes", "outputs of numbers"), _COLUMNS):
        found[f"{target}, columns of {column}"] = _tree(target, categorical_features=_CATEGORIES[column])
    for target, column in itertools.product(("two classes", "numbers", "absolute error"), _COLUMNS):
        categories = _CATEGORIES[column]
        constrained = _tree(target, monotonic_cst=[0, 1, 0, 0], categorical_features=categories)
        found[f"{target}, constraints, columns of {column}"] = constrained
        if categories:
            tested = _tree(target, significance=0.05, categorical_features=categories)
            found[f"{target}, test of significance, columns of {column}"] = tested
    found["numbers, medians in leaves"] = _tree("numbers", leaf="median")
    return found


def _forest_cases() -> dict[str, Case]:
    """Forests look at few columns of each node, so that values are ranks; AdaBoost has weights that are not counts."""
    from sapwood import (
        AdaBoostClassifier,
        AdaBoostRegressor,
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )

    numbers = _classes(_ROWS, 11).astype(np.float64)
    found: dict[str, Case] = {}
    for name, parameters in {"bins": {}, "ranks": {"max_bins": None, "max_features": 1}}.items():
        options: dict[str, Any] = {"n_estimators": 2, "oob_score": lambda *_: 0.0, "max_samples": 0.5, **parameters}
        for n_classes in (2, 3):
            found[f"forest, {n_classes} classes, {name}"] = (
                RandomForestClassifier(**options),
                _classes(_ROWS, n_classes),
            )
        found[f"forest, numbers, {name}"] = RandomForestRegressor(**options), numbers
    for name, categories in _CATEGORIES.items():  # trees too large to be evaluated as a whole
        large = RandomForestRegressor(2, max_bins=None, max_features=1.0, categorical_features=categories)
        found[f"forest, large trees, {name}"] = large, np.arange(_ROWS) * 7.0 % 601
    many = RandomForestRegressor(32, max_bins=None, max_features=1.0)  # enough of them for codes of two bytes
    found["forest, many large trees"] = many, np.arange(_ROWS) * 7.0 % 601
    few: dict[str, Any] = {"max_bins": None, "max_features": 1, "categorical_features": [0]}
    found["forest, 2 classes, ranks, categories"] = RandomForestClassifier(2, **few), _classes(_ROWS, 2)
    found["forest, numbers, ranks, categories"] = RandomForestRegressor(2, unseen="node", **few), numbers
    for target in ("outputs of classes", "outputs of numbers"):
        forest = RandomForestClassifier if target.endswith("classes") else RandomForestRegressor
        found[f"forest, {target}"] = forest(2, bootstrap=True), _target(target)
    found["forest, quantiles"] = RandomForestRegressor(2, keep_targets=True), numbers
    out_of_bag = RandomForestClassifier(20, oob_score=True, categorical_features=[0])
    found["forest, 2 classes, out of bag, categories"] = out_of_bag, _classes(_ROWS, 2)
    for name, categories in _CATEGORIES.items():
        few = {"n_estimators": 2, "categorical_features": categories}
        found[f"forest, numbers, random splits, columns of {name}"] = ExtraTreesRegressor(**few), numbers
        for n_classes, most in itertools.product((2, 3), (0.5, 1)):
            label = f"forest, {n_classes} classes, random splits of {most} columns, columns of {name}"
            found[label] = ExtraTreesClassifier(max_features=most, **few), _classes(_ROWS, n_classes)
    found["AdaBoost, numbers"] = AdaBoostRegressor(n_estimators=2), numbers
    found["AdaBoost"] = AdaBoostClassifier(n_estimators=2), _classes(_ROWS, 2)
    return found


def _boosting_cases() -> dict[str, Case]:
    """The kernels of boosting differ by rows drawn, weights, kinds of columns, and whether there are many rows."""
    from sapwood import (
        GradientBoostingClassifier,
        GradientBoostingRegressor,
        NewtonBoostingClassifier,
        NewtonBoostingRanker,
        NewtonBoostingRegressor,
    )

    found: dict[str, Case] = {}
    numbers = _classes(_ROWS, 11).astype(np.float64)
    for name, parameters in _BOOSTING.items():
        model = NewtonBoostingClassifier(n_estimators=2, random_state=0, **parameters)
        found[f"boosting, {name}"] = model, _classes(_ROWS, 2)
        if not parameters.keys() & _FEW_ROWS:
            found[f"boosting, {name}, many rows"] = model, _classes(_MANY_ROWS, 2)
    folds: dict[str, Any] = {"n_estimators": 2, "cv": 2, "random_state": 0}
    found["boosting without settings"] = NewtonBoostingClassifier(**folds), _classes(_ROWS, 2)
    found["boosting without settings, three classes"] = NewtonBoostingClassifier(**folds), _classes(_ROWS, 3)
    found["boosting without settings, numbers"] = NewtonBoostingRegressor(**folds, linear_tree=True), numbers
    found["boosting, three classes"] = NewtonBoostingClassifier(n_estimators=2), _classes(_ROWS, 3)
    step_by_step = NewtonBoostingClassifier(n_estimators=2, gamma=1e-9)
    found["boosting, three classes, step by step"] = step_by_step, _classes(_ROWS, 3)
    found["boosting, three classes, many rows"] = NewtonBoostingClassifier(n_estimators=2), _classes(_MANY_ROWS, 3)
    one_tree = NewtonBoostingClassifier(n_estimators=2, multi_strategy="multi_output_tree")
    found["boosting, one tree for three classes"] = one_tree, _classes(_ROWS, 3)
    found["boosting, one tree for three classes, many rows"] = one_tree, _classes(_MANY_ROWS, 3)
    many_levels = NewtonBoostingClassifier(n_estimators=2, categorical_features=[2], target_statistics=True)
    found["boosting, many levels, many rows"] = many_levels, _classes(_MANY_ROWS, 2)
    found["boosting, ranking"] = NewtonBoostingRanker(n_estimators=2), _classes(_ROWS, 3)
    for loss in ("squared_error", "absolute_error", "huber", "poisson"):
        found[f"boosting, {loss}"] = NewtonBoostingRegressor(n_estimators=2, objective=loss), numbers
        drawn = GradientBoostingRegressor(n_estimators=2, subsample=0.5, loss=loss)
        found[f"gradient boosting, {loss}, rows drawn"] = drawn, numbers
    found["gradient boosting, numbers"] = GradientBoostingRegressor(n_estimators=2), numbers
    found["gradient boosting, two classes"] = GradientBoostingClassifier(n_estimators=2), _classes(_ROWS, 2)
    return found


def _classes(n_rows: int, n_classes: int) -> Array:
    return np.asarray(np.arange(n_rows) * 7 % 11 % n_classes)


def _tree(target: str, **parameters: Any) -> Case:
    from sapwood import DecisionTreeClassifier, DecisionTreeRegressor

    y = _target(target)
    if target == "absolute error":
        parameters["criterion"] = "absolute_error"
    tree = DecisionTreeClassifier if target.endswith("classes") else DecisionTreeRegressor
    return tree(random_state=0, **parameters), y


def _target(name: str) -> Array:
    if name.startswith("outputs"):
        y = np.column_stack([_classes(_ROWS, 2), _classes(_ROWS, 3)])
    else:
        y = _classes(_ROWS, {"two classes": 2, "three classes": 3}.get(name, 11))
    return y if name.endswith("classes") else y.astype(np.float64)


def use(estimator: Any, y: Array) -> None:
    """Fit and predict with both widths of floats, with missing values, and with a sparse matrix; save and load."""
    from scipy import sparse

    values = _table(len(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # so few trees have rows in every bag
        for X in (values, values.astype(np.float32), sparse.csc_matrix(np.nan_to_num(values))):
            _fit_and_ask(estimator, X, y)
            estimator.predict_one(values[0])
        for X in (values, values.astype(np.float32)):
            _fit_with_weights(estimator, X, y)
    _save_and_load(estimator)


def _use_sparse() -> None:
    """Boost on columns so sparse that only stored cells are read."""
    from scipy import sparse

    from sapwood import NewtonBoostingClassifier

    row = np.arange(4 * _ROWS)
    X = sparse.csc_matrix((np.ones(len(row)), (row, row % 97)), shape=(len(row), 97))
    for classes, parameters in ((2, {}), (3, {}), (2, {"subsample": 0.5}), (2, {"class_weight": "balanced"})):
        NewtonBoostingClassifier(n_estimators=2, random_state=0, **parameters).fit(X, row % 7 % classes).predict(X)


def _use_drawn() -> None:
    """Grow trees of drawn thresholds, which are grown in another way if nothing is missing."""
    from sapwood import ExtraTreesClassifier, ExtraTreesRegressor

    y = _classes(_ROWS, 3)
    for X in (np.nan_to_num(_table(_ROWS)), np.nan_to_num(_table(_ROWS)).astype(np.float32)):
        for model, target in ((ExtraTreesClassifier, y % 2), (ExtraTreesClassifier, y), (ExtraTreesRegressor, y * 1.0)):
            model(2).fit(X, target).predict(X)
            _fit_with_weights(model(2), X, target)


def _use_ranking() -> None:
    """Rank queries, with others to evaluate on."""
    from sapwood import NewtonBoostingRanker

    X, y, query = _table(_ROWS), _classes(_ROWS, 3), np.arange(_ROWS) // 10
    NewtonBoostingRanker(n_estimators=2).fit(X, y, qid=query, eval_set=[(X, y)], eval_qid=[query])


def _fit_and_ask(estimator: Any, X: Any, y: Array) -> None:
    """Fit, and call every method that the model has."""
    estimator.fit(X, y).predict(X)
    few = X[:40]
    estimator.predict(few.toarray() if hasattr(few, "toarray") else few.copy(order="F"))
    for question in ("predict_proba", "apply", "decision_path"):
        if hasattr(estimator, question):
            getattr(estimator, question)(few)
    if getattr(estimator, "keep_targets", False):
        estimator.predict_quantiles(few)
        estimator.predict_quantiles(X)  # more than a block of rows
    is_linear = getattr(estimator, "linear_tree", False) is True and not hasattr(estimator, "predict_proba")
    if hasattr(estimator, "decision_path") or is_linear:
        _explain(estimator, X[:3])


def _fit_with_weights(estimator: Any, X: Any, y: Array) -> None:
    """Weights that are not counts; the kernels of a ranking and of many rows are the same with them."""
    if len(y) == _ROWS and type(estimator).__name__ != "NewtonBoostingRanker":
        estimator.fit(X, y, sample_weight=1 + np.arange(len(y)) % 7 / 3).predict(X)


def _save_and_load(estimator: Any) -> None:
    """Enter the kernels of model files; a loaded model is like any other."""
    from sapwood import load, save

    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.sapwood"
        save(estimator, path)
        load(path, mmap=False)  # a file in use could not be removed everywhere


def _explain(estimator: Any, rows: object) -> None:
    """Enter the kernels of explanations; the trees of other models are the same to them, but for linear leaves."""
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
