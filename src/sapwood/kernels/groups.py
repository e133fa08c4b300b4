"""Groups of a column in a node: its rows of equal value, ascending, with the sums up to each; and the best cut.

Each algorithm is written once. What differs between statistics is given to it as functions, which the compiler copies
in: how a row is added to the sums, how the sums of a code are taken out of a histogram, how a decrease is computed.
The weight and the sum of pairs travel as numbers. Vectors of sums are in the frame (they are empty with pairs):
left_sums up to here, missing_sums of the missing rows, node_sums of all rows, cum_sums up to each group.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.code_list import FLAT, list_codes, note_code
from sapwood.kernels.criteria import INVALID
from sapwood.kernels.rules import are_large_enough, in_order
from sapwood.kernels.split_order import rounded
from sapwood.kernels.tree_frame import MISSING, VALUE, Cut, Groups


@part
def keep_vector(frame, g):
    """Write left_sums for a group that ends; OUT cum_sums."""
    for d in range(frame.cum_sums.shape[1]):
        frame.cum_sums[g, d] = frame.left_sums[d]


@part
def no_vector(frame, g):
    """The same for pairs."""


@part
def clear_vectors(frame):
    """Begin a column; OUT left_sums, missing_sums."""
    for d in range(len(frame.left_sums)):
        frame.left_sums[d], frame.missing_sums[d] = 0.0, 0.0


@part
def groups_of_lists(frame, rows, column, totals, at, add_row, keep):
    """Groups of a sorted column: rows below the implicit value, rows that hold it and are in no list, rows above it.

    An entry without the tie bit opens a group. `add_row` adds one of `rows` to a vector of sums, and returns its weight
    and its part of the sum.
    """
    entries, lo, hi, left, center = frame.entries, frame.lo[at], frame.hi[at], frame.left_sums, totals.center
    cum_rows, cum_weight, cum_sum = frame.cum_rows, frame.cum_weight, frame.cum_sum
    below, above, missing = column.below, column.above, column.missing
    clear_vectors(frame)
    mn, mw, ms = hi[missing] - lo[missing], 0.0, 0.0
    for i in range(lo[missing], hi[missing]):
        weight, share = add_row(frame, rows, center, entries[i] >> ONE, frame.missing_sums)
        mw += weight
        ms += share
    rest = totals.rows - mn - (hi[below] - lo[below]) - (hi[above] - lo[above])
    n, w, s, g, at_implicit = np.int64(0), 0.0, 0.0, np.int64(-1), np.int64(-1)
    for side in range(2):
        own = above if side == 1 else below
        if side == 1 and rest > 0 and column.implicit == VALUE:  # a group for what all the lists leave over
            g += 1
            at_implicit = g
            cum_rows[g], cum_weight[g], cum_sum[g] = n, w, s
            keep(frame, g)
        for i in range(lo[own], hi[own]):
            entry = entries[i]
            if entry & ONE == 0 and i > lo[own]:
                keep(frame, g)
            weight, share = add_row(frame, rows, center, entry >> ONE, left)
            n += 1
            w += weight
            s += share
            g += 1 - np.int64(entry & ONE)
            cum_rows[g], cum_weight[g], cum_sum[g] = n, w, s
        if hi[own] > lo[own]:
            keep(frame, g)
    if column.implicit == MISSING:
        for d in range(len(left)):
            frame.missing_sums[d] = frame.node_sums[d] - left[d]
        return Groups(g + 1, totals.rows - n, totals.weight - w, totals.sum - s)
    if at_implicit >= 0:
        add_implicit(frame, at_implicit, g, rest, totals.weight - w - mw, totals.sum - s - ms)
    return Groups(g + 1, mn, mw, ms)


@inner_kernel
def add_implicit(frame, first, last, n, w, s):
    """Add the implicit rows to the sums of the groups first…last."""
    for g in range(first, last + 1):
        frame.cum_rows[g] += n
        frame.cum_weight[g] += w
        frame.cum_sum[g] += s
        for d in range(len(frame.left_sums)):
            frame.cum_sums[g, d] += frame.node_sums[d] - frame.left_sums[d] - frame.missing_sums[d]


@part
def groups_of_codes(frame, rows, table, codes, column, at, add_to_code, take_code, keep):
    """Groups of a coded column: a histogram, `table`, of which the codes that occur are read off.

    `add_to_code` adds one of `rows` to the histogram. `take_code` adds the sums of a code to a vector and makes them
    zero, and returns its rows, weight and sum.
    """
    entries, code, left, is_deep = frame.entries, frame.code, frame.left_sums, column.n_codes > FLAT
    cum_rows, cum_weight, cum_sum = frame.cum_rows, frame.cum_weight, frame.cum_sum
    occupied, summary = frame.occupied, frame.summary
    first, top = np.uint64(frame.lo[at, 0]), np.uint64(0)
    for i in range(first, np.uint64(frame.hi[at, 0])):
        r = entries[i] >> ONE
        c = np.uint64(codes[r])
        add_to_code(frame, rows, table, c, r, i - first)
        note_code(c, is_deep, occupied, summary)
        top = max(top, c)
    clear_vectors(frame)
    mn, mw, ms = take_code(table, np.int64(0), frame.missing_sums)
    count = list_codes(frame, top, is_deep)
    n, w, s = np.int64(0), 0, 0
    for g in range(count):
        own_n, own_w, own_s = take_code(table, code[g], left)
        n += own_n
        w += own_w
        s += own_s
        cum_rows[g], cum_weight[g], cum_sum[g] = n, w, s
        keep(frame, g)
    return Groups(count, mn, np.float64(mw), np.float64(ms))


@part
def best_of_cuts(frame, totals, groups, bounds, first, last, floor, mass, decrease_of):
    """The best cut after one of the groups first…last-1; `mass` is that of the node as `decrease_of` wants it."""
    cum_rows, cum_weight, cum_sum, w, s = frame.cum_rows, frame.cum_weight, frame.cum_sum, totals.weight, totals.sum
    best, found = floor, Cut(INVALID, np.int64(-1), False)
    n_turns = 2 if groups.missing > 0 else 1
    for g in range(first, last):
        w_left, s_left, n_left = cum_weight[g], cum_sum[g], cum_rows[g]
        for turn in range(n_turns):  # missing rows on the right, then on the left
            if turn == 1:
                w_left += groups.missing_weight
                s_left += groups.missing_sum
                n_left += groups.missing
            decrease = decrease_of(frame, totals, mass, w_left, s_left, g, turn)
            if decrease > best and rounded(totals, decrease) > best and are_large_enough(frame, totals, n_left, w_left):
                left, right = s_left / w_left + totals.center, (s - s_left) / (w - w_left) + totals.center
                # A free column may pass the bounds: its children's values are clipped.
                if bounds.sign == 0 or in_order(bounds, left, right):
                    best, found = rounded(totals, decrease), Cut(decrease, g, turn == 1)
    return found
