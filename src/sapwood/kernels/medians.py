"""Medians: the absolute error. Lists 1…targets have the rows in order of each target, and follow every split."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.criteria import INVALID
from sapwood.kernels.fenwick import running_losses, sorted_median_and_loss
from sapwood.kernels.levels import merge_equal, size_of_left
from sapwood.kernels.node_totals import begin_totals, is_constant
from sapwood.kernels.pair_sums import HIST_N
from sapwood.kernels.partition import partition_list, select_list
from sapwood.kernels.rules import are_large_enough, in_order
from sapwood.kernels.split_order import rounded
from sapwood.kernels.statistic import (
    Medians,
    begin_node,
    best_cut,
    best_subset,
    coded_groups,
    node_value,
    sorted_groups,
    total_node,
)
from sapwood.kernels.tree_frame import Cut, Groups

FEW_SUBSETS = 6  # a subset costs a pass over the rows, so all are tried for few levels only


@total_node.of(Medians)
def _total_node(stat, at, node):
    return total_medians(stat.frame, at, node)


@inner_kernel
def total_medians(frame, at, node):
    """Totals of a node; returns whether its targets are constant. OUT nodes, sums, medians."""
    own, wy, entries = begin_totals(frame, at, node), frame.wy, frame.entries
    first, last, sums = own.first_row, own.first_row + own.n_rows, frame.sums[node]
    n_outputs, w = wy.shape[1] - 1, 0.0
    for o in range(n_outputs):
        sums[o] = 0.0
    for i in range(first, last):
        r = entries[i] >> ONE
        w += wy[r, 0]
        for o in range(n_outputs):
            sums[o] += wy[r, 0] * wy[r, 1 + o]
    total = 0.0
    for o in range(n_outputs):
        median, loss = sorted_median_and_loss(entries, frame.lo[at, 1 + o], frame.hi[at, 1 + o], wy, o)
        frame.medians[node, o] = median
        total += loss
    own.weight, own.mass = w, total / n_outputs
    return is_constant(wy, entries, first, last)


@node_value.of(Medians)
def _node_value(stat, node):
    return stat.frame.medians[node, 0]


@begin_node.of(Medians)
def _begin_node(stat, at, totals):  # noqa: ARG001
    rank_targets(stat.frame, at)


@inner_kernel
def rank_targets(frame, at):
    """Ranks of the node's rows by each target; OUT rank_of, ranked."""
    wy, entries = frame.wy, frame.entries
    for o in range(wy.shape[1] - 1):
        first = frame.lo[at, 1 + o]
        for i in range(first, frame.hi[at, 1 + o]):
            r = entries[i] >> ONE
            frame.rank_of[o, r] = i - first
            frame.ranked[o, i - first] = wy[r, 1 + o]


# Groups of a column: rows in order, not sums


@sorted_groups.of(Medians)
def _sorted_groups(stat, column, totals, at):  # noqa: ARG001
    count, n_missing = sorted_rows(stat.frame, column, at)
    return weigh_groups(stat.frame, count, n_missing)


@coded_groups.of(Medians)
def _coded_groups(stat, codes, column, at):
    count, n_missing = coded_rows(stat.frame, codes, column.n_codes, at)
    return weigh_groups(stat.frame, count, n_missing)


@inner_kernel
def sorted_rows(frame, column, at):
    """Rows of a sorted column in order, where each group ends, and missing rows; returns how many groups and missing.

    OUT ordered, cum_rows, missing_rows.
    """
    entries, ordered, lo, hi = frame.entries, frame.ordered, frame.lo[at], frame.hi[at]
    n, g, n_missing = np.int64(0), np.int64(-1), hi[column.missing] - lo[column.missing]
    for i in range(lo[column.below], hi[column.below]):
        ordered[n] = entries[i] >> ONE
        n += 1
        g += 1 - np.int64(entries[i] & ONE)
        frame.cum_rows[g] = n
    for i in range(n_missing):
        frame.missing_rows[i] = entries[lo[column.missing] + i] >> ONE
    return g + 1, n_missing


