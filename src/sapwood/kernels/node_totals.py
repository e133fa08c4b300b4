"""Sums over the rows of a node that several statistics share."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.criteria import ERROR, POISSON, SQUARED, x_log_x
from sapwood.kernels.logarithm import quick_log
from sapwood.kernels.tree_frame import NOTHING, STEPS, Totals


@part
def begin_totals(frame, at, node):
    """Note which rows a node has; returns its record."""
    own, first, last = frame.nodes[node], frame.lo[at, 0], frame.hi[at, 0]
    own.n_rows, own.first_row = last - first, first
    return own


@part
def total_rows(frame, at, node, sum_rows, mass_of_classes):
    """Totals of a node; returns whether its targets are constant. OUT nodes, sums.

    `sum_rows` fills the sums and returns the weight; `mass_of_classes` is the mass of given sums.
    """
    own, sums = begin_totals(frame, at, node), frame.sums[node]
    first, last = own.first_row, own.first_row + own.n_rows
    own.weight = sum_rows(frame, first, last, sums)
    constant = is_constant(frame.wy, frame.entries, first, last)
    if constant:
        own.mass = 0.0
    elif frame.criterion > ERROR:
        own.mass = number_mass(frame, at, node)
    else:
        own.mass = max(mass_of_classes(frame, own.weight, sums), 0.0)
    return constant


@part
def sum_numbers(frame, first, last, sums):
    """Sums of the targets of a stretch of rows; returns their weight. OUT sums."""
    wy, entries, w = frame.wy, frame.entries, 0.0
    for o in range(wy.shape[1] - 1):
        w, s = 0.0, 0.0
        for i in range(first, last):
            r = entries[i] >> ONE
            w += wy[r, 0]
            s += wy[r, 0] * wy[r, 1 + o]
        sums[o] = s
    return w


@inner_kernel
def is_constant(wy, entries, first, last):
    """Whether all rows have the same targets."""
    r0 = entries[first] >> ONE
    for i in range(first + 1, last):
        r = entries[i] >> ONE
        for o in range(1, wy.shape[1]):
            if wy[r, o] != wy[r0, o]:
                return False
    return True


@inner_kernel
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
def totals_of(frame, at):
    """Totals of the node in a slot; OUT node_sums, centers. Of the squared error, targets are centred at their mean."""
    node, centred = frame.slots[at].node, frame.criterion == SQUARED
    own, sums = frame.nodes[node], frame.sums[node]
    for d in range(len(frame.node_sums)):
        frame.centers[d] = sums[d] / own.weight if centred else 0.0
        frame.node_sums[d] = 0.0 if centred else sums[d]
    s, center = sums[0], 0.0
    if len(frame.node_sums) > 0:
        s = 0.0
    elif centred:
        s, center = 0.0, s / own.weight
    return Totals(np.int64(own.n_rows), own.weight, s, own.mass, center, STEPS * own.mass)


@part
def recentred(frame, column, totals, groups):
    """The totals as this column's groups add them up, so that rounding of the centre does not favour one side.

    OUT node_sums.
    """
    if frame.criterion != SQUARED or column.implicit != NOTHING:
        return totals
    last = groups.count - 1
    for d in range(len(frame.node_sums)):
        frame.node_sums[d] = frame.cum_sums[last, d] + frame.missing_sums[d]
    s = frame.cum_sum[last] + groups.missing_sum
    return Totals(totals.rows, totals.weight, s, totals.mass, totals.center, totals.grid)


@part
def add_deviation(w, s, w_left, s_left, w_right, s_right):
    """Sum over both sides of (observed - expected)^2 / expected; expected = side's weight * class share."""
    expected_left, expected_right = w_left * s / w, w_right * s / w
    return (s_left - expected_left) ** 2 / expected_left + (s_right - expected_right) ** 2 / expected_right
