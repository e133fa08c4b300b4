"""Noise of scores, which decays as the model grows: CatBoost's random strength, for scores of Newton's steps."""

from __future__ import annotations

import math

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exponential import exponential


@lean_kernel
def noise_of(gradient, hessian, weight, strength, length):
    """Standard deviation of the noise of a tree: r sqrt(Σ g² / Σ h) m with m = n e^-s / (1 + n e^-s).

    r is the strength, n the number of rows that train, and s the length of all steps so far, the sum of learning
    rates. The root of a score, G / sqrt(H), has the same unit.
    """
    squares, hessians, n = 0.0, 0.0, 0
    for row in range(len(gradient)):
        w = 1.0 if weight is None else weight[row]
        squares += w * gradient[row] * gradient[row]
        hessians += w * hessian[row]
        n += int(w > 0.0)
    if hessians <= 0.0:
        return 0.0
    left = n * exponential(-length)
    return strength * math.sqrt(squares / hessians) * left / (1.0 + left)
