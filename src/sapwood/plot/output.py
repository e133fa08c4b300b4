"""The output that a picture shows: a class, a target or a score, chosen by name or position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sapwood.errors import ParameterError
from sapwood.plot.label import shortened
from sapwood.show.chosen_output import chosen_output, listed_outputs
from sapwood.show.names import one_line

_PLAIN = ("prediction", "score", "output 0")  # names that say nothing
_LONGEST = 30

__all__ = ["about_output", "chosen_output", "scale_of_output", "single_output"]


def about_output(words: str, name: str) -> str:
    """Add what a picture is about to its words, if the output has a name."""
    return words if name in _PLAIN else f"{words}: {shortened(name, _LONGEST)}"


def scale_of_output(scale: str, name: str) -> str:
    """What the numbers of an output are, such as "log-odds of yes"; the model's output where that is not known."""
    if not scale:
        return about_output("model output", name)
    return scale if name in _PLAIN else f"{scale} of {shortened(name, _LONGEST)}"


def single_output(output: Any, names: Sequence[Any], picture: str) -> int:
    """Position of the one output of a picture; several outputs need a choice."""
    if output is not None:
        return chosen_output(output, names)
    if len(names) == 1:
        return 0
    labels = [one_line(name) for name in names]
    raise ParameterError(
        f"output=None is not allowed: {picture} shows one output, but there are {len(names)}: "
        f"{listed_outputs(labels)}. Use output={labels[0]!r}."
    )
