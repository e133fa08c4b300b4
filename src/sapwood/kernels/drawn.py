"""Splits at random, for extremely randomised trees: a threshold drawn between two values, levels tossed like coins."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, lane_kernel, part
from sapwood.kernels.code_list import BIT
from sapwood.kernels.draws import mix, uniform
from sapwood.kernels.levels import cumulate, mark_prefix
from sapwood.kernels.statistic import drawn_groups
from sapwood.kernels.tree_frame import ALL_PRESENT, IMPLICIT_ROW, NO_ROW, VALUE, Groups

THRESHOLD_DRAW = 1 << 40  # keeps draws of thresholds apart from draws of columns


@lane_kernel
def gather_values(frame, column, gathered, at):
    """Values of the rows of a node, none of them missing; OUT gathered; returns the least and the largest.

    Two rows at a time: the least and the largest so far wait for those of the row before.
    """
    entries, first, n = frame.entries, np.uint64(frame.lo[at, 0]), np.uint64(frame.hi[at, 0] - frame.lo[at, 0])
    low = high = low_odd = high_odd = column[entries[first] >> ONE]
    for half in range(n >> BIT):
        i = half << BIT
        x, odd = column[entries[first + i] >> ONE], column[entries[first + (i | BIT)] >> ONE]
        gathered[i], gathered[i | BIT] = x, odd
        low, low_odd = min(low, x), min(low_odd, odd)
        high, high_odd = max(high, x), max(high_odd, odd)
    if n & BIT:
        x = column[entries[first + n - BIT] >> ONE]
        gathered[n - BIT] = x
        low, high = min(low, x), max(high, x)
    return np.float64(min(low, low_odd)), np.float64(max(high, high_odd))


@inner_kernel
def gather_present(frame, column, gathered, at):
    """Values of the rows of a node; OUT gathered; returns the least and the largest, and how many are missing."""
    entries, first = frame.entries, frame.lo[at, 0]
    low, high, n_missing = np.inf, -np.inf, np.int64(0)
    for i in range(first, frame.hi[at, 0]):
        x = column[entries[i] >> ONE]
        gathered[i - first] = x
        low = np.float64(x) if x < low else low  # never true of a missing value
        high = np.float64(x) if x > high else high
        n_missing += np.int64(x != x)  # noqa: PLR0124 - NaN
    return low, high, n_missing


@part
def drawn_threshold(low, high, key, f):
    """A threshold between two values, the larger one excluded."""
    share = uniform(mix(mix(key, f), THRESHOLD_DRAW))
    threshold = low * (1.0 - share) + high * share
    if not (low <= threshold < high):
        threshold = low  # rounding, or an infinite end
    return threshold


@inner_kernel
def draw_groups(stat, values, f, totals, at):
    """Two groups of a column of values, up to a drawn threshold and above it; returns them and the threshold."""
    frame, gathered, n_missing = stat.frame, values.gathered[0], np.int64(0)
    if frame.columns[f].is_valued == ALL_PRESENT:
        low, high = gather_values(frame, values.of_row[f], gathered, at)
    else:
        low, high, n_missing = gather_present(frame, values.of_row[f], gathered, at)
    count = np.int64(low < high) + np.int64(low <= high)
    threshold = drawn_threshold(low, high, frame.slots[at].key, f) if count > 1 else high
    mw, ms = drawn_groups(stat, gathered, totals, n_missing, threshold, at)
    frame.code[0], frame.code[1] = 0, 1
    return Groups(count, n_missing, mw, ms), threshold


@inner_kernel
def entry_row(frame, column, position, at):
    """Row at a position among the present rows of a sorted column, IMPLICIT_ROW within the implicit value."""
    lo, hi, entries = frame.lo[at], frame.hi[at], frame.entries
    n_below, n_above = hi[column.below] - lo[column.below], hi[column.above] - lo[column.above]
    if position < n_below:
        return np.int64(entries[lo[column.below] + position] >> ONE)
    n_implicit = 0
    if column.implicit == VALUE:
        n_implicit = hi[0] - lo[0] - n_below - n_above - (hi[column.missing] - lo[column.missing])
    if position < n_below + n_implicit:
        return IMPLICIT_ROW
    if position >= n_below + n_implicit + n_above:
        return NO_ROW
    return np.int64(entries[lo[column.above] + position - n_below - n_implicit] >> ONE)


@inner_kernel
def group_value(frame, values, f, g, at):
    """Value of group g of a numeric column."""
    column = frame.columns[f]
    if column.code_row >= 0:
        return values.of_code[f, frame.code[g]]
    return values.of_row[f, entry_row(frame, column, frame.cum_rows[g] - 1, at)]  # IMPLICIT_ROW, -1, is the last


@inner_kernel
def random_cut(frame, values, f, count, at):
    """A threshold drawn between the least and the largest value, and the last group at or below it."""
    low, high = group_value(frame, values, f, 0, at), group_value(frame, values, f, count - 1, at)
    threshold = drawn_threshold(low, high, frame.slots[at].key, f)
    first, last = np.int64(0), count - 1
    while last - first > 1:
        middle = (first + last) // 2
        if group_value(frame, values, f, middle, at) <= threshold:
            first = middle
        else:
            last = middle
    return threshold, first


@inner_kernel
def toss_levels(frame, f, count, at):
    """Levels go left by a toss of a coin each; group 0 becomes those tossed left. OUT goes_left, sums of group 0."""
    key, position = mix(frame.slots[at].key, f), frame.position
    for g in range(count):
        position[g] = 1 - np.int64(mix(key, THRESHOLD_DRAW + frame.code[g]) & np.uint64(1))
    position[count - 1] = 1 - position[0]  # no side is empty
    mark_prefix(frame, count, 0)
    cumulate(frame, count, 2)
