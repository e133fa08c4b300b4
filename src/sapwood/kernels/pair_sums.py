"""Pairs: one target, a number or two classes (0 and 1). Statistics are the weight w and the sum s of w y.

Squared errors are computed from centred targets, so that large targets of small variance lose no digits.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.code_list import BIT
from sapwood.kernels.criteria import pair_decrease, pair_mass
from sapwood.kernels.groups import best_of_cuts, groups_of_codes, groups_of_lists, no_vector
from sapwood.kernels.node_totals import add_deviation, sum_numbers, total_rows
from sapwood.kernels.statistic import (
    Pairs,
    PairTallies,
    begin_node,
    best_cut,
    chi_squared,
    coded_groups,
    drawn_groups,
    sorted_groups,
    total_node,
)

HIST_N, HIST_W, HIST_S = 0, 1, 2  # fields of the histogram


@part
def mass_of_pair(frame, w, sums):
    """Mass from the weight and the sum of a node."""
    return pair_mass(frame.criterion, w, sums[0])


@total_node.of(Pairs)
def _total_node(stat, at, node):
    return total_rows(stat.frame, at, node, sum_numbers, mass_of_pair)


@begin_node.of(Pairs)
def _begin_node(stat, at, totals):
    fill_local(stat.frame, at, totals.center)


@inner_kernel
def fill_local(frame, at, center):
    """Weight and centred sum of the rows of a node, side by side in the order of its list; OUT local.

    All coded columns of the node read them from here: a row's own would be fetched anew for each column.
    """
    local, wy, entries, first = frame.local, frame.wy, frame.entries, np.uint64(frame.lo[at, 0])
    if len(local) > 0:
        for i in range(first, np.uint64(frame.hi[at, 0])):
            r = entries[i] >> ONE
            local[i - first, 0] = wy[r, 0]
            local[i - first, 1] = wy[r, 0] * (wy[r, 1] - center)


# Groups of a column


@part
def add_pair(frame, wy, center, r, sums):  # noqa: ARG001 - a pair is two numbers
    """Weight and centred sum of a row."""
    return wy[r, 0], wy[r, 0] * (wy[r, 1] - center)


@sorted_groups.of(Pairs)
def _sorted_groups(stat, column, totals, at):
    return groups_of_lists(stat.frame, stat.frame.wy, column, totals, at, add_pair, no_vector)


@part
def add_to_pair(frame, local, hist, c, r, i):  # noqa: ARG001
    """Add row i of the node to the sums of a code; OUT hist."""
    hist[c, HIST_N] += 1.0
    hist[c, HIST_W] += local[i, 0]
    hist[c, HIST_S] += local[i, 1]


@part
def take_pair(hist, code, sums):  # noqa: ARG001
    """Rows, weight and sum of a code, which become zero."""
    c = np.uint64(code)
    n, w, s = np.int64(hist[c, HIST_N]), hist[c, HIST_W], hist[c, HIST_S]
    hist[c, HIST_N], hist[c, HIST_W], hist[c, HIST_S] = 0.0, 0.0, 0.0
    return n, w, s


@coded_groups.of(Pairs)
def _coded_groups(stat, codes, column, at):
    frame = stat.frame
    return groups_of_codes(frame, frame.local, frame.hist, codes, column, at, add_to_pair, take_pair, no_vector)


@part
def two_groups(frame, rows, gathered, totals, n_missing, threshold, sum_up_to):
    """Two groups, of values up to a threshold and above it; `sum_up_to` gives the rows, weight and sum of the first."""
    mw, ms = 0.0, 0.0
    if n_missing > 0:
        _, w, s = sum_up_to(gathered, totals.rows, rows, np.inf)
        mw, ms = totals.weight - w, totals.sum - s
    frame.cum_rows[0], frame.cum_weight[0], frame.cum_sum[0] = sum_up_to(gathered, totals.rows, rows, threshold)
    frame.cum_rows[1], frame.cum_weight[1], frame.cum_sum[1] = (
        totals.rows - n_missing,
        totals.weight - mw,
        totals.sum - ms,
    )
    return mw, ms


@drawn_groups.of(Pairs)
def _drawn_groups(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001 - rows are side by side
    return two_groups(stat.frame, stat.frame.local, gathered, totals, n_missing, threshold, sum_pairs_up_to)


@inner_kernel
def sum_pairs_up_to(gathered, n_rows, local, threshold):
    """Rows, weight and sum of the values up to a threshold.

    Without a branch, which would be mispredicted every second time, and with two sums of each kind, because an
    addition waits for the one before it.
    """
    n, w, s, w_odd, s_odd = np.int64(0), 0.0, 0.0, 0.0, 0.0
    for half in range(np.uint64(n_rows) >> BIT):
        i = half << BIT
        inside, other = np.int64(gathered[i] <= threshold), np.int64(gathered[i | BIT] <= threshold)
        n += inside + other
        w += local[i, 0] * inside
        s += local[i, 1] * inside
        w_odd += local[i | BIT, 0] * other
        s_odd += local[i | BIT, 1] * other
    if n_rows & 1:
        inside = np.int64(gathered[n_rows - 1] <= threshold)
        n += inside
        w += local[n_rows - 1, 0] * inside
        s += local[n_rows - 1, 1] * inside
    return n, w + w_odd, s + s_odd


# The best split of a column


@part
def cut_pairs(frame, totals, mass, w_left, s_left, g, turn):  # noqa: ARG001
    """Decrease of a cut after group g."""
    return pair_decrease(frame.criterion, mass, w_left, s_left, totals.weight, totals.sum)


@best_cut.of(Pairs, PairTallies)
def _best_cut(stat, totals, groups, bounds, first, last, floor):
    mass = pair_mass(stat.frame.criterion, totals.weight, totals.sum)
    return best_of_cuts(stat.frame, totals, groups, bounds, first, last, floor, mass, cut_pairs)


@chi_squared.of(Pairs, PairTallies)
def _chi_squared(stat, node, left, right):
    nodes, sums = stat.frame.nodes, stat.frame.sums
    w, w_left, w_right = nodes[node].weight, nodes[left].weight, nodes[right].weight
    s, s_left, s_right = sums[node, 0], sums[left, 0], sums[right, 0]
    statistic = add_deviation(w, s, w_left, s_left, w_right, s_right)
    return statistic + add_deviation(w, w - s, w_left, w_left - s_left, w_right, w_right - s_right), 1.0
