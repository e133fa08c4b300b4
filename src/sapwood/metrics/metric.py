"""What a metric is: a number that measures how good predictions are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import InputError

Floats = NDArray[np.float64]
Target = Array  # numbers, or codes of classes
Groups = NDArray[np.int64]  # numbers of rows of the queries, in the order of the rows
MetricFunction = Callable[[Target, Floats, Floats | None, Groups | None], float]
RowLosses = Callable[[Target, Floats], Floats]

NUMBERS, QUANTILES, TARGETS, TWO_CLASSES, CLASSES, RANKINGS = (
    "numbers",
    "several quantiles",
    "several targets",
    "two classes",
    "more than two classes",
    "rankings",
)
"""What a model may predict."""
EVERY_KIND = frozenset({NUMBERS, QUANTILES, TARGETS, TWO_CLASSES, CLASSES, RANKINGS})


@dataclass(frozen=True)
class Metric:
    """`function(y, prediction, weight, groups)` of responses (n,) or (K, n), or of scores if `uses_score`."""

    name: str
    larger_is_better: bool
    function: MetricFunction
    uses_score: bool = False
    decides: bool = False
    """Whether it uses predicted classes, not probabilities."""
    kinds: frozenset[str] = EVERY_KIND
    """What a model must predict for the number to mean something."""
    knows_direction: bool = True
    """Whether `larger_is_better` is known, not assumed."""


@dataclass(frozen=True)
class MeanOfRows:
    """The weighted mean of a loss of each row, or a function of that mean."""

    name: str
    rows: RowLosses
    finish: Callable[[float], float] = float
    many: bool = False
    """Whether rows of several predictions, (K, n), are understood."""

    def of_targets(self) -> MeanOfRows:
        """The same of several targets, (n, K): a row's loss is the mean of those of its targets."""
        return replace(self, rows=partial(_mean_of_targets, self.rows), many=True)

    def __call__(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        """Σ w loss / Σ w, finished."""
        del groups  # not used
        given = prediction if self.many else single(self.name, prediction)
        return self.of_losses(self.rows(y, given), weight)

    def of_losses(self, losses: Floats, weight: Floats | None) -> float:
        """The same of rows whose losses are known."""
        return self.finish(mean(losses, weight))


def _mean_of_targets(rows: RowLosses, y: Target, prediction: Floats) -> Floats:
    total = np.zeros(len(y))
    for own, predicted in zip(y.T, prediction, strict=True):
        total += rows(own, predicted)
    return np.asarray(total / len(prediction))


def mean(values: Floats, weight: Floats | None) -> float:
    """Σ w v / Σ w."""
    if weight is None:
        return float(values.mean())
    return float((weight * values).sum() / weight.sum())


def single(name: str, prediction: Floats) -> Floats:
    """The one prediction of each row, (n,)."""
    if prediction.ndim == 1:
        return prediction
    if len(prediction) != 1:
        raise InputError(
            f"The metric {name!r} needs one prediction for each row, but the model makes {len(prediction)}. "
            "Use 'mlogloss' or 'merror' for classes, 'quantile' for quantiles, or 'loss'."
        )
    return np.asarray(prediction[0])
