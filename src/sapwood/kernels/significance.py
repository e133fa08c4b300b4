"""The test of a split: chi-squared for classes, F for numbers."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel
from sapwood.kernels.criteria import ERROR
from sapwood.kernels.f_test import f_tail
from sapwood.kernels.statistics import chi_squared


@lean_kernel
def within_side(frame, node):
    """Sum of squares around the side's own means."""
    wy, entries, side, total = frame.wy, frame.entries, frame.nodes[node], 0.0
    for o in range(wy.shape[1] - 1):
        mean = frame.sums[node, o] / side.weight
        for i in range(side.first_row, side.first_row + side.n_rows):
            r = entries[i] >> ONE
            total += wy[r, 0] * (wy[r, 1 + o] - mean) ** 2
    return total


@lean_kernel
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


@lean_kernel
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
