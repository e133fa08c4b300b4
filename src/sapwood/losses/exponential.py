"""Exponential loss of two classes, as AdaBoost minimises it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.elementary import log, logistic
from sapwood.losses.class_shares import log_odds
from sapwood.losses.exponent import bounded_exp
from sapwood.losses.logistic import two_classes
from sapwood.losses.loss import LEAST_HESSIAN, LEAST_SHARE, Floats, Loss, Target
from sapwood.row_parts.rows import RowParts


class Exponential(Loss):
    """L = e^-ỹF with ỹ = 2y - 1 for y in {0, 1}; g = -ỹ L and h = L.

    F is half the log-odds, so p = 1 / (1 + e^-2F).
    """

    name: ClassVar[str] = "exponential"
    _domain = "the classes 0 and 1"
    _remedy = "Use the codes of two classes, or 'multinomial' for more."

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Accept 0 and 1."""
        return two_classes(y)

    def start(self, rows: RowParts) -> Floats:
        """Half the log-odds of class 1."""
        return np.array([0.5 * log_odds(rows)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """With s = -ỹ: s e^sF and e^sF; OUT gradient, hessian."""
        side = 1.0 - 2.0 * y
        loss = bounded_exp(side * score)
        np.multiply(side, loss, out=gradient)
        np.maximum(loss, LEAST_HESSIAN, out=hessian)

    def losses(self, y: Target, score: Floats) -> Floats:
        """The exponential e^-ỹF."""
        return bounded_exp((1.0 - 2.0 * y) * score[0])

    def response(self, score: Floats) -> Floats:
        """Probability of class 1."""
        return logistic(2.0 * score)

    def link(self, response: Floats) -> Floats:
        """Half the log-odds."""
        share = np.clip(response, LEAST_SHARE, 1.0 - LEAST_SHARE)
        return 0.5 * log(share / (1.0 - share))
