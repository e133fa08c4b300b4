"""The exponential function, written so that the compiler can compute many at a time.

e^x = 2^k e^r with k whole and |r| <= ln(2) / 2, where Taylor's series needs twelve terms for the last bit of a float64.
Only additions and multiplications, which any number of lanes can do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sapwood.kernels._jit import part, sum_kernel

LOG2_E = 1.4426950408889634
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is ln(2) to 100 bits
BIAS, MANTISSA = np.int64(1023), np.int64(52)
LEAST, MOST = -708.0, 709.0  # beyond, a float64 cannot tell e^x
T2, T3, T4, T5, T6, T7 = 1 / 2, 1 / 6, 1 / 24, 1 / 120, 1 / 720, 1 / 5040
T8, T9, T10, T11, T12, T13 = 1 / 40320, 1 / 362880, 1 / 3628800, 1 / 39916800, 1 / 479001600, 1 / 6227020800


@intrinsic
def _as_float(_context: Any, _bits: Any) -> Any:
    """The float64 of these bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.int64), generate


@part
def exponential(x):
    """e^x; x is brought within [-708, 709]."""
    x = min(max(x, LEAST), MOST)
    k = np.floor(x * LOG2_E + 0.5)
    r = (x - k * LN2_HIGH) - k * LN2_LOW
    q = T8 + r * (T9 + r * (T10 + r * (T11 + r * (T12 + r * T13))))
    p = 1.0 + r * (1.0 + r * (T2 + r * (T3 + r * (T4 + r * (T5 + r * (T6 + r * (T7 + r * q)))))))
    return p * _as_float((np.int64(k) + BIAS) << MANTISSA)


@sum_kernel
def logistic_derivatives(y, score, least, gradient, hessian):
    """The differences p - y and products p (1 - p), from the share of the wrong class; OUT gradient, hessian."""
    for i in range(len(y)):
        side = 1.0 - 2.0 * y[i]
        wrong = 1.0 / (1.0 + exponential(-side * score[i]))
        gradient[i] = side * wrong
        hessian[i] = max(wrong * (1.0 - wrong), least)


@sum_kernel
def keep_larger(score, most):
    """The larger of two numbers of each row; OUT most."""
    for i in range(len(score)):
        most[i] = max(most[i], score[i])


@sum_kernel
def add_exponential(score, most, out, total):
    """e^(F - most) of each row; OUT out; total grows by it."""
    for i in range(len(score)):
        out[i] = exponential(score[i] - most[i])
        total[i] += out[i]


@sum_kernel
def class_derivatives(y, k, total, least, gradient, hessian):
    """The same for class k of many; the gradient holds e^F_k before. OUT gradient, hessian."""
    for i in range(len(y)):
        share = gradient[i] / total[i]
        gradient[i] = share - 1.0 if y[i] == k else share
        hessian[i] = max(share * (1.0 - share), least)
