"""Levels of a category in a node: their sums, orders, how much they explain, and the bits of those that go left.

Each group of the column is a level. Levels with equal statistics stay together and orders are by statistics alone, so
the tree does not depend on how the levels are numbered. Which levels go left is chosen in `subsets.py`.
"""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, part
from sapwood.kernels.criteria import SQUARED, pair_mass, vector_mass
from sapwood.kernels.statistic import Pairs, PairTallies, Vectors, VectorTallies, mass_between

EQUAL = 1e-9  # shares closer than this part of their range, or of the node's scale, are the same
HALVES = 1e-9  # children whose weights differ by less than this part of the node's are equal
FEW_LEVELS = 8  # of a column in a node, that may be chosen among freely
LEAST_CREDIT = 1e-9  # less is a rounding error


@inner_kernel
def begin_levels(frame, totals, groups):
    """Rows, weight and sums of each group by itself, and of all and missing rows; OUT level_*."""
    rows, weight, sums = frame.level_rows, frame.level_weight, frame.level_sums
    cum_rows, cum_weight, cum_sums = frame.cum_rows, frame.cum_weight, frame.cum_sums
    for d in range(sums.shape[1]):
        is_vector = len(frame.node_sums) > 0
        frame.level_total[d] = frame.node_sums[d] if is_vector else totals.sum
        frame.level_missing[d] = frame.missing_sums[d] if is_vector else groups.missing_sum
    for g in range(groups.count):
        rows[g] = cum_rows[g] - (cum_rows[g - 1] if g > 0 else 0)
        weight[g] = cum_weight[g] - (cum_weight[g - 1] if g > 0 else 0.0)
        for d in range(sums.shape[1]):
            sums[g, d] = cum_sums[g, d] - (cum_sums[g - 1, d] if g > 0 else 0.0)


# Orders: the position of each level, the same for equal ones


@part
def share_of(s, w):
    """Share s/w; a weight that vanishes next to the others' has no share of its own, and any will do."""
    return s / w if w > 0.0 else 0.0


@inner_kernel
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
            while j >= gap and (key[order[j - gap]], order[j - gap]) > (key[item], item):
                order[j] = order[j - gap]
                j -= gap
            order[j] = item
        gap //= 3


@inner_kernel
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


@part
def order_by_share(frame, totals, count, d):
    """Number the levels by their share or mean of sum d; OUT position; returns how many numbers there are.

    A large difference of means is the node's deviation, of shares and rates the node's own.
    """
    for g in range(count):
        frame.key[g] = share_of(frame.level_sums[g, d], frame.level_weight[g])
    squared = frame.criterion == SQUARED
    scale = math.sqrt(totals.mass / totals.weight) if squared else frame.level_total[d] / totals.weight
    return merge_equal(frame, count, scale)


@inner_kernel
def part_equals(frame, groups):
    """Number levels of equal shares by weight; two of equal weight are parted too: there is one way only."""
    for g in range(groups.count):
        frame.key[g] = frame.level_weight[g]
    n_merged = merge_equal(frame, groups.count, frame.level_weight[0])
    if n_merged == 1 and groups.count == 2 and groups.missing == 0:
        frame.position[1], n_merged = 1, 2
    return n_merged


@part
def compare_shares(frame, a, b, scale):
    """Lexicographic order of two groups' shares: -1, 0 (equal) or 1.

    Numbers differ if they do on the `scale` of the node's deviation; shares have no common scale: each is compared
    with itself.
    """
    sums, weight = frame.level_sums, frame.level_weight
    for d in range(sums.shape[1]):
        share_a, share_b = share_of(sums[a, d], weight[a]), share_of(sums[b, d], weight[b])
        if abs(share_a - share_b) > EQUAL * max(scale, abs(share_a) + abs(share_b)):
            return -1 if share_a < share_b else 1
    return 0


@inner_kernel
def merge_vectors(frame, totals, n):
    """Number the groups in lexicographic order of their shares, equal ones together; OUT position; returns how many."""
    scale = math.sqrt(totals.mass / totals.weight) if frame.criterion == SQUARED else 0.0
    order, position = frame.order, np.int64(0)
    for g in range(n):
        i = g
        while i > 0 and compare_shares(frame, g, order[i - 1], scale) < 0:
            order[i] = order[i - 1]
            i -= 1
        order[i] = g
    for i in range(n):
        if i > 0 and compare_shares(frame, order[i - 1], order[i], scale) != 0:
            position += 1
        frame.position[order[i]] = position
    return position + 1


