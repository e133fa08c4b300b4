"""Losses of rows whose target is a class, from probabilities."""

from __future__ import annotations

import numpy as np

from sapwood.elementary import log
from sapwood.metrics.metric import Floats, Target

_LEAST = 1e-16  # the logarithm of an impossible class must be finite


def log_losses(y: Target, probability: Floats) -> Floats:
    """-log of the probability of the row's class, of classes 0 and 1; `probability` is that of class 1."""
    own = np.where(y == 1, probability, 1.0 - probability)
    return -log(np.maximum(own, _LEAST))


def mistakes(y: Target, probability: Floats, threshold: float = 0.5) -> Floats:
    """1 where the class is not that on its side of the threshold; a probability equal to it means class 0."""
    return np.asarray((probability > threshold) != (y == 1), dtype=np.float64)


def class_log_losses(y: Target, probability: Floats) -> Floats:
    """-log of the probability of the row's class, of K classes."""
    own = _by_class(probability)[y.astype(np.int64), np.arange(len(y))]
    return -log(np.maximum(own, _LEAST))


def class_mistakes(y: Target, probability: Floats) -> Floats:
    """1 where the class is not the most probable one."""
    return np.asarray(_by_class(probability).argmax(axis=0) != y, dtype=np.float64)


def _by_class(probability: Floats) -> Floats:
    """(K, n); of two classes a model may give the second only."""
    rows = np.atleast_2d(probability)
    return np.vstack([1.0 - rows, rows]) if len(rows) == 1 else rows
