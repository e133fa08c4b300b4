"""Separation: thresholds that part neighbouring values, in whatever type the values have."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array


def midpoints(below: Array, above: Array) -> NDArray[np.float64]:
    """A value t with below <= t < above, the middle where it exists.

    Halves are added, because a sum may overflow. Where the middle rounds to the upper value, or one end is infinite,
    the lower value separates them just as well.
    """
    below, above = below.astype(np.float64), above.astype(np.float64)
    with np.errstate(invalid="ignore"):
        middle = below / 2 + above / 2
    usable = np.isfinite(middle) & (middle < above) & (middle >= below)
    return np.where(usable, middle, below)


def round_down(thresholds: NDArray[np.float64], dtype: np.dtype) -> Array:
    """Largest value of the type that is at most each threshold: values of this type are on the same side of both."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = thresholds.astype(dtype)
        return np.where(rounded > thresholds, np.nextafter(rounded, dtype.type(-np.inf)), rounded)
