"""Vectors: several targets, or more than two classes. Statistics are the weight and a vector of sums.

For classes the sums are the weights of each class, for numbers the sums of w y, centred for the squared error. The
vectors of the node, its missing rows and both sides of a candidate are in the frame: node_sums, missing_sums,
left_sums, right_sums.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.criteria import ERROR, GINI, INVALID, NO_EVENTS, POISSON, vector_mass
from sapwood.kernels.groups import best_of_cuts, groups_of_codes, groups_of_lists, keep_vector
from sapwood.kernels.node_totals import add_deviation, sum_numbers, total_rows
from sapwood.kernels.pair_sums import HIST_N, HIST_S, HIST_W
from sapwood.kernels.statistic import (
    Vectors,
    VectorTallies,
    best_cut,
    chi_squared,
    coded_groups,
    drawn_groups,
    sorted_groups,
    total_node,
)
from sapwood.kernels.tree_frame import FREE


@part
def mass_of_vector(frame, w, sums):
    """Mass from the weight and the sums of a node."""
    return vector_mass(frame.criterion, w, sums, frame.output_start)


@part
def sum_targets(frame, first, last, sums):
    """Sums of the targets of a stretch of rows, or weights of their classes; returns the weight. OUT sums."""
    if frame.criterion > ERROR:
        return sum_numbers(frame, first, last, sums)
    w = 0.0
    for d in range(len(sums)):
        sums[d] = 0.0
    for i in range(first, last):
        w += add_vector(frame, frame.wy, 0.0, frame.entries[i] >> ONE, sums)[0]
    return w


@total_node.of(Vectors)
def _total_node(stat, at, node):
    return total_rows(stat.frame, at, node, sum_targets, mass_of_vector)


# Groups of a column


@part
def add_vector(frame, wy, center, r, sums):  # noqa: ARG001 - each target has a centre of its own
    """Add a row to sums: its weight to its class, or its weighted target; returns weight and sum. OUT sums."""
    weight = wy[r, 0]
    for o in range(wy.shape[1] - 1):
        if frame.criterion <= ERROR:
            sums[frame.output_start[o] + np.int64(wy[r, 1 + o])] += weight
        else:
            sums[o] += weight * (wy[r, 1 + o] - frame.centers[o])
    return weight, 0.0


@sorted_groups.of(Vectors)
def _sorted_groups(stat, column, totals, at):
    return groups_of_lists(stat.frame, stat.frame.wy, column, totals, at, add_vector, keep_vector)


@part
def add_to_vector(frame, wy, hist, c, r, i):  # noqa: ARG001
    """Add a row to the sums of a code; OUT hist."""
    hist[c, HIST_N] += 1.0
    hist[c, HIST_W] += add_vector(frame, wy, 0.0, r, hist[c, HIST_S:])[0]


@part
def take_vector(hist, code, sums):
    """Rows and weight of a code, whose sums are added to others; its own become zero. OUT hist, sums."""
    own = hist[code]
    n, w = np.int64(own[HIST_N]), own[HIST_W]
    for d in range(len(sums)):
        sums[d] += own[HIST_S + d]
    own[:] = 0.0
    return n, w, 0.0


@coded_groups.of(Vectors)
def _coded_groups(stat, codes, column, at):
    frame = stat.frame
    return groups_of_codes(frame, frame.wy, frame.hist, codes, column, at, add_to_vector, take_vector, keep_vector)


@drawn_groups.of(Vectors)
def _drawn_groups(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001
    return two_vector_groups(stat.frame, stat.frame.wy, gathered, n_missing, threshold, at, add_vector)


@part
def two_vector_groups(frame, rows, gathered, n_missing, threshold, at, add_row):
    """Groups of values up to a threshold and above it; returns weight and sum of missing rows; OUT missing_sums."""
    entries, cum_sums, missing_sums = frame.entries, frame.cum_sums, frame.missing_sums
    first, last = frame.lo[at, 0], frame.hi[at, 0]
    for d in range(len(missing_sums)):
        missing_sums[d], cum_sums[0, d], cum_sums[1, d] = 0.0, 0.0, 0.0
    mw, n_left, w_left, w_right = 0.0, np.int64(0), 0.0, 0.0
    for i in range(first, last):
        r, x = entries[i] >> ONE, gathered[i - first]
        if x <= threshold:
            n_left += 1
            w_left += add_row(frame, rows, 0.0, r, cum_sums[0])[0]
        elif x == x:  # noqa: PLR0124 - not NaN
            w_right += add_row(frame, rows, 0.0, r, cum_sums[1])[0]
        else:
            mw += add_row(frame, rows, 0.0, r, missing_sums)[0]
    for d in range(len(missing_sums)):
        cum_sums[1, d] += cum_sums[0, d]
    frame.cum_rows[0], frame.cum_weight[0] = n_left, w_left
    frame.cum_rows[1], frame.cum_weight[1] = last - first - n_missing, w_left + w_right
    return mw, 0.0


# The best cut


@best_cut.of(Vectors, VectorTallies)
def _best_cut(stat, totals, groups, bounds, first, last, floor):  # noqa: ARG001 - no constraints for vectors
    frame = stat.frame
    if frame.criterion == GINI and len(frame.output_start) == 2:  # one target
        mass = 0.0
        for d in range(len(frame.node_sums)):
            mass += frame.node_sums[d] * frame.node_sums[d]
        mass /= totals.weight
        return best_of_cuts(frame, totals, groups, FREE, first, last, floor, mass, cut_by_gini)
    mass = vector_mass(frame.criterion, totals.weight, frame.node_sums, frame.output_start)
    return best_of_cuts(frame, totals, groups, FREE, first, last, floor, mass, cut_vectors)


@part
def cut_vectors(frame, totals, mass, w_left, s_left, g, turn):  # noqa: ARG001
    """Decrease of a cut after group g; OUT left_sums, right_sums."""
    factor = np.float64(turn)
    for d in range(len(frame.left_sums)):
        frame.left_sums[d] = frame.cum_sums[g, d] + factor * frame.missing_sums[d]
    return vector_decrease(frame, totals, mass, w_left)


@part
def cut_by_gini(frame, totals, mass, w_left, s_left, g, turn):  # noqa: ARG001
    """The same for the Gini impurity of one target: sum l²/w_l + sum r²/w_r - sum s²/w; the last one is `mass`."""
    squares_left, squares_right, factor = 0.0, 0.0, np.float64(turn)
    for d in range(len(frame.node_sums)):
        left = frame.cum_sums[g, d] + factor * frame.missing_sums[d]
        right = frame.node_sums[d] - left
        squares_left += left * left
        squares_right += right * right
    return squares_left / w_left + squares_right / (totals.weight - w_left) - mass


@inner_kernel
def vector_decrease(frame, totals, mass, w_left):
    """Decrease when left_sums holds the left sums; OUT right_sums."""
    left, right, criterion = frame.left_sums, frame.right_sums, frame.criterion
    for d in range(len(left)):
        right[d] = frame.node_sums[d] - left[d]
        if criterion == POISSON and min(left[d], right[d]) <= NO_EVENTS * frame.node_sums[d]:
            return INVALID
    left_mass = vector_mass(criterion, w_left, left, frame.output_start)
    return mass - left_mass - vector_mass(criterion, totals.weight - w_left, right, frame.output_start)


@chi_squared.of(Vectors, VectorTallies)
def _chi_squared(stat, node, left, right):
    nodes, sums, starts = stat.frame.nodes, stat.frame.sums, stat.frame.output_start
    w, w_left, w_right = nodes[node].weight, nodes[left].weight, nodes[right].weight
    statistic, freedom = 0.0, 0
    for o in range(len(starts) - 1):
        freedom -= 1
        for k in range(starts[o], starts[o + 1]):
            if sums[node, k] > 0.0:
                freedom += 1
                statistic += add_deviation(w, sums[node, k], w_left, sums[left, k], w_right, sums[right, k])
    return statistic, np.float64(freedom)
