"""Every estimator on every kind of columns and targets comes back from a file as it was."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from file_cases import assert_same_model, assert_same_predictions, trip
from saved_models import matrix, numbers
from sklearn.base import is_classifier

import sapwood as sw
from model_cases import frame, signal
from sapwood.estimators.model_file import ESTIMATORS

SMALL = {"n_estimators": 2, "max_depth": 3, "random_state": 0, "n_jobs": 1}
ONE_OUTPUT = ("AdaBoost", "Newton", "Gradient")


@cache
def columns(kind: str, seed: int) -> Any:
    return frame(80, seed) if kind == "categories" else matrix(80, seed, missing=kind == "missing")


def targets(X: Any) -> dict[str, Any]:
    y = numbers(X) if isinstance(X, np.ndarray) else signal(X)
    labels = np.digitize(y, np.quantile(y, [0.3, 0.7]))
    names = np.array(["low", "mid", "top"])
    return {
        "numbers": y,
        "two classes": labels > 0,
        "three classes": names[labels],
        "two outputs of numbers": np.column_stack([y, y**2]),
        "two outputs of classes": np.column_stack([labels > 0, labels]).astype(np.int64),
    }


def cases() -> list[tuple[str, str, str]]:
    found = []
    for name, cls in ESTIMATORS.items():
        wanted = "classes" if is_classifier(cls()) else "numbers"
        own = [target for target in targets(columns("plain", 0)) if target.endswith(wanted)]
        if name.startswith(ONE_OUTPUT):
            own = [target for target in own if "outputs" not in target]
        found += [(name, kind, target) for kind in ("plain", "missing", "categories") for target in own]
    return found


@pytest.mark.parametrize(("name", "kind", "target"), cases())
def test_an_estimator_comes_back_as_it_was(name: str, kind: str, target: str, tmp_path: Path) -> None:
    cls, X = ESTIMATORS[name], columns(kind, 0)
    y = targets(X)[target]
    y = np.digitize(y, np.quantile(y, [0.5])) if name == "NewtonBoostingRanker" else y
    known = cls._get_param_names()
    model = cls(**{key: value for key, value in SMALL.items() if key in known}).fit(X, y)
    form = "json" if kind == "missing" else "binary"
    assert_same_model(model, trip(model, tmp_path, form), columns(kind, 1))
    assert_same_predictions(model, sw.load_model(tmp_path / f"model.{form}"), columns(kind, 1))
