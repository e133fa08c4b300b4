"""The learning rate: a number, one for each round, or a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.errors import ParameterError

Rate = Callable[[int, Callable[[], float]], float]  # from the round, and what computes the norm of the gradient


DRAWN_STEPS = 2.0  # how much longer steps are where thresholds are drawn: such trees gain less
LONGEST = 0.5  # but no longer than this for that reason


def of_member(rate: Rate, number: int, alternates: bool) -> Rate:
    """The rate of one of the models whose mean is taken, if every other one draws its thresholds."""
    if not (alternates and number % 2):
        return rate

    def longer(t: int, norm: Callable[[], float]) -> float:
        own = rate(t, norm)
        return max(own, min(DRAWN_STEPS * own, LONGEST))

    return longer


@dataclass(frozen=True)
class GivenRate:
    """A function of the round, or of the round and the norm of the gradient, whose values are checked."""

    function: Callable[..., object]
    needs_norm: bool

    def __call__(self, t: int, norm: Callable[[], float]) -> float:
        """The rate of round t."""
        found = self.function(t, norm()) if self.needs_norm else self.function(t)
        if not isinstance(found, (int, float, np.number)) or not np.isfinite(found) or found <= 0:
            raise ParameterError(
                f"learning_rate returned {found!r} for round {t}, but a learning rate must be a finite number above 0. "
                "Change the function."
            )
        return float(found)


def learning_rate(setting: Any) -> Rate:
    """From the user's value."""
    if callable(setting):
        return GivenRate(setting, _n_arguments(setting) >= 2)
    if isinstance(setting, Sequence) or np.ndim(setting) > 0:
        rates = [float(rate) for rate in setting]
        return lambda t, _norm: rates[min(t, len(rates) - 1)]  # the last value is reused
    return lambda _t, _norm: float(setting)


def _n_arguments(function: Callable[..., object]) -> int:
    """Arguments that must be given: one with a default has its own meaning."""
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return 1
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return 2
    return sum(
        parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        and parameter.default is parameter.empty
        for parameter in parameters
    )
