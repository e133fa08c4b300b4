"""The target of a counterfactual: another class, a certain class, or a number between two bounds.

The target is a set of margins, linear in the scores, of which all (or any) must be positive. The margins that leaves
contribute give bounds for whole sets of rows.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.adaboost.r2 import weighted_median
from sapwood.arrays import Array, Floats, Mask
from sapwood.elementary import log
from sapwood.errors import InputError
from sapwood.explain.model_output import prediction_values
from sapwood.model import Model
from sapwood.table.names import shorten
from sapwood.tree_sum import Term, TreeSum

_ROUNDING = 1e-7  # of sums in another order: a bound this close to zero decides nothing


@dataclass(frozen=True, eq=False)
class Margins:
    """`weights` (margins, score columns) and `offsets`: margin = weights @ scores + offset."""

    weights: Floats
    offsets: Floats
    any: bool = False

    def reached(self, margins: Floats) -> Mask:
        """Whether margins (margins, …) may mean that the target is reached, but for rounding."""
        enough = margins >= -_ROUNDING * (1.0 + np.abs(self.offsets).max(initial=0.0))
        return np.asarray(enough.any(axis=0) if self.any else enough.all(axis=0))

    def shortfall(self, margins: Floats) -> Floats:
        """How far margins are from the target, (margins, rows) to (rows,)."""
        missing = np.maximum(-margins, 0.0)
        return np.asarray(missing.min(axis=0) if self.any else missing.max(axis=0, initial=0.0))


@dataclass(frozen=True, eq=False)
class PredictionTarget:
    """The target for one model; `margins` are None where nothing follows from the scores."""

    is_met: Callable[[Any], Mask]  # by predictions
    shortfall: Callable[[Any], Floats]  # of rows
    margins: Margins | None
    description: str
    learner_weights: Floats | None = None  # if the prediction is a median of learners

    def possible(self, per_tree: Floats, base: Floats) -> bool:
        """Whether the target may be reached, from the largest margins of each tree, (trees, margins)."""
        assert self.margins is not None
        if self.learner_weights is None:
            return bool(self.margins.reached(per_tree.sum(axis=0) + base))
        signs = self.margins.weights[:, 0]  # the median of the largest values, and of the smallest
        return bool(self.margins.reached(signs * weighted_median(signs * per_tree, self.learner_weights) + base))

    def contributions(self, term: Term, divisor: float) -> Floats:
        """What the nodes of a tree add to the margins, (nodes, margins)."""
        assert self.margins is not None
        if self.learner_weights is not None:
            return term.values[:, :1] * self.margins.weights[:, 0]
        width = term.values.shape[1]
        return np.asarray(term.values @ self.margins.weights[:, term.column : term.column + width].T / divisor)

    def base(self, trees: TreeSum) -> Floats:
        """The margins before the first tree."""
        assert self.margins is not None
        is_median = self.learner_weights is not None
        own = np.zeros(len(self.margins.offsets)) if is_median else self.margins.weights @ trees.base
        return np.asarray(own / trees.divisor + self.margins.offsets)


def target_of(model: Model, before: object, target: Any) -> PredictionTarget:
    """The target that the user gave, for a row whose prediction is `before`."""
    make = _class_target if model.is_classifier else _number_target
    return make(model, prediction_values(before), target)


def _class_target(model: Model, before: tuple[Any, ...], target: Any) -> PredictionTarget:
    classes = [labels.tolist() for labels in model.classes]
    now = [labels.index(label) for labels, label in zip(classes, before, strict=True)]
    wanted = None if target is None else _wanted_codes(classes, target)
    if wanted == now:
        raise InputError(f"target={target!r} is what the model predicts already. Name another class.")
    if all(len(labels) < 2 for labels in classes):
        raise InputError("The model has only one class, so no change leads to another.")
    margins = _class_margins(model, now, wanted)
    labels_now, labels_wanted = (_labels(classes, codes) for codes in (now, wanted or now))

    def is_met(predictions: Array) -> Mask:
        found = np.asarray(predictions, dtype=object).reshape(-1, len(classes))  # objects: numpy cuts NULs off texts
        if wanted is None:
            return np.asarray((found != labels_now).any(axis=1))
        return np.asarray((found == labels_wanted).all(axis=1))

    def shortfall(X: object) -> Floats:
        return margins.shortfall(margins.weights @ model.scores(X))

    return PredictionTarget(is_met, shortfall, margins, "another class" if target is None else repr(target))


def _labels(classes: Sequence[list[Any]], codes: list[int]) -> Array:
    found = np.empty(len(codes), dtype=object)
    found[:] = [labels[k] for labels, k in zip(classes, codes, strict=True)]
    return found


def _wanted_codes(classes: Sequence[list[Any]], target: Any) -> list[int]:
    wanted = tuple(target) if len(classes) > 1 and isinstance(target, (tuple, list, np.ndarray)) else (target,)
    if len(wanted) != len(classes):
        raise InputError(
            f"target={target!r} must name one class for each of {len(classes)} outputs, or be None for any other."
        )
    for labels, label in zip(classes, wanted, strict=True):
        if label not in labels:
            raise InputError(f"target={target!r} is not one of the model's classes, which are {shorten(labels)}.")
    return [labels.index(label) for labels, label in zip(classes, wanted, strict=True)]


def _class_margins(model: Model, now: list[int], wanted: list[int] | None) -> Margins:
    """By how much one class is ahead of another."""
    n_columns = model.trees.n_columns
    if n_columns == 1:  # the score of the second of two classes
        towards = 1.0 - 2.0 * now[0] if wanted is None else 2.0 * wanted[0] - 1.0
        return Margins(np.array([[towards]]), np.zeros(1))
    rows = []
    for o, columns in enumerate(model.groups):
        for k in range(len(columns)):
            ahead, behind = (k, now[o]) if wanted is None else (wanted[o], k)
            if ahead != behind:
                row = np.zeros(n_columns)
                row[columns[ahead]], row[columns[behind]] = 1.0, -1.0
                rows.append(row)
    return Margins(np.array(rows), np.zeros(len(rows)), any=wanted is None)


def _number_target(model: Model, before: tuple[Any, ...], target: Any) -> PredictionTarget:
    low, high = _intervals(target, len(before))
    if all(a <= number <= b for number, a, b in zip(before, low, high, strict=True)):
        raise InputError(f"target={target!r} holds what the model predicts already. Name another interval.")

    def is_met(predictions: Array) -> Mask:
        found = np.asarray(predictions, dtype=np.float64).reshape(-1, len(low))
        return np.asarray(((found >= low) & (found <= high)).all(axis=1))

    def shortfall(X: object) -> Floats:
        found = model.predict(X).astype(np.float64).reshape(-1, len(low))
        return np.asarray(np.maximum(np.maximum(low - found, found - high), 0.0).max(axis=1))

    margins = _number_margins(model, low, high)
    return PredictionTarget(is_met, shortfall, margins, f"a number in {target!r}", model.response.weights)


def _intervals(target: Any, n_outputs: int) -> tuple[Floats, Floats]:
    if target is None:
        raise InputError(
            "target is None, but the model predicts numbers. Pass the bounds of the prediction that you want, for "
            "example target=(10, 20) or target=(10, None)."
        )
    try:
        pairs = [target] if n_outputs == 1 else list(target)
        low = np.array([-np.inf if a is None else float(a) for a, _ in pairs])
        high = np.array([np.inf if b is None else float(b) for _, b in pairs])
    except (TypeError, ValueError):
        low = high = np.empty(0)
    if len(low) != n_outputs or not (low <= high).all():
        raise InputError(
            f"target={target!r} must be a pair of increasing bounds (low, high), None for no bound"
            + ("." if n_outputs == 1 else f", for each of {n_outputs} outputs.")
        )
    return low, high


def _number_margins(model: Model, low: Floats, high: Floats) -> Margins | None:
    """Distances to the bounds, on the scale of the scores; None where predictions are not increasing in them."""
    n_columns = len(low)
    if model.response.kind == "sorted":
        return None
    if model.response.kind == "exponential":
        low, high = (_logarithm(bounds) for bounds in (low, high))
    ends = [(+1.0, o, -low[o]) for o in range(n_columns) if np.isfinite(low[o])]
    ends += [(-1.0, o, high[o]) for o in range(n_columns) if np.isfinite(high[o])]
    weights = np.zeros((len(ends), n_columns))
    for row, (sign, o, _) in enumerate(ends):
        weights[row, o] = sign
    return Margins(weights, np.array([offset for *_, offset in ends]))


def _logarithm(bounds: Floats) -> Floats:
    finite = np.isfinite(bounds)
    return np.where(finite, log(np.maximum(np.where(finite, bounds, 1.0), np.finfo(np.float64).tiny)), bounds)
