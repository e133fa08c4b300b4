"""Tallies of two classes: a row is one number, weight << 8 | class, where weights are whole numbers; sums are exact.

What is not here is that of `pair_sums.py` and `subsets.py`.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.code_list import FLAT, list_codes, note_code
from sapwood.kernels.criteria import pair_mass
from sapwood.kernels.node_totals import begin_totals, subtract
from sapwood.kernels.pair_sums import frame_rows, pair_totals, sorted_pairs, write_two_groups
from sapwood.kernels.statistic import PairTallies, begin_node, collect, collect_drawn, total_node, total_sibling
from sapwood.kernels.tree_frame import Groups

EIGHT = np.uint64(8)
CLASS = np.uint64(255)
HALF = np.uint64(32)
ROW = np.uint64(1 << 32)
LOW_HALF = np.uint64(0xFFFFFFFF)


@total_node.of_frame(PairTallies)
@lean_kernel
def sum_tallies(frame, at, node):
    """Totals of a node; returns whether it is pure. OUT nodes, sums."""
    own, tally, entries = begin_totals(frame, at, node), frame.tally, frame.entries
    w, s = np.int64(0), np.int64(0)
    for i in range(own.first_row, own.first_row + own.n_rows):
        row = np.int64(tally[entries[i] >> ONE])
        w += row >> 8
        s += (row >> 8) * (row & 1)
    own.weight, frame.sums[node, 0] = w, s
    own.mass = 0.0 if s in (0, w) else max(pair_mass(frame.criterion, own.weight, np.float64(s)), 0.0)
    return s in (0, w)


@total_sibling.of_frame(PairTallies)
@lean_kernel
def subtract_pair(frame, at, parent, known, node):  # noqa: ARG001 - sums are exact: a difference will do
    """Totals of a node from those of its parent and its sibling; returns whether it is pure. OUT nodes, sums."""
    pure = subtract(frame, parent, known, node)
    own, s = frame.nodes[node], frame.sums[node, 0]
    pure |= s == 0.0
    own.mass = 0.0 if pure else max(pair_mass(frame.criterion, own.weight, s), 0.0)
    return pure


@begin_node.of(PairTallies)
def _begin_node(stat, at):
    fill_tallies(stat.frame, at)
    return pair_totals(stat.frame, at)


@lean_kernel
def fill_tallies(frame, at):
    """Tallies of the rows of a node, side by side in the order of its list; OUT local_tally."""
    local, tally, entries, first = frame.local_tally, frame.tally, frame.entries, np.uint64(frame.lo[at, 0])
    for i in range(first, np.uint64(frame.hi[at, 0])):
        local[i - first] = tally[entries[i] >> ONE]


@collect.of(PairTallies)
def _collect(stat, codes, column, totals, at):
    if column.code_row < 0:
        return sorted_pairs(stat.frame, stat.frame.tally, column, totals, at)
    if column.n_codes > FLAT:
        return tallied_pairs(stat.frame, codes[column.code_row], stat.frame.summary, at)
    return tallied_pairs(stat.frame, codes[column.code_row], None, at)


@lean_kernel
def count_tallies(frame, codes, n_classes, summary, at):
    """Add rows << 32 | weight for each code and class; OUT counts; returns the last word of the bitmap."""
    entries, local, counts, occupied = frame.entries, frame.local_tally, frame.counts, frame.occupied
    first, top, width = np.uint64(frame.lo[at, 0]), np.uint64(0), np.uint64(n_classes)
    for i in range(first, np.uint64(frame.hi[at, 0])):
        c = np.uint64(codes[entries[i] >> ONE])
        own = np.uint64(local[i - first])
        counts[c * width + (own & CLASS)] += ROW | (own >> EIGHT)
        top = note_code(c, top, occupied, summary)
    return top


@part
def take_tally(counts, place):
    """Rows and weight at a place of the counts, which becomes zero."""
    own = counts[place]
    counts[place] = 0
    return np.int64(own >> HALF), np.int64(own & LOW_HALF)


@lean_kernel
def tallied_pairs(frame, codes, summary, at):
    """Groups of a coded column."""
    top = count_tallies(frame, codes, 2, summary, at)
    counts, code = frame.counts, frame.code
    cum_rows, cum_weight, cum_sum = frame.cum_rows, frame.cum_weight, frame.cum_sum
    (zeros, zero_weight), (ones, one_weight) = take_tally(counts, 0), take_tally(counts, 1)
    count = list_codes(top, frame.occupied, summary, code)
    n, w, s = np.int64(0), np.int64(0), np.int64(0)
    for g in range(count):
        c = code[g]
        n_0, w_0 = take_tally(counts, 2 * c)
        n_1, w_1 = take_tally(counts, 2 * c + 1)
        n += n_0 + n_1
        w += w_0 + w_1
        s += w_1
        cum_rows[g], cum_weight[g], cum_sum[g] = n, w, s
    return Groups(count, zeros + ones, np.float64(zero_weight + one_weight), np.float64(one_weight))


@collect_drawn.of(PairTallies)
def _collect_drawn(stat, gathered, totals, n_missing, threshold, at):
    rows, mw, ms = frame_rows(stat.frame, at), 0.0, 0.0
    if n_missing > 0:
        _, w, s = tally_up_to(gathered, rows, stat.frame.local_tally, np.inf)
        mw, ms = totals.weight - w, totals.sum - s
    left = tally_up_to(gathered, rows, stat.frame.local_tally, threshold)
    write_two_groups(stat.frame, totals, left, (n_missing, mw, ms))
    return mw, ms


@lean_kernel
def tally_up_to(gathered, n_rows, local, threshold):
    """Rows, weight and sum of the values up to a threshold."""
    n, w, s = np.uint32(0), np.uint32(0), np.uint32(0)
    for i in range(np.uint64(n_rows)):
        inside = np.uint32(gathered[i] <= threshold)
        weight = (local[i] >> np.uint32(8)) * inside
        n += inside
        w += weight
        s += weight * (local[i] & ONE)
    return np.int64(n), np.float64(w), np.float64(s)
