"""Thresholds for numbers that are compared only after they were rounded to float32.

XGBoost and scikit-learn's trees keep cells as float32; this library compares them as they are. Rounding never changes
the order of two numbers, so the doubles that are on the left side after rounding are those up to some number t':

    float32(x) <= f   <=>   x <= t',  where f is a float32 number

t' is half way from f to the next float32 number. A double that is exactly half way is rounded to the one whose last
bit is 0: it belongs to the left side if that is f, and otherwise t' is the double before it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats

BEYOND = 2.0**128  # what the next number after the largest of float32 would be: where rounding to infinity begins


def double_at_most(threshold: Array) -> Floats:
    """For each t of float64, the t' with `float32(x) <= t` exactly where `x <= t'`, for every double x."""
    exact = np.asarray(threshold, dtype=np.float64)
    with np.errstate(over="ignore", under="ignore"):
        near = exact.astype(np.float32)
    return _last_rounded_to(np.where(near > exact, _next(near, -np.inf), near))


def double_below(threshold: Array) -> Floats:
    """For each t of float32, the t' with `float32(x) < t` exactly where `x <= t'`, for every double x.

    Nothing is below minus infinity; t' is then minus infinity, which XGBoost accepts nowhere as a value.
    """
    exact = np.asarray(threshold, dtype=np.float32)
    return np.where(np.isneginf(exact), -np.inf, _last_rounded_to(_next(exact, -np.inf)))


def _last_rounded_to(f: NDArray[np.float32]) -> Floats:
    """The largest double that becomes f, or something smaller, by rounding."""
    half_way = 0.5 * (_finite(f) + _finite(_next(f, np.inf)))
    is_even = (np.ascontiguousarray(f).view(np.uint32) & 1) == 0
    with np.errstate(under="ignore"):
        found = np.where(is_even, half_way, np.nextafter(half_way, -np.inf))
    return np.where(np.isposinf(f), np.inf, found)


def _next(f: NDArray[np.float32], towards: float) -> NDArray[np.float32]:
    with np.errstate(over="ignore", under="ignore"):
        return np.nextafter(f, np.float32(towards))


def _finite(f: NDArray[np.float32]) -> Floats:
    return np.clip(f.astype(np.float64), -BEYOND, BEYOND)
