"""Metrics: how good predictions are, for early stopping and learning curves."""

from sapwood.metrics.metric import Metric
from sapwood.metrics.names import METRICS, custom_metric, find_metric

__all__ = ["METRICS", "Metric", "custom_metric", "find_metric"]
