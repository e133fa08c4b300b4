"""Weighted percentiles: bins of about equal weight."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.codes.separation import midpoints

Floats = NDArray[np.float64]


def weighted_cuts(values: Floats, mass: Floats, max_bins: int) -> Floats:
    """Cuts between distinct, ascending values so that bins have about equal mass; values without mass are ignored."""
    heavy = mass > 0
    values, mass = values[heavy], mass[heavy]
    if len(values) <= max_bins:
        return midpoints(values[:-1], values[1:])
    middle = np.cumsum(mass) - mass / 2
    bins = np.minimum((middle * (max_bins / mass.sum())).astype(np.int64), max_bins - 1)
    last = np.flatnonzero(np.diff(bins))  # the last value of each bin but the last
    return midpoints(values[last], values[last + 1])
