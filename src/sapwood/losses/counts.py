"""Poisson, gamma and Tweedie losses: counts, durations and amounts, with a log link.

With the mean μ = e^F, each is half the deviance of its distribution: 0 where μ = y, and least at the mean of y.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from sapwood.elementary import log, power
from sapwood.errors import InputError
from sapwood.losses.exponent import bounded_exp, exp_response
from sapwood.losses.loss import LEAST_HESSIAN, Floats, Loss, Target
from sapwood.parameters import Interval, Rule, check_parameters
from sapwood.row_parts.rows import RowParts, targets_of

_TWEEDIE_RULES: dict[str, tuple[Rule, ...]] = {"power": (Interval(float, 1, 2, closed="neither"),)}
_LEAST_MEAN = np.finfo(np.float64).tiny


class _LogLink(Loss):
    """Losses of the mean e^F."""

    above_zero: ClassVar[bool] = True
    _domain = "numbers of at least 0"
    _remedy = "Use another loss, or remove such rows."

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Accept finite numbers of at least 0."""
        return np.isfinite(y) & (y >= 0)

    def check_target(self, y: Target, owner: str = "y") -> None:
        """Raise `InputError` for the first target outside of the domain, and if all are 0."""
        super().check_target(y, owner)
        if not y.any():
            raise InputError(
                f"All of {owner} is 0, but the loss {self.name!r} starts from the logarithm of its mean. "
                "Use the loss 'squared_error'."
            )

    def start(self, rows: RowParts) -> Floats:
        """The logarithm of the mean."""
        return log([max(rows.mean(targets_of), _LEAST_MEAN)])

    def response(self, score: Floats) -> Floats:
        """The mean, e^F."""
        return exp_response(score)

    def link(self, response: Floats) -> Floats:
        """The logarithm of the mean."""
        return log(np.maximum(response, _LEAST_MEAN))


class Poisson(_LogLink):
    """L = μ - y + y log(y / μ), with g = μ - y and h = μ."""

    name: ClassVar[str] = "poisson"

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """The differences μ - y, and μ; OUT gradient, hessian."""
        expected = bounded_exp(score)
        np.subtract(expected, y, out=gradient)
        np.maximum(expected, LEAST_HESSIAN, out=hessian)

    def losses(self, y: Target, score: Floats) -> Floats:
        """μ - y + y log(y / μ)."""
        return np.asarray(bounded_exp(score[0]) - y + y * log(np.maximum(y, _LEAST_MEAN)) - y * score[0])


class Gamma(_LogLink):
    """L = y / μ - 1 - log(y / μ), with g = 1 - y / μ and h = y / μ."""

    name: ClassVar[str] = "gamma"
    _domain = "numbers above 0"
    _remedy = "Use the loss 'tweedie' if zeros belong to the data, or remove such rows."

    def admits(self, y: Target) -> NDArray[np.bool_]:
        """Accept finite numbers above 0."""
        return np.isfinite(y) & (y > 0)

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """1 - y / μ and y / μ; OUT gradient, hessian."""
        ratio = bounded_exp(log(y) - score)
        np.subtract(1.0, ratio, out=gradient)
        np.maximum(ratio, LEAST_HESSIAN, out=hessian)

    def losses(self, y: Target, score: Floats) -> Floats:
        """With z = log(y / μ): e^z - 1 - z."""
        log_ratio: Floats = log(y) - score[0]
        return bounded_exp(log_ratio) - 1.0 - log_ratio


class Tweedie(_LogLink):
    """L = y^(2-p) / ((1-p)(2-p)) - y μ^(1-p) / (1-p) + μ^(2-p) / (2-p) with the variance power p between 1 and 2.

    g = μ^(2-p) - y μ^(1-p), and h = (2-p) μ^(2-p) + (p-1) y μ^(1-p).
    """

    name: ClassVar[str] = "tweedie"

    def __init__(self, power: float = 1.5) -> None:
        check_parameters("the loss 'tweedie'", _TWEEDIE_RULES, {"power": power})
        self.power = float(power)

    def options(self) -> dict[str, object]:
        """The variance power."""
        return {"power": self.power}

    def derivatives(self, y: Target, score: Floats, gradient: Floats, hessian: Floats) -> None:
        """The derivatives of the class's docstring; OUT gradient, hessian."""
        p = self.power
        claims, cost = y * bounded_exp((1.0 - p) * score), bounded_exp((2.0 - p) * score)
        np.subtract(cost, claims, out=gradient)
        np.maximum((2.0 - p) * cost + (p - 1.0) * claims, LEAST_HESSIAN, out=hessian)

    def losses(self, y: Target, score: Floats) -> Floats:
        """Half the deviance."""
        p = self.power
        claims, cost = y * bounded_exp((1.0 - p) * score[0]), bounded_exp((2.0 - p) * score[0])
        least = power(y, 2.0 - p) / ((1.0 - p) * (2.0 - p))
        return np.asarray(least - claims / (1.0 - p) + cost / (2.0 - p))
