"""Checks and classes of estimators, for packages that do not use `sapwood.model` yet."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood.arrays import Array
from sapwood.model.model import class_name, model_of
from sapwood.show.one_tree import OneTree

__all__ = ["OneTree", "class_name", "classes_by_output", "require_model"]


def require_model(model: object, argument: str = "model") -> None:
    """Raise unless it is a fitted model of the library."""
    model_of(model, argument)


def classes_by_output(estimator: Any) -> list[Array]:
    """Class labels of every output; empty for a regressor."""
    classes = getattr(estimator, "classes_", [])
    return [np.asarray(item) for item in classes] if isinstance(classes, list) else [np.asarray(classes)]
