"""Elementary functions of arrays, the same to the last bit on every processor.

NumPy and the system's mathematical library choose implementations by processor, and their last bits differ. All that
reaches a model, or decides about one, is computed by these.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sapwood.kernels.elementary import (
    write_exp,
    write_exp2,
    write_log,
    write_log1p,
    write_log1p_exp,
    write_log2,
    write_log_gamma,
    write_logistic,
)

Floats = NDArray[np.float64]


def exp(x: ArrayLike) -> Floats:
    """e^x; inf or 0 where it overflows or underflows."""
    return _each(write_exp, x)


def exp2(x: ArrayLike) -> Floats:
    """2^x; exact for whole numbers."""
    return _each(write_exp2, x)


def logistic(x: ArrayLike) -> Floats:
    """1 / (1 + e^-x)."""
    return _each(write_logistic, x)


def logistic_shares(x: Floats, scale: float) -> Floats:
    """1 - p and p, one row each, with p = 1 / (1 + e^-(scale * x))."""
    shares = np.empty((2, len(x)))
    np.multiply(x, scale, out=shares[1])
    write_logistic(shares[1])
    np.subtract(1.0, shares[1], out=shares[0])
    return shares


def log(x: ArrayLike) -> Floats:
    """The natural logarithm; -inf of 0 and NaN below, without a warning."""
    return _each(write_log, x)


def log2(x: ArrayLike) -> Floats:
    """The logarithm to base 2 of numbers above 0; exact for powers of 2."""
    return _each(write_log2, x)


def log1p(x: ArrayLike) -> Floats:
    """log(1 + x) of finite numbers above -1."""
    return _each(write_log1p, x)


def log1p_exp(x: ArrayLike) -> Floats:
    """log(1 + e^x), without overflow."""
    return _each(write_log1p_exp, x)


def log_gamma(x: ArrayLike) -> Floats:
    """The logarithm of Γ(x), of numbers above 0."""
    return _each(write_log_gamma, x)


def sum_of_rows(table: Floats) -> Floats:
    """The sum over the first axis, always in the same order: NumPy's own depends on the number of columns."""
    total: Floats = table[0].copy()
    for row in table[1:]:
        total += row
    return total


def power(base: ArrayLike, exponent: ArrayLike) -> Floats:
    """The base, at least 0, to an exponent other than 0."""
    return exp(np.asarray(exponent) * log(base))


def _each(kernel: Callable[..., object], x: ArrayLike) -> Floats:
    out = np.array(x, dtype=np.float64, order="C")
    kernel(out.reshape(-1))
    return out