@inner_kernel
def coded_rows(frame, codes, n_codes, at):
    """The same for a coded column, by a counting sort; OUT code too."""
    entries, hist, count, n = frame.entries, frame.hist, np.int64(0), np.int64(0)
    for i in range(frame.lo[at, 0], frame.hi[at, 0]):
        hist[codes[entries[i] >> ONE], HIST_N] += 1.0
    n_missing = np.int64(hist[0, HIST_N])
    hist[0, HIST_N] = 0.0
    for c in range(1, n_codes + 1):  # from here on, where the next row of a code goes
        size = np.int64(hist[c, HIST_N])
        if size > 0:
            hist[c, HIST_N] = n
            n += size
            frame.cum_rows[count], frame.code[count] = n, c
            count += 1
    for i in range(frame.lo[at, 0], frame.hi[at, 0]):
        r = entries[i] >> ONE
        c = codes[r]
        place = np.int64(hist[c, HIST_N])
        hist[c, HIST_N] += 1.0
        if c == 0:
            frame.missing_rows[place] = r
        else:
            frame.ordered[place] = r
    for c in range(n_codes + 1):
        hist[c, HIST_N] = 0.0
    return count, n_missing


@inner_kernel
def weigh_groups(frame, count, n_missing):
    """Weights up to each group, and of the missing rows; OUT cum_weight."""
    wy, ordered, w, missing_weight, start = frame.wy, frame.ordered, 0.0, 0.0, np.int64(0)
    for g in range(count):
        for i in range(start, frame.cum_rows[g]):
            w += wy[ordered[i], 0]
        start, frame.cum_weight[g] = frame.cum_rows[g], w
    for i in range(n_missing):
        missing_weight += wy[frame.missing_rows[i], 0]
    return Groups(count, n_missing, missing_weight, 0.0)


# The best split of a column


@inner_kernel
def fill_losses(frame, totals, groups, missing_left, bounded):
    """OUT loss_left[g]: loss of groups 0…g; loss_right[g]: of groups g…; missing rows on their side; and medians."""
    count, n, mn = groups.count, totals.rows, groups.missing
    for g in range(count + 1):
        frame.loss_left[g], frame.loss_right[g] = 0.0, 0.0
    lead_left, lead_right = (mn, np.int64(0)) if missing_left else (np.int64(0), mn)
    for o in range(frame.wy.shape[1] - 1):
        running_losses(frame, o, (0, count, 1), lead_left, n, frame.loss_left, frame.median_left, bounded)
        running_losses(frame, o, (count - 1, -1, -1), lead_right, n, frame.loss_right, frame.median_right, bounded)
        if not missing_left and mn > 0:  # only missing rows on the right: an empty group behind the last one
            frame.cum_rows[count] = frame.cum_rows[count - 1]
            running_losses(frame, o, (count, count + 1, 1), mn, n, frame.loss_right, frame.median_right, bounded)


@best_cut.of(Medians)
def _best_cut(stat, totals, groups, bounds, first, last, floor):
    return best_median_cut(stat.frame, totals, groups, bounds, first, last, floor)


@inner_kernel
def best_median_cut(frame, totals, groups, bounds, first, last, floor):
    """The best cut after one of the groups first…last-1."""
    bounded, n_outputs = bounds.sign != 0, frame.wy.shape[1] - 1
    best, found = floor, Cut(INVALID, np.int64(-1), False)
    for turn in range(2 if groups.missing > 0 else 1):
        dn, dw = (groups.missing, groups.missing_weight) if turn == 1 else (0, 0.0)
        fill_losses(frame, totals, groups, turn == 1, bounded)
        for g in range(first, last):
            decrease = totals.mass - (frame.loss_left[g] + frame.loss_right[g + 1]) / n_outputs
            gain = rounded(totals, decrease)
            if gain > best or (gain == best and g < found.group):  # the lower group comes before the side
                n_left, w_left = frame.cum_rows[g] + dn, frame.cum_weight[g] + dw
                if not are_large_enough(frame, totals, n_left, w_left):
                    continue
                if bounded and not in_order(bounds, frame.median_left[g], frame.median_right[g + 1]):
                    continue
                best, found = gain, Cut(decrease, g, turn == 1)
    return found


