"""What one model needs: predictions on rows like its own, and a fit of its kind on such rows."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone

from sapwood.arrays import Array
from sapwood.table import ColumnSchema, Schema

_ROWS = 600  # more than 255 distinct values, so that columns of both forms occur
_MANY_ROWS = 1 << 17  # from here on, boosting packs its sums
_MOST_CELLS = 1 << 25  # of a table that is made only to be compiled for
_QUESTIONS = ("predict", "predict_proba", "decision_function")


def model_uses(model: object, predict_only: bool) -> dict[str, Callable[[], None]]:
    """What to do for a fitted model or a file of one, by name."""
    from sapwood.estimators.model_file import load

    fitted: Any = load(model) if isinstance(model, str | os.PathLike) else model
    fitted._check_fitted()
    found: dict[str, Callable[[], None]] = {"predicting": lambda: _predict(fitted)}
    if not predict_only:
        found["fitting"] = lambda: _fit(fitted, _ROWS)
        if "Boosting" in type(fitted).__name__ and _MANY_ROWS * len(fitted.schema_.columns) <= _MOST_CELLS:
            found["fitting many rows"] = lambda: _fit(fitted, _MANY_ROWS)
    return found


def _predict(model: Any) -> None:
    """Predict many rows, and one, with both widths of floats where the model distinguishes them."""
    rows = _rows(model.schema_, _ROWS)
    tables = [_matrix(model.schema_, rows)]
    if model.schema_.is_plain:
        tables.append(tables[0].astype(np.float32))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for X in tables:
            for question in _QUESTIONS:
                if hasattr(model, question):
                    getattr(model, question)(X)
        model.predict_one({name: values[0] for name, values in rows.items()} if model.schema_.named else _first(rows))


def _fit(model: Any, n_rows: int) -> None:
    """Fit a small model with the same settings, without the functions that watch it."""
    rows = _rows(model.schema_, n_rows)
    few: dict[str, Any] = {"n_estimators": 2, "callbacks": None, "early_stopping_rounds": None, "warm_start": False}
    if model.model_.trees.is_linear:  # which so few rounds would not choose
        few["linear_tree"] = True
    known = model.get_params(deep=False)
    twin = clone(model).set_params(**{name: value for name, value in few.items() if name in known})
    X = _matrix(model.schema_, rows)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        twin.fit(X, _target(model, n_rows))


def _rows(schema: Schema, n_rows: int) -> dict[str, Array]:
    return {column.name: _values(column, n_rows) for column in schema.columns}


def _values(column: ColumnSchema, n_rows: int) -> Array:
    """Values of a column's kind, some of them missing if some were."""
    row = np.arange(n_rows)
    values: Array = (row * 389 % _ROWS).astype(np.float64)
    if column.kind == "boolean":
        values = row % 2.0
    if column.kind == "category":
        values = np.array([*column.levels, None], dtype=object)[row % max(len(column.levels), 1)]
    if column.has_missing:
        values[9::10] = None  # NaN among floats
    return values


def _matrix(schema: Schema, rows: dict[str, Array]) -> Array:
    """Columns side by side, as objects if they are not all numbers."""
    X = np.empty((len(next(iter(rows.values()))), len(rows)), dtype=np.float64 if schema.is_plain else object)
    for position, values in enumerate(rows.values()):
        X[:, position] = values
    return X


def _first(rows: dict[str, Array]) -> list[object]:
    return [values[0] for values in rows.values()]


def _target(model: object, n_rows: int) -> Array:
    """A target of the model's kind: its classes, or numbers; as many outputs as it has."""
    row = np.arange(n_rows) * 7 % 11
    classes = getattr(model, "classes_", None)
    if isinstance(classes, list):
        return np.column_stack([np.asarray(own)[row % len(own)] for own in classes])
    if classes is not None:
        return np.asarray(classes)[row % len(classes)]
    n_outputs = getattr(model, "n_outputs_", 1)
    numbers = row.astype(np.float64)
    return numbers if n_outputs == 1 else np.column_stack([numbers + output for output in range(n_outputs)])
