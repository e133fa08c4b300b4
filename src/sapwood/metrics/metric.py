"""What a metric is: a number that measures how good predictions are.

It is computed in two steps, so that rows may be in several places: `part` sums up the rows of one of them, and `merged`
makes the number of all from that. The number does not depend on where rows are cut into parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import InputError
from sapwood.row_parts.exact_sum import ExactSum

Floats = NDArray[np.float64]
Target = Array  # numbers, or codes of classes
Groups = NDArray[np.int64]  # numbers of rows of the queries, in the order of the rows
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


class MetricFunction(ABC):
    """A number from targets, predictions (n,) or (K, n), weights and queries, of rows in one or more parts.

    A query's rows are all in one part.
    """

    @abstractmethod
    def part(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> Any:
        """What the metric needs of the rows of a part."""

    @abstractmethod
    def merged(self, parts: Sequence[Any]) -> float:
        """The metric of all rows."""

    def __call__(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        """The metric of rows that are all here."""
        return self.merged([self.part(y, prediction, weight, groups)])


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


class MeanPart(NamedTuple):
    """Σ w v and Σ w of a part."""

    total: ExactSum
    weight: ExactSum

    @classmethod
    def of(cls, values: Floats, weight: Floats | None) -> MeanPart:
        """The sums of some values."""
        whole = ExactSum.count(len(values)) if weight is None else ExactSum.of(weight)
        return cls(ExactSum.of(values, weight), whole)


def mean(parts: Sequence[MeanPart]) -> float:
    """Σ w v / Σ w of all parts, rounded once; NaN without weight."""
    totals, weights = zip(*parts, strict=True)
    return ExactSum.merged(totals).over(ExactSum.merged(weights))


@dataclass(frozen=True)
class MeanOfRows(MetricFunction):
    """The weighted mean of a loss of each row, or a function of that mean."""

    name: str
    rows: RowLosses
    finish: Callable[[float], float] = float
    many: bool = False
    """Whether rows of several predictions, (K, n), are understood."""

    def of_targets(self) -> MeanOfRows:
        """The same of several targets, (n, K): a row's loss is the mean of those of its targets."""
        return replace(self, rows=partial(_mean_of_targets, self.rows), many=True)

    def part(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> MeanPart:
        """Sums of the losses and of the weights."""
        del groups  # not used
        return MeanPart.of(self.rows(y, prediction if self.many else single(self.name, prediction)), weight)

    def merged(self, parts: Sequence[MeanPart]) -> float:
        """Σ w loss / Σ w, finished."""
        return self.finish(mean(parts))

    def of_losses(self, losses: Floats, weight: Floats | None) -> float:
        """The same of rows whose losses are known."""
        return self.merged([MeanPart.of(losses, weight)])


class AllRows(NamedTuple):
    """The rows of a part themselves."""

    y: Target
    prediction: Floats
    weight: Floats | None
    groups: Groups | None


class OfAllRows(MetricFunction):
    """A metric that compares rows with each other as it likes, so that all have to be in one place."""

    @abstractmethod
    def value(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> float:
        """The metric of all rows."""

    def part(self, y: Target, prediction: Floats, weight: Floats | None, groups: Groups | None) -> AllRows:
        """The rows."""
        return AllRows(y, prediction, weight, groups)

    def merged(self, parts: Sequence[AllRows]) -> float:
        """The metric of the rows of all parts, in their order."""
        if len(parts) == 1:
            return self.value(*parts[0])
        y, prediction, weight, groups = zip(*parts, strict=True)
        return self.value(
            np.concatenate(y),
            np.concatenate(prediction, axis=-1),
            None if weight[0] is None else np.concatenate(weight),
            None if groups[0] is None else np.concatenate(groups),
        )


def _mean_of_targets(rows: RowLosses, y: Target, prediction: Floats) -> Floats:
    total = np.zeros(len(y))
    for own, predicted in zip(y.T, prediction, strict=True):
        total += rows(own, predicted)
    return np.asarray(total / len(prediction))


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
