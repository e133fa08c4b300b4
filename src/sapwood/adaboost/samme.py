"""SAMME, AdaBoost for K classes (Zhu, Zou, Rosset and Hastie 2009); with two classes it is AdaBoost.M1.

err   = sum w 1(y != f) / sum w
alpha = rate (log((1 - err) / err) + log(K - 1))
w     <- w exp(alpha 1(y != f)), divided by its sum
"""

from __future__ import annotations

import numpy as np

from sapwood.adaboost.step import Step, next_step
from sapwood.arrays import Floats, Mask
from sapwood.elementary import exp, log

SLACK = 1e-12  # an error this close to that of guessing differs by rounding only


def samme_step(wrong: Mask, weight: Floats, n_classes: int, rate: float) -> Step:
    """The step for a learner that misclassifies these rows; `weight` sums to 1."""
    error = float(np.average(wrong, weights=weight))
    if error <= 0.0:
        return Step(0.0, 1.0, None, "a learner without error was found")
    if error >= 1.0 - 1.0 / n_classes - SLACK:
        return Step(error, None, None, "the last learner was no better than guessing")
    alpha = rate * (log((1.0 - error) / error) + log(n_classes - 1.0))
    with np.errstate(over="ignore", invalid="ignore"):
        return next_step(error, float(alpha), exp(log(weight) + alpha * wrong))
