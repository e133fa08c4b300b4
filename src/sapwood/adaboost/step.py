"""One step of AdaBoost: the error of a learner, its weight, and the weights of the rows for the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats, Ints

LARGEST_WEIGHT = 1e100  # of a learner, so that sums of weights stay finite
OVERFLOW = "the weights of the rows overflowed, for which the learning rate is too large"
LEAST = float(np.finfo(np.float64).eps)  # no row's weight falls below it, so that its logarithm stays finite


@dataclass(frozen=True, eq=False)
class Step:
    """`weight` is None for a useless learner; `row_weights` are None if it is the last one, for the reason given."""

    error: float
    weight: float | None
    row_weights: Floats | None
    reason: str | None


def next_step(error: float, weight: float, row_weights: Floats) -> Step:
    """The step of a useful learner; the last one if the weights of the rows cannot be made to sum to 1."""
    total = row_weights.sum()
    usable = bool(np.isfinite(total)) and total > 0.0
    return Step(error, min(weight, LARGEST_WEIGHT), row_weights if usable else None, None if usable else OVERFLOW)


def normalised(weight: Floats) -> Floats:
    """Weights that sum to 1, none below the minimum."""
    return np.asarray(np.maximum(weight / weight.sum(), LEAST))


def resampled(weight: Floats, draws: Floats) -> Ints:
    """Rows drawn by weight: for each draw in [0, 1) the row whose part of the cumulative weights it falls into.

    >>> resampled(np.array([0.07, 0.07, 0.07, 0.58, 0.07, 0.07, 0.07]), np.array([0.03, 0.18])).tolist()
    [0, 2]
    """
    ends = np.cumsum(weight)
    return np.searchsorted(ends / ends[-1], draws, side="right")
