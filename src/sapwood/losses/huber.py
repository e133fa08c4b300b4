"""Huber's loss: means that outliers cannot move far."""

from __future__ import annotations

from copy import copy
from functools import partial
from typing import ClassVar

import numpy as np

from sapwood.losses.huber_centre import huber_centres
from sapwood.losses.loss import Floats, Loss, Target
from sapwood.parameters import Flag, Interval, Nothing, Rule, check_parameters
from sapwood.row_parts.rows import RowPart, RowParts, residuals_of, targets_of

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

    def start(self, rows: RowParts) -> Floats:
        """The constant of least loss; the median if delta is not known yet."""
        if self.quantile is None:
            return huber_centres(rows, targets_of, self.delta)
        return rows.quantiles(targets_of, 0.5)

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

    def leaf_steps(self, rows: RowParts, k: int = 0) -> Floats:
        """The exact minimisers, or one step from the medians if delta changes with the round."""
        if self.quantile is None:
            return huber_centres(rows, partial(residuals_of, k), self.delta)
        return self.one_steps(rows, k)

    def begin_round(self, rows: RowParts) -> Huber:
        """With a quantile: a copy whose delta is that quantile of |y - F|."""
        if self.quantile is None:
            return self
        following = copy(self)
        # Where most rows are fitted exactly, it is that of the others: with a delta of 0 all of them were outliers, and
        # nothing of them learnt.
        following.delta = rows.quantile(sizes_of, self.quantile)
        if following.delta == 0:
            following.delta = rows.changed(without_fitted).quantile(sizes_of, self.quantile) or 1.0
        return following

    def one_steps(self, rows: RowParts, k: int) -> Floats:
        """Friedman's step: with m the median of r, m + mean of clip(r - m, -delta, delta)."""
        medians = rows.quantiles(partial(residuals_of, k), 0.5)
        return medians + rows.means(partial(clipped_residuals, k, self.delta, medians))


def clipped_residuals(k: int, delta: float, centres: Floats, part: RowPart) -> Floats:
    """Residuals of score k around their group's centre, clipped to ±delta."""
    place = 0 if part.group is None else np.minimum(part.group.astype(np.int64), len(centres) - 1)
    return np.clip(residuals_of(k, part) - centres[place], -delta, delta)


def sizes_of(part: RowPart) -> Floats:
    """The sizes |y - F|."""
    return np.abs(residuals_of(0, part))


def without_fitted(part: RowPart) -> RowPart:
    """The rows of a part whose residual is not 0."""
    rest = sizes_of(part) > 0
    return RowPart(part.y[rest], part.score[:, rest], None if part.weight is None else part.weight[rest])
