"""Rules of parameters that only estimators have: lists, objectives, estimators to start from."""

from __future__ import annotations

import ast
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sapwood.parameters import ArrayLike, CallableRule, Interval, Nothing, OneOf, Rule

_RATE = Interval(float, low=0)


@dataclass(frozen=True)
class Each(Rule):
    """A list or array of at least one item, each of which one of some rules accepts."""

    items: tuple[Rule, ...]
    plural: str
    may_be_empty: bool = False

    def accepts(self, value: object) -> bool:
        """Accept a sequence whose items are all legal."""
        if not ArrayLike().accepts(value) or not isinstance(value, (Collection, np.ndarray)):
            return False
        try:
            items = list(value)
        except Exception:  # a container may raise anything
            return False
        return (self.may_be_empty or bool(items)) and all(any(r.accepts(item) for r in self.items) for item in items)

    def describe(self) -> str:
        """Say what is in the list."""
        return f"a list of {self.plural}"


@dataclass(frozen=True)
class NotANumber(Rule):
    """NaN."""

    words: ClassVar[str] = "NaN"

    def accepts(self, value: object) -> bool:
        """Accept NaN only."""
        return isinstance(value, (float, np.floating)) and bool(np.isnan(value))


@dataclass(frozen=True)
class Written(Rule):
    """A list or mapping as text, as XGBoost takes constraints."""

    example: str

    def accepts(self, value: object) -> bool:
        """Accept text that is a Python literal of a list, tuple or dictionary."""
        if not isinstance(value, str):
            return False
        try:
            return isinstance(ast.literal_eval(value), (list, tuple, dict))
        except (ValueError, SyntaxError, MemoryError, RecursionError):
            return False

    def describe(self) -> str:
        """Show an example."""
        return f"text such as {self.example!r}"


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
class RatesByRound(ArrayLike):
    """Learning rates, one for each round."""

    words: ClassVar[str] = "a list of such numbers"

    def accepts(self, value: object) -> bool:
        """Accept a sequence that is not empty, of finite numbers of at least 0."""
        return super().accepts(value) and isinstance(value, Collection) and len(value) > 0 and all(map(_is_rate, value))


def _is_rate(value: object) -> bool:
    return _RATE.accepts(value)


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
