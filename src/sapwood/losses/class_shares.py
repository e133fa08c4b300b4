"""Shares of classes, from which the losses of classes start."""

from __future__ import annotations

import numpy as np

from sapwood.elementary import log
from sapwood.losses.loss import Floats
from sapwood.row_parts.rows import RowParts, weights_of_classes

_LEAST_SHARE = 1e-12  # of a class: one without rows has no finite log-odds


def class_shares(rows: RowParts, n_classes: int) -> Floats:
    """Share of each class in the weight, kept away from 0 so that its logarithm is finite."""
    weights = weights_of_classes(rows, n_classes)
    return np.asarray(np.maximum(weights / weights.sum(), _LEAST_SHARE))


def log_odds(rows: RowParts) -> float:
    """Log(p / (1 - p)) of the weighted share p of class 1."""
    zero, one = class_shares(rows, 2)
    return float(log(one / zero))
