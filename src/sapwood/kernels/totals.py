"""Totals of a node: rows, weight, sums, mass, constancy of the target; and the test of a split's significance."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.criteria import ERROR, POISSON, pair_mass, vector_mass, x_log_x
from sapwood.kernels.f_test import f_tail
from sapwood.kernels.median import sorted_median_and_loss


@part
def is_constant(wy, entries, first, last):
    """Whether all rows have the same targets."""
    r0 = entries[first] >> ONE
    for i in range(first + 1, last):
        r = entries[i] >> ONE
        for o in range(1, wy.shape[1]):
            if wy[r, o] != wy[r0, o]:
                return False
    return True


@part
def sum_rows(wy, criterion, entries, first, last, sums, vectors):
    """Weight of the rows; OUT sums: weights of classes, or weighted targets (two classes: the weight of class 1)."""
    w = 0.0
    for d in range(len(sums)):
        sums[d] = 0.0
    for i in range(first, last):
        r = entries[i] >> ONE
        weight = wy[r, 0]
        w += weight
        if vectors is None:
            for o in range(len(sums)):
                sums[o] += weight * wy[r, 1 + o]
        else:
            for o in range(wy.shape[1] - 1):
                if criterion <= ERROR:
                    sums[vectors.output_start[o] + np.int64(wy[r, 1 + o])] += weight
                else:
                    sums[o] += weight * wy[r, 1 + o]
    return w


@lean_kernel
def number_mass(wy, criterion, entries, first, last, w, sums):
    """Mass for number targets by a second pass, so that large targets of small variance lose nothing."""
    n_outputs = wy.shape[1] - 1
    total = 0.0
    for o in range(n_outputs):
        mean = sums[o] / w
        for i in range(first, last):
            r = entries[i] >> ONE
            y = wy[r, 1 + o]
            if criterion == POISSON:
                total += wy[r, 0] * (x_log_x(y) - (y * np.log(mean) if y > 0.0 else 0.0))
            else:
                total += wy[r, 0] * (y - mean) * (y - mean)
    return max(total, 0.0) / n_outputs


@part
def absolute_mass(wy, entries, lo, hi, middle):
    """Mean loss over the outputs; OUT middle: the medians."""
    n_outputs = wy.shape[1] - 1
    total = 0.0
    for o in range(n_outputs):
        median, loss = sorted_median_and_loss(entries, lo[1 + o], hi[1 + o], wy, o)
        middle[o] = median
        total += loss
    return total / n_outputs


@part
def sum_tallies(tally, entries, first, last, sums, vectors):
    """The same from tallies; and whether all rows are of one class."""
    w = np.int64(0)
    if vectors is None:
        s = np.int64(0)
        for i in range(first, last):
            own = np.int64(tally[entries[i] >> ONE])
            w += own >> 8
            s += (own >> 8) * (own & 1)
        sums[0] = s
        return np.float64(w), s in (0, w)
    for d in range(len(sums)):
        sums[d] = 0.0
    for i in range(first, last):
        own = np.int64(tally[entries[i] >> ONE])
        w += own >> 8
        sums[own & 255] += np.float64(own >> 8)
    return np.float64(w), sums[np.int64(tally[entries[first] >> ONE]) & 255] == np.float64(w)


@lean_kernel
def total_node(wy, tally, criterion, entries, lo, hi, node, sums, vectors, middle):
    """Fill the node's totals; returns whether its target is constant. OUT node, sums, middle."""
    first, last = lo[0], hi[0]
    if tally is None:
        w = sum_rows(wy, criterion, entries, first, last, sums, vectors)
        constant = is_constant(wy, entries, first, last)
    else:
        w, constant = sum_tallies(tally, entries, first, last, sums, vectors)
    node.weight, node.n_rows, node.first_row = w, last - first, first
    if middle is not None:
        node.mass = absolute_mass(wy, entries, lo, hi, middle)
    elif constant:
        node.mass = 0.0
    elif criterion > ERROR:
        node.mass = number_mass(wy, criterion, entries, first, last, w, sums)
    elif vectors is None:
        node.mass = max(pair_mass(criterion, w, sums[0]), 0.0)
    else:
        node.mass = max(vector_mass(criterion, w, sums, vectors.output_start), 0.0)
    return constant


