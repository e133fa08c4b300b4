"""Categories: which levels go left.

With pairs the best of all 2^(M-1) - 1 subsets is a prefix of the levels in order of s/w (Fisher 1958; Breiman et al.
1984, theorem 4.5), for every concave impurity. With vectors all subsets are tried while there are few groups; beyond
that, prefixes of the orders by each single sum (one class against the rest) are.
A limit on the rows of a child, or Poisson's rule against children without events, may forbid the best subset; then
all subsets of few levels are tried, and beyond few the best prefix allowed is taken.
Levels with equal statistics always stay together and orders are by statistics alone, so the tree does not
depend on how the levels are numbered.

The frame has the rows, weight and sums of each group (`single_groups`); a subset is marked in frame.goes_left.
"""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.criteria import INVALID, POISSON
from sapwood.kernels.rules import are_large_enough
from sapwood.kernels.split_order import rounded
from sapwood.kernels.statistic import mass_between, per_statistic

EQUAL = 1e-9  # shares closer than this part of their range, or of the node's scale, are the same
HALVES = 1e-9  # children whose weights differ by less than this part of the node's are equal
FEW_LEVELS = 8  # of a column in a node, that may be chosen among freely
LEAST_CREDIT = 1e-9  # less is a rounding error


@per_statistic
def left_of_subset(stat, totals, groups, subset, turn):
    """Rows, weight and sum of a subset (0: of all levels), with the missing rows if turn is 1."""


@per_statistic
def subset_decrease(stat, totals, w_left, s_left):
    """Decrease of a split by a subset."""


@part
def share_of(s, w):
    """Share s/w; a weight that vanishes next to the others' has no share of its own, and any will do."""
    return s / w if w > 0.0 else 0.0


@part
def last_cut(groups, n_positions):
    """Positions after which a cut may be: behind the last one only if there are missing rows to be cut off."""
    return n_positions if groups.missing > 0 else n_positions - 1


@lean_kernel
def single_groups(frame, count):
    """Rows, weight and sum of each group by itself; OUT level_rows, level_weight, level_sum."""
    for g in range(count):
        frame.level_rows[g] = frame.cum_rows[g] - (frame.cum_rows[g - 1] if g > 0 else 0)
        frame.level_weight[g] = frame.cum_weight[g] - (frame.cum_weight[g - 1] if g > 0 else 0.0)
        frame.level_sum[g] = frame.cum_sum[g] - (frame.cum_sum[g - 1] if g > 0 else 0.0)


@lean_kernel
def sort_by_key(key, order, n):
    """OUT order: the groups 0…n-1 in order of their keys, equal ones by number (a Shell sort)."""
    for i in range(n):
        order[i] = i
    gap = 1
    while 3 * gap + 1 < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            item, j = order[i], i
            while j >= gap and (
                key[order[j - gap]] > key[item] or (key[order[j - gap]] == key[item] and order[j - gap] > item)
            ):
                order[j] = order[j - gap]
                j -= gap
            order[j] = item
        gap //= 3


@lean_kernel
def merge_equal(frame, n, scale):
    """Number the groups by their keys, equal keys together; OUT position; returns how many numbers there are.

    Keys that differ by rounding alone have no range of their own, so `scale` says what a large difference is.
    """
    key, order, position = frame.key, frame.order, np.int64(0)
    sort_by_key(key, order, n)
    least = EQUAL * max(scale, key[order[n - 1]] - key[order[0]])
    for i in range(n):
        if i > 0 and key[order[i]] - key[order[i - 1]] > least:
            position += 1
        frame.position[order[i]] = position
    return position + 1


@lean_kernel
def part_equals(frame, groups):
    """Number levels of equal shares by weight; two of equal weight are parted too: there is one way only."""
    for g in range(groups.count):
        frame.key[g] = frame.level_weight[g]
    n_merged = merge_equal(frame, groups.count, frame.level_weight[0])
    if n_merged == 1 and groups.count == 2 and groups.missing == 0:
        frame.position[1], n_merged = 1, 2
    return n_merged


@lean_kernel
def cumulate(frame, n, n_merged):
    """Sums up to each position; OUT cum_rows, cum_weight, cum_sum."""
    rows, weight, total = frame.cum_rows, frame.cum_weight, frame.cum_sum
    for p in range(n_merged):
        rows[p], weight[p], total[p] = 0, 0.0, 0.0
    for g in range(n):
        p = frame.position[g]
        rows[p] += frame.level_rows[g]
        weight[p] += frame.level_weight[g]
        total[p] += frame.level_sum[g]
    for p in range(1, n_merged):
        rows[p] += rows[p - 1]
        weight[p] += weight[p - 1]
        total[p] += total[p - 1]


@part
def mark_prefix(frame, n, last):
    """The groups whose position is at most `last` go left; OUT goes_left."""
    for g in range(n):
        frame.goes_left[g] = 1 if frame.position[g] <= last else 0


