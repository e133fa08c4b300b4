"""Pairs: one target, a number or two classes (0 and 1). Statistics are the weight w and the sum s of w y.

Squared errors are computed from centred targets, so that large targets of small variance lose no digits.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.code_list import BIT, FLAT, list_codes, note_code
from sapwood.kernels.criteria import ERROR, INVALID, SQUARED, pair_decrease, pair_mass
from sapwood.kernels.node_totals import add_deviation, begin_totals, is_constant, number_mass
from sapwood.kernels.rules import are_large_enough, in_order
from sapwood.kernels.split_order import rounded
from sapwood.kernels.statistic import (
    Medians,
    Pairs,
    PairTallies,
    Vectors,
    VectorTallies,
    begin_node,
    best_cut,
    chi_squared,
    collect,
    collect_drawn,
    node_value,
    recentred,
    total_node,
    total_sibling,
)
from sapwood.kernels.tree_frame import MISSING, NOTHING, STEPS, VALUE, Cut, Groups, Totals

HIST_N, HIST_W, HIST_S = 0, 1, 2  # fields of the histogram


@total_node.of_frame(Pairs)
@lean_kernel
def sum_pairs_of_node(frame, at, node):
    """Totals of a node; returns whether its target is constant. OUT nodes, sums."""
    own, wy, entries = begin_totals(frame, at, node), frame.wy, frame.entries
    first, last = own.first_row, own.first_row + own.n_rows
    w, s = 0.0, 0.0
    for i in range(first, last):
        r = entries[i] >> ONE
        w += wy[r, 0]
        s += wy[r, 0] * wy[r, 1]
    own.weight, frame.sums[node, 0] = w, s
    constant = is_constant(wy, entries, first, last)
    if constant:
        own.mass = 0.0
    elif frame.criterion > ERROR:
        own.mass = number_mass(frame, at, node)
    else:
        own.mass = max(pair_mass(frame.criterion, w, s), 0.0)
    return constant


@total_sibling.of(Pairs, Vectors, Medians)
def _total_sibling(stat, at, parent, known, node):  # noqa: ARG001 - only whole numbers may be subtracted
    return total_node(stat, at, node)


@begin_node.of(Pairs)
def _begin_node(stat, at):
    totals = pair_totals(stat.frame, at)
    fill_local(stat.frame, at, totals.center)
    return totals


@part
def pair_totals(frame, at):
    """Totals of the node in a slot."""
    own = frame.nodes[frame.slots[at].node]
    s, center = frame.sums[frame.slots[at].node, 0], 0.0
    if frame.criterion == SQUARED:  # targets are centred at the node's mean, so their sum is zero
        center, s = s / own.weight, 0.0
    return Totals(np.int64(own.n_rows), own.weight, s, own.mass, center, STEPS * own.mass)


@lean_kernel
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


@collect.of(Pairs)
def _collect(stat, codes, column, totals, at):
    if column.code_row < 0:
        return sorted_pairs(stat.frame, None, column, totals, at)
    if column.n_codes > FLAT:
        return coded_pairs(stat.frame, codes[column.code_row], stat.frame.summary, at)
    return coded_pairs(stat.frame, codes[column.code_row], None, at)


@part
def pair_of(wy, tally, center, r):
    """Weight and centred sum of a row; tallies, if there are any, replace `wy`."""
    if tally is None:
        return wy[r, 0], wy[r, 0] * (wy[r, 1] - center)
    own = tally[r]
    weight = np.float64(own >> np.uint32(8))
    return weight, weight * np.float64(own & ONE)


@part
def walk_pairs(frame, tally, first, last, center, so_far):
    """Continue the sums along a list: rows, weight, sum, group. An entry without the tie bit opens a group."""
    entries, wy = frame.entries, frame.wy
    cum_rows, cum_weight, cum_sum = frame.cum_rows, frame.cum_weight, frame.cum_sum
    n, w, s, g = so_far
    for i in range(first, last):
        entry = entries[i]
        weight, share = pair_of(wy, tally, center, entry >> ONE)
        n += 1
        w += weight
        s += share
        g += 1 - np.int64(entry & ONE)
        cum_rows[g] = n
        cum_weight[g] = w
        cum_sum[g] = s
    return n, w, s, g


@part
def sum_list(frame, tally, first, last, center):
    """Weight and sum of a stretch of a list."""
    entries, wy = frame.entries, frame.wy
    w, s = 0.0, 0.0
    for i in range(first, last):
        weight, share = pair_of(wy, tally, center, entries[i] >> ONE)
        w += weight
        s += share
    return w, s


@lean_kernel
def sorted_pairs(frame, tally, column, totals, at):
    """Groups of a sorted column."""
    lo, hi, center = frame.lo[at], frame.hi[at], totals.center
    below, above, missing = column.below, column.above, column.missing
    n, w, s, g = walk_pairs(frame, tally, lo[below], hi[below], center, (np.int64(0), 0.0, 0.0, np.int64(-1)))
    if column.implicit == MISSING:
        return Groups(g + 1, totals.rows - n, totals.weight - w, totals.sum - s)
    mn = hi[missing] - lo[missing]
    mw, ms = sum_list(frame, tally, lo[missing], hi[missing], center)
    at_implicit, n_implicit = g + 1, np.int64(0)
    if column.implicit == VALUE:
        n_implicit = totals.rows - n - (hi[above] - lo[above]) - mn
    if n_implicit > 0:  # a group for the implicit rows: what all the lists leave over
        g = at_implicit
        frame.cum_rows[g], frame.cum_weight[g], frame.cum_sum[g] = n, w, s
    n, w, s, g = walk_pairs(frame, tally, lo[above], hi[above], center, (n, w, s, g))
    if n_implicit > 0:
        add_implicit(frame, at_implicit, g, n_implicit, totals.weight - w - mw, totals.sum - s - ms)
    return Groups(g + 1, mn, mw, ms)


@lean_kernel
def add_implicit(frame, first, last, n, w, s):
    """Add the implicit rows to the sums of the groups first…last."""
    for g in range(first, last + 1):
        frame.cum_rows[g] += n
        frame.cum_weight[g] += w
        frame.cum_sum[g] += s


@lean_kernel
def coded_pairs(frame, codes, summary, at):
    """Groups of a coded column: a histogram, of which the codes that occur are read off."""
    entries, local, hist, occupied = frame.entries, frame.local, frame.hist, frame.occupied
    first, top = np.uint64(frame.lo[at, 0]), np.uint64(0)
    for i in range(first, np.uint64(frame.hi[at, 0])):
        c = np.uint64(codes[entries[i] >> ONE])
        hist[c, HIST_N] += 1.0
        hist[c, HIST_W] += local[i - first, 0]
        hist[c, HIST_S] += local[i - first, 1]
        top = note_code(c, top, occupied, summary)
    mn, mw, ms = np.int64(hist[0, HIST_N]), hist[0, HIST_W], hist[0, HIST_S]
    hist[0, HIST_N], hist[0, HIST_W], hist[0, HIST_S] = 0.0, 0.0, 0.0
    code, cum_rows, cum_weight, cum_sum = frame.code, frame.cum_rows, frame.cum_weight, frame.cum_sum
    count = list_codes(top, occupied, summary, code)
    n, w, s = np.int64(0), 0.0, 0.0
    for g in range(count):
        c = np.uint64(code[g])
        n += np.int64(hist[c, HIST_N])
        w += hist[c, HIST_W]
        s += hist[c, HIST_S]
        cum_rows[g], cum_weight[g], cum_sum[g] = n, w, s
        hist[c, HIST_N], hist[c, HIST_W], hist[c, HIST_S] = 0.0, 0.0, 0.0
    return Groups(count, mn, mw, ms)


@collect_drawn.of(Pairs)
def _collect_drawn(stat, gathered, totals, n_missing, threshold, at):
    rows, mw, ms = frame_rows(stat.frame, at), 0.0, 0.0
    if n_missing > 0:
        _, w, s = sum_up_to(gathered, rows, stat.frame.local, np.inf)
        mw, ms = totals.weight - w, totals.sum - s
    n, w, s = sum_up_to(gathered, rows, stat.frame.local, threshold)
    write_two_groups(stat.frame, totals, (n, w, s), (n_missing, mw, ms))
    return mw, ms


@part
def frame_rows(frame, at):
    """Rows of the node in a slot."""
    return frame.hi[at, 0] - frame.lo[at, 0]


@lean_kernel
def write_two_groups(frame, totals, left, missing):
    """Sums of the rows up to a drawn threshold, and of all present rows: (rows, weight, sum) each."""
    frame.cum_rows[0], frame.cum_weight[0], frame.cum_sum[0] = left
    frame.cum_rows[1] = totals.rows - missing[0]
    frame.cum_weight[1], frame.cum_sum[1] = totals.weight - missing[1], totals.sum - missing[2]


@lean_kernel
def sum_up_to(gathered, n_rows, local, threshold):
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


@recentred.of(Pairs, PairTallies)
def _recentred(stat, column, totals, groups):
    if stat.frame.criterion != SQUARED or column.implicit != NOTHING:
        return totals
    s = stat.frame.cum_sum[groups.count - 1] + groups.missing_sum
    return Totals(totals.rows, totals.weight, s, totals.mass, totals.center, totals.grid)


@node_value.of(Pairs, PairTallies, Vectors, VectorTallies)
def _node_value(stat, node):
    return stat.frame.sums[node, 0] / stat.frame.nodes[node].weight


# The best split of a column


@best_cut.of_frame(Pairs, PairTallies)
@lean_kernel
def best_pair_cut(frame, totals, groups, bounds, first, last, floor):
    """The best cut after one of the groups first…last-1."""
    cum_rows, cum_weight, cum_sum, criterion = frame.cum_rows, frame.cum_weight, frame.cum_sum, frame.criterion
    w, s, mass = totals.weight, totals.sum, pair_mass(criterion, totals.weight, totals.sum)
    best, found = floor, Cut(INVALID, np.int64(-1), False)
    twice = np.int64(groups.missing > 0)
    for k in range(first << twice, last << twice):  # missing rows on the right, then on the left
        g, turn = k >> twice, k & twice
        dn, dw, ds = (groups.missing, groups.missing_weight, groups.missing_sum) if turn == 1 else (0, 0.0, 0.0)
        w_left, s_left = cum_weight[g] + dw, cum_sum[g] + ds
        decrease = pair_decrease(criterion, mass, w_left, s_left, w, s)
        if decrease > best and rounded(totals, decrease) > best:
            n_left = cum_rows[g] + dn
            if are_large_enough(frame, totals, n_left, w_left):
                left, right = s_left / w_left + totals.center, (s - s_left) / (w - w_left) + totals.center
                # A free column may pass the bounds: its children's values are clipped.
                if bounds.sign == 0 or in_order(bounds, left, right):
                    best, found = rounded(totals, decrease), Cut(decrease, g, turn == 1)
    return found


@chi_squared.of(Pairs, PairTallies)
def _chi_squared(stat, node, left, right):
    nodes, sums = stat.frame.nodes, stat.frame.sums
    w, w_left, w_right = nodes[node].weight, nodes[left].weight, nodes[right].weight
    s, s_left, s_right = sums[node, 0], sums[left, 0], sums[right, 0]
    statistic = add_deviation(w, s, w_left, s_left, w_right, s_right)
    return statistic + add_deviation(w, w - s, w_left, w_left - s_left, w_right, w_right - s_right), 1.0
