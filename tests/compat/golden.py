"""Golden files: what is kept of a model beside its file, and what it is asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parent / "v1"
# No probabilities of boosting: exponentials differ in the last bit between processors
QUESTIONS = ("predict", "predict_proba", "decision_function", "apply", "predict_quantiles", "predict_interval")


def rows_from(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """A frame of numbers, truth values and texts; None is missing."""
    return pd.DataFrame({name: pd.Series(values, dtype=_type(values)) for name, values in columns.items()})


def _type(values: list[Any]) -> Any:
    kinds = {type(value) for value in values if value is not None}
    return object if kinds == {str} else bool if kinds == {bool} else float


def answers(model: Any, X: pd.DataFrame) -> dict[str, Any]:
    """What a model says of rows, as JSON: numbers by their bits."""
    softmax = hasattr(model, "ensemble_") or type(model).__name__ == "AdaBoostClassifier"
    found = {}
    for name in QUESTIONS:
        known = name != "predict_quantiles" or getattr(model, "keep_targets", False)
        known = known and (name != "predict_interval" or hasattr(model, "_oob_residuals"))
        if hasattr(model, name) and known and not (softmax and name == "predict_proba"):
            options = {"coverage": 0.5} if name == "predict_interval" else {}
            found[name] = told(getattr(model, name)(X, **options))
    return found


def told(value: Any) -> Any:
    """Numbers as hexadecimal texts, in lists."""
    if isinstance(value, (list, np.ndarray)):
        return [told(item) for item in (value.tolist() if isinstance(value, np.ndarray) else value)]
    return value.hex() if isinstance(value, float) else value


def expected() -> dict[str, Any]:
    """All that the files must say, by their names."""
    found: dict[str, Any] = json.loads((FOLDER / "expected.json").read_text())
    return found
