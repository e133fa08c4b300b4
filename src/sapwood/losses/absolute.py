"""Absolute error: medians."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

import numpy as np

from sapwood.losses.loss import Floats, Loss, Target
from sapwood.row_parts.rows import RowParts, residuals_of, targets_of


class Absolute(Loss):
    """L = |y - F|, with g = sign(F - y).

    The second derivative is 0, so h is 1: trees are fitted to the gradient by least squares, and each leaf is then
    set to the median of its residuals.
    """

    name: ClassVar[str] = "absolute_error"
    metric: str = "mae"
    constant_hessian: ClassVar[bool] = True
    robust: bool = True

    def start(self, rows: RowParts) -> Floats:
        """The median."""
        return rows.quantiles(targets_of, 0.5)

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """The sign of F - y, and 1; OUT gradient, hessian."""
        np.sign(score - y, out=gradient)
        hessian.fill(1.0)

    def losses(self, y: Target, score: Floats) -> Floats:
        """|y - F|."""
        return np.asarray(np.abs(y - score[0]))

    def leaf_steps(self, rows: RowParts, k: int = 0) -> Floats:
        """The median residuals."""
        return rows.quantiles(partial(residuals_of, k), 0.5)
