"""One of several outputs: a class, a target or a score, chosen by name or position."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.errors import ParameterError
from sapwood.one_line import one_line

_MOST_LISTED = 10


def chosen_output(output: Any, names: Sequence[Any], argument: str = "output") -> int:
    """Position of an output given by its name or its position."""
    labels = [one_line(name) for name in names]
    if isinstance(output, str) and one_line(output) in labels:
        return labels.index(one_line(output))
    if isinstance(output, (int, np.integer)) and not isinstance(output, bool) and 0 <= output < len(names):
        return int(output)
    raise ParameterError(
        f"{argument}={output!r} is not allowed: it must be one of {listed_outputs(labels)}, or a position from 0 to "
        f"{len(names) - 1}."
    )


def listed_outputs(labels: Sequence[str]) -> str:
    """The first names, in quotes."""
    shown = ", ".join(map(repr, labels[:_MOST_LISTED]))
    return shown if len(labels) <= _MOST_LISTED else f"{shown}, …"
