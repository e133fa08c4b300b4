"""Categories: which levels go left.

With pairs the best of all 2^(M-1) - 1 subsets is a prefix of the levels in order of s/w (Fisher 1958; Breiman et al.
1984, theorem 4.5), for every concave impurity. With vectors all subsets are tried while there are few groups; beyond
that, prefixes of the orders by each single sum (one class against the rest) are.
A limit on the rows of a child, or Poisson's rule against children without events, may forbid the best subset; then
all subsets of few levels are tried, and beyond few the best prefix allowed is taken.

The frame has the rows, weight and sums of each group (`begin_levels`); a subset is marked in frame.goes_left.
"""

from __future__ import annotations

from sapwood.kernels._jit import inner_kernel, part
from sapwood.kernels.criteria import INVALID, POISSON
from sapwood.kernels.levels import (
    add_place,
    cumulate,
    mark_prefix,
    merge_vectors,
    order_by_share,
    part_equals,
    sum_places,
)
from sapwood.kernels.split_order import rounded
from sapwood.kernels.statistic import Pairs, PairTallies, Vectors, VectorTallies, best_cut, best_subset
from sapwood.kernels.tree_frame import FREE


@best_subset.of(Pairs, PairTallies)
def _best_pair_subset(stat, totals, groups, at, floor):  # noqa: ARG001
    frame = stat.frame
    n_merged = order_by_share(frame, totals, groups.count, 0)
    if n_merged == 1:  # no order by share: a split without decrease may still prepare a good one
        n_merged = part_equals(frame, groups)
    if n_merged <= frame.max_exhaustive and forbids_some(frame):
        return best_of_all_subsets(stat, totals, groups, n_merged, floor)
    return best_prefix(stat, totals, groups, n_merged, floor)


@best_subset.of(Vectors, VectorTallies)
def _best_vector_subset(stat, totals, groups, at, floor):  # noqa: ARG001
    frame = stat.frame
    if groups.count <= 4 * frame.max_exhaustive:
        n_merged = merge_vectors(frame, totals, groups.count)
        if n_merged == 1:
            n_merged = part_equals(frame, groups)
        if n_merged <= frame.max_exhaustive:
            return best_of_all_subsets(stat, totals, groups, n_merged, floor)
    best, best_decrease, best_left = floor, INVALID, False
    for d in range(frame.level_sums.shape[1]):  # one class (or target) against the rest
        n_merged = order_by_share(frame, totals, groups.count, d)
        decrease, missing_left = best_prefix(stat, totals, groups, n_merged, best)
        if decrease > INVALID:
            best, best_decrease, best_left = rounded(totals, decrease), decrease, missing_left
    return best_decrease, best_left


@part
def forbids_some(frame):
    """Whether a rule may forbid the best subset, so that the best one allowed need not be a prefix."""
    return frame.min_child_rows > 1 or frame.min_child_weight > 0.0 or frame.criterion == POISSON


@inner_kernel
def best_prefix(stat, totals, groups, n_merged, floor):
    """The best prefix of an order of levels; OUT goes_left; returns its decrease and whether missing rows go left."""
    frame = stat.frame
    cumulate(frame, groups.count, n_merged)
    last = n_merged if groups.missing > 0 else n_merged - 1  # all levels, if there are missing rows to be cut off
    cut = best_cut(stat, totals, groups, FREE, 0, last, floor)
    if cut.group >= 0:
        mark_prefix(frame, groups.count, cut.group)
    return cut.decrease, cut.missing_left


@inner_kernel
def cumulate_subsets(frame, totals, groups, n_merged):
    """Sums of every subset of the positions but the last, and behind them of all levels; OUT cum_*, order.

    The sums of a subset are those of the subset without its lowest member, plus that member.
    """
    everything, bit = 1 << (n_merged - 1), frame.order
    rows, weight, sums = frame.cum_rows, frame.cum_weight, frame.cum_sums
    for g in range(groups.count):
        bit[g] = 1 << frame.position[g]
    sum_places(frame, bit, groups.count, everything)
    for subset in range(1, everything):
        rest = subset & (subset - 1)
        if rest != 0:
            add_place(rows, weight, sums, subset, rest)
            add_place(rows, weight, sums, subset, subset ^ rest)
    rows[everything], weight[everything] = totals.rows - groups.missing, totals.weight - groups.missing_weight
    for d in range(sums.shape[1]):
        sums[everything, d] = frame.level_total[d] - frame.level_missing[d]


@inner_kernel
def best_of_all_subsets(stat, totals, groups, n_merged, floor):
    """Try every subset without the last position (the others are mirror images), and all levels against missing rows.

    OUT goes_left; returns the decrease and whether missing rows go left.
    """
    frame, everything = stat.frame, 1 << (n_merged - 1)
    cumulate_subsets(frame, totals, groups, n_merged)
    last = everything + 1 if groups.missing > 0 else everything
    cut = best_cut(stat, totals, groups, FREE, 1, last, floor)
    for g in range(groups.count):
        frame.goes_left[g] = 1 if cut.group == everything else (cut.group >> frame.position[g]) & 1
    return cut.decrease, cut.missing_left
