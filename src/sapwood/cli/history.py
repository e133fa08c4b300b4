"""What was measured while a model was trained: curves, their best rounds, and how they look in a line of text."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

_BLOCKS = "▁▂▃▄▅▆▇█"
_WIDTH = 40  # characters of a curve


@dataclass(frozen=True)
class Curve:
    """A measure after each round, tree or learner; `first` is the number of the first one that was measured."""

    rows: str
    measure: str
    values: tuple[float, ...]
    first: int = 1
    best_place: int | None = None

    @property
    def best_round(self) -> int | None:
        """Number of the best round, counted from 1."""
        return None if self.best_place is None else self.first + self.best_place

    @property
    def best(self) -> float:
        """The measure in the best round."""
        return math.nan if self.best_place is None else self.values[self.best_place]


def curves(model: Any) -> list[Curve]:
    """All curves that a fitted model keeps."""
    return [*_of_boosting(model), *_of_others(model)]


def sketch(values: Sequence[float]) -> str:
    """A curve as a row of blocks, the highest value as a full one; spaces where nothing was measured."""
    held = np.asarray(values, dtype=np.float64)
    if len(held) > _WIDTH:
        held = held[np.linspace(0, len(held) - 1, _WIDTH).round().astype(int)]
    finite = held[np.isfinite(held)]
    if len(finite) == 0:
        return ""
    low, span = finite.min(), float(np.ptp(finite)) or 1.0
    return "".join(_BLOCKS[round(7 * (value - low) / span)] if math.isfinite(value) else " " for value in held)


def _of_boosting(model: Any) -> Iterator[Curve]:
    """Rounds of a model that was continued were not measured."""
    history = getattr(model, "evals_result_", {})
    for rows, by_measure in history.items():
        for measure, values in by_measure.items():
            first = model.ensemble_.n_rounds - len(values) + 1
            decides = rows == list(history)[-1] and measure == list(by_measure)[-1]
            chosen = getattr(model, "best_iteration_", None) if decides else None
            best = _best_place(values, measure) if chosen is None else int(chosen) + 1 - first
            yield Curve(rows, measure, tuple(values), first, best)


def _of_others(model: Any) -> Iterator[Curve]:
    for name, measure in (("oob_scores_", "loss"), ("oob_curve_", "error")):
        found = np.asarray(getattr(model, name, ()), dtype=np.float64)
        # A stage that was not measured, before warm_start, has the loss 0
        values = tuple(np.where((found == 0.0) & (measure == "loss"), np.nan, found).tolist())
        if values:
            yield Curve("out of bag", measure, values, 1, _best_place(values, measure))
    if hasattr(model, "estimator_errors_"):  # of one learner each: none of them is the best round
        yield Curve("each learner", "weighted error", tuple(model.estimator_errors_[: len(model._tree_sum())].tolist()))


def _best_place(values: Sequence[float], measure: str) -> int | None:
    """The first place of the best value; None if nobody knows whether more is better."""
    from sapwood.metrics.names import larger_is_better

    larger = larger_is_better(measure)
    numbers = np.asarray(values, dtype=np.float64)
    if larger is None or not np.isfinite(numbers).any():
        return None
    return int(np.nanargmax(numbers) if larger else np.nanargmin(numbers))
