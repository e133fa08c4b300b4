"""What a model's measures were after every round of its training."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.counted import counted
from sapwood.errors import InputError, InputTypeError
from sapwood.keywords import answering
from sapwood.model import model_of
from sapwood.parameters import OneOf, check_parameters
from sapwood.plot.boosting_cv import plot_boosting_cv
from sapwood.plot.checks import require_estimator
from sapwood.plot.short_text import shortened
from sapwood.plot.style import DASHES, FAINT, SIZE, Axes, draw_grid, label_axes, mark_best, mark_chosen, new_axes, style
from sapwood.show.colour import class_colours
from sapwood.show.number import grouped_number

_TRAIN = "train"
_STAGES = {_TRAIN: "train_score_", "out of bag": "oob_scores_", "validation": "validation_score_"}
_LONGEST_NAME = 30


@answering
def plot_learning_curves(model: Any, metric: str | None = None, ax: Axes | None = None) -> Axes:
    """Draw what was measured after every round, mark the best and the last round that prediction uses; return the Axes.

    Args:
        model: a fitted boosting model with an evaluation set, a gradient boosting model, an AdaBoost model (the
            weighted errors of its learners), or the result of `cross_validate_boosting`.
        metric: which of the metrics; by default the last, which decides about early stopping.
        ax: Axes to draw on; None makes a new figure.
    """
    if hasattr(model, "test_curve"):
        check_parameters("this result", {"metric": (OneOf(model.metric),)}, {"metric": metric or model.metric})
        return plot_boosting_cv(model, ax=ax)
    curves = _curves(model, metric)
    with style():
        ax = new_axes(ax, SIZE)
        _draw_curves(ax, curves)
        _draw_marks(ax, curves)
        label_axes(ax, curves.unit, curves.label)
        draw_grid(ax, "y")
        ax.legend(loc="best")
    return ax


@dataclass(frozen=True)
class _Curves:
    """`first` is the number of rounds after the first entry; the last curve decides.

    `best` and `used` are places in the curves: of the best round, and of the last one that prediction uses.
    """

    lines: tuple[tuple[str, Floats], ...]
    label: str
    first: int = 1
    best: int | None = None
    used: int | None = None
    guess: float | None = None
    unit: str = "rounds"


def _curves(model: Any, metric: str | None) -> _Curves:
    require_estimator("model", model, "fitted model of boosting, or the result of cross_validate_boosting")
    if hasattr(model, "train_score_"):
        return _of_stages(model, metric)
    if hasattr(model, "estimator_errors_"):
        return _of_learners(model, metric)
    if getattr(model, "evals_result_", None):
        return _of_history(model, metric)
    raise _refusal(model)


def _refusal(model: Any) -> Exception:
    owner = type(model).__name__
    if hasattr(model, "evals_result_"):
        return InputError(
            f"This {owner} has no curves, since nothing was measured in training. Pass eval_set=[(X, y)] to fit, or "
            "set validation_fraction=0.1."
        )
    model_of(model)
    remedy = "Use plot_oob_curve." if hasattr(model, "oob_curve_") else "Give a model of boosting."
    return InputTypeError(f"model is a {owner}, which is not trained in rounds. {remedy}")


def _check_metric(model: Any, metric: str | None, known: list[str]) -> str:
    check_parameters(f"this {type(model).__name__}", {"metric": (OneOf(*known),)}, {"metric": metric or known[-1]})
    return metric or known[-1]


def _of_history(model: Any, metric: str | None) -> _Curves:
    history = model.evals_result_
    deciding = list(history)[-1]
    known = list(history[deciding])
    chosen = _check_metric(model, metric, known)
    lines = tuple((rows, np.asarray(curves[chosen], dtype=np.float64)) for rows, curves in history.items())
    # Rounds of the model that was continued were not measured
    first = int(model.n_estimators_) - len(lines[-1][1]) + 1
    best = getattr(model, "best_iteration_", None) if chosen == known[-1] else None
    place = None if best is None else int(best) - (first - 1)
    return _Curves(lines, chosen, first, place, int(model.best_n_rounds_) - first)


def _of_stages(model: Any, metric: str | None) -> _Curves:
    _check_metric(model, metric, ["loss"])
    lines = []
    for name, attribute in _STAGES.items():
        curve = getattr(model, attribute, None)
        if curve is not None:
            # A stage that was not measured, before warm_start, has the loss 0
            numbers = np.asarray(curve, dtype=np.float64)
            lines.append((name, numbers if name == _TRAIN else np.where(numbers == 0.0, np.nan, numbers)))
    last = lines[-1][1]
    watched = len(lines) > 1 and bool(np.isfinite(last).any())
    best = int(np.nanargmin(last)) if watched else None
    return _Curves(tuple(lines), f"loss ({model.loss_.name.replace('_', ' ')})", 1, best, len(last) - 1)


def _of_learners(model: Any, metric: str | None) -> _Curves:
    _check_metric(model, metric, ["error"])
    errors = np.asarray(model.estimator_errors_, dtype=np.float64)[: len(model.estimators_)]
    guess = 1 - 1 / len(model.classes_) if hasattr(model, "classes_") else None
    return _Curves((("each learner", errors),), "weighted error", guess=guess, unit="learners")


def _draw_curves(ax: Axes, curves: _Curves) -> None:
    watched = [name for name, _ in curves.lines if name != _TRAIN]
    # The curve that decides has the first colour
    colour_of = dict(zip(reversed(watched), class_colours(len(watched)), strict=True)) | {_TRAIN: FAINT}
    for name, curve in curves.lines:
        rounds = np.arange(curves.first, curves.first + len(curve))
        marker = "o" if np.isfinite(curve).sum() == 1 else None  # a single point makes no line
        label = shortened(name, _LONGEST_NAME)
        ax.plot(rounds, curve, color=colour_of[name], linewidth=1.6, marker=marker, label=label, zorder=2)
    if curves.guess is not None:
        label = "no better than guessing"
        ax.axhline(curves.guess, color=FAINT, linewidth=1.0, linestyle=DASHES, label=label, zorder=1)


def _draw_marks(ax: Axes, curves: _Curves) -> None:
    """Mark the best round, and the last one used unless it is the same."""
    curve = curves.lines[-1][1]
    if curves.best is not None and curves.best != curves.used:
        mark_best(ax, curves.first + curves.best, curve[curves.best], f"best: {_describe(curves, curves.best)}")
    if curves.used is not None:
        chosen = "chosen" if curves.best == curves.used else "used"
        mark_chosen(ax, curves.first + curves.used, curve[curves.used], f"{chosen}: {_describe(curves, curves.used)}")


def _describe(curves: _Curves, place: int) -> str:
    return f"{counted(curves.first + place, 'round')}, {grouped_number(curves.lines[-1][1][place], 4)}"
