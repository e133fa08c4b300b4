"""Sums over the rows of a node that several statistics share."""

from __future__ import annotations

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.criteria import POISSON, x_log_x
from sapwood.kernels.logarithm import quick_log


@part
def begin_totals(frame, at, node):
    """Note which rows a node has; returns its record."""
    own, first, last = frame.nodes[node], frame.lo[at, 0], frame.hi[at, 0]
    own.n_rows, own.first_row = last - first, first
    return own


@lean_kernel
def is_constant(wy, entries, first, last):
    """Whether all rows have the same targets."""
    r0 = entries[first] >> ONE
    for i in range(first + 1, last):
        r = entries[i] >> ONE
        for o in range(1, wy.shape[1]):
            if wy[r, o] != wy[r0, o]:
                return False
    return True


@lean_kernel
def number_mass(frame, at, node):
    """Mass for number targets by a second pass, so that large targets of small variance lose nothing."""
    wy, entries, sums, weight = frame.wy, frame.entries, frame.sums[node], frame.nodes[node].weight
    n_outputs = wy.shape[1] - 1
    total = 0.0
    for o in range(n_outputs):
        mean = sums[o] / weight
        for i in range(frame.lo[at, 0], frame.hi[at, 0]):
            r = entries[i] >> ONE
            y = wy[r, 1 + o]
            if frame.criterion == POISSON:
                total += wy[r, 0] * (x_log_x(y) - (y * quick_log(mean) if y > 0.0 else 0.0))
            else:
                total += wy[r, 0] * (y - mean) * (y - mean)
    return max(total, 0.0) / n_outputs


@part
def subtract(frame, parent, known, node):
    """Totals of a node, all whole numbers: what its parent has more than its sibling; returns whether it is pure.

    OUT nodes, sums.
    """
    own, above, other = frame.nodes[node], frame.nodes[parent], frame.nodes[known]
    own.weight, own.n_rows = above.weight - other.weight, above.n_rows - other.n_rows
    own.first_row = above.first_row if other.first_row > above.first_row else above.first_row + other.n_rows
    sums, pure = frame.sums, False
    for d in range(sums.shape[1]):
        sums[node, d] = sums[parent, d] - sums[known, d]
        pure |= sums[node, d] == own.weight
    return pure


@part
def add_deviation(w, s, w_left, s_left, w_right, s_right):
    """Sum over both sides of (observed - expected)^2 / expected; expected = side's weight * class share."""
    expected_left, expected_right = w_left * s / w, w_right * s / w
    return (s_left - expected_left) ** 2 / expected_left + (s_right - expected_right) ** 2 / expected_right
