"""Categories: which levels go left.

With statistics (w, s) the best of all 2^(M-1) - 1 subsets is a prefix of the levels in order of s/w (Fisher 1958; Breiman et al. 1984,
theorem 4.5), for every concave impurity. With vectors all subsets are tried while there are few groups; beyond that, prefixes of the orders
by each single sum (one class against the rest) are. Levels with equal statistics always stay together and orders are by
statistics alone, so the tree does not depend on how the levels are numbered.

Every function returns (decrease, whether missing rows go left) and marks ints[GOES_LEFT].
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import kernel
from sapwood.kernels.candidates import best_pair_cut, best_vector_cut, large_enough, vector_decrease
from sapwood.kernels.criteria import INVALID, vector_mass
from sapwood.kernels.median import sorted_median_and_loss
from sapwood.kernels.records import CODE, CUM_N, CUM_S, CUM_W, GOES_LEFT, LEFT, MERGED, MISS, NODE_SUMS

EQUAL = 1e-12  # shares closer than this part of their range are the same


@kernel
def merge_equal(keys, order, merged):
    """Number the items in their order, equal keys together; OUT merged[item]; returns how many numbers there are."""
    spread = keys[order[-1]] - keys[order[0]]
    position = 0
    for i in range(len(order)):
        if i > 0 and keys[order[i]] - keys[order[i - 1]] > EQUAL * spread:
            position += 1
        merged[order[i]] = position
    return position + 1


@kernel
def single_groups(n_groups, floats, ints):
    """Undo the cumulation: rows, weight and sum of each group."""
    n, w, s = np.empty(n_groups, np.int64), np.empty(n_groups), np.empty(n_groups)
    for g in range(n_groups):
        n[g] = ints[CUM_N, g] - (ints[CUM_N, g - 1] if g > 0 else 0)
        w[g] = floats[CUM_W, g] - (floats[CUM_W, g - 1] if g > 0 else 0.0)
        s[g] = floats[CUM_S, g] - (floats[CUM_S, g - 1] if g > 0 else 0.0)
    return n, w, s


@kernel
def accumulate(values, merged, n_merged, cum):
    """Cumulative sums of values over the merged positions; OUT cum."""
    for position in range(n_merged):
        cum[position] = 0
    for item in range(len(values)):
        cum[merged[item]] += values[item]
    for position in range(1, n_merged):
        cum[position] += cum[position - 1]


@kernel
def mark_prefix(n_groups, cut, ints):
    """The groups whose position is at most `cut` go left."""
    for g in range(n_groups):
        ints[GOES_LEFT, g] = ints[MERGED, g] <= cut


@kernel
def best_pair_subset(limits, n_groups, mn, mw, ms, n, w, s, floor, tolerance, floats, ints):
    """Best subset for statistics (w, s)."""
    group_n, group_w, group_s = single_groups(n_groups, floats, ints)
    share = group_s / group_w
    n_merged = merge_equal(share, np.argsort(share, kind="mergesort"), ints[MERGED])
    accumulate(group_n, ints[MERGED], n_merged, ints[CUM_N])
    accumulate(group_w, ints[MERGED], n_merged, floats[CUM_W])
    accumulate(group_s, ints[MERGED], n_merged, floats[CUM_S])
    last = n_merged if mn > 0 else n_merged - 1
    decrease, cut, missing_left = best_pair_cut(limits, 0, INVALID, -INVALID, 0.0, 0, last, mn, mw, ms, n, w, s,
                                                floor, tolerance, floats, ints)
    if cut >= 0:
        mark_prefix(n_groups, cut, ints)
    return decrease, missing_left


@kernel
def single_vectors(n_groups, floats, ints, vectors):
    """Undo the cumulation of vectors."""
    n, w, _ = single_groups(n_groups, floats, ints)
    sums = vectors.cum[:n_groups].copy()
    for g in range(n_groups - 1, 0, -1):
        sums[g] -= sums[g - 1]
    return n, w, sums


@kernel
def precedes(share, a, b):
    """Whether the share vector of a comes before that of b, and whether they are equal (lexicographic)."""
    for d in range(share.shape[1]):
        difference = share[a, d] - share[b, d]
        if abs(difference) > EQUAL * (abs(share[a, d]) + abs(share[b, d])):
            return difference < 0.0, False
    return False, True


@kernel
def merge_vectors(share, merged):
    """Number the groups in lexicographic order of their shares, equal ones together; returns how many there are."""
    n_groups = len(share)
    order = np.empty(n_groups, np.int64)
    for g in range(n_groups):
        i = g
        while i > 0 and precedes(share, g, order[i - 1])[0]:
            order[i] = order[i - 1]
            i -= 1
        order[i] = g
    position = 0
    for i in range(n_groups):
        if i > 0 and not precedes(share, order[i - 1], order[i])[1]:
            position += 1
        merged[order[i]] = position
    return position + 1


@kernel
def best_of_all_subsets(limits, group_n, group_w, sums, n_merged, mn, mw, n, w, floor, tolerance, ints, vectors):
    """Try every subset of the merged groups that leaves out the last one (the others are mirror images).

    The sums of a subset are those of the subset without its lowest member, plus that member.
    """
    mass = vector_mass(limits.criterion, w, vectors.work[NODE_SUMS], vectors.output_start)
    size = 1 << (n_merged - 1)
    total_n, total_w, total = np.zeros(size, np.int64), np.zeros(size), np.zeros((size, sums.shape[1]))
    for g in range(len(group_n)):
        if ints[MERGED, g] < n_merged - 1:
            own = 1 << ints[MERGED, g]
            total_n[own] += group_n[g]
            total_w[own] += group_w[g]
            total[own] += sums[g]
    best, best_subset, best_left = floor, 0, False
    for subset in range(1, size + 1 if mn > 0 else size):
        if subset < size:
            rest = subset & (subset - 1)
            if rest != 0:
                own = subset ^ rest
                total_n[subset] = total_n[rest] + total_n[own]
                total_w[subset] = total_w[rest] + total_w[own]
                total[subset] = total[rest] + total[own]
        for turn in range(2 if mn > 0 else 1):
            if subset == size and turn == 1:
                break
            n_left, w_left = (total_n[subset], total_w[subset]) if subset < size else (n - mn, w - mw)
            for d in range(sums.shape[1]):
                inside = total[subset, d] if subset < size else vectors.work[NODE_SUMS, d] - vectors.work[MISS, d]
                vectors.work[LEFT, d] = inside + (vectors.work[MISS, d] if turn == 1 else 0.0)
            if turn == 1:
                n_left, w_left = n_left + mn, w_left + mw
            if not large_enough(limits, n_left, w_left, n, w):
                continue
            decrease = vector_decrease(limits.criterion, w_left, w, mass, vectors)
            if decrease > best:
                best, best_subset, best_left = decrease + tolerance, subset, turn == 1
    if best_subset == 0:
        return INVALID, False
    for g in range(len(group_n)):
        ints[GOES_LEFT, g] = 1 if best_subset == size else (best_subset >> ints[MERGED, g]) & 1
    return best - tolerance, best_left


@kernel
def best_of_orders(limits, group_n, group_w, sums, mn, mw, n, w, floor, tolerance, floats, ints, vectors):
    """Try the prefixes of the orders by each single sum: one class (or target) against the rest."""
    n_groups = len(group_n)
    best, best_left = floor, False
    column = np.empty(n_groups)
    for d in range(sums.shape[1]):
        share = sums[:, d] / group_w
        n_merged = merge_equal(share, np.argsort(share, kind="mergesort"), ints[MERGED])
        accumulate(group_n, ints[MERGED], n_merged, ints[CUM_N])
        accumulate(group_w, ints[MERGED], n_merged, floats[CUM_W])
        for e in range(sums.shape[1]):
            column[:] = sums[:, e]
            accumulate(column, ints[MERGED], n_merged, vectors.cum[:, e])
        last = n_merged if mn > 0 else n_merged - 1
        decrease, cut, missing_left = best_vector_cut(limits, 0, last, mn, mw, n, w, best, tolerance, floats, ints, vectors)
        if cut >= 0:
            mark_prefix(n_groups, cut, ints)
            best, best_left = decrease + tolerance, missing_left
    return best - tolerance if best > floor else INVALID, best_left


@kernel
def best_vector_subset(limits, n_groups, mn, mw, n, w, floor, tolerance, floats, ints, vectors):
    """Best subset for vectors of sums: all of them while few, else prefixes of orders."""
    group_n, group_w, sums = single_vectors(n_groups, floats, ints, vectors)
    if n_groups <= 4 * limits.max_exhaustive:
        share = sums / group_w.reshape(-1, 1)
        n_merged = merge_vectors(share, ints[MERGED])
        if n_merged <= limits.max_exhaustive:
            return best_of_all_subsets(limits, group_n, group_w, sums, n_merged, mn, mw, n, w, floor, tolerance,
                                       ints, vectors)
    return best_of_orders(limits, group_n, group_w, sums, mn, mw, n, w, floor, tolerance, floats, ints, vectors)


@kernel
def two_sided_loss(wy, entries, lo, hi, codes, left_of_code, missing_left, parts):
    """Sum of both sides' losses, averaged over the outputs; OUT parts: entries of one side in target order."""
    n_outputs = wy.shape[1] - 1
    total = 0.0
    for o in range(n_outputs):
        first, last = lo[1 + o], hi[1 + o]
        for side in range(2):
            size = 0
            for i in range(first, last):
                c = codes[entries[i] >> 1]
                goes_left = missing_left if c == 0 else left_of_code[c] == 1
                if goes_left == (side == 1):
                    parts[size] = entries[i]
                    size += 1
            if size > 0:
                total += sorted_median_and_loss(parts, 0, size, wy, o)[1]
    return total / n_outputs


