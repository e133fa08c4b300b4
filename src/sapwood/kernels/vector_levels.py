"""Subsets of levels for vectors of sums: all of them while there are few, else prefixes of orders."""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.criteria import INVALID, SQUARED, vector_mass
from sapwood.kernels.levels import (
    EQUAL,
    best_of_all_subsets,
    cumulate,
    last_cut,
    left_of_subset,
    mark_prefix,
    merge_equal,
    part_equals,
    share_of,
    single_groups,
    subset_decrease,
)
from sapwood.kernels.pair_levels import sum_left_groups
from sapwood.kernels.pair_sums import HIST_N, HIST_S, HIST_W
from sapwood.kernels.split_order import rounded
from sapwood.kernels.statistic import Vectors, VectorTallies, best_subset, mass_between, sum_tossed
from sapwood.kernels.vector_sums import best_vector_cut, vector_decrease


@best_subset.of(Vectors, VectorTallies)
def _best_subset(stat, codes, column, totals, groups, at, floor):  # noqa: ARG001
    frame = stat.frame
    scale = math.sqrt(totals.mass / totals.weight) if frame.criterion == SQUARED else 0.0
    single_vectors(frame, groups.count)
    if groups.count <= 4 * frame.max_exhaustive:
        n_merged = merge_vectors(frame, groups.count, scale)
        if n_merged == 1:
            n_merged = part_equals(frame, groups)
        if n_merged <= frame.max_exhaustive:
            return best_of_all_subsets(stat, totals, groups, n_merged, floor)
    return best_of_orders(frame, totals, groups, scale, floor)


@sum_tossed.of(Vectors, VectorTallies)
def _sum_tossed(stat, count):
    sum_left_vectors(stat.frame, count)
    sum_left_groups(stat.frame, count)


@lean_kernel
def sum_left_vectors(frame, count):
    """Sums of the groups that go left; OUT cum_sums[0]."""
    cum_sums, left = frame.cum_sums, frame.left_sums
    for d in range(len(left)):
        left[d] = 0.0
        for g in range(count):
            if frame.goes_left[g] == 1:
                left[d] += cum_sums[g, d] - (cum_sums[g - 1, d] if g > 0 else 0.0)
    for d in range(len(left)):
        cum_sums[0, d] = left[d]


@lean_kernel
def single_vectors(frame, n):
    """Sums of each group by itself; OUT level_sums."""
    for g in range(n):
        for d in range(frame.level_sums.shape[1]):
            frame.level_sums[g, d] = frame.cum_sums[g, d] - (frame.cum_sums[g - 1, d] if g > 0 else 0.0)


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


@lean_kernel
def merge_vectors(frame, n, scale):
    """Number the groups in lexicographic order of their shares, equal ones together; OUT position; returns how many."""
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


@left_of_subset.of_frame(Vectors, VectorTallies)
@lean_kernel
def load_left(frame, totals, groups, subset, turn):
    """Rows and weight of a subset (0: of all levels), with the missing rows if turn is 1; OUT left_sums."""
    table, left, missing = frame.table, frame.left_sums, frame.missing_sums
    n, w = totals.rows - groups.missing, totals.weight - groups.missing_weight
    for d in range(len(left)):
        left[d] = table[subset, HIST_S + d] if subset > 0 else frame.node_sums[d] - missing[d]
    if subset > 0:
        n, w = np.int64(table[subset, HIST_N]), table[subset, HIST_W]
    if turn == 1:
        n, w = n + groups.missing, w + groups.missing_weight
        for d in range(len(left)):
            left[d] += missing[d]
    return n, w, 0.0


@subset_decrease.of(Vectors, VectorTallies)
def _subset_decrease(stat, totals, w_left, s_left):  # noqa: ARG001 - the left sums are in the frame
    frame = stat.frame
    mass = vector_mass(frame.criterion, totals.weight, frame.node_sums, frame.output_start)
    return vector_decrease(frame, totals, mass, w_left)


@lean_kernel
def cumulate_vectors(frame, n, n_merged):
    """Sums up to each position; OUT cum_rows, cum_weight, cum_sum, cum_sums."""
    cumulate(frame, n, n_merged)
    cum_sums, sums = frame.cum_sums, frame.level_sums
    for p in range(n_merged):
        for d in range(sums.shape[1]):
            cum_sums[p, d] = 0.0
    for g in range(n):
        for d in range(sums.shape[1]):
            cum_sums[frame.position[g], d] += sums[g, d]
    for p in range(1, n_merged):
        for d in range(sums.shape[1]):
            cum_sums[p, d] += cum_sums[p - 1, d]


@lean_kernel
def best_of_orders(frame, totals, groups, scale, floor):
    """Try the prefixes of the orders by each single sum: one class (or target) against the rest; OUT goes_left."""
    best, decrease, missing_left = floor, INVALID, False
    for d in range(frame.level_sums.shape[1]):
        for g in range(groups.count):
            frame.key[g] = share_of(frame.level_sums[g, d], frame.level_weight[g])
        own_scale = scale if frame.criterion == SQUARED else frame.node_sums[d] / totals.weight
        n_merged = merge_equal(frame, groups.count, own_scale)
        cumulate_vectors(frame, groups.count, n_merged)
        cut = best_vector_cut(frame, totals, groups, 0, last_cut(groups, n_merged), best)
        if cut.group >= 0:
            mark_prefix(frame, groups.count, cut.group)
            best, decrease, missing_left = rounded(totals, cut.decrease), cut.decrease, cut.missing_left
    return decrease, missing_left


@mass_between.of_frame(Vectors, VectorTallies)
@lean_kernel
def vector_mass_between(frame, totals, groups):
    """How much all levels together take from the mass of a node; OUT level_weight, level_sums."""
    single_groups(frame, groups.count)
    single_vectors(frame, groups.count)
    criterion, starts = frame.criterion, frame.output_start
    between = vector_mass(criterion, totals.weight, frame.node_sums, starts)
    if groups.missing_weight > 0.0:
        between -= vector_mass(criterion, groups.missing_weight, frame.missing_sums, starts)
    for g in range(groups.count):
        between -= vector_mass(criterion, frame.level_weight[g], frame.level_sums[g], starts)
    return between
