"""History: the values of metrics after every round, and which round was the best."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric

Curves = dict[str, dict[str, list[float]]]


@dataclass(frozen=True, eq=False)
class Watched:
    """Rows whose metrics are followed; `score` gives their present scores (n_scores, rows)."""

    name: str
    y: Floats
    weight: Floats | None
    score: Callable[[], Floats]
    groups: Ints | None = None

    def measure(self, metric: Metric, loss: Loss) -> float:
        """The metric of the present scores."""
        predicted = self.score() if metric.uses_score else loss.response(self.score())
        return metric.function(self.y, predicted[0] if len(predicted) == 1 else predicted, self.weight, self.groups)


@dataclass(eq=False)
class History:
    """`curves[rows][metric]` has a value for each round. The last metric of the last rows decides which is best."""

    watched: Sequence[Watched]
    metrics: Sequence[Metric]
    curves: Curves = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rows in self.watched:
            own = self.curves.setdefault(rows.name, {})
            for metric in self.metrics:
                own.setdefault(metric.name, [])

    def record(self, loss: Loss) -> None:
        """Measure everything after a round."""
        for rows in self.watched:
            for metric in self.metrics:
                self.curves[rows.name][metric.name].append(rows.measure(metric, loss))

    @property
    def deciding(self) -> list[float] | None:
        """The curve that decides, or None if nothing is watched."""
        if not self.watched or not self.metrics:
            return None
        return self.curves[self.watched[-1].name][self.metrics[-1].name]

    @property
    def best(self) -> int | None:
        """The first of the best rounds."""
        curve = self.deciding
        if not curve:
            return None
        values = np.array(curve)
        if np.isnan(values).all():
            return None
        return int(np.nanargmax(values) if self.metrics[-1].larger_is_better else np.nanargmin(values))

    @property
    def waited(self) -> int:
        """Rounds since the best one."""
        return 0 if self.best is None or self.deciding is None else len(self.deciding) - 1 - self.best
