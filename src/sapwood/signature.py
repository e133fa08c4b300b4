"""The arguments that a user's function takes."""

from __future__ import annotations

import inspect
from collections.abc import Callable


def positional_arguments(function: Callable[..., object]) -> list[inspect.Parameter] | None:
    """Arguments that may be given by position; None where nothing is known, or any number is taken."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):  # functions written in C
        return None
    if any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters):
        return None
    return [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def n_needed(arguments: list[inspect.Parameter]) -> int:
    """How many of the arguments have no default."""
    return sum(argument.default is argument.empty for argument in arguments)