@lean_kernel
def total_rest(criterion, parent, parent_sums, other, other_sums, node, sums, vectors):
    """The same for the sibling of a node, from tallies: what its parent has more; exact, for all are whole numbers."""
    node.weight, node.n_rows = parent.weight - other.weight, parent.n_rows - other.n_rows
    node.first_row = parent.first_row if other.first_row > parent.first_row else parent.first_row + other.n_rows
    constant = False
    for d in range(len(sums)):
        sums[d] = parent_sums[d] - other_sums[d]
        constant |= sums[d] == node.weight
    if vectors is None:
        constant |= sums[0] == 0.0
        node.mass = max(pair_mass(criterion, node.weight, sums[0]), 0.0)
    else:
        node.mass = max(vector_mass(criterion, node.weight, sums, vectors.output_start), 0.0)
    if constant:
        node.mass = 0.0
    return constant


@part
def add_deviation(w, s, w_left, s_left, w_right, s_right):
    """Sum over both sides of (observed - expected)^2 / expected; expected = side's weight * class share."""
    expected_left, expected_right = w_left * s / w, w_right * s / w
    return (s_left - expected_left) ** 2 / expected_left + (s_right - expected_right) ** 2 / expected_right


@lean_kernel
def chi_squared(w, w_left, w_right, sums, left, right, vectors):
    """Statistic and degrees of freedom of independence between side and class, summed over the outputs."""
    if vectors is None:
        statistic = add_deviation(w, sums[0], w_left, left[0], w_right, right[0])
        return statistic + add_deviation(w, w - sums[0], w_left, w_left - left[0], w_right, w_right - right[0]), 1.0
    statistic, freedom = 0.0, 0
    for o in range(len(vectors.output_start) - 1):
        freedom -= 1
        for k in range(vectors.output_start[o], vectors.output_start[o + 1]):
            if sums[k] > 0.0:
                freedom += 1
                statistic += add_deviation(w, sums[k], w_left, left[k], w_right, right[k])
    return statistic, np.float64(freedom)


@lean_kernel
def within_side(wy, entries, node, sums):
    """Sum of squares around the side's own means."""
    total = 0.0
    for o in range(wy.shape[1] - 1):
        mean = sums[o] / node.weight
        for i in range(node.first_row, node.first_row + node.n_rows):
            r = entries[i] >> ONE
            total += wy[r, 0] * (wy[r, 1 + o] - mean) ** 2
    return total


@lean_kernel
def f_ratio(wy, entries, node, left, right, sums, left_sums, right_sums):
    """Between the sides over within the sides, as an F statistic, and its second degrees of freedom (weight - 2)."""
    freedom = node.weight - 2.0
    if freedom <= 0.0:
        return 0.0, freedom
    between = 0.0
    for o in range(wy.shape[1] - 1):
        mean = sums[o] / node.weight
        between += left.weight * (left_sums[o] / left.weight - mean) ** 2
        between += right.weight * (right_sums[o] / right.weight - mean) ** 2
    within = within_side(wy, entries, left, left_sums) + within_side(wy, entries, right, right_sums)
    return between * freedom / within if within > 0.0 else np.inf, freedom


@lean_kernel
def is_significant(wy, criterion, entries, nodes, sums, node, left, right, vectors, critical):
    """Whether the split's test statistic reaches the critical value for its degrees of freedom.

    `critical[0]` is the level itself, for degrees of freedom that are no whole number.
    """
    if critical is None:
        return True
    a, b, c = nodes[node], nodes[left], nodes[right]
    if criterion <= ERROR:
        statistic, freedom = chi_squared(a.weight, b.weight, c.weight, sums[node], sums[left], sums[right], vectors)
    else:
        statistic, freedom = f_ratio(wy, entries, a, b, c, sums[node], sums[left], sums[right])
    if freedom <= 0.0:
        return False
    at = min(np.int64(freedom), len(critical) - 1)
    if freedom == at or freedom >= len(critical):
        return statistic >= critical[at]
    return f_tail(statistic / (wy.shape[1] - 1), freedom) <= critical[0]
