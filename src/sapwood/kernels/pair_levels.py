"""Subsets of levels for pairs: prefixes of the order by share or mean, or all of few where a rule forbids some."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.criteria import SQUARED, pair_decrease, pair_mass
from sapwood.kernels.levels import (
    best_of_all_subsets,
    cumulate,
    forbids_some,
    last_cut,
    left_of_subset,
    mark_prefix,
    merge_equal,
    part_equals,
    share_of,
    single_groups,
    subset_decrease,
)
from sapwood.kernels.pair_sums import HIST_N, HIST_S, HIST_W, best_pair_cut
from sapwood.kernels.statistic import Pairs, PairTallies, best_subset, mass_between, sum_tossed
from sapwood.kernels.tree_frame import Bounds

FREE = Bounds(0, -np.inf, np.inf)  # no constraint


@sum_tossed.of_frame(Pairs, PairTallies)
@lean_kernel
def sum_left_groups(frame, count):
    """Rows, weight and sum of the groups that go left; OUT cum_rows[0], cum_weight[0], cum_sum[0]."""
    cum_rows, cum_weight, cum_sum = frame.cum_rows, frame.cum_weight, frame.cum_sum
    n, w, s = np.int64(0), 0.0, 0.0
    for g in range(count):
        if frame.goes_left[g] == 1:
            n += cum_rows[g] - (cum_rows[g - 1] if g > 0 else 0)
            w += cum_weight[g] - (cum_weight[g - 1] if g > 0 else 0.0)
            s += cum_sum[g] - (cum_sum[g - 1] if g > 0 else 0.0)
    cum_rows[0], cum_weight[0], cum_sum[0] = n, w, s


@best_subset.of(Pairs, PairTallies)
def _best_subset(stat, codes, column, totals, groups, at, floor):  # noqa: ARG001
    frame = stat.frame
    order_by_share(frame, groups.count)
    n_merged = merge_equal(frame, groups.count, pair_spread(frame, totals))
    if n_merged == 1:  # no order by share: a split without decrease may still prepare a good one
        n_merged = part_equals(frame, groups)
    if n_merged <= frame.max_exhaustive and forbids_some(frame):
        return best_of_all_subsets(stat, totals, groups, n_merged, floor)
    cumulate(frame, groups.count, n_merged)
    cut = best_pair_cut(frame, totals, groups, FREE, 0, last_cut(groups, n_merged), floor)
    if cut.group >= 0:
        mark_prefix(frame, groups.count, cut.group)
    return cut.decrease, cut.missing_left


@lean_kernel
def order_by_share(frame, count):
    """The order of levels in which the best subset is a prefix: by share or mean; OUT key, level_sums."""
    for g in range(count):
        frame.key[g] = share_of(frame.level_sum[g], frame.level_weight[g])
        frame.level_sums[g, 0] = frame.level_sum[g]


@part
def pair_spread(frame, totals):
    """What a large difference of two levels is: of means the node's deviation, of shares and rates the node's own."""
    if frame.criterion == SQUARED:
        return np.sqrt(totals.mass / totals.weight)
    return totals.sum / totals.weight


@left_of_subset.of(Pairs, PairTallies)
def _left_of_subset(stat, totals, groups, subset, turn):
    table = stat.frame.table
    n, w, s = totals.rows - groups.missing, totals.weight - groups.missing_weight, totals.sum - groups.missing_sum
    if subset > 0:
        n, w, s = np.int64(table[subset, HIST_N]), table[subset, HIST_W], table[subset, HIST_S]
    if turn == 1:
        n, w, s = n + groups.missing, w + groups.missing_weight, s + groups.missing_sum
    return n, w, s


@subset_decrease.of(Pairs, PairTallies)
def _subset_decrease(stat, totals, w_left, s_left):
    criterion, w, s = stat.frame.criterion, totals.weight, totals.sum
    return pair_decrease(criterion, pair_mass(criterion, w, s), w_left, s_left, w, s)


@mass_between.of(Pairs, PairTallies)
def _mass_between(stat, totals, groups):
    frame, criterion = stat.frame, stat.frame.criterion
    single_groups(frame, groups.count)
    between = pair_mass(criterion, totals.weight, totals.sum)
    if groups.missing_weight > 0.0:
        between -= pair_mass(criterion, groups.missing_weight, groups.missing_sum)
    for g in range(groups.count):
        between -= pair_mass(criterion, frame.level_weight[g], frame.level_sum[g])
    return between
