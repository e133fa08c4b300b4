"""The test of a split: chi-squared for classes, F for numbers.

Tail of the F distribution with one degree of freedom between groups, for any second degrees of freedom.

    P(F(1, v) >= f) = I_x(v/2, 1/2),  x = v / (v + f),  I the regularised incomplete beta function

    I_x(a, b) = x^a (1 - x)^b / (a B(a, b)) times a continued fraction,  1 / B(a, 1/2) = Γ(a + 1/2) / (Γ(a) sqrt(π))

Weights count as rows, so v need not be a whole number, and no table of critical values holds it.
"""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel
from sapwood.kernels.criteria import ERROR
from sapwood.kernels.exponential import exponential
from sapwood.kernels.gamma_function import half_step_ratio
from sapwood.kernels.logarithm import log_one_plus
from sapwood.kernels.statistic import chi_squared

MOST_TERMS = 10_000  # of the fraction; some sqrt(v) are needed
SMALL = 1e-300  # stands for zero, by which nothing can be divided
EXACT = 1e-15


@inner_kernel
def within_side(frame, node):
    """Sum of squares around the side's own means."""
    wy, entries, side, total = frame.wy, frame.entries, frame.nodes[node], 0.0
    for o in range(wy.shape[1] - 1):
        mean = frame.sums[node, o] / side.weight
        for i in range(side.first_row, side.first_row + side.n_rows):
            r = entries[i] >> ONE
            total += wy[r, 0] * (wy[r, 1 + o] - mean) ** 2
    return total


@inner_kernel
def f_ratio(frame, node, left, right):
    """Between the sides over within the sides, as an F statistic, and its second degrees of freedom (weight - 2)."""
    nodes, sums = frame.nodes, frame.sums
    w, w_left, w_right = nodes[node].weight, nodes[left].weight, nodes[right].weight
    freedom, between = w - 2.0, 0.0
    if freedom <= 0.0:
        return 0.0, freedom
    for o in range(frame.wy.shape[1] - 1):
        mean = sums[node, o] / w
        between += w_left * (sums[left, o] / w_left - mean) ** 2
        between += w_right * (sums[right, o] / w_right - mean) ** 2
    within = within_side(frame, left) + within_side(frame, right)
    return between * freedom / within if within > 0.0 else np.inf, freedom


@inner_kernel
def is_significant(stat, critical, node, left, right):
    """Whether the split's test statistic reaches the critical value for its degrees of freedom.

    `critical[0]` is the level itself, for degrees of freedom that are no whole number.
    """
    frame = stat.frame
    if frame.criterion <= ERROR:
        statistic, freedom = chi_squared(stat, node, left, right)
    else:
        statistic, freedom = f_ratio(frame, node, left, right)
    if freedom <= 0.0:
        return False
    at = min(np.int64(freedom), len(critical) - 1)
    if freedom == at or freedom >= len(critical):
        return statistic >= critical[at]
    return f_tail(statistic / (frame.wy.shape[1] - 1), freedom) <= critical[0]


@inner_kernel
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


@inner_kernel
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
