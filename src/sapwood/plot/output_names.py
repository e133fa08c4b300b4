"""Outputs of a model in pictures: a class, a target or a score, chosen by name or position."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sapwood.errors import ParameterError
from sapwood.one_line import one_line
from sapwood.plot.short_text import shortened
from sapwood.table.names import shorten

_PLAIN = ("prediction", "score", "output 0")  # names without meaning
_LONGEST = 30


def chosen_output(output: object, names: Sequence[object]) -> int:
    """Position of an output given by its name or its position."""
    labels = [one_line(name) for name in names]
    if isinstance(output, str) and one_line(output) in labels:
        return labels.index(one_line(output))
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool) and 0 <= output < len(names):
        return int(output)
    raise ParameterError(
        f"output={output!r} is not allowed: it must be one of {shorten(labels)}, or a position from 0 to "
        f"{len(names) - 1}."
    )


def single_output(output: object, names: Sequence[object], picture: str) -> int:
    """Position of the one output of a picture; several outputs need a choice."""
    if output is not None:
        return chosen_output(output, names)
    if len(names) == 1:
        return 0
    labels = [one_line(name) for name in names]
    raise ParameterError(
        f"output=None is not allowed: {picture} shows one output, but there are {len(names)}: {shorten(labels)}. "
        f"Use output={labels[0]!r}."
    )


def about_output(text: str, name: str) -> str:
    """Add the name of the output to a label, if it has one."""
    return text if name in _PLAIN else f"{text}: {shortened(name, _LONGEST)}"


def scale_of_output(scale: str, name: str) -> str:
    """What the numbers of an output are, such as "log-odds of yes"; "model output" where that is not known."""
    if not scale:
        return about_output("model output", name)
    return scale if name in _PLAIN else f"{scale} of {shortened(name, _LONGEST)}"