# The best subset of a category


@part
def mark_group(frame, g, value):
    """Give the rows of a group a side; OUT side."""
    for i in range(frame.cum_rows[g - 1] if g > 0 else np.int64(0), frame.cum_rows[g]):
        frame.side[frame.ordered[i]] = value


@inner_kernel
def order_by_median(frame, count, at):
    """Median of the first target within each level; OUT key."""
    for i in range(frame.lo[at, 0], frame.hi[at, 0]):
        frame.side[frame.entries[i] >> ONE] = 0
    for g in range(count):
        mark_group(frame, g, 1)
        size = select_list(frame.entries, frame.lo[at, 1], frame.hi[at, 1], frame.side, frame.side_entries)
        frame.key[g] = sorted_median_and_loss(frame.side_entries, np.int64(0), size, frame.wy, 0)[0]
        mark_group(frame, g, 0)


@inner_kernel
def two_sided_loss(frame, groups, missing_left, at):
    """Sum of the losses of the groups that go left and of the others, averaged over the targets; OUT side."""
    own, total, n_outputs = frame.side_entries, 0.0, frame.wy.shape[1] - 1
    for g in range(groups.count):
        mark_group(frame, g, frame.goes_left[g])
    for i in range(groups.missing):
        frame.side[frame.missing_rows[i]] = missing_left
    for o in range(n_outputs):
        first, n = frame.lo[at, 1 + o], frame.hi[at, 1 + o] - frame.lo[at, 1 + o]
        for i in range(n):
            own[i] = frame.entries[first + i]
        cut = partition_list(own, np.int64(0), n, frame.side, frame.moved)
        total += sorted_median_and_loss(own, cut, n, frame.wy, o)[1]
        total += sorted_median_and_loss(own, np.int64(0), cut, frame.wy, o)[1]
    return total / n_outputs


@part
def choose_levels(frame, count, attempt, n_tries, exhaustive):
    """Send left a subset by its bits, or a prefix; the last attempt is all levels. OUT goes_left."""
    for g in range(count):
        place = frame.position[g]
        inside = ((attempt + 1) >> place) & 1 == 1 if exhaustive else place <= attempt
        frame.goes_left[g] = 1 if inside or attempt == n_tries else 0


@best_subset.of(Medians)
def _best_subset(stat, totals, groups, at, floor):
    return best_median_subset(stat.frame, totals, groups, at, floor)


@inner_kernel
def best_median_subset(frame, totals, groups, at, floor):
    """All subsets of few levels, else prefixes in order of the medians; OUT goes_left."""
    count, n_missing = groups.count, groups.missing
    order_by_median(frame, count, at)
    n_merged = merge_equal(frame, count, 0.0)
    exhaustive = count <= FEW_SUBSETS
    if exhaustive:  # equal medians do not make equal levels: every level stands for itself
        n_merged = count
        for i in range(count):
            frame.position[frame.order[i]] = i
    n_tries = (1 << (n_merged - 1)) - 1 if exhaustive else n_merged - 1
    best, best_decrease, best_attempt, best_left = floor, INVALID, np.int64(0), False
    for attempt in range(n_tries + 1 if n_missing > 0 else n_tries):
        choose_levels(frame, count, attempt, n_tries, exhaustive)
        for turn in range(2 if n_missing > 0 else 1):
            n_left, w_left = size_of_left(frame, count, turn * n_missing, turn * groups.missing_weight)
            if not are_large_enough(frame, totals, n_left, w_left):
                continue
            decrease = totals.mass - two_sided_loss(frame, groups, turn, at)
            if decrease > best and rounded(totals, decrease) > best:
                best, best_decrease = rounded(totals, decrease), decrease
                best_attempt, best_left = attempt, turn == 1
    choose_levels(frame, count, best_attempt, n_tries, exhaustive)
    return best_decrease, best_left
