"""Weighted centres of numbers: means, quantiles and log-odds, from which losses start and to which leaves step."""

from __future__ import annotations

import math

import numpy as np

from sapwood.elementary import log
from sapwood.losses.loss import Floats

_SLACK = 1e-12  # of the total weight: tolerance for sums of weights that should be equal
_LEAST_SHARE = 1e-12  # of a class: one without rows has no finite log-odds


def mean(values: Floats, weight: Floats | None) -> float:
    """Σ w v / Σ w."""
    if weight is None:
        return float(values.mean())
    return float((weight * values).sum() / weight.sum())


def quantile(values: Floats, weight: Floats | None, share: float) -> float:
    """The q-quantile: the c of least Σ w (q (v - c)⁺ + (1 - q) (c - v)⁺).

    It is the least value at which the sorted weights add up to q Σ w; where they do so exactly, every c up to the next
    value is as good, and the midpoint is taken.
    """
    if weight is None:
        return _plain_quantile(values, share)
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weight[order])
    wanted, slack = share * reached[-1], _SLACK * reached[-1]
    lower = np.searchsorted(reached, wanted - slack, side="left")
    upper = np.searchsorted(reached, wanted + slack, side="right")
    return _midpoint(values[order[lower]], values[order[min(upper, len(values) - 1)]])


def _plain_quantile(values: Floats, share: float) -> float:
    """The same with weights of 1, without sorting."""
    n = len(values)
    wanted, slack = share * n, _SLACK * n
    lower = max(math.ceil(wanted - slack) - 1, 0)
    upper = min(math.floor(wanted + slack), n - 1)
    ranked = np.partition(values, (lower, upper))
    return _midpoint(ranked[lower], ranked[upper])


def _midpoint(low: float, high: float) -> float:
    return float(0.5 * low + 0.5 * high) + 0.0  # never -0.0: which of the two zeros is found depends on the processor


def class_shares(codes: Floats, weight: Floats | None, n_classes: int) -> Floats:
    """Share of each class in the weight, kept away from 0 so that its logarithm is finite."""
    weights: Floats = np.bincount(codes.astype(np.int64), weights=weight, minlength=n_classes).astype(np.float64)
    return np.asarray(np.maximum(weights / weights.sum(), _LEAST_SHARE))


def log_odds(codes: Floats, weight: Floats | None) -> float:
    """Log(p / (1 - p)) of the weighted share p of class 1."""
    zero, one = class_shares(codes, weight, 2)
    return float(log(one / zero))
