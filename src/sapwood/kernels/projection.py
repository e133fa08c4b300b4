"""One gradient and hessian for all scores of a row, so that one tree can be grown for them."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.draws import mix


@lean_kernel
def project(gradient, hessian, factors, first, last, out):
    """Sums over the scores of gradients and hessians times their factors, for a block of rows; OUT out (2, rows)."""
    for row in range(first, last):
        out[0, row] = out[1, row] = 0.0
    for k in range(factors.shape[1]):
        for row in range(first, last):
            out[0, row] += factors[0, k] * gradient[k, row]
            out[1, row] += factors[1, k] * hessian[k, row]


@lean_kernel
def write_direction(key, sums_to_zero, direction):
    """Random signs, or numbers of sum 0; their mean square is 1. OUT direction."""
    n, number, total = len(direction), 0, 0.0
    while number == 0 or (sums_to_zero and abs(total) == n):  # equal ones would leave no gradient at all
        total = 0.0
        for k in range(n):
            drawn = mix(mix(key, np.int64(number)), np.int64(k))
            direction[k] = 1.0 if drawn & np.uint64(1) else -1.0
            total += direction[k]
        number += 1
    if sums_to_zero:
        mean = total / n
        for k in range(n):
            direction[k] = (direction[k] - mean) / np.sqrt(1.0 - mean * mean)


@lean_kernel
def write_factors(key, sums_to_zero, scales, factors):
    """Factors r_k of gradients and r_k² of hessians, times their scales; OUT factors (2, scores)."""
    write_direction(key, sums_to_zero, factors[0])
    for k in range(factors.shape[1]):
        r = factors[0, k]
        factors[0, k], factors[1, k] = r * scales[0, k], r * r * scales[1, k]
