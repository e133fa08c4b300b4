"""Search: the best split of one node over the columns it may use.

begin the node: its totals, and its targets side by side
for each column, in order or drawn:
    collect its groups: the rows of equal value, ascending, with the sums up to each
    numbers: the best cut between two groups; categories: the best subset of groups
    keep it in the node's slot if it is better than the best so far
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, part
from sapwood.kernels.criteria import INVALID
from sapwood.kernels.drawn import draw_groups, entry_row, random_cut, toss_levels
from sapwood.kernels.draws import mix, uniform
from sapwood.kernels.levels import begin_levels, credit_of_levels, is_heavier, write_subset
from sapwood.kernels.node_totals import recentred, totals_of
from sapwood.kernels.split_order import least_decrease, rounded
from sapwood.kernels.statistic import begin_node, best_cut, best_subset, coded_groups, sorted_groups
from sapwood.kernels.tree_frame import FREE, NO_ROW, Bounds


@part
def visit(frame, i, key):
    """The i-th column to look at: in order, or drawn without replacement (Fisher-Yates, draws keyed by the node)."""
    allowed, drawn = frame.allowed, frame.drawn
    n = len(allowed)
    if frame.max_features >= n:
        return allowed[i]
    if i == 0:
        for k in range(n):
            drawn[k] = allowed[k]
    j = i + np.int64(uniform(mix(key, i)) * (n - i))
    drawn[i], drawn[j] = drawn[j], drawn[i]
    return drawn[i]


@part
def is_known_constant(frame, column, at):
    """Whether a column was found to be constant in the node or above it."""
    lo, hi = frame.lo[at], frame.hi[at]
    below, above, missing = column.below, column.above, column.missing
    return lo[below] == hi[below] and lo[above] == hi[above] and lo[missing] == hi[missing]


@part
def mark_constant(frame, column, at):
    """Mark a column as constant in the node, and so in all its descendants: its lists become empty."""
    lo, hi = frame.lo[at], frame.hi[at]
    hi[column.below] = lo[column.below]
    hi[column.above] = lo[column.above]
    hi[column.missing] = lo[column.missing]


@part
def collect(stat, codes, column, totals, at):
    """Groups of a column: fills the sums up to each."""
    if column.code_row < 0:
        return sorted_groups(stat, column, totals, at)
    return coded_groups(stat, codes[column.code_row], column, at)


@part
def keep_cut(frame, f, totals, groups, cut, threshold, at):
    """Write a cut into the slot; OUT slots."""
    slot, column = frame.slots[at], frame.columns[f]
    n_left, behind = frame.cum_rows[cut.group], cut.group + 1 < groups.count
    heavier = is_heavier(frame.cum_weight[cut.group], totals.weight)
    slot.feature, slot.gain = f, cut.decrease
    slot.n_left, slot.threshold, slot.at_right = n_left, threshold, NO_ROW
    slot.missing_left = np.int64(cut.missing_left) if groups.missing > 0 else np.int64(heavier)
    if column.code_row >= 0:
        slot.at_left = frame.code[cut.group]
        if behind:
            slot.at_right = frame.code[cut.group + 1]
    else:
        slot.at_left = entry_row(frame, column, n_left - 1, at)
        if behind:
            slot.at_right = entry_row(frame, column, n_left, at)


@part
def search_numbers(stat, values, f, totals, groups, threshold, at, best):
    """Look at a numeric column, and keep its cut in the slot if it beats `best`; returns the best gain then.

    The groups of a column of values are the two sides of a threshold that was drawn already.
    """
    frame = stat.frame
    column, slot = frame.columns[f], frame.slots[at]
    first, last = np.int64(0), groups.count if groups.missing > 0 else groups.count - 1
    if values is not None and groups.count > 1:
        if column.is_valued == 0:
            threshold, first = random_cut(frame, values, f, groups.count, at)
        last = first + 1
    cut = best_cut(stat, totals, groups, Bounds(column.monotonic, slot.lower, slot.upper), first, last, best)
    if cut.decrease == INVALID:
        return best
    keep_cut(frame, f, totals, groups, cut, threshold, at)
    return rounded(totals, cut.decrease)


@inner_kernel
def search_categories(stat, values, f, totals, groups, at, best):
    """Look at a category, and keep its subset in the slot if it beats `best`; returns the best gain then."""
    frame, credit, floor = stat.frame, 1.0, least_decrease(totals)
    begin_levels(frame, totals, groups)
    if values is None:  # levels that are tossed are not chosen
        credit = credit_of_levels(stat, totals, groups)
        if credit == 0.0:
            return best
    if values is not None and groups.count > 1 and frame.tosses_levels:
        toss_levels(frame, f, groups.count, at)
        decrease, _, missing_left = best_cut(stat, totals, groups, FREE, np.int64(0), np.int64(1), floor)
    else:
        decrease, missing_left = best_subset(stat, totals, groups, at, floor)
    gain = rounded(totals, decrease * credit)
    if not gain > (best if credit == 1.0 else max(best, 0.0)):
        return best
    frame.slots[at].feature, frame.slots[at].gain = f, decrease
    write_subset(frame, frame.columns[f], totals, groups, missing_left, at)
    return gain


@inner_kernel
def search(stat, codes, values, subsets, at):
    """Find the best split of the node in a slot; returns whether there is one; OUT slots.

    `values` are for drawn thresholds, `subsets` for categories; both are None for trees without.
    """
    frame = stat.frame
    slot, totals = frame.slots[at], totals_of(frame, at)
    begin_node(stat, at, totals)
    slot.feature, best = -1, least_decrease(totals)
    for i in range(len(frame.allowed)):
        if i >= frame.max_features and slot.feature >= 0:
            break  # constant columns count as looked at, as in scikit-learn, but at least one split is tried
        f = visit(frame, i, slot.key)
        column, threshold = frame.columns[f], np.nan
        if is_known_constant(frame, column, at):
            continue
        if values is not None and column.is_valued != 0:
            groups, threshold = draw_groups(stat, values, f, totals, at)
        else:
            groups = collect(stat, codes, column, totals, at)
        if groups.count == 0 or (groups.count == 1 and groups.missing == 0):
            mark_constant(frame, column, at)
            continue
        own = recentred(frame, column, totals, groups)
        if column.is_category == 0:
            best = search_numbers(stat, values, f, own, groups, threshold, at, best)
        elif subsets is not None:
            best = search_categories(stat, values, f, own, groups, at, best)
        if best >= rounded(totals, totals.mass):
            break  # both children are pure: nothing can be better
    return slot.feature >= 0
