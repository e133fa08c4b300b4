"""Quantile (pinball) loss: one quantile or several, which cannot cross."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import partial
from typing import ClassVar

import numpy as np

from sapwood.elementary import sum_of_rows
from sapwood.losses.loss import Floats, Loss, Target
from sapwood.parameters import ArrayLike, Interval, Rule, check_parameters
from sapwood.row_parts.rows import RowParts, residuals_of, targets_of

_SHARE = Interval(float, 0, 1, closed="neither")


class _Shares(ArrayLike):
    """Several quantiles."""

    description: ClassVar[str] = "a sequence of such numbers"

    def accepts(self, value: object) -> bool:
        """Accept a sequence that is not empty, of numbers between 0 and 1."""
        return (
            super().accepts(value)
            and isinstance(value, Collection)
            and len(value) > 0
            and all(map(_SHARE.accepts, value))
        )


_RULES: dict[str, tuple[Rule, ...]] = {"quantile": (_SHARE, _Shares())}


class Quantile(Loss):
    """With r = y - F: L = q r for r >= 0, (q - 1) r below; g = -q or 1 - q.

    The second derivative is 0, so h is 1: trees are fitted to the gradient by least squares, and each leaf is then
    set to the q-quantile of its residuals. Of several quantiles each has its own score.
    """

    name: ClassVar[str] = "quantile"
    constant_hessian: ClassVar[bool] = True
    robust: bool = True

    def __init__(self, quantile: float | Sequence[float] = 0.5) -> None:
        check_parameters("the loss 'quantile'", _RULES, {"quantile": quantile})
        self.quantiles = tuple(map(float, np.atleast_1d(quantile)))
        self.n_scores = len(self.quantiles)

    def options(self) -> dict[str, object]:
        """The quantiles."""
        return {"quantile": list(self.quantiles)}

    @property
    def _column(self) -> Floats:
        return np.array(self.quantiles)[:, None]

    def start(self, rows: RowParts) -> Floats:
        """The quantiles."""
        return np.array([rows.quantile(targets_of, q) for q in self.quantiles])

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """1(F > y) - q of each quantile's own loss, and 1; OUT gradient, hessian."""
        np.subtract(score > y, self._column, out=gradient)
        hessian.fill(1.0)

    def losses(self, y: Target, score: Floats) -> Floats:
        """The mean of the quantiles' losses."""
        residual = y - score
        pinball = np.maximum(self._column * residual, (self._column - 1.0) * residual)
        return np.asarray(sum_of_rows(pinball) / len(pinball))

    def response(self, score: Floats) -> Floats:
        """Scores in the order of their quantiles, so that a higher quantile is never below a lower one.

        Sorting also never adds to the sum of the losses (Chernozhukov, Fernández-Val and Galichon 2010).
        """
        rank = np.argsort(np.argsort(self.quantiles, kind="stable"), kind="stable")
        return np.sort(score, axis=0)[rank]

    def leaf_steps(self, rows: RowParts, k: int = 0) -> Floats:
        """Quantile k of the residuals."""
        return rows.quantiles(partial(residuals_of, k), self.quantiles[k])
