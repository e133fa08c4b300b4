"""Metrics of validation sets: from what users name, for a loss and what a model predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.elementary import sum_of_rows
from sapwood.errors import MetricDirectionWarning, ParameterError, warn_user
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.per_target import PerTarget
from sapwood.losses.quantile import Quantile
from sapwood.metrics.metric import MeanOfRows, Metric
from sapwood.metrics.names import metric_for


def find_metrics(setting: Any, loss: Loss, kind: str, owner: str) -> list[Metric]:
    """Metrics from names and functions, one or several, for models that predict the kind."""
    if setting is None and isinstance(loss, PerTarget):
        return [_relative_mae(loss) if _changes(loss.each) else metric_for("loss", kind, owner, loss.losses)]
    if setting is None:
        setting = "mae" if _changes(loss) else loss.metric
    several = [setting] if isinstance(setting, str) or callable(setting) else list(setting)
    found = [_find_metric(item, loss, kind, owner) for item in several]
    names = [metric.name for metric in found]
    for name in names:
        if names.count(name) > 1:
            raise ParameterError(
                f"eval_metric has more than one metric of the name {name!r}. Remove one, or give functions different "
                "names."
            )
    return found


def _find_metric(item: object, loss: Loss, kind: str, owner: str) -> Metric:
    each = loss.each if isinstance(loss, PerTarget) else loss
    if isinstance(each, Quantile) and isinstance(item, str) and item == "quantile":  # those of the model
        own = f"quantile@{','.join(map(repr, each.quantiles))}"
        return replace(metric_for(own, kind, owner), name=item)
    if _changes(each) and isinstance(item, str) and item == "loss":
        raise ParameterError(
            "eval_metric='loss' is not allowed for the Huber loss of a quantile: it is another loss in each round. Use "
            "'mae'."
        )
    return metric_for(item, kind, owner, loss.losses)


def _changes(loss: Loss) -> bool:
    """Whether it is another loss in each round."""
    return isinstance(loss, Huber) and loss.quantile is not None


def _relative_mae(loss: PerTarget) -> Metric:
    """The mean over the targets of |y - F| / s, where s is the size of the target's gradients before training."""
    assert loss.scales is not None
    scales: Floats = loss.scales[0]

    def rows(y: Array, predicted: Floats) -> Floats:
        return np.asarray(sum_of_rows(np.abs(y.T - predicted) * scales[:, None]) / len(scales))

    return Metric("relative mae", False, MeanOfRows("relative mae", rows, many=True))


def warn_of_direction(metric: Metric, argument: str = "eval_metric") -> None:
    """Warn if the metric that decides the best number of rounds has an unknown direction."""
    if not metric.knows_direction:
        warn_user(
            f"{argument}={metric.name} decides which round is best, and is minimised, because its direction is "
            f"unknown. Set {metric.name}.greater_is_better = False (or True) on the function.",
            MetricDirectionWarning,
        )
