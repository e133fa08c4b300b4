"""Predictions of XGBoost; without XGBoost, those of a slow reader of its format."""

from __future__ import annotations

import json

import numpy as np

from sapwood.arrays import Floats
from sapwood.errors import ModelFileError
from sapwood.interchange.optional import installed
from sapwood.interchange.sources.xgboost.model import XGBoostModel
from sapwood.interchange.targets.replay import Outputs, Predict

LOG_LINKS = ("count:poisson", "reg:gamma", "reg:tweedie")


def xgboost_outputs(data: bytes, feature_types: list[str]) -> Predict:
    """The predictions of a file, by XGBoost if it is installed."""
    if installed("xgboost") is not None:
        return lambda cells: _predicted(data, feature_types, cells)
    return lambda cells: _interpreted(XGBoostModel.read(data), cells)


def _predicted(data: bytes, feature_types: list[str], cells: Floats) -> Outputs:
    import xgboost

    booster = xgboost.Booster({"nthread": 1})
    try:
        booster.load_model(bytearray(data))
        rows = xgboost.DMatrix(
            cells.astype(np.float32),
            feature_names=booster.feature_names,
            feature_types=feature_types,
            enable_categorical=True,
            nthread=1,
        )
        numbers = np.asarray(booster.predict(rows), dtype=np.float64).reshape(len(cells), -1)
    except (xgboost.core.XGBoostError, ValueError) as error:
        raise ModelFileError(f"XGBoost refuses the model, so nothing was written: {error}") from error
    is_second = json.loads(data)["learner"]["objective"]["name"] == "binary:logistic"  # that of the first is implied
    return Outputs(np.hstack([1.0 - numbers, numbers]) if is_second else numbers)


def _interpreted(found: XGBoostModel, cells: Floats) -> Outputs:
    base, name = found.base, found.objective
    if name == "binary:logistic":
        base = np.log(base / (1.0 - base))
    elif name in LOG_LINKS:
        base = np.log(base)
    scores = (base[:, None] + found.margins(cells, len(found.trees))).T
    if name == "binary:logistic":
        second = 1.0 / (1.0 + np.exp(-scores))
        return Outputs(np.hstack([1.0 - second, second]))
    if name == "multi:softprob":
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        return Outputs(parts / parts.sum(axis=1, keepdims=True))
    return Outputs(np.exp(scores) if name in LOG_LINKS else scores)
