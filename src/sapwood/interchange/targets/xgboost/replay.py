"""What XGBoost says of rows; without XGBoost, what its format means, step by step in float32."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError
from sapwood.interchange.targets.replay import Answers

Floats = NDArray[np.float64]


def has_xgboost() -> bool:
    """Whether XGBoost is installed."""
    return find_spec("xgboost") is not None


def xgboost_answers(data: bytes, feature_types: list[str]) -> Callable[[Floats], Answers]:
    """How to ask a model; by XGBoost if it is installed."""
    if has_xgboost():
        return lambda cells: _predicted(data, feature_types, cells)
    return lambda cells: _interpreted(json.loads(data), cells)


def _predicted(data: bytes, feature_types: list[str], cells: Floats) -> Answers:
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
        said = np.asarray(booster.predict(rows), dtype=np.float64)
    except (xgboost.core.XGBoostError, ValueError) as error:
        raise ModelFileError(f"XGBoost refuses the model, so nothing was written: {error}") from error
    return Answers(_both_classes(said.reshape(len(cells), -1), json.loads(data)["learner"]["objective"]["name"]))


def _both_classes(said: Floats, objective: str) -> Floats:
    """XGBoost says only the probability of the second class."""
    return np.hstack([1.0 - said, said]) if objective == "binary:logistic" else said


def _interpreted(document: dict[str, Any], cells: Floats) -> Answers:
    learner = document["learner"]
    model, name = learner["gradient_booster"]["model"], learner["objective"]["name"]
    base = np.array(json.loads(learner["learner_model_param"]["base_score"]), dtype=np.float32)
    scores = np.tile(_link(base, name), (len(cells), 1))
    rows = cells.astype(np.float32)
    for tree, column in zip(model["trees"], model["tree_info"], strict=True):
        scores[:, column] += _leaves(tree, rows)
    return Answers(_both_classes(_response(scores, name).astype(np.float64), name))


def _leaves(tree: dict[str, Any], rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """What the leaves of the rows say."""
    listed = zip(tree["categories_nodes"], tree["categories_segments"], tree["categories_sizes"], strict=True)
    right = {node: set(tree["categories"][start : start + size]) for node, start, size in listed}
    values = np.array(tree["split_conditions"], dtype=np.float32)
    return np.array([values[_leaf(tree, right, values, row)] for row in rows.tolist()], dtype=np.float32)


def _leaf(tree: dict[str, Any], right: dict[int, set[int]], values: NDArray[np.float32], row: list[float]) -> int:
    node = 0
    while tree["left_children"][node] >= 0:
        x = row[tree["split_indices"][node]]
        if math.isnan(x):
            goes_left = bool(tree["default_left"][node])
        elif node in right:
            goes_left = int(x) not in right[node]
        else:
            goes_left = bool(x < values[node])
        node = tree["left_children" if goes_left else "right_children"][node]
    return int(node)


def _link(base: NDArray[np.float32], name: str) -> NDArray[np.float32]:
    if name == "binary:logistic":
        return np.log(base / (np.float32(1.0) - base))
    return np.log(base) if name in ("count:poisson", "reg:gamma", "reg:tweedie") else base


def _response(scores: NDArray[np.float32], name: str) -> NDArray[Any]:
    if name == "binary:logistic":
        return np.asarray(1.0 / (1.0 + np.exp(-scores)))
    if name == "multi:softprob":
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        return np.asarray(parts / parts.sum(axis=1, keepdims=True))
    return np.exp(scores) if name in ("count:poisson", "reg:gamma", "reg:tweedie") else scores
