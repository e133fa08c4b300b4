"""Tail of the F distribution with one degree of freedom between groups, for any second degrees of freedom.

    P(F(1, v) >= f) = I_x(v/2, 1/2),  x = v / (v + f),  I the regularised incomplete beta function

    I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) times a continued fraction,  1 / B(a, 1/2) = Γ(a + 1/2) / (Γ(a) sqrt(π))

Weights count as rows, so v need not be a whole number, and no table of critical values holds it.
"""

from __future__ import annotations

import math

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.exponential import exponential
from sapwood.kernels.gamma_function import half_step_ratio
from sapwood.kernels.logarithm import log_one_plus

MOST_TERMS = 10_000  # of the fraction; some sqrt(v) are needed
SMALL = 1e-300  # stands for zero, by which nothing can be divided
EXACT = 1e-15


@lean_kernel
def f_tail(f, v):
    """Probability of an F statistic of at least f."""
    if f <= 0.0:
        return 1.0
    x = v / (v + f)
    if x <= 0.0:
        return 0.0
    a, b = 0.5 * v, 0.5
    rest = f / (v + f)  # 1 - x, without loss of digits
    front = half_step_ratio(a) * math.sqrt(rest / math.pi) * exponential(-a * log_one_plus(f / v))
    if x < (a + 1.0) / (a + b + 2.0):
        return front * beta_fraction(x, a, b) / a
    return 1.0 - front * beta_fraction(rest, b, a) / b


@lean_kernel
def beta_fraction(x, a, b):
    """The continued fraction of I_x(a, b), from its front (Lentz's algorithm): d = 1/D_m, c = C_m."""
    c, d = 1.0, 1.0 - (a + b) * x / (a + 1.0)
    d = 1.0 / (d if abs(d) > SMALL else SMALL)
    fraction = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        for term in (even, odd):
            d = 1.0 + term * d
            c = 1.0 + term / c
            d = 1.0 / (d if abs(d) > SMALL else SMALL)
            c = c if abs(c) > SMALL else SMALL
            fraction *= c * d
        if abs(c * d - 1.0) < EXACT:
            break
    return fraction
