"""Squared error: means."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from sapwood.losses.loss import Floats, Loss, Target
from sapwood.row_parts.rows import RowParts, targets_of


class Squared(Loss):
    """L = (y - F)² / 2, with g = F - y and h = 1."""

    name: ClassVar[str] = "squared_error"
    metric: str = "rmse"
    constant_hessian: ClassVar[bool] = True

    def start(self, rows: RowParts) -> Floats:
        """The mean."""
        return np.array([rows.mean(targets_of)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """F - y and 1; OUT gradient, hessian."""
        np.subtract(score, y, out=gradient)
        hessian.fill(1.0)

    def losses(self, y: Target, score: Floats) -> Floats:
        """(y - F)² / 2."""
        return np.asarray(0.5 * np.square(y - score[0]))
