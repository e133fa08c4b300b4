"""The learning rate: a number, one for each round, or a function."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.errors import ParameterError


@dataclass(frozen=True)
class Rate:
    """A function of the round and the norm of the gradient; `needs_norm` says whether the norm matters."""

    function: Callable[[int, float], float]
    needs_norm: bool = False

    def __call__(self, t: int, norm: float) -> float:
        """The learning rate of round t."""
        return self.function(t, norm)


def learning_rate(setting: Any) -> Rate:
    """From what the user gave."""
    if callable(setting):
        return _checked(setting)
    if isinstance(setting, Sequence) or np.ndim(setting) > 0:
        rates = [float(rate) for rate in setting]
        return Rate(lambda t, _norm: rates[min(t, len(rates) - 1)])  # the last one holds on
    return Rate(lambda _t, _norm: float(setting))


def _checked(function: Callable[..., Any]) -> Rate:
    needs_norm = _n_arguments(function) >= 2

    def rate(t: int, norm: float) -> float:
        found = function(t, norm) if needs_norm else function(t)
        if not isinstance(found, (int, float, np.number)) or not np.isfinite(found) or found <= 0:
            raise ParameterError(
                f"learning_rate returned {found!r} for round {t}, but a learning rate must be a finite number above 0. "
                "Change the function."
            )
        return float(found)

    return Rate(rate, needs_norm)


def _n_arguments(function: Callable[..., Any]) -> int:
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
