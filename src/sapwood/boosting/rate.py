"""The learning rate: a number, one for each round, or a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sapwood.errors import ParameterError

Rate = Callable[[int, Callable[[], float]], float]  # from the round, and what computes the norm of the gradient


def learning_rate(setting: Any) -> Rate:
    """From the user's value."""
    if callable(setting):
        return _checked(setting)
    if isinstance(setting, Sequence) or np.ndim(setting) > 0:
        rates = [float(rate) for rate in setting]
        return lambda t, _norm: rates[min(t, len(rates) - 1)]  # the last value is reused
    return lambda _t, _norm: float(setting)


def _checked(function: Callable[..., object]) -> Rate:
    needs_norm = _n_arguments(function) >= 2

    def rate(t: int, norm: Callable[[], float]) -> float:
        found = function(t, norm()) if needs_norm else function(t)
        if not isinstance(found, (int, float, np.number)) or not np.isfinite(found) or found <= 0:
            raise ParameterError(
                f"learning_rate returned {found!r} for round {t}, but a learning rate must be a finite number above 0. "
                "Change the function."
            )
        return float(found)

    return rate


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
