"""What `show` and `plot` expect of a fitted estimator, and the check that it is one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
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
    owner = class_name(estimator)
    if isinstance(estimator, type):
        raise InputTypeError(
            f"decision_tree is the class {estimator.__name__}, not a fitted model. Fit {estimator.__name__}() first."
        )
    if hasattr(estimator, "tree_") and hasattr(estimator, "schema_"):
        return
    if hasattr(estimator, "schema_"):
        raise InputTypeError(
            f"{owner} has many trees, but one is wanted. Use sapwood.explain.decision_path(model, row), which takes "
            "any model."
        )
    if hasattr(estimator, "_tree_sum"):
        raise NotFittedError(f"This {owner} is not fitted yet. Call fit(X, y) first.")
    raise InputTypeError(f"decision_tree is a {owner}, but must be a single fitted tree of Sapwood.")


def require_model(model: Any, argument: str = "model") -> None:
    """Raise unless it is a fitted model of the library, of one tree or many."""
    owner = class_name(model)
    if isinstance(model, type):
        raise InputTypeError(
            f"{argument} is the class {model.__name__}, not a fitted model. Fit {model.__name__}() first."
        )
    if hasattr(model, "schema_"):
        return
    if hasattr(model, "_tree_sum"):
        raise NotFittedError(f"This {owner} is not fitted yet. Call fit(X, y) first.")
    hint = " Pass its last step, and X as that step gets it." if hasattr(model, "steps") else ""
    raise InputTypeError(
        f"{argument} is a {owner}, but must be a fitted model of Sapwood, such as sapwood.RandomForestClassifier.{hint}"
    )


def class_name(thing: Any) -> str:
    """Name of a thing's class; that of another library with its module, since many share their names with ours."""
    kind = type(thing)
    public = [part for part in kind.__module__.split(".") if not part.startswith("_")]
    return kind.__name__ if public[:1] in (["builtins"], ["sapwood"]) else ".".join([*public, kind.__name__])


@dataclass(frozen=True)
class OneTree:
    """A tree, the columns it asks about and the classes it names: all that words need, wherever the tree stands."""

    tree: Tree
    schema: Any
    classes: list[NDArray[Any]] = field(default_factory=list)  # of every output; none if it says numbers
    unseen: str = "missing"

    @classmethod
    def of(cls, estimator: Any) -> OneTree:
        """The tree of a fitted single-tree estimator."""
        require_fitted(estimator)
        unseen = getattr(estimator, "unseen", "missing")
        return cls(estimator.tree_, estimator.schema_, classes_by_output(estimator), unseen)

    def codes(self, table: Any) -> NDArray[np.float64]:
        """The first row of a table as this tree sees it: level numbers, NaN for missing, -2 for an unseen level."""
        policy = {} if self.unseen == "missing" else {"unseen": self.unseen}
        block = self.schema.match(table, **policy).block(0, 1)
        return np.asarray(block[0], dtype=np.float64)


def is_classifier(estimator: Any) -> bool:
    """Say whether the estimator predicts classes."""
    return hasattr(estimator, "classes_")


def classes_by_output(estimator: Any) -> list[NDArray[Any]]:
    """Class labels of every output; empty for a regressor."""
    if not is_classifier(estimator):
        return []
    classes = estimator.classes_
    return [np.asarray(item) for item in classes] if isinstance(classes, list) else [np.asarray(classes)]
