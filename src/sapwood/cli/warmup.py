"""`sapwood warmup`: compile every kernel now, so that no later call has to."""

from __future__ import annotations

import itertools
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.cli.console import say, track
from sapwood.cli.options import TracebackOption

_ROWS = 600  # more than 255 distinct values, so that columns of both forms occur
_TARGETS = ("two classes", "three classes", "numbers", "absolute error")
_SPLITTERS = ("best", "random")
_COLUMNS = ("numbers", "categories")
_EXTRAS: dict[str, dict[str, Any]] = {
    "bins": {"max_bins": 16},
    "best nodes first": {"max_leaf_nodes": 8},
    "pruning": {"ccp_alpha": 0.001},
    "test of significance": {"significance": 0.05},
}


def warmup(_traceback: TracebackOption = False) -> None:
    """Compile every kernel now, once per machine, so that no later call has to wait for it."""
    start = time.perf_counter()
    for estimator, y in track(*_variants()):
        _use(estimator, y)
    say(f"All kernels are compiled ({time.perf_counter() - start:.1f} s).")


def is_compiled() -> bool:
    """Whether kernels were compiled on this machine before."""
    from sapwood import kernels

    chosen = os.environ.get("NUMBA_CACHE_DIR")
    folder = Path(chosen) if chosen else Path(str(kernels.__file__)).parent / "__pycache__"
    return any(folder.rglob("*.nbi"))


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
    return [*steps, _variant("numbers", leaf="median")], [*names, "numbers, medians in leaves"]


def _variant(target: str, **parameters: Any) -> tuple[Any, NDArray[Any]]:
    from sapwood import DecisionTreeClassifier, DecisionTreeRegressor

    remainder = np.arange(_ROWS) * 7 % 11
    if target.endswith("classes"):
        return DecisionTreeClassifier(random_state=0, **parameters), remainder % (2 if target.startswith("two") else 3)
    if target == "absolute error":
        parameters["criterion"] = "absolute_error"
    return DecisionTreeRegressor(random_state=0, **parameters), remainder.astype(np.float64)


def _use(estimator: Any, y: NDArray[Any]) -> None:
    """Fit and predict with both widths of floats, with missing values, and with a sparse matrix."""
    from scipy import sparse

    values = _table()
    for X in (values, values.astype(np.float32), sparse.csc_matrix(np.nan_to_num(values))):
        estimator.fit(X, y).predict(X)
        estimator.decision_path(X)


def _table() -> NDArray[np.float64]:
    """Few distinct values, many, and many with missing ones."""
    row = np.arange(_ROWS, dtype=np.float64)
    many = row * 389 % _ROWS
    return np.column_stack([row % 5, many, np.where(row % 10 == 0, np.nan, many)])
