"""What a prediction should become: another class, a certain class, or a number between two bounds.

The goal is a set of margins, linear in the scores, of which all (or any) must be positive. From the margins that leaves
contribute follow bounds for whole sets of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.adaboost.r2 import weighted_median
from sapwood.errors import InputError
from sapwood.explain.column_numbers import is_sum, plain
from sapwood.show.fitted import classes_by_output
from sapwood.table.names import shorten
from sapwood.tree_sum import Term, TreeSum

Floats = NDArray[np.float64]
_ROUNDING = 1e-7  # of sums in another order: a bound this close to zero decides nothing


@dataclass(frozen=True, eq=False)
class Margins:
    """`weights` (margins, score columns) and `offsets`: margin = weights @ scores + offset."""

    weights: Floats
    offsets: Floats
    any: bool = False

    def reached(self, margins: Floats) -> NDArray[np.bool_]:
        """Whether margins (margins, …) may mean that the goal is reached, but for rounding."""
        enough = margins >= -_ROUNDING * (1.0 + np.abs(self.offsets).max(initial=0.0))
        return np.asarray(enough.any(axis=0) if self.any else enough.all(axis=0))

    def shortfall(self, margins: Floats) -> Floats:
        """How much is lacking, (margins, rows) to (rows,)."""
        lacking = np.maximum(-margins, 0.0)
        return np.asarray(lacking.min(axis=0) if self.any else lacking.max(axis=0, initial=0.0))


@dataclass(frozen=True, eq=False)
class Goal:
    """The goal for one model; `margins` are None where nothing follows from the scores."""

    wants: Callable[[Any], NDArray[np.bool_]]  # predictions to whether they will do
    lacks: Callable[[Any], Floats]  # rows to how far they are from it
    margins: Margins | None
    words: str
    say: Floats | None = None  # weights of learners whose median is the prediction

    def possible(self, per_tree: Floats, base: Floats) -> bool:
        """Whether the goal may be reached, from the largest margins of each tree, (trees, margins)."""
        assert self.margins is not None
        if self.say is None:
            return bool(self.margins.reached(per_tree.sum(axis=0) + base))
        signs = self.margins.weights[:, 0]  # the median of the largest values, and of the least
        return bool(self.margins.reached(signs * weighted_median(signs * per_tree, self.say) + base))

    def contributions(self, term: Term, divisor: float) -> Floats:
        """What the nodes of a tree add to the margins, (nodes, margins)."""
        assert self.margins is not None
        if self.say is not None:
            return term.values[:, :1] * self.margins.weights[:, 0]
        width = term.values.shape[1]
        return np.asarray(term.values @ self.margins.weights[:, term.column : term.column + width].T / divisor)

    def base(self, tree_sum: TreeSum) -> Floats:
        """The margins before any tree."""
        assert self.margins is not None
        own = np.zeros(len(self.margins.offsets)) if self.say is not None else self.margins.weights @ tree_sum.base
        return np.asarray(own / tree_sum.divisor + self.margins.offsets)


def goal_of(model: Any, before: Any, target: Any) -> Goal:
    """What is to be reached from the prediction `before`, a class or number, or a tuple of them."""
    classes = classes_by_output(model)
    if classes:
        return _class_goal(model, classes, before if isinstance(before, tuple) else (before,), target)
    return _number_goal(model, before if isinstance(before, tuple) else (before,), target)


def _class_goal(model: Any, classes: list[NDArray[Any]], before: tuple[Any, ...], target: Any) -> Goal:
    now = [_code(labels, label) for labels, label in zip(classes, before, strict=True)]
    wanted = None if target is None else _wanted_codes(classes, target)
    if wanted == now:
        raise InputError(f"target={target!r} is what the model predicts already. Ask for another class.")
    if all(len(labels) < 2 for labels in classes):
        raise InputError("The model knows one class only, so that no change leads to another.")
    margins = _class_margins(model, [len(labels) for labels in classes], now, wanted)
    labels_now = np.array([labels[k] for labels, k in zip(classes, now, strict=True)], dtype=object)
    labels_wanted = None
    if wanted is not None:
        labels_wanted = np.array([labels[k] for labels, k in zip(classes, wanted, strict=True)], dtype=object)

    def wants(predicted: Any) -> NDArray[np.bool_]:
        said = np.asarray(predicted, dtype=object).reshape(-1, len(classes))  # objects: numpy cuts NULs off texts
        if labels_wanted is None:
            return np.asarray((said != labels_now).any(axis=1))
        return np.asarray((said == labels_wanted).all(axis=1))

    def lacks(X: Any) -> Floats:
        return margins.shortfall(margins.weights @ model._scores(X))

    words = "another class" if target is None else repr(target)
    return Goal(wants, lacks, margins, words)


def _code(labels: NDArray[Any], label: Any) -> int:
    return int(labels.tolist().index(plain(label)))


def _wanted_codes(classes: list[NDArray[Any]], target: Any) -> list[int]:
    wanted = tuple(target) if len(classes) > 1 and isinstance(target, (tuple, list, np.ndarray)) else (target,)
    if len(wanted) != len(classes):
        raise InputError(
            f"target={target!r} must name one class for each of {len(classes)} outputs, or be None for any other."
        )
    for labels, label in zip(classes, wanted, strict=True):
        if label not in labels.tolist():
            known = shorten(labels.tolist())
            raise InputError(f"target={target!r} is not one of the model's classes, which are {known}.")
    return [_code(labels, label) for labels, label in zip(classes, wanted, strict=True)]


def _class_margins(model: Any, sizes: list[int], now: list[int], wanted: list[int] | None) -> Margins:
    """By how much one class is ahead of another."""
    n_columns = len(model._score_names())
    if n_columns == 1:  # the score of the second of two classes
        towards = 1.0 - 2.0 * now[0] if wanted is None else 2.0 * wanted[0] - 1.0
        return Margins(np.array([[towards]]), np.zeros(1))
    width, rows = n_columns // len(sizes), []
    for o, size in enumerate(sizes):
        for k in range(size):
            ahead, behind = (k, now[o]) if wanted is None else (wanted[o], k)
            if ahead != behind:
                row = np.zeros(n_columns)
                row[o * width + ahead], row[o * width + behind] = 1.0, -1.0
                rows.append(row)
    return Margins(np.array(rows), np.zeros(len(rows)), any=wanted is None)


def _number_goal(model: Any, before: tuple[Any, ...], target: Any) -> Goal:
    low, high = _intervals(target, len(before))
    inside = [a <= number <= b for number, a, b in zip(before, low, high, strict=True)]
    if all(inside):
        raise InputError(f"target={target!r} holds what the model predicts already. Ask for another interval.")

    def wants(predicted: Any) -> NDArray[np.bool_]:
        said = np.asarray(predicted, dtype=np.float64).reshape(-1, len(low))
        return np.asarray(((said >= low) & (said <= high)).all(axis=1))

    def lacks(X: Any) -> Floats:
        said = np.asarray(model.predict(X), dtype=np.float64).reshape(-1, len(low))
        return np.asarray(np.maximum(np.maximum(low - said, said - high), 0.0).max(axis=1))

    say = model._median_weights()
    return Goal(wants, lacks, _number_margins(model, low, high), f"a number in {target!r}", say)


def _intervals(target: Any, n_outputs: int) -> tuple[Floats, Floats]:
    if target is None:
        raise InputError(
            "target is None, but the model predicts numbers: say between which bounds the prediction should be, for "
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


def _number_margins(model: Any, low: Floats, high: Floats) -> Margins | None:
    """Distances to the bounds, on the scale of the scores; None where predictions are not increasing in them."""
    n_columns = len(low)
    if is_sum(model) and not model._answers_in_scores:
        if len(model._score_names()) > 1:
            return None
        low, high = (_linked(model.loss_, bounds) for bounds in (low, high))
    ends = [(+1.0, o, -low[o]) for o in range(n_columns) if np.isfinite(low[o])]
    ends += [(-1.0, o, high[o]) for o in range(n_columns) if np.isfinite(high[o])]
    weights = np.zeros((len(ends), n_columns))
    for row, (sign, o, _) in enumerate(ends):
        weights[row, o] = sign
    return Margins(weights, np.array([offset for *_, offset in ends]))


def _linked(loss: Any, bounds: Floats) -> Floats:
    finite = np.isfinite(bounds)
    return np.where(finite, loss.link(np.where(finite, bounds, 1.0)[:, None])[:, 0], bounds)
