"""AdaBoost.R2, for numbers (Drucker 1997).

    e_i  = |y_i - f(x_i)| / max |y - f|       linear; its square; or 1 - exp(-e_i)
    L    = sum w_i e_i                        beta = L / (1 - L)
    w_i  <- w_i beta^(rate (1 - e_i)), divided by its sum

Together the learners predict the weighted median of their predictions, with weights rate log(1 / beta).
"""

from __future__ import annotations

import numpy as np

from sapwood.adaboost.step import Step, next_step
from sapwood.arrays import Floats
from sapwood.elementary import exp, log, power


def r2_step(residual: Floats, weight: Floats, loss: str, rate: float) -> Step:
    """The step for a learner with these residuals; `weight` sums to 1."""
    relative = np.abs(residual)
    largest = relative.max()
    if largest > 0.0:
        relative = relative / largest
    if loss == "square":
        relative = relative**2
    elif loss == "exponential":
        relative = 1.0 - exp(-relative)
    error = float((weight * relative).sum())
    if error <= 0.0:
        return Step(0.0, 1.0, None, "a learner without error was found")
    if error >= 0.5:
        return Step(error, None, None, "the last learner was no better than guessing")
    beta = error / (1.0 - error)
    with np.errstate(over="ignore"):
        return next_step(error, float(rate * log(1.0 / beta)), weight * power(beta, (1.0 - relative) * rate))


def weighted_median(predictions: Floats, weights: Floats) -> Floats:
    """The weighted median over the learners of predictions (learners, rows)."""
    order = np.argsort(predictions, axis=0, kind="stable")
    ends = np.cumsum(weights[order], axis=0)
    middle = (ends >= 0.5 * ends[-1]).argmax(axis=0)
    rows = np.arange(predictions.shape[1])
    return np.asarray(predictions[order[middle, rows], rows])
