"""Single values that are not numbers: names, booleans, None, functions, estimators."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sapwood.parameters.rule import Rule
from sapwood.parameters.text import closest, listed


@dataclass(frozen=True, init=False)
class OneOf(Rule):
    """One of a few strings."""

    choices: tuple[str, ...]

    def __init__(self, *choices: str, remedy: str | None = None) -> None:
        object.__setattr__(self, "choices", choices)
        object.__setattr__(self, "remedy", remedy)

    def accepts(self, value: object) -> bool:
        """Accept exactly the listed strings."""
        return isinstance(value, str) and value in self.choices

    def describe(self) -> str:
        """List the strings."""
        return listed([repr(choice) for choice in self.choices], last=" or ")

    def nearest(self, value: object) -> object | None:
        """Return the string that was probably mistyped."""
        return closest(value, self.choices) if isinstance(value, str) else None


@dataclass(frozen=True)
class Flag(Rule):
    """True or False."""

    description: ClassVar[str] = "True or False"

    def accepts(self, value: object) -> bool:
        """Accept Python's and NumPy's booleans."""
        return isinstance(value, (bool, np.bool_))

    def nearest(self, value: object) -> object | None:
        """Read 0, 1, "true" and the like as booleans."""
        word = str(value).lower() if isinstance(value, (str, int)) else ""
        return {"0": False, "1": True, "false": False, "true": True}.get(word)


@dataclass(frozen=True)
class PathRule(Rule):
    """A path, as text or as a `Path`."""

    description: ClassVar[str] = "a path"

    def accepts(self, value: object) -> bool:
        """Accept what can be a path."""
        return isinstance(value, (str, os.PathLike))


@dataclass(frozen=True)
class Nothing(Rule):
    """None."""

    description: ClassVar[str] = "None"

    def accepts(self, value: object) -> bool:
        """Accept None only."""
        return value is None


@dataclass(frozen=True)
class NotANumber(Rule):
    """NaN."""

    description: ClassVar[str] = "NaN"

    def accepts(self, value: object) -> bool:
        """Accept NaN only."""
        return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


@dataclass(frozen=True)
class CallableRule(Rule):
    """A function."""

    description: ClassVar[str] = "a function"

    def accepts(self, value: object) -> bool:
        """Accept every callable."""
        return callable(value)


@dataclass(frozen=True)
class EstimatorRule(Rule):
    """An object with scikit-learn's methods."""

    description: ClassVar[str] = "an estimator with fit and predict"

    def accepts(self, value: object) -> bool:
        """Accept instances, not classes."""
        return hasattr(value, "fit") and hasattr(value, "predict") and not isinstance(value, type)


@dataclass(frozen=True)
class Folds(Rule):
    """A splitter of scikit-learn, or rows."""

    description: ClassVar[str] = "a scikit-learn splitter, or a list of pairs (train, test) of rows"

    def accepts(self, value: object) -> bool:
        """Accept what splits, and lists; what they hold is checked where it is used."""
        return (hasattr(value, "split") and hasattr(value, "get_n_splits")) or isinstance(value, (list, tuple))


@dataclass(frozen=True)
class Text(Rule):
    """A name, whose meaning is checked where it is used."""

    description: ClassVar[str] = "a name"

    def accepts(self, value: object) -> bool:
        """Accept every string."""
        return isinstance(value, str)


class Objective(OneOf):
    """The name of an objective."""

    meant: ClassVar[dict[str, str]] = {
        "reg:linear": "squared_error",
        "ls": "squared_error",
        "mse": "squared_error",
        "regression": "squared_error",
        "lad": "absolute_error",
        "mae": "absolute_error",
        "reg:pseudohubererror": "huber",
        "deviance": "log_loss",
        "binary": "log_loss",
        "multiclass": "log_loss",
        "binary:logitraw": "log_loss",
        "reg:logistic": "log_loss",
        "rank:pairwise": "rank:ndcg",
        "rank:map": "rank:ndcg",
        "ndcg": "rank:ndcg",
    }

    def nearest(self, value: object) -> object | None:
        """Return what other libraries' name stands for, or the name that was probably mistyped."""
        known = self.meant.get(value) if isinstance(value, str) else None
        return known if known in self.choices else super().nearest(value)


def objective_rule(names: str, remedy: str) -> tuple[Rule, ...]:
    """One of some names, separated by spaces, a function, or nothing."""
    return (Objective(*names.split(), remedy=remedy), CallableRule(), Nothing())


@dataclass(frozen=True)
class Beginner(Rule):
    """An estimator whose predictions the first stage starts from."""

    methods: tuple[str, ...] = ("fit", "predict")

    def accepts(self, value: object) -> bool:
        """Accept instances that have the methods."""
        return not isinstance(value, type) and all(callable(getattr(value, name, None)) for name in self.methods)

    def describe(self) -> str:
        """Name the methods."""
        return f"an estimator with {' and '.join(self.methods)}"
