"""History: the values of metrics after every round, and which round was the best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import MeanOfRows, Metric

Curves = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class ValidationSet:
    """Rows whose metrics are recorded after every round."""

    name: str
    y: Floats
    weight: Floats | None
    score: Floats  # (n_scores, rows), which training updates
    groups: Ints | None = None
    rows: Ints | None = None  # these rows among those of `score`; None: all of them

    def measure(self, metric: Metric, loss: Loss) -> float:
        """The metric of the current scores."""
        return metric.function.merged([self.part(metric, loss)])

    def part(self, metric: Metric, loss: Loss) -> Any:
        """What the metric needs of these rows, to be merged with that of others."""
        score = self.score if self.rows is None else self.score[:, self.rows]
        predicted = score if metric.uses_score else loss.response(score)
        return metric.function.part(
            self.y, predicted[0] if len(predicted) == 1 else predicted, self.weight, self.groups
        )


@dataclass(eq=False)
class History:
    """`curves[name of the set][metric]` has a value for each round. The last metric of the last set decides."""

    validation_sets: Sequence[ValidationSet]
    metrics: Sequence[Metric]
    curves: Curves = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rows in self.validation_sets:
            own = self.curves.setdefault(rows.name, {})
            for metric in self.metrics:
                own.setdefault(metric.name, [])

    def record(self, loss: Loss) -> None:
        """Measure everything after a round."""
        for rows in self.validation_sets:
            for metric in self.metrics:
                self.curves[rows.name][metric.name].append(rows.measure(metric, loss))

    def add(self, losses: Floats) -> None:
        """Note rounds whose losses (rounds, rows) of the validation set are known, of which the metric is the mean."""
        (rows,), (metric,) = self.validation_sets, self.metrics
        assert isinstance(metric.function, MeanOfRows)
        self.curves[rows.name][metric.name] += [metric.function.of_losses(own, rows.weight) for own in losses]

    @property
    def deciding(self) -> list[float] | None:
        """The curve that decides, or None if nothing is measured."""
        if not self.validation_sets or not self.metrics:
            return None
        return self.curves[self.validation_sets[-1].name][self.metrics[-1].name]

    @property
    def best(self) -> int | None:
        """The first of the best rounds, or None if nothing is measured."""
        return None if self.deciding is None else best_of(self.deciding, self.metrics[-1].larger_is_better)


def best_of(curve: Sequence[float] | Floats, larger_is_better: bool) -> int | None:
    """The first of the best rounds, or None if no round has a number."""
    values = np.asarray(curve)
    if np.isnan(values).all():
        return None
    return int(np.nanargmax(values) if larger_is_better else np.nanargmin(values))
