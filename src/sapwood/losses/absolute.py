"""Absolute error: medians."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sapwood.losses.centre import quantile
from sapwood.losses.loss import Floats, Loss, Target


class Absolute(Loss):
    """L = |y - F|, with g = sign(F - y).

    The second derivative is 0, so h is 1: trees are fitted to the gradient by least squares, and each leaf is then
    set to the median of its residuals.
    """

    name: ClassVar[str] = "absolute_error"
    metric: str = "mae"
    constant_hessian: ClassVar[bool] = True
    robust: bool = True

    def start(self, y: Target, weight: Floats | None) -> Floats:
        """The median."""
        return np.array([quantile(y, weight, 0.5)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """The sign of F - y, and 1; OUT gradient, hessian."""
        np.sign(score - y, out=gradient)
        hessian.fill(1.0)

    def losses(self, y: Target, score: Floats) -> Floats:
        """|y - F|."""
        return np.asarray(np.abs(y - score[0]))

    def leaf_step(self, y: Target, score: Floats, weight: Floats | None, k: int = 0) -> float:  # noqa: ARG002
        """The median residual."""
        return quantile(y - score, weight, 0.5)
