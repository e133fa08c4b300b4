"""Metrics of validation sets: from what users name, for a loss and what a model predicts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from sapwood.errors import MetricDirectionWarning, ParameterError, warn_user
from sapwood.losses.huber import Huber
from sapwood.losses.loss import Loss
from sapwood.losses.quantile import Quantile
from sapwood.metrics.metric import Metric
from sapwood.metrics.names import metric_for


def find_metrics(setting: Any, loss: Loss, kind: str, owner: str) -> list[Metric]:
    """Metrics from names and functions, one or several, for models that predict the kind."""
    if setting is None:
        changes = isinstance(loss, Huber) and loss.quantile is not None  # it is another loss in each round
        setting = "mae" if changes else loss.metric
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
    if isinstance(loss, Quantile) and isinstance(item, str) and item == "quantile":  # those of the model
        own = f"quantile@{','.join(map(repr, loss.quantiles))}"
        return replace(metric_for(own, kind, owner), name=item)
    if isinstance(loss, Huber) and loss.quantile is not None and isinstance(item, str) and item == "loss":
        raise ParameterError(
            "eval_metric='loss' is not allowed for the Huber loss of a quantile: it is another loss in each round. Use "
            "'mae'."
        )
    return metric_for(item, kind, owner, loss.losses)


def warn_of_direction(metric: Metric, argument: str = "eval_metric") -> None:
    """Warn if the metric that decides the best number of rounds has an unknown direction."""
    if not metric.knows_direction:
        warn_user(
            f"{argument}={metric.name} decides which round is best, and is minimised, because its direction is "
            f"unknown. Set {metric.name}.greater_is_better = False (or True) on the function.",
            MetricDirectionWarning,
        )
