"""Logistic loss of two classes, the binomial deviance."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.elementary import log, log1p_exp, logistic
from sapwood.kernels.exponential import logistic_derivatives
from sapwood.losses.class_shares import log_odds
from sapwood.losses.loss import LEAST_HESSIAN, LEAST_SHARE, Floats, Loss, Target
from sapwood.row_parts.rows import RowParts


class Logistic(Loss):
    """L = log(1 + e^F) - y F for y in {0, 1}, with p = 1 / (1 + e^-F), g = p - y and h = p (1 - p).

    F is the log-odds. All is computed from the share q of the wrong class, of which nothing is lost by rounding: with
    s = 1 - 2y, q = 1 / (1 + e^-sF), L = log(1 + e^sF), g = s q and h = q (1 - q).
    """

    name: ClassVar[str] = "logistic"
    metric: str = "logloss"
    bounded: ClassVar[bool] = True
    _domain = "the classes 0 and 1"
    _remedy = "Use the codes of two classes, or 'multinomial' for more."

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Accept 0 and 1."""
        return two_classes(y)

    def start(self, rows: RowParts) -> Floats:
        """The log-odds of class 1."""
        return np.array([log_odds(rows)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """The differences p - y and the products p (1 - p); OUT gradient, hessian."""
        logistic_derivatives(y, score[0], LEAST_HESSIAN, gradient[0], hessian[0])

    def losses(self, y: Target, score: Floats) -> Floats:
        """Log(1 + e^F) - y F."""
        return log1p_exp((1.0 - 2.0 * y) * score[0])

    def response(self, score: Floats) -> Floats:
        """Probability of class 1."""
        return logistic(score)

    def link(self, response: Floats) -> Floats:
        """The log-odds."""
        share = np.clip(response, LEAST_SHARE, 1.0 - LEAST_SHARE)
        return log(share / (1.0 - share))


def two_classes(y: Target) -> NDArray[np.bool_]:
    """Where y is 0 or 1."""
    legal: Array = (y == 0) | (y == 1)
    return legal
