"""Values of nodes that are set after growth, on another scale than growth's own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.grown import GrownTree

Floats = NDArray[np.float64]


def add_up(grown: GrownTree, sums: Floats) -> None:
    """Sums of inner nodes from those of the leaves; OUT sums."""
    nodes = grown.nodes
    for node in np.flatnonzero(grown.splits)[::-1]:  # children come after their parents
        sums[node] = sums[nodes["left"][node]] + sums[nodes["right"][node]]


def keep_order(grown: GrownTree, values: Floats, signs: NDArray[np.int8]) -> Floats:
    """Values within the bounds of monotone constraints.

    Below a split on a constrained column, neither side may cross the middle of what the two children say.
    """
    nodes = grown.nodes
    lower, upper = np.full(len(nodes), -np.inf), np.full(len(nodes), np.inf)
    for node in np.flatnonzero(grown.splits):
        left, right = nodes["left"][node], nodes["right"][node]
        lower[left] = lower[right] = lower[node]
        upper[left] = upper[right] = upper[node]
        sign = signs[nodes["feature"][node]]
        if sign != 0:
            low, high = np.clip(values[[left, right]], lower[node], upper[node])
            border = 0.5 * low + 0.5 * high
            if sign > 0:
                upper[left] = lower[right] = border
            else:
                lower[left] = upper[right] = border
    return np.clip(values, lower, upper)
