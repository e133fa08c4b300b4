"""Checks of what pictures are drawn of: models, true and predicted classes, and results."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputError, InputTypeError, NotFittedError
from sapwood.model import Model
from sapwood.table.names import shorten


def as_labels(argument: str, y: Any) -> list[Any]:
    """One class for each row."""
    if y is None:
        raise InputError(f"{argument}=None is not allowed: give the true class of each row.")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1 or not len(labels):
        raise InputError(f"{argument} has the shape {labels.shape}, but must have one class for each row.")
    return list(labels.tolist())


def check_length(name: str, count: int, other: str, expected: int) -> None:
    """Raise unless two lists have the same length."""
    if count != expected:
        raise InputError(f"{name} has {count} values, but {other} has {expected} rows. Give one value per row.")


def classes_of(model: Any, method: str) -> list[Any]:
    """Classes of a fitted classifier of one target that has this method; it may be of another library."""
    owner = type(model).__name__
    if isinstance(model, type):
        raise InputTypeError(f"model is the class {model.__name__}, not a fitted model. Fit {model.__name__}() first.")
    found = list(model.classes) if isinstance(model, Model) else getattr(model, "classes_", [])
    by_target = found if isinstance(found, list) else [found]
    if not by_target:
        if hasattr(model, "fit") and not hasattr(model, "n_features_in_"):
            raise NotFittedError(f"This {owner} is not fitted yet. Call fit(X, y) first.")
        raise InputTypeError(f"model is a {owner}, but must be a fitted classifier.")
    if len(by_target) > 1:
        raise InputError(
            f"This {owner} predicts {len(by_target)} targets, but a picture shows one. Fit a model to one of them."
        )
    if not hasattr(model, method):
        raise InputTypeError(f"model is a {owner} without {method}. Give a classifier that has it.")
    return list(by_target[0].tolist())


def require_estimator(argument: str, model: object, kind: str) -> None:
    """Raise unless it is an object with `fit`: a Model keeps nothing of its training."""
    if isinstance(model, Model):
        raise InputTypeError(f"{argument} is a Model, which has no record of its training. Give the estimator itself.")
    if isinstance(model, type) or not hasattr(model, "fit"):
        found = f"the class {model.__name__}" if isinstance(model, type) else f"a {type(model).__name__}"
        raise InputTypeError(f"{argument} is {found}, but must be a {kind}.")


def require_known(argument: str, labels: Sequence[Any], classes: Sequence[Any]) -> None:
    """Raise if a label is not one of the model's classes: the picture would count false errors."""
    known = set(classes)
    unknown = [label for label in dict.fromkeys(labels) if label not in known]
    if unknown:
        raise InputError(
            f"{argument} has classes that the model does not know: {shorten(unknown)}. Its classes are "
            f"{shorten(classes)}. Leave out these rows, or fit the model to all classes."
        )


def positions(labels: Sequence[Any], classes: Sequence[Any]) -> NDArray[np.intp]:
    """Positions of labels among the classes; every label is one of them."""
    place = {label: index for index, label in enumerate(classes)}
    return np.array([place[label] for label in labels], dtype=np.intp)


def require_parts(argument: str, result: object, names: Sequence[str], remedy: str) -> None:
    """Raise unless the result has all of these attributes."""
    missing = [name for name in names if not hasattr(result, name)]
    if missing:
        raise InputTypeError(f"{argument} is a {type(result).__name__} without {', '.join(missing)}. {remedy}")
