"""What `show` and `plot` expect of a fitted estimator, and the check that it is one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import InputTypeError, NotFittedError
from sapwood.tree import Tree


class Column(Protocol):
    """What a model remembers of one column."""

    @property
    def name(self) -> str:
        """Name of the column."""

    @property
    def kind(self) -> str:
        """One of number, boolean, date, duration, category."""

    @property
    def levels(self) -> Sequence[Any] | None:
        """Values of a category column; code c stands for `levels[c]`."""

    @property
    def has_missing(self) -> bool:
        """Whether the column had missing values in training."""


class Matched(Protocol):
    """A table whose columns were matched to those of the training table."""

    def block(self, start: int, stop: int, /) -> NDArray[Any]:
        """Rows as floats: codes for categories, NaN for missing, -2 for an unseen level."""


class Schema(Protocol):
    """What a model remembers of its columns."""

    @property
    def columns(self) -> Sequence[Any]:
        """The columns, each a `Column`."""

    def match(self, rows: Any, /) -> Any:
        """Match new rows to the columns, giving a `Matched` table."""


class Fitted(Protocol):
    """A fitted single tree; `classes_` exists on classifiers only."""

    tree_: Tree
    schema_: Any
    criterion: Any


def require_fitted(estimator: Any) -> None:
    """Raise unless the estimator has a fitted tree."""
    owner = type(estimator).__name__
    if isinstance(estimator, type):
        raise InputTypeError(
            f"decision_tree is the class {estimator.__name__}, not a fitted model. Fit {estimator.__name__}() first."
        )
    if hasattr(estimator, "tree_") and hasattr(estimator, "schema_"):
        return
    if hasattr(estimator, "schema_"):
        raise InputTypeError(
            f"{owner} has many trees, but one is wanted. Pass one of them, such as estimators_[0] of a forest."
        )
    if hasattr(estimator, "fit"):
        raise NotFittedError(f"This {owner} is not fitted yet. Call fit(X, y) first.")
    raise InputTypeError(f"decision_tree is a {owner}, but must be a single fitted tree of Sapwood.")


def is_classifier(estimator: Any) -> bool:
    """Say whether the estimator predicts classes."""
    return hasattr(estimator, "classes_")


def classes_by_output(estimator: Any) -> list[NDArray[Any]]:
    """Class labels of every output; empty for a regressor."""
    if not is_classifier(estimator):
        return []
    classes = estimator.classes_
    return [np.asarray(item) for item in classes] if isinstance(classes, list) else [np.asarray(classes)]
