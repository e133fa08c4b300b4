"""Formulas of the criteria, as functions of summed statistics.

The *mass* of a set of rows is its weight times its impurity; the decrease of a split is
`mass(node) - mass(left) - mass(right)`. With one target, and two classes or a number, the sums are
w = sum of weights and s = sum of weight times target (for classes: the weight of class 1).

    gini             2 s (w - s) / w                 squared error     sum w y^2 - s^2 / w
    entropy          - s log2(s/w) - (w-s) log2((w-s)/w)
    error            min(s, w - s)                   Poisson           sum w y log y - s log(s / w)

With K classes the sums are s_1 … s_K, with several targets their masses are averaged.
"""

from __future__ import annotations

import math

from sapwood.kernels._jit import inner_kernel, part
from sapwood.kernels.exponential import LOG2_E
from sapwood.kernels.logarithm import quick_log

GINI, ENTROPY, ERROR, SQUARED, POISSON, ABSOLUTE = 0, 1, 2, 3, 4, 5  # classes up to ERROR, numbers after it
INVALID = -math.inf
NO_EVENTS = 1e-14  # a smaller part of the events is a rounding error of their sum


@part
def x_log_x(x):
    """The product x log x, continued by 0 at 0 (and below, where only rounding can lead)."""
    return x * quick_log(x) if x > 0.0 else 0.0


@inner_kernel
def pair_mass(criterion, w, s):
    """Mass from (w, s), up to a term that cancels in a decrease."""
    if criterion == GINI:
        return 2.0 * s * (w - s) / w
    if criterion == ENTROPY:
        return (x_log_x(w) - x_log_x(s) - x_log_x(w - s)) * LOG2_E
    if criterion == ERROR:
        return min(s, w - s)
    if criterion == POISSON:
        return -s * quick_log(s / w) if s > 0.0 else 0.0
    return -s * s / w


@inner_kernel
def class_mass(criterion, w, sums, first, last):
    """Mass of one target's classes `sums[first:last]`."""
    if criterion == GINI:
        squares = 0.0
        for k in range(first, last):
            squares += sums[k] * sums[k]
        return w - squares / w
    if criterion == ENTROPY:
        total = x_log_x(w)
        for k in range(first, last):
            total -= x_log_x(sums[k])
        return total * LOG2_E
    largest = 0.0
    for k in range(first, last):
        largest = max(largest, sums[k])
    return w - largest


@inner_kernel
def vector_mass(criterion, w, sums, output_start):
    """Mass averaged over the targets, up to a term that cancels in a decrease.

    Target o owns `sums[output_start[o]:output_start[o + 1]]`: its classes, or its one weighted sum.
    """
    n_outputs = len(output_start) - 1
    total = 0.0
    for o in range(n_outputs):
        first, last = output_start[o], output_start[o + 1]
        if criterion <= ERROR:
            total += class_mass(criterion, w, sums, first, last)
        else:
            total += pair_mass(criterion, w, sums[first])
    return total / n_outputs


@part
def pair_decrease(criterion, mass, w_left, s_left, w, s):
    """Decrease of a split that sends (w_left, s_left) of the node's (w, s) left; `mass` is the node's pair_mass.

    Gini and squared error use d = sl W - wl S, decrease = d^2 / (wl wr W): one division, exact for whole numbers, and
    the same for a split and its mirror image.
    """
    if criterion == GINI or criterion == SQUARED:  # noqa: PLR1714, SIM109 - the compiler knows == better than `in`
        d = s_left * w - w_left * s
        decrease = d * d / (w_left * (w - w_left) * w)
        return 2.0 * decrease if criterion == GINI else decrease
    if criterion == POISSON and (s_left <= NO_EVENTS * s or s - s_left <= NO_EVENTS * s):
        return INVALID  # a child that predicts a rate of zero has infinite loss on any event
    return mass - pair_mass(criterion, w_left, s_left) - pair_mass(criterion, w - w_left, s - s_left)
