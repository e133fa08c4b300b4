"""Huber's loss: means that outliers cannot move far."""

from __future__ import annotations

from bisect import bisect_left
from copy import copy
from typing import ClassVar

import numpy as np

from sapwood.losses.centre import mean, quantile
from sapwood.losses.loss import Floats, Loss, Target
from sapwood.parameters import Flag, Interval, Nothing, Rule, check_parameters

_SLACK = 1e-12  # of the total weight: tolerance for a pull that should be zero

_RULES: dict[str, tuple[Rule, ...]] = {
    "delta": (Interval(float, low=0, closed="neither"),),
    "quantile": (Interval(float, 0, 1, closed="neither"), Nothing()),
    "newton": (Flag(),),
}


class Huber(Loss):
    """With r = y - F: L = r²/2 for |r| <= delta, delta (|r| - delta/2) beyond; g = -clip(r, -delta, delta), h = 1.

    With a `quantile`, delta is that quantile of |r|, set in each round (Friedman): F_0 is the median, and leaves take
    one step from the median of their residuals. With a fixed delta both are exact.

    The second derivative is 0 beyond delta, where a leaf of outliers would divide by it. Its bound 1 is used
    instead, so that trees are fitted to the gradient by least squares.

    These steps follow a leaf whose rows are all outliers, as deep trees have them. With `newton=True` leaves are
    Newton's, -G / (H + lambda): the mean of clipped residuals, so that no leaf moves by more than delta in a round.
    """

    name: ClassVar[str] = "huber"
    constant_hessian: ClassVar[bool] = True

    def __init__(self, delta: float = 1.0, quantile: float | None = None, newton: bool = False) -> None:
        options = {"delta": delta, "quantile": quantile, "newton": newton}
        check_parameters("the loss 'huber'", _RULES, options)
        self.delta = float(delta)
        self.quantile = quantile
        self.robust = not newton

    def options(self) -> dict[str, object]:
        """Delta as it is now, its quantile, and whose steps."""
        steps: dict[str, object] = {} if self.robust else {"newton": True}
        return {"delta": self.delta, "quantile": self.quantile} | steps

    def start(self, y: Target, weight: Floats | None) -> Floats:
        """The constant of least loss; the median if delta is not known yet."""
        if self.quantile is None:
            return np.array([self.minimiser(y, weight)])
        return np.array([quantile(y, weight, 0.5)])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """F - y clipped to ±delta, and 1; OUT gradient, hessian."""
        np.clip(score - y, -self.delta, self.delta, out=gradient)
        hessian.fill(1.0)

    def losses(self, y: Target, score: Floats) -> Floats:
        """With c = min(|r|, delta): c (|r| - c/2), which is both branches at once."""
        size: Floats = np.abs(y - score[0])
        inside = np.minimum(size, self.delta)
        loss: Floats = inside * (size - 0.5 * inside)
        return loss

    def leaf_step(self, y: Target, score: Floats, weight: Floats | None, k: int = 0) -> float:  # noqa: ARG002
        """The exact minimiser, or one step from the median if delta changes with the round."""
        step = self.minimiser if self.quantile is None else self.one_step
        return step(y - score, weight)

    def begin_round(self, y: Target, score: Floats, weight: Floats | None) -> Huber:
        """With a quantile: a copy whose delta is that quantile of |y - F|."""
        if self.quantile is None:
            return self
        size = np.abs(y - score[0])
        delta = quantile(size, weight, self.quantile)
        if delta == 0:
            # Most rows are fitted exactly; with a delta of 0 all others were outliers, and nothing of them learnt
            rest = size > 0
            delta = quantile(size[rest], None if weight is None else weight[rest], self.quantile) if rest.any() else 1.0
        following = copy(self)
        following.delta = delta
        return following

    def one_step(self, residual: Floats, weight: Floats | None) -> float:
        """Friedman's step: with m the median of r, m + mean of clip(r - m, -delta, delta)."""
        median = quantile(residual, weight, 0.5)
        return median + mean(np.clip(residual - median, -self.delta, self.delta), weight)

    def minimiser(self, residual: Floats, weight: Floats | None) -> float:
        """The c at which the pull Σ w clip(r - c, -delta, delta) is zero; the midpoint, where it is so in an interval.

        The pull falls from delta Σ w to -delta Σ w, and is linear between the breakpoints r ± delta.
        """
        breaks = np.sort(np.concatenate([residual - self.delta, residual + self.delta]))

        def pull(c: float) -> float:
            return mean(np.clip(residual - c, -self.delta, self.delta), weight)

        def crossing(level: float) -> float:
            after = bisect_left(breaks, -level, lo=1, hi=len(breaks) - 1, key=lambda c: -pull(c))
            low, high = breaks[after - 1], breaks[after]
            fall = pull(low) - pull(high)  # 0 only if delta is lost in the rounding of residuals
            return float(low + (high - low) * ((pull(low) - level) / fall if fall > 0 else 0.5))

        slack = _SLACK * self.delta
        return 0.5 * crossing(slack) + 0.5 * crossing(-slack) + 0.0  # never -0.0
