"""What scikit-learn keeps in private attributes and offers no public way to read."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats


def first_scores(model: Any) -> Floats:
    """Scores of gradient boosting before its first tree."""
    row = np.zeros((1, model.n_features_in_), dtype=np.float32)
    return np.asarray(model._raw_predict_init(row)[0], dtype=np.float64)


def histogram_first_scores(model: Any) -> Floats:
    """Scores of histogram gradient boosting before its first tree."""
    return np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)


def histogram_trees(model: Any) -> list[list[Any]]:
    """Trees of each iteration of histogram gradient boosting, one for each score."""
    found: list[list[Any]] = model._predictors
    return found


def histogram_categories(model: Any) -> list[Array]:
    """Categories of the columns that hold some, in the order of their codes."""
    found: list[Array] = model._preprocessor.named_transformers_["encoder"].categories_
    return found


def known_categories(model: Any) -> tuple[Array, Array]:
    """Bits of the categories that training saw, and the row of each column in them."""
    bits, rows = model._bin_mapper.make_known_categories_bitsets()
    return bits, rows


def histogram_scores(model: Any, X: object) -> Floats:
    """Scores of rows."""
    return np.asarray(model._raw_predict(X, n_threads=1), dtype=np.float64)
