"""Squared error: means."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sapwood.losses.centre import mean
from sapwood.losses.loss import Floats, Loss, Target


class Squared(Loss):
    """L = (y - F)² / 2, with g = F - y and h = 1."""

    name: ClassVar[str] = "squared_error"
    metric: str = "rmse"
    constant_hessian: ClassVar[bool] = True

    def start(self, y: Target, weight: Floats | None) -> Floats:
        """The mean."""
        return np.array([mean(y, weight)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """F - y and 1; OUT gradient, hessian."""
        np.subtract(score, y, out=gradient)
        hessian.fill(1.0)

    def losses(self, y: Target, score: Floats) -> Floats:
        """(y - F)² / 2."""
        return np.asarray(0.5 * np.square(y - score[0]))
