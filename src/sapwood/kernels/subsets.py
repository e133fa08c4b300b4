"""Categories: which levels go left.

With statistics (w, s) the best of all 2^(M-1) - 1 subsets is a prefix of the levels in order of s/w (Fisher 1958;
Breiman et al. 1984, theorem 4.5), for every concave impurity. With vectors all subsets are tried while there are few
groups; beyond that, prefixes of the orders by each single sum (one class against the rest) are.
A limit on the rows of a child, or Poisson's rule against children without events, may forbid the best subset; then
all subsets of few levels are tried, and beyond few the best prefix allowed is taken.
Levels with equal statistics always stay together and orders are by statistics alone, so the tree does not
depend on how the levels are numbered.

Every function returns (decrease, whether missing rows go left) and marks ints[GOES_LEFT]. The rows of each group are
in ints[SIZE], their weights and, but for vectors, their sums in levels.w and levels.s (`single_groups`). `scale` says
what a large difference between the shares, or means, of two levels is.
"""

from __future__ import annotations

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.candidates import best_pair_cut, best_vector_cut, large_enough, vector_decrease
from sapwood.kernels.criteria import INVALID, POISSON, SQUARED, pair_decrease, pair_mass, vector_mass
from sapwood.kernels.median import sorted_median_and_loss
from sapwood.kernels.records import (
    CODE,
    CUM_N,
    CUM_S,
    CUM_W,
    GOES_LEFT,
    LEFT,
    MERGED,
    MISS,
    NODE_SUMS,
    SIZE,
)

EQUAL = 1e-9  # shares closer than this part of their range, or of the node's scale, are the same
FEW_LEVELS = 6  # absolute error: a subset costs a pass over the rows, so all are tried for fewer levels


@part
def share_of(s, w):
    """Share s/w; a weight that vanishes next to the others' has no share of its own, and any will do."""
    return s / w if w > 0.0 else 0.0


@lean_kernel
def sort_by_key(n, levels):
    """OUT levels.order: the groups 0…n-1 in order of levels.key, equal ones by number (a Shell sort)."""
    key, order = levels.key, levels.order
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
def merge_equal(n, scale, ints, levels):
    """Number the groups by their keys, equal keys together; OUT ints[MERGED]; returns how many numbers there are.

    Keys that differ by rounding alone have no range of their own, so `scale` says what a large difference is.
    """
    sort_by_key(n, levels)
    key, order = levels.key, levels.order
    least = EQUAL * max(scale, key[order[n - 1]] - key[order[0]])
    position = 0
    for i in range(n):
        if i > 0 and key[order[i]] - key[order[i - 1]] > least:
            position += 1
        ints[MERGED, order[i]] = position
    return position + 1


@lean_kernel
def single_groups(n, floats, levels):
    """Undo the cumulation: OUT levels.w, levels.s."""
    for g in range(n):
        levels.w[g] = floats[CUM_W, g] - (floats[CUM_W, g - 1] if g > 0 else 0.0)
        levels.s[g] = floats[CUM_S, g] - (floats[CUM_S, g - 1] if g > 0 else 0.0)


@lean_kernel
def cumulate(n, n_merged, floats, ints, levels):
    """Cumulative rows, weights and sums over the merged positions; OUT ints[CUM_N], floats[CUM_W], floats[CUM_S]."""
    for p in range(n_merged):
        ints[CUM_N, p], floats[CUM_W, p], floats[CUM_S, p] = 0, 0.0, 0.0
    for g in range(n):
        p = ints[MERGED, g]
        ints[CUM_N, p] += ints[SIZE, g]
        floats[CUM_W, p] += levels.w[g]
        floats[CUM_S, p] += levels.s[g]
    for p in range(1, n_merged):
        ints[CUM_N, p] += ints[CUM_N, p - 1]
        floats[CUM_W, p] += floats[CUM_W, p - 1]
        floats[CUM_S, p] += floats[CUM_S, p - 1]


@part
def mark_prefix(n, cut, ints):
    """The groups whose position is at most `cut` go left."""
    for g in range(n):
        ints[GOES_LEFT, g] = 1 if ints[MERGED, g] <= cut else 0