@inner_kernel
def sum_places(frame, place, n, n_places):
    """Sums of the levels at each place, without those beyond; OUT cum_rows, cum_weight, cum_sums."""
    rows, weight, sums = frame.level_rows, frame.level_weight, frame.level_sums
    cum_rows, cum_weight, cum_sums = frame.cum_rows, frame.cum_weight, frame.cum_sums
    for p in range(n_places):
        cum_rows[p], cum_weight[p] = 0, 0.0
        for d in range(sums.shape[1]):
            cum_sums[p, d] = 0.0
    for g in range(n):
        p = place[g]
        if p < n_places:
            cum_rows[p] += rows[g]
            cum_weight[p] += weight[g]
            for d in range(sums.shape[1]):
                cum_sums[p, d] += sums[g, d]


@part
def add_place(rows, weight, sums, p, other):
    """Add the rows, weight and sums at another place to those at place p; OUT rows, weight, sums."""
    rows[p] += rows[other]
    weight[p] += weight[other]
    for d in range(sums.shape[1]):
        sums[p, d] += sums[other, d]


@inner_kernel
def cumulate(frame, n, n_merged):
    """Sums up to each position; OUT cum_rows, cum_weight, cum_sums."""
    sum_places(frame, frame.position, n, n_merged)
    rows, weight, sums = frame.cum_rows, frame.cum_weight, frame.cum_sums
    for p in range(1, n_merged):
        add_place(rows, weight, sums, p, p - 1)


@part
def mark_prefix(frame, n, last):
    """The groups whose position is at most `last` go left; OUT goes_left."""
    for g in range(n):
        frame.goes_left[g] = 1 if frame.position[g] <= last else 0


# The levels that go left, in a slot


@part
def size_of_left(frame, count, n, w):
    """Rows and weight of the groups that go left, added to n and w."""
    for g in range(count):
        n += frame.level_rows[g] * frame.goes_left[g]
        w += frame.level_weight[g] * frame.goes_left[g]
    return n, w


@part
def is_heavier(w_left, w):
    """Whether the left child has more than half of the weight: what a node without missing rows does with them."""
    return 2.0 * w_left - w > HALVES * w


@inner_kernel
def write_subset(frame, column, totals, groups, missing_left, at):
    """Write the levels that go left into a slot; levels that do not occur in the node go where missing values go."""
    slot, subset = frame.slots[at], frame.best_subset[at]
    n_left, w_left = size_of_left(frame, groups.count, np.int64(0), 0.0)
    default_left = missing_left if groups.missing > 0 else is_heavier(w_left, totals.weight)
    for word in range(len(subset)):
        subset[word] = np.uint32(0)
    if default_left:
        for level in range(column.n_codes):
            subset[level >> 5] |= ONE << np.uint32(level & 31)
    for g in range(groups.count):
        level = frame.code[g] - 1
        if (frame.goes_left[g] == 1) != default_left:
            subset[level >> 5] ^= ONE << np.uint32(level & 31)
    slot.missing_left, slot.n_left, slot.threshold = np.int64(default_left), n_left, np.nan


# What many levels explain by chance


@mass_between.of(Pairs, PairTallies)
def _pair_mass_between(stat, totals, groups):
    frame, criterion = stat.frame, stat.frame.criterion
    between = pair_mass(criterion, totals.weight, totals.sum)
    if groups.missing_weight > 0.0:
        between -= pair_mass(criterion, groups.missing_weight, groups.missing_sum)
    for g in range(groups.count):
        between -= pair_mass(criterion, frame.level_weight[g], frame.level_sums[g, 0])
    return between


@mass_between.of(Vectors, VectorTallies)
def _vector_mass_between(stat, totals, groups):
    frame = stat.frame
    criterion, starts = frame.criterion, frame.output_start
    between = vector_mass(criterion, totals.weight, frame.node_sums, starts)
    if groups.missing_weight > 0.0:
        between -= vector_mass(criterion, groups.missing_weight, frame.missing_sums, starts)
    for g in range(groups.count):
        between -= vector_mass(criterion, frame.level_weight[g], frame.level_sums[g], starts)
    return between


@inner_kernel
def credit_of_levels(stat, totals, groups):
    """How much of a decrease counts: of what many levels explain together, the share that chance does not.

    With R the share of the mass that all levels explain, and c the share that K levels explain by chance (exact for
    Gini and squares: (K - 1) / (n - 1)) plus 2 standard deviations of it, that is 1 - c / R. An identifier, which has
    a level for each row, explains everything and has c = 1: it counts nothing. Levels that decide the target count
    nearly in full, however many classes there are. Few levels are left alone.
    """
    if groups.count <= FEW_LEVELS:
        return 1.0
    chance = min(1.0, (groups.count - (0 if groups.missing > 0 else 1)) / (totals.rows - 1))
    noise = chance + 2.0 * math.sqrt(2.0 * chance * (1.0 - chance) / (totals.rows - 1))
    between = mass_between(stat, totals, groups)
    credit = 1.0 - noise * totals.mass / between if between > 0.0 else 0.0
    return credit if credit > LEAST_CREDIT else 0.0