@part
def forbids_some(frame):
    """Whether a rule may forbid the best subset, so that the best one allowed need not be a prefix."""
    return frame.min_child_rows > 1 or frame.min_child_weight > 0.0 or frame.criterion == POISSON


@lean_kernel
def tabulate_subsets(frame, n, n_merged):
    """Rows, weight and sums of every subset of the positions but the last; OUT table.

    The sums of a subset are those of the subset without its lowest member, plus that member.
    """
    table, position, sums = frame.table, frame.position, frame.level_sums
    for subset in range(1 << (n_merged - 1)):
        for d in range(table.shape[1]):
            table[subset, d] = 0.0
    for g in range(n):
        if position[g] < n_merged - 1:
            own = 1 << position[g]
            table[own, 0] += frame.level_rows[g]
            table[own, 1] += frame.level_weight[g]
            for d in range(sums.shape[1]):
                table[own, 2 + d] += sums[g, d]
    for subset in range(1, 1 << (n_merged - 1)):
        rest = subset & (subset - 1)
        if rest != 0:
            for d in range(table.shape[1]):
                table[subset, d] = table[rest, d] + table[subset ^ rest, d]


@lean_kernel
def best_of_all_subsets(stat, totals, groups, n_merged, floor):
    """Try every subset without the last position (the others are mirror images), and all levels against missing rows.

    OUT goes_left; returns the decrease and whether missing rows go left.
    """
    frame, n_missing = stat.frame, groups.missing
    tabulate_subsets(frame, groups.count, n_merged)
    everything = 1 << (n_merged - 1)
    best, best_decrease, best_subset, best_left = floor, INVALID, np.int64(0), False
    for subset in range(1, everything + 1 if n_missing > 0 else everything):
        for turn in range(2 if n_missing > 0 and subset < everything else 1):
            n_left, w_left, s_left = left_of_subset(stat, totals, groups, subset & (everything - 1), turn)
            if are_large_enough(frame, totals, n_left, w_left):
                decrease = subset_decrease(stat, totals, w_left, s_left)
                if decrease > best and rounded(totals, decrease) > best:
                    best, best_decrease = rounded(totals, decrease), decrease
                    best_subset, best_left = subset, turn == 1
    for g in range(groups.count):
        frame.goes_left[g] = 1 if best_subset == everything else (best_subset >> frame.position[g]) & 1
    return best_decrease, best_left


@part
def is_heavier(w_left, w):
    """Whether the left child has more than half of the weight: what a node without missing rows does with them."""
    return 2.0 * w_left - w > HALVES * w


@lean_kernel
def write_subset(frame, column, totals, groups, missing_left, at):
    """Write the levels that go left into a slot; levels that do not occur in the node go where missing values go."""
    slot, subset, goes_left = frame.slots[at], frame.best_subset[at], frame.goes_left
    n_left, w_left = np.int64(0), 0.0
    for g in range(groups.count):
        n_left += frame.level_rows[g] * goes_left[g]
        w_left += frame.level_weight[g] * goes_left[g]
    default_left = missing_left if groups.missing > 0 else is_heavier(w_left, totals.weight)
    for word in range(len(subset)):
        subset[word] = np.uint32(0)
    if default_left:
        for level in range(column.n_codes):
            subset[level >> 5] |= ONE << np.uint32(level & 31)
    for g in range(groups.count):
        level = frame.code[g] - 1
        bit = np.uint32(ONE << np.uint32(level & 31))
        if goes_left[g] == 1:
            subset[level >> 5] |= bit
        else:
            subset[level >> 5] &= ~bit
    slot.missing_left, slot.n_left, slot.threshold = np.int64(default_left), n_left, np.nan


@part
def chance_share(groups, n):
    """Share of a node's impurity that K levels explain by chance: (K - 1) / (n - 1), exact for Gini and squares."""
    return min(1.0, (groups.count - (0 if groups.missing > 0 else 1)) / (n - 1))


@lean_kernel
def credit_of_levels(stat, totals, groups):
    """How much of a decrease counts: of what many levels explain together, the share that chance does not.

    With R the share of the mass that all levels explain, and c = chance_share + 2 standard deviations of it, that is
    1 - c / R. An identifier, which has a level for each row, explains everything and has c = 1: it counts nothing.
    Levels that decide the target count nearly in full, however many classes there are. Few levels are left alone.
    """
    if groups.count <= FEW_LEVELS:
        return 1.0
    chance = chance_share(groups, totals.rows)
    noise = chance + 2.0 * math.sqrt(2.0 * chance * (1.0 - chance) / (totals.rows - 1))
    between = mass_between(stat, totals, groups)
    credit = 1.0 - noise * totals.mass / between if between > 0.0 else 0.0
    return credit if credit > LEAST_CREDIT else 0.0