@lean_kernel
def part_equals(groups, mn, ints, levels):
    """Number levels of equal shares by weight; two of equal weight are parted too: there is one way only."""
    for g in range(groups):
        levels.key[g] = levels.w[g]
    n_merged = merge_equal(groups, levels.w[0], ints, levels)
    if n_merged == 1 and groups == 2 and mn == 0:
        ints[MERGED, 1], n_merged = 1, 2
    return n_merged


@part
def forbids_some(limits):
    """Whether a rule may forbid the best subset, so that the best one allowed need not be a prefix."""
    return limits.min_rows_leaf > 1 or limits.min_weight_leaf > 0.0 or limits.criterion == POISSON


@lean_kernel
def best_pair_of_all(limits, groups, n_merged, mn, mw, ms, n, w, s, floor, tolerance, ints, levels):
    """Try every subset of few levels without the one of largest share, and all levels against missing rows."""
    for g in range(groups):
        levels.sums[g, 0] = levels.s[g]
    tabulate_subsets(groups, n_merged, ints, levels)
    mass = pair_mass(limits.criterion, w, s)
    everything = 1 << (n_merged - 1)
    best, best_subset, best_left = floor, 0, False
    for subset in range(1, everything + 1 if mn > 0 else everything):
        for turn in range(2 if mn > 0 and subset < everything else 1):
            n_left, w_left, s_left = n - mn, w - mw, s - ms
            if subset < everything:
                n_left, w_left, s_left = int(levels.table[subset, 0]), levels.table[subset, 1], levels.table[subset, 2]
            if turn == 1:
                n_left, w_left, s_left = n_left + mn, w_left + mw, s_left + ms
            if large_enough(limits, n_left, w_left, n, w):
                decrease = pair_decrease(limits.criterion, mass, w_left, s_left, w, s)
                if decrease > best:
                    best, best_subset, best_left = decrease + tolerance, subset, turn == 1
    for g in range(groups):
        ints[GOES_LEFT, g] = 1 if best_subset == everything else (best_subset >> ints[MERGED, g]) & 1
    return best - tolerance if best_subset > 0 else INVALID, best_left


@lean_kernel
def best_pair_subset(limits, scale, groups, mn, mw, ms, n, w, s, floor, tolerance, floats, ints, levels):
    """Best subset for statistics (w, s)."""
    for g in range(groups):
        levels.key[g] = share_of(levels.s[g], levels.w[g])
    n_merged = merge_equal(groups, scale, ints, levels)
    if n_merged == 1:  # no order by share: a split without decrease may still prepare a good one
        n_merged = part_equals(groups, mn, ints, levels)
    if n_merged <= limits.max_exhaustive and forbids_some(limits):
        return best_pair_of_all(limits, groups, n_merged, mn, mw, ms, n, w, s, floor, tolerance, ints, levels)
    cumulate(groups, n_merged, floats, ints, levels)
    last = n_merged if mn > 0 else n_merged - 1
    decrease, cut, missing_left = best_pair_cut(
        limits, 0, INVALID, -INVALID, 0.0, 0, last, mn, mw, ms, n, w, s, floor, tolerance, floats, ints
    )
    if cut >= 0:
        mark_prefix(groups, cut, ints)
    return decrease, missing_left


@lean_kernel
def single_vectors(n, vectors, levels):
    """Undo the cumulation of vectors: OUT levels.sums."""
    for g in range(n):
        for d in range(levels.sums.shape[1]):
            levels.sums[g, d] = vectors.cum[g, d] - (vectors.cum[g - 1, d] if g > 0 else 0.0)


@part
def compare_shares(a, b, scale, levels):
    """Lexicographic order of two groups' shares: -1, 0 (equal) or 1."""
    for d in range(levels.sums.shape[1]):
        share_a, share_b = share_of(levels.sums[a, d], levels.w[a]), share_of(levels.sums[b, d], levels.w[b])
        if abs(share_a - share_b) > EQUAL * max(scale, abs(share_a) + abs(share_b)):
            return -1 if share_a < share_b else 1
    return 0


@lean_kernel
def merge_vectors(n, scale, ints, levels):
    """Number the groups in lexicographic order of their shares, equal ones together; returns how many."""
    order = levels.order
    for g in range(n):
        i = g
        while i > 0 and compare_shares(g, order[i - 1], scale, levels) < 0:
            order[i] = order[i - 1]
            i -= 1
        order[i] = g
    position = 0
    for i in range(n):
        if i > 0 and compare_shares(order[i - 1], order[i], scale, levels) != 0:
            position += 1
        ints[MERGED, order[i]] = position
    return position + 1


