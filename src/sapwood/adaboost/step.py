"""One step of AdaBoost: the error of a learner, its say, and the weights it leaves to the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
MOST_SAY = 1e100  # of a learner, so that sums of says stay finite
OVERFLOW = "the weights of the rows overflowed, for which the learning rate is too large"
LEAST = float(np.finfo(np.float64).eps)  # no row's weight falls below it, so that its logarithm stays finite


@dataclass(frozen=True, eq=False)
class Step:
    """`say` is None for a useless learner; `weight` is None if this is the last one, for the reason given."""

    error: float
    say: float | None
    weight: Floats | None
    reason: str | None


def next_step(error: float, say: float, weight: Floats) -> Step:
    """The step of a useful learner; the last one if the weights it leaves cannot be made to sum to 1."""
    total = weight.sum()
    usable = bool(np.isfinite(total)) and total > 0.0
    return Step(error, min(say, MOST_SAY), weight if usable else None, None if usable else OVERFLOW)


def normalised(weight: Floats) -> Floats:
    """Weights that sum to 1, none of them below the least."""
    return np.asarray(np.maximum(weight / weight.sum(), LEAST))


def resampled(weight: Floats, draws: Floats) -> NDArray[np.int64]:
    """Rows drawn by weight: for each draw in [0, 1) the row whose part of the cumulative weights it falls into.

    >>> resampled(np.array([0.07, 0.07, 0.07, 0.58, 0.07, 0.07, 0.07]), np.array([0.03, 0.18])).tolist()
    [0, 2]
    """
    ends = np.cumsum(weight)
    return np.searchsorted(ends / ends[-1], draws, side="right")
