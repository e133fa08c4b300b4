"""The output that a picture shows: a class, a target or a score, chosen by name or position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.errors import ParameterError
from sapwood.plot.label import shortened
from sapwood.show.names import one_line

_MOST_LISTED = 10
_PLAIN = ("prediction", "score", "output 0")  # names that say nothing
_LONGEST = 30


def about_output(words: str, name: str) -> str:
    """Add what a picture is about to its words, if the output has a name."""
    return words if name in _PLAIN else f"{words}: {shortened(name, _LONGEST)}"


def chosen_output(output: Any, names: Sequence[Any], argument: str = "output") -> int:
    """Position of an output given by its name or its position."""
    labels = [one_line(name) for name in names]
    if isinstance(output, str) and output in labels:
        return labels.index(output)
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool) and 0 <= output < len(names):
        return int(output)
    raise ParameterError(
        f"{argument}={output!r} is not allowed: it must be one of {_listed(labels)}, or a position from 0 to "
        f"{len(names) - 1}."
    )


def single_output(output: Any, names: Sequence[Any], picture: str) -> int:
    """Position of the one output of a picture; several outputs need a choice."""
    if output is not None:
        return chosen_output(output, names)
    if len(names) == 1:
        return 0
    labels = [one_line(name) for name in names]
    raise ParameterError(
        f"output=None is not allowed: {picture} shows one output, but there are {len(names)}: {_listed(labels)}. "
        f"Use output={labels[0]!r}."
    )


def _listed(labels: Sequence[str]) -> str:
    shown = ", ".join(map(repr, labels[:_MOST_LISTED]))
    return shown if len(labels) <= _MOST_LISTED else f"{shown}, …"