@lean_kernel
def tabulate_subsets(n, n_merged, ints, levels):
    """Rows, weight and sums of every subset of the merged groups but the last; OUT levels.table.

    The sums of a subset are those of the subset without its lowest member, plus that member.
    """
    table = levels.table
    width = 2 + levels.sums.shape[1]
    for subset in range(1 << (n_merged - 1)):
        for d in range(width):
            table[subset, d] = 0.0
    for g in range(n):
        if ints[MERGED, g] < n_merged - 1:
            own = 1 << ints[MERGED, g]
            table[own, 0] += ints[SIZE, g]
            table[own, 1] += levels.w[g]
            for d in range(levels.sums.shape[1]):
                table[own, 2 + d] += levels.sums[g, d]
    for subset in range(1, 1 << (n_merged - 1)):
        rest = subset & (subset - 1)
        if rest != 0:
            for d in range(width):
                table[subset, d] = table[rest, d] + table[subset ^ rest, d]


@lean_kernel
def best_of_all_subsets(limits, groups, n_merged, mn, mw, n, w, floor, tolerance, ints, vectors, levels):
    """Try every subset without the last merged group (the others are mirror images), and all against missing."""
    work = vectors.work
    mass = vector_mass(limits.criterion, w, work[NODE_SUMS], vectors.output_start)
    tabulate_subsets(groups, n_merged, ints, levels)
    everything = 1 << (n_merged - 1)
    best, best_subset, best_left = floor, 0, False
    for subset in range(1, everything + 1 if mn > 0 else everything):
        for turn in range(2 if mn > 0 and subset < everything else 1):
            n_left, w_left = n - mn, w - mw
            for d in range(work.shape[1]):
                work[LEFT, d] = work[NODE_SUMS, d] - work[MISS, d]
            if subset < everything:
                n_left, w_left = int(levels.table[subset, 0]), levels.table[subset, 1]
                for d in range(work.shape[1]):
                    work[LEFT, d] = levels.table[subset, 2 + d]
            if turn == 1:
                n_left, w_left = n_left + mn, w_left + mw
                for d in range(work.shape[1]):
                    work[LEFT, d] += work[MISS, d]
            if large_enough(limits, n_left, w_left, n, w):
                decrease = vector_decrease(limits.criterion, w_left, w, mass, vectors)
                if decrease > best:
                    best, best_subset, best_left = decrease + tolerance, subset, turn == 1
    for g in range(groups):
        ints[GOES_LEFT, g] = 1 if best_subset == everything else (best_subset >> ints[MERGED, g]) & 1
    return best - tolerance if best_subset > 0 else INVALID, best_left


@lean_kernel
def best_of_orders(limits, scale, groups, mn, mw, n, w, floor, tolerance, floats, ints, vectors, levels):
    """Try the prefixes of the orders by each single sum: one class (or target) against the rest."""
    best, best_left, found = floor, False, False
    for d in range(levels.sums.shape[1]):
        for g in range(groups):
            levels.key[g] = share_of(levels.sums[g, d], levels.w[g])
        own_scale = scale if limits.criterion == SQUARED else vectors.work[NODE_SUMS, d] / w
        n_merged = merge_equal(groups, own_scale, ints, levels)
        cumulate(groups, n_merged, floats, ints, levels)
        for p in range(n_merged):
            for e in range(levels.sums.shape[1]):
                vectors.cum[p, e] = 0.0
        for g in range(groups):
            for e in range(levels.sums.shape[1]):
                vectors.cum[ints[MERGED, g], e] += levels.sums[g, e]
        for p in range(1, n_merged):
            for e in range(levels.sums.shape[1]):
                vectors.cum[p, e] += vectors.cum[p - 1, e]
        last = n_merged if mn > 0 else n_merged - 1
        decrease, cut, missing_left = best_vector_cut(
            limits, 0, last, mn, mw, n, w, best, tolerance, floats, ints, vectors
        )
        if cut >= 0:
            mark_prefix(groups, cut, ints)
            best, best_left, found = decrease + tolerance, missing_left, True
    return best - tolerance if found else INVALID, best_left