@kernel
def level_medians(wy, entries, first, last, codes, n_groups, group_of_code, out):
    """Weighted median of the first target within each level; OUT out[group]."""
    parts = np.empty(last - first, entries.dtype)
    for g in range(n_groups):
        size = 0
        for i in range(first, last):
            c = codes[entries[i] >> 1]
            if c > 0 and group_of_code[c] == g:
                parts[size] = entries[i]
                size += 1
        out[g] = sorted_median_and_loss(parts, 0, size, wy, 0)[0]


@kernel
def best_absolute_subset(wy, limits, entries, lo, hi, codes, n_codes, n_groups, mn, mw, n, w, mass, floor, tolerance,
                         floats, ints):
    """Best subset for the absolute error: all subsets of few levels, else prefixes in order of the medians.

    A loss costs a pass over the rows, so "few" is fewer here.
    """
    group_n, group_w, _ = single_groups(n_groups, floats, ints)
    group_of_code, left_of_code = np.full(n_codes + 1, -1, np.int64), np.zeros(n_codes + 1, np.int8)
    for g in range(n_groups):
        group_of_code[ints[CODE, g]] = g
    medians = np.empty(n_groups)
    level_medians(wy, entries, lo[1], hi[1], codes, n_groups, group_of_code, medians)
    parts = np.empty(n, entries.dtype)
    n_merged = merge_equal(medians, np.argsort(medians, kind="mergesort"), ints[MERGED])
    exhaustive = n_groups <= min(limits.max_exhaustive, 6)
    if exhaustive:  # equal medians do not make equal levels: every level stands for itself
        order = np.argsort(medians, kind="mergesort")
        for position in range(n_groups):
            ints[MERGED, order[position]] = position
        n_merged = n_groups
    n_tries = (1 << (n_merged - 1)) - 1 if exhaustive else n_merged - 1
    best, best_left, found = floor, False, False
    for attempt in range(n_tries + 1 if mn > 0 else n_tries):
        for turn in range(2 if mn > 0 else 1):
            n_left, w_left = (mn, mw) if turn == 1 else (0, 0.0)
            for g in range(n_groups):
                position = ints[MERGED, g]
                inside = ((attempt + 1) >> position) & 1 == 1 if exhaustive else position <= attempt
                inside = inside or attempt == n_tries
                left_of_code[ints[CODE, g]] = inside
                if inside:
                    n_left += group_n[g]
                    w_left += group_w[g]
            if n_left == n or not large_enough(limits, n_left, w_left, n, w):
                continue
            decrease = mass - two_sided_loss(wy, entries, lo, hi, codes, left_of_code, turn == 1, parts)
            if decrease > best:
                best, best_left, found = decrease + tolerance, turn == 1, True
                for g in range(n_groups):
                    ints[GOES_LEFT, g] = left_of_code[ints[CODE, g]]
    return best - tolerance if found else INVALID, best_left
