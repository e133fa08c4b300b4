"""Noise of scores, which decays as the model grows: CatBoost's random strength, for scores of Newton's steps."""

from __future__ import annotations

import math

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exact_sum import MOST_TERMS, add_term, carry, round_one
from sapwood.kernels.exponential import exponential


@lean_kernel
def noise_of(gradient, hessian, weight, strength, length, sums):
    """Standard deviation of the noise of a tree, from all rows; scratch: sums (2, LENGTH)."""
    sums[:] = 0
    n = add_noise_terms(gradient, hessian, weight, sums)
    return noise_of_sums(sums, n, strength, length)


@lean_kernel
def add_noise_terms(gradient, hessian, weight, sums):
    """Add the rows of a part to exact sums of w g² and w h; returns how many have a weight. OUT sums (2, LENGTH)."""
    n = 0
    for start in range(0, len(gradient), MOST_TERMS):
        for row in range(start, min(start + MOST_TERMS, len(gradient))):
            w = 1.0 if weight is None else weight[row]
            add_term(sums[0], w * gradient[row] * gradient[row])
            add_term(sums[1], w * hessian[row])
            n += int(w > 0.0)
        carry(sums[0])
        carry(sums[1])
    return n


@lean_kernel
def noise_of_sums(sums, n, strength, length):
    """Standard deviation of the noise of a tree: r sqrt(Σ g² / Σ h) m with m = n e^-s / (1 + n e^-s).

    r is the strength, n the number of rows that train, and s the length of all steps so far, the sum of learning
    rates. The root of a score, G / sqrt(H), has the same unit. Sums are those of all parts, carried.
    """
    squares, hessians = round_one(sums[0]), round_one(sums[1])
    if hessians <= 0.0:
        return 0.0
    left = n * exponential(-length)
    return strength * math.sqrt(squares / hessians) * left / (1.0 + left)