@lean_kernel
def best_vector_subset(limits, scale, groups, mn, mw, n, w, floor, tolerance, floats, ints, vectors, levels):
    """Best subset for vectors of sums: all of them while few, else prefixes of orders."""
    single_vectors(groups, vectors, levels)
    if groups <= 4 * limits.max_exhaustive:
        n_merged = merge_vectors(groups, scale, ints, levels)
        if n_merged == 1:
            n_merged = part_equals(groups, mn, ints, levels)
        if n_merged <= limits.max_exhaustive:
            return best_of_all_subsets(limits, groups, n_merged, mn, mw, n, w, floor, tolerance, ints, vectors, levels)
    return best_of_orders(limits, scale, groups, mn, mw, n, w, floor, tolerance, floats, ints, vectors, levels)


@lean_kernel
def gather_side(entries, first, last, codes, levels, missing_left, left):
    """Entries of one side, in order; OUT levels.part; returns how many. levels.left says where each code goes."""
    size = 0
    for i in range(first, last):
        c = codes[entries[i] >> ONE]
        goes_left = missing_left if c == 0 else levels.left[c] == 1
        if goes_left == left:
            levels.part[size] = entries[i]
            size += 1
    return size


@lean_kernel
def two_sided_loss(wy, entries, lo, hi, codes, missing_left, levels):
    """Sum of both sides' losses, averaged over the outputs."""
    total = 0.0
    for o in range(wy.shape[1] - 1):
        for side in range(2):
            size = gather_side(entries, lo[1 + o], hi[1 + o], codes, levels, missing_left, side == 1)
            if size > 0:
                total += sorted_median_and_loss(levels.part, 0, size, wy, o)[1]
    return total / (wy.shape[1] - 1)


@lean_kernel
def order_by_median(wy, entries, lo, hi, codes, n_codes, groups, ints, levels):
    """Median of the first target within each level; OUT levels.key."""
    for c in range(n_codes + 1):
        levels.left[c] = 0
    for g in range(groups):
        levels.left[ints[CODE, g]] = 1
        size = gather_side(entries, lo[1], hi[1], codes, levels, False, True)
        levels.key[g] = sorted_median_and_loss(levels.part, 0, size, wy, 0)[0]
        levels.left[ints[CODE, g]] = 0


@part
def choose_levels(attempt, n_tries, exhaustive, groups, ints, levels):
    """Send left a subset by its bits, or a prefix; the last attempt is all levels. OUT levels.left."""
    for g in range(groups):
        inside = ((attempt + 1) >> ints[MERGED, g]) & 1 == 1 if exhaustive else ints[MERGED, g] <= attempt
        levels.left[ints[CODE, g]] = 1 if inside or attempt == n_tries else 0


@lean_kernel
def best_absolute_subset(
    wy, limits, entries, lo, hi, codes, n_codes, groups, mn, mw, n, w, mass, floor, tolerance, ints, levels
):
    """Best subset for the absolute error: all subsets of few levels, else prefixes in order of the medians."""
    order_by_median(wy, entries, lo, hi, codes, n_codes, groups, ints, levels)
    n_merged = merge_equal(groups, 0.0, ints, levels)
    exhaustive = groups <= FEW_LEVELS
    if exhaustive:  # equal medians do not make equal levels: every level stands for itself
        n_merged = groups
        for i in range(groups):
            ints[MERGED, levels.order[i]] = i
    n_tries = (1 << (n_merged - 1)) - 1 if exhaustive else n_merged - 1
    best, best_left, found = floor, False, False
    for attempt in range(n_tries + 1 if mn > 0 else n_tries):
        choose_levels(attempt, n_tries, exhaustive, groups, ints, levels)
        for turn in range(2 if mn > 0 else 1):
            n_left, w_left = (mn, mw) if turn == 1 else (0, 0.0)
            for g in range(groups):
                if levels.left[ints[CODE, g]] == 1:
                    n_left += ints[SIZE, g]
                    w_left += levels.w[g]
            if n_left == n or not large_enough(limits, n_left, w_left, n, w):
                continue
            decrease = mass - two_sided_loss(wy, entries, lo, hi, codes, turn == 1, levels)
            if decrease > best:
                best, best_left, found = decrease + tolerance, turn == 1, True
                for g in range(groups):
                    ints[GOES_LEFT, g] = levels.left[ints[CODE, g]]
    return best - tolerance if found else INVALID, best_left
