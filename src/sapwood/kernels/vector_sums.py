"""Vectors: several targets, or more than two classes. Statistics are the weight and a vector of sums.

For classes the sums are the weights of each class, for numbers the sums of w y, centred for the squared error. The
vectors of the node, its missing rows and both sides of a candidate are in the frame: node_sums, missing_sums,
left_sums, right_sums.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.code_list import FLAT, list_codes, note_code
from sapwood.kernels.criteria import ERROR, GINI, INVALID, NO_EVENTS, POISSON, SQUARED, vector_mass
from sapwood.kernels.node_totals import add_deviation, begin_totals, is_constant, number_mass
from sapwood.kernels.pair_sums import HIST_N, HIST_S, HIST_W
from sapwood.kernels.rules import are_large_enough
from sapwood.kernels.split_order import rounded
from sapwood.kernels.statistic import (
    Vectors,
    VectorTallies,
    begin_node,
    best_cut,
    chi_squared,
    collect,
    collect_drawn,
    recentred,
    total_node,
)
from sapwood.kernels.tree_frame import MISSING, NOTHING, STEPS, VALUE, Cut, Groups, Totals


@total_node.of_frame(Vectors)
@lean_kernel
def sum_vectors_of_node(frame, at, node):
    """Totals of a node; returns whether its targets are constant. OUT nodes, sums."""
    own, wy, entries, sums = begin_totals(frame, at, node), frame.wy, frame.entries, frame.sums[node]
    first, last, starts = own.first_row, own.first_row + own.n_rows, frame.output_start
    is_class, w = frame.criterion <= ERROR, 0.0
    for d in range(len(sums)):
        sums[d] = 0.0
    for i in range(first, last):
        r = entries[i] >> ONE
        w += wy[r, 0]
        for o in range(wy.shape[1] - 1):
            if is_class:
                sums[starts[o] + np.int64(wy[r, 1 + o])] += wy[r, 0]
            else:
                sums[o] += wy[r, 0] * wy[r, 1 + o]
    own.weight = w
    constant = is_constant(wy, entries, first, last)
    if constant:
        own.mass = 0.0
    elif is_class:
        own.mass = max(vector_mass(frame.criterion, w, sums, starts), 0.0)
    else:
        own.mass = number_mass(frame, at, node)
    return constant


@begin_node.of_frame(Vectors)
@lean_kernel
def vector_totals(frame, at):
    """Totals of the node in a slot; OUT node_sums, centers."""
    node = frame.slots[at].node
    own, centred = frame.nodes[node], frame.criterion == SQUARED
    for d in range(frame.sums.shape[1]):
        s = frame.sums[node, d]
        frame.centers[d] = s / own.weight if centred else 0.0
        frame.node_sums[d] = 0.0 if centred else s
    return Totals(np.int64(own.n_rows), own.weight, 0.0, own.mass, 0.0, STEPS * own.mass)


# Groups of a column


@collect.of(Vectors)
def _collect(stat, codes, column, totals, at):
    if column.code_row < 0:
        return sorted_vectors(stat.frame, None, column, totals, at)
    if column.n_codes > FLAT:
        return coded_vectors(stat.frame, codes[column.code_row], stat.frame.summary, at)
    return coded_vectors(stat.frame, codes[column.code_row], None, at)


@part
def add_row(frame, r, sums):
    """Add a row to sums: its weight to its class, or its weighted target; returns the weight. OUT sums."""
    wy = frame.wy
    weight = wy[r, 0]
    for o in range(wy.shape[1] - 1):
        if frame.criterion <= ERROR:
            sums[frame.output_start[o] + np.int64(wy[r, 1 + o])] += weight
        else:
            sums[o] += weight * (wy[r, 1 + o] - frame.centers[o])
    return weight


@part
def add_entry(frame, tally, r, sums):
    """The same, from tallies if there are any."""
    if tally is None:
        return add_row(frame, r, sums)
    weight = np.float64(tally[r] >> np.uint32(8))
    sums[tally[r] & np.uint32(255)] += weight
    return weight


@part
def note_group(frame, g, n, w):
    """Write the sums so far, left_sums, for a group that ends; OUT cum_rows, cum_weight, cum_sums."""
    frame.cum_rows[g], frame.cum_weight[g] = n, w
    for d in range(frame.cum_sums.shape[1]):
        frame.cum_sums[g, d] = frame.left_sums[d]


@lean_kernel
def walk_vectors(frame, tally, first, last, so_far):
    """Continue the sums (the vector is left_sums) along a list: rows, weight, group."""
    entries, left = frame.entries, frame.left_sums
    n, w, g = so_far
    for i in range(first, last):
        entry = entries[i]
        if entry & ONE == 0:
            if i > first:
                note_group(frame, g, n, w)
            g += 1
        n += 1
        w += add_entry(frame, tally, entry >> ONE, left)
    if last > first:
        note_group(frame, g, n, w)
    return n, w, g


@lean_kernel
def sorted_vectors(frame, tally, column, totals, at):
    """Groups of a sorted column; OUT missing_sums."""
    lo, hi, left, missing_sums = frame.lo[at], frame.hi[at], frame.left_sums, frame.missing_sums
    below, above, missing = column.below, column.above, column.missing
    for d in range(len(left)):
        left[d], missing_sums[d] = 0.0, 0.0
    n, w, g = walk_vectors(frame, tally, lo[below], hi[below], (np.int64(0), 0.0, np.int64(-1)))
    mn, mw = hi[missing] - lo[missing], 0.0
    for i in range(lo[missing], hi[missing]):
        mw += add_entry(frame, tally, frame.entries[i] >> ONE, missing_sums)
    if column.implicit == MISSING:
        for d in range(len(left)):
            missing_sums[d] = frame.node_sums[d] - left[d]
        return Groups(g + 1, totals.rows - n, totals.weight - w, 0.0)
    at_implicit, n_implicit = g + 1, np.int64(0)
    if column.implicit == VALUE:
        n_implicit = totals.rows - n - (hi[above] - lo[above]) - mn
    if n_implicit > 0:
        g = at_implicit
        note_group(frame, g, n, w)
    n, w, g = walk_vectors(frame, tally, lo[above], hi[above], (n, w, g))
    if n_implicit > 0:
        add_implicit_vectors(frame, at_implicit, g, n_implicit, totals.weight - w - mw)
    return Groups(g + 1, mn, mw, 0.0)


@lean_kernel
def add_implicit_vectors(frame, first, last, n, w):
    """Add the implicit rows to the sums of the groups first…last."""
    for g in range(first, last + 1):
        frame.cum_rows[g] += n
        frame.cum_weight[g] += w
        for d in range(frame.cum_sums.shape[1]):
            frame.cum_sums[g, d] += frame.node_sums[d] - frame.left_sums[d] - frame.missing_sums[d]


@lean_kernel
def coded_vectors(frame, codes, summary, at):
    """Groups of a coded column: a histogram, of which the codes that occur are read off; OUT missing_sums."""
    entries, hist, occupied, top = frame.entries, frame.hist, frame.occupied, np.uint64(0)
    for i in range(frame.lo[at, 0], frame.hi[at, 0]):
        r = entries[i] >> ONE
        c = np.uint64(codes[r])
        hist[c, HIST_N] += 1.0
        hist[c, HIST_W] += add_row(frame, r, hist[c, HIST_S:])
        top = note_code(c, top, occupied, summary)
    mn, mw, running = np.int64(hist[0, HIST_N]), hist[0, HIST_W], frame.left_sums
    for d in range(len(running)):
        running[d] = 0.0
        frame.missing_sums[d] = hist[0, HIST_S + d]
    hist[0, :] = 0.0
    count = list_codes(top, occupied, summary, frame.code)
    n, w = np.int64(0), 0.0
    for g in range(count):
        own = hist[frame.code[g]]
        n += np.int64(own[HIST_N])
        w += own[HIST_W]
        for d in range(len(running)):
            running[d] += own[HIST_S + d]
        note_group(frame, g, n, w)
        own[:] = 0.0
    return Groups(count, mn, mw, 0.0)


@collect_drawn.of(Vectors)
def _collect_drawn(stat, gathered, totals, n_missing, threshold, at):  # noqa: ARG001
    return drawn_vectors(stat.frame, None, gathered, n_missing, threshold, at), 0.0


@lean_kernel
def drawn_vectors(frame, tally, gathered, n_missing, threshold, at):
    """Two groups, of values up to a threshold and above it; returns the weight of missing rows; OUT missing_sums."""
    entries, cum_sums, missing_sums = frame.entries, frame.cum_sums, frame.missing_sums
    first, last = frame.lo[at, 0], frame.hi[at, 0]
    for d in range(len(missing_sums)):
        missing_sums[d], cum_sums[0, d], cum_sums[1, d] = 0.0, 0.0, 0.0
    mw, n_left, w_left, w_right = 0.0, np.int64(0), 0.0, 0.0
    for i in range(first, last):
        r, x = entries[i] >> ONE, gathered[i - first]
        if x <= threshold:
            n_left += 1
            w_left += add_entry(frame, tally, r, cum_sums[0])
        elif x == x:  # noqa: PLR0124 - not NaN
            w_right += add_entry(frame, tally, r, cum_sums[1])
        else:
            mw += add_entry(frame, tally, r, missing_sums)
    for d in range(len(missing_sums)):
        cum_sums[1, d] += cum_sums[0, d]
    frame.cum_rows[0], frame.cum_weight[0] = n_left, w_left
    frame.cum_rows[1], frame.cum_weight[1] = last - first - n_missing, w_left + w_right
    return mw


@recentred.of(Vectors, VectorTallies)
def _recentred(stat, column, totals, groups):
    frame = stat.frame
    if frame.criterion == SQUARED and column.implicit == NOTHING:
        for d in range(len(frame.node_sums)):
            frame.node_sums[d] = frame.cum_sums[groups.count - 1, d] + frame.missing_sums[d]
    return totals


# The best cut


@best_cut.of(Vectors, VectorTallies)
def _best_cut(stat, totals, groups, bounds, first, last, floor):  # noqa: ARG001 - no constraints for vectors
    return best_vector_cut(stat.frame, totals, groups, first, last, floor)


@lean_kernel
def best_vector_cut(frame, totals, groups, first, last, floor):
    """The best cut after one of the groups first…last-1."""
    if frame.criterion == GINI and len(frame.output_start) == 2:  # one target
        return best_gini_cut(frame, totals, groups, first, last, floor)
    cum_sums, missing_sums, left_sums = frame.cum_sums, frame.missing_sums, frame.left_sums
    mass = vector_mass(frame.criterion, totals.weight, frame.node_sums, frame.output_start)
    best, found = floor, Cut(INVALID, np.int64(-1), False)
    twice = np.int64(groups.missing > 0)
    for k in range(first << twice, last << twice):  # missing rows on the right, then on the left
        g, turn = k >> twice, k & twice
        dn, dw, factor = (groups.missing, groups.missing_weight, 1.0) if turn == 1 else (0, 0.0, 0.0)
        n_left, w_left = frame.cum_rows[g] + dn, frame.cum_weight[g] + dw
        if not are_large_enough(frame, totals, n_left, w_left):
            continue
        for d in range(len(left_sums)):
            left_sums[d] = cum_sums[g, d] + factor * missing_sums[d]
        decrease = vector_decrease(frame, totals, mass, w_left)
        if decrease > best and rounded(totals, decrease) > best:
            best, found = rounded(totals, decrease), Cut(decrease, g, turn == 1)
    return found


@lean_kernel
def vector_decrease(frame, totals, mass, w_left):
    """Decrease when left_sums holds the left sums; OUT right_sums."""
    left, right, criterion = frame.left_sums, frame.right_sums, frame.criterion
    for d in range(len(left)):
        right[d] = frame.node_sums[d] - left[d]
        if criterion == POISSON and min(left[d], right[d]) <= NO_EVENTS * frame.node_sums[d]:
            return INVALID
    left_mass = vector_mass(criterion, w_left, left, frame.output_start)
    return mass - left_mass - vector_mass(criterion, totals.weight - w_left, right, frame.output_start)


@lean_kernel
def best_gini_cut(frame, totals, groups, first, last, floor):
    """The same for the Gini impurity of one target: decrease = sum l²/w_l + sum r²/w_r - sum s²/w."""
    cum_rows, cum_weight, cum_sums, w = frame.cum_rows, frame.cum_weight, frame.cum_sums, totals.weight
    missing_sums, node_sums = frame.missing_sums, frame.node_sums
    mass = 0.0
    for d in range(len(node_sums)):
        mass += node_sums[d] * node_sums[d]
    mass /= w
    best, found = floor, Cut(INVALID, np.int64(-1), False)
    twice = np.int64(groups.missing > 0)
    for k in range(first << twice, last << twice):  # missing rows on the right, then on the left
        g, turn = k >> twice, k & twice
        dn, dw, factor = (groups.missing, groups.missing_weight, 1.0) if turn == 1 else (0, 0.0, 0.0)
        w_left, squares_left, squares_right = cum_weight[g] + dw, 0.0, 0.0
        for d in range(len(node_sums)):
            left = cum_sums[g, d] + factor * missing_sums[d]
            right = node_sums[d] - left
            squares_left += left * left
            squares_right += right * right
        decrease = squares_left / w_left + squares_right / (w - w_left) - mass
        if decrease > best and rounded(totals, decrease) > best:
            n_left = cum_rows[g] + dn
            if are_large_enough(frame, totals, n_left, w_left):
                best, found = rounded(totals, decrease), Cut(decrease, g, turn == 1)
    return found


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
