"""Search: the best split of one node over the columns it may use, written into the node's slot."""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.candidates import best_absolute_cut, best_pair_cut, best_vector_cut
from sapwood.kernels.criteria import INVALID, SQUARED, pair_mass, vector_mass
from sapwood.kernels.draws import mix, uniform
from sapwood.kernels.groups import (
    NOTHING,
    VALUE,
    coded_pairs,
    coded_rows,
    coded_vectors,
    drawn_pairs,
    drawn_vectors,
    fill_local,
    fill_tallies,
    gather_present,
    gather_values,
    sorted_pairs,
    sorted_rows,
    sorted_vectors,
    tallied_pairs,
    tallied_vectors,
)
from sapwood.kernels.records import CODE, CUM_N, CUM_S, CUM_W, GOES_LEFT, LEFT, MISS, NODE_SUMS, SIZE
from sapwood.kernels.subsets import (
    best_absolute_subset,
    best_pair_subset,
    best_vector_subset,
    single_groups,
    single_vectors,
)

TOLERANCE = 1e-12  # a split must be better by this part of the node's mass; see ARCHITECTURE.md
HALVES = 1e-9  # children whose weights differ by less than this part of the node's are equal
IMPLICIT_ROW, NO_ROW = -1, -2  # at_left, at_right: the implicit value of a column; nothing (all present rows go left)
ALL_PRESENT, SOME_MISSING = 1, 2  # a column of values
FEW_LEVELS = 8  # of a column in a node, that may be chosen among freely
LEAST_CREDIT = 1e-9  # less is a rounding error
FLAT = 4096  # codes whose bitmap is read word by word; that of more has a summary
THRESHOLD_DRAW = 1 << 40  # keeps draws of thresholds apart from draws of features


@part
def visit(i, allowed, limits, key, features):
    """The i-th column to look at: in order, or drawn without replacement (Fisher-Yates, draws keyed by the node)."""
    n = len(allowed)
    if limits.max_features >= n:
        return allowed[i]
    if i == 0:
        for k in range(n):
            features[k] = allowed[k]
    j = i + np.int64(uniform(mix(key, i)) * (n - i))
    features[i], features[j] = features[j], features[i]
    return features[i]


@lean_kernel
def entry_row(column, entries, lo, hi, position):
    """Row at a position among the present rows of a sorted column, IMPLICIT_ROW within the implicit value."""
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


@part
def group_value(column, f, entries, lo, hi, g, ints, values):
    """Value of group g of a numeric column; `values` is (values by row, the implicit one last; values by code)."""
    if column.code_row >= 0:
        return values[1][f, ints[CODE, g]]
    return values[0][f, entry_row(column, entries, lo, hi, ints[CUM_N, g] - 1)]  # IMPLICIT_ROW, -1, is the last


@lean_kernel
def random_cut(column, f, entries, lo, hi, groups, key, ints, values):
    """A threshold drawn between the least and the largest value, and the last group at or below it."""
    low = group_value(column, f, entries, lo, hi, 0, ints, values)
    high = group_value(column, f, entries, lo, hi, groups - 1, ints, values)
    threshold = drawn_threshold(low, high, key, f)
    first, last = 0, groups - 1
    while last - first > 1:
        middle = (first + last) // 2
        if group_value(column, f, entries, lo, hi, middle, ints, values) <= threshold:
            first = middle
        else:
            last = middle
    return threshold, first


@part
def drawn_threshold(low, high, key, f):
    """A threshold between two values, the larger one excluded."""
    share = uniform(mix(mix(key, f), THRESHOLD_DRAW))
    threshold = low * (1.0 - share) + high * share
    if not (low <= threshold < high):
        threshold = low  # rounding, or an infinite end
    return threshold


@part
def collect_drawn(
    is_valued,
    f,
    wy,
    criterion,
    entries,
    lo,
    hi,
    w,
    s,
    key,
    floats,
    ints,
    local,
    tallies,
    gathered,
    vectors,
    values,
):
    """Two groups of a column of values, up to a drawn threshold and above it; like `collect`, and the threshold."""
    first, last = lo[0], hi[0]
    mn = np.int64(0)
    if is_valued == ALL_PRESENT:
        low, high = gather_values(values[0][f], entries, first, last, gathered)
    else:
        low, high, mn = gather_present(values[0][f], entries, first, last, gathered)
    groups = np.int64(low < high) + np.int64(low <= high)
    threshold = drawn_threshold(low, high, key, f) if groups > 1 else high
    ms = 0.0
    if vectors is not None:
        mw = drawn_vectors(gathered, entries, first, last, wy, criterion, threshold, mn, floats, ints, vectors)
    else:
        mw, ms = drawn_pairs(gathered, last - first, local, tallies, threshold, mn, w, s, floats, ints)
    ints[CODE, 0], ints[CODE, 1] = 0, 1
    return groups, mn, mw, ms, threshold


@lean_kernel
def toss_levels(groups, key, f, floats, ints, vectors):
    """Levels go left by a toss of a coin each; group 0 becomes those tossed left, so that the only cut is behind it."""
    for g in range(groups):
        ints[GOES_LEFT, g] = np.int64(mix(mix(key, f), THRESHOLD_DRAW + ints[CODE, g]) & np.uint64(1))
    ints[GOES_LEFT, groups - 1] = 1 - ints[GOES_LEFT, 0]  # no side is empty
    n, w, s = 0, 0.0, 0.0
    for g in range(groups):
        if ints[GOES_LEFT, g] == 1:
            n += ints[CUM_N, g] - (ints[CUM_N, g - 1] if g > 0 else 0)
            w += floats[CUM_W, g] - (floats[CUM_W, g - 1] if g > 0 else 0.0)
            s += floats[CUM_S, g] - (floats[CUM_S, g - 1] if g > 0 else 0.0)
    if vectors is not None:
        for d in range(vectors.cum.shape[1]):
            total = 0.0
            for g in range(groups):
                if ints[GOES_LEFT, g] == 1:
                    total += vectors.cum[g, d] - (vectors.cum[g - 1, d] if g > 0 else 0.0)
            vectors.work[LEFT, d] = total
        for d in range(vectors.cum.shape[1]):
            vectors.cum[0, d] = vectors.work[LEFT, d]
    ints[CUM_N, 0], floats[CUM_W, 0], floats[CUM_S, 0] = n, w, s


@part
def count_pairs(codes, entries, first, last, floats, ints, hist, counts, occupied, summary, local, tallies):
    """Groups of a coded column, by tallies if rows have them."""
    if tallies is not None:
        return tallied_pairs(codes, entries, first, last, tallies, floats, ints, counts, occupied, summary)
    if local is not None:
        return coded_pairs(codes, entries, first, last, local, floats, ints, hist, occupied, summary)
    return np.int64(0), np.int64(0), 0.0, 0.0


@part
def collect_pairs(
    column,
    codes,
    wy,
    tally,
    entries,
    lo,
    hi,
    n,
    w,
    s,
    center,
    floats,
    ints,
    hist,
    counts,
    occupied,
    summary,
    local,
    tallies,
):
    """Groups of a column with statistics (w, s)."""
    if column.code_row < 0:
        return sorted_pairs(column, entries, lo, hi, wy, tally, center, n, w, s, floats, ints)
    own, first, last = codes[column.code_row], lo[0], hi[0]
    if column.n_codes > FLAT:
        return count_pairs(own, entries, first, last, floats, ints, hist, counts, occupied, summary, local, tallies)
    return count_pairs(own, entries, first, last, floats, ints, hist, counts, occupied, None, local, tallies)


@part
def count_vectors(
    codes, entries, first, last, wy, criterion, floats, ints, hist, counts, occupied, summary, tallies, vectors
):
    """Groups of a coded column, by tallies if rows have them."""
    if tallies is not None:
        return tallied_vectors(codes, entries, first, last, tallies, floats, ints, counts, occupied, summary, vectors)
    if hist is not None:
        return coded_vectors(codes, entries, first, last, wy, criterion, floats, ints, hist, occupied, summary, vectors)
    return np.int64(0), np.int64(0), 0.0


@part
def collect_vectors(
    column,
    codes,
    wy,
    tally,
    criterion,
    entries,
    lo,
    hi,
    n,
    w,
    floats,
    ints,
    hist,
    counts,
    occupied,
    summary,
    tallies,
    vectors,
):
    """Groups of a column with vectors of sums."""
    if column.code_row < 0:
        return sorted_vectors(column, entries, lo, hi, wy, tally, criterion, n, w, floats, ints, vectors)
    own, first, last = codes[column.code_row], lo[0], hi[0]
    if column.n_codes > FLAT:
        return count_vectors(
            own, entries, first, last, wy, criterion, floats, ints, hist, counts, occupied, summary, tallies, vectors
        )
    return count_vectors(
        own, entries, first, last, wy, criterion, floats, ints, hist, counts, occupied, None, tallies, vectors
    )


@part
def collect_rows(column, codes, wy, entries, lo, hi, floats, ints, hist, medians):
    """Groups of a column with rows in order, for the absolute error."""
    if column.code_row < 0:
        return sorted_rows(column, entries, lo, hi, wy, floats, ints, medians)
    return coded_rows(codes[column.code_row], column.n_codes, entries, lo[0], hi[0], wy, floats, ints, hist, medians)


@part
def collect(
    column,
    codes,
    wy,
    tally,
    criterion,
    entries,
    lo,
    hi,
    n,
    w,
    s,
    center,
    floats,
    ints,
    hist,
    counts,
    occupied,
    summary,
    local,
    tallies,
    vectors,
    medians,
):
    """Groups of a column in the node: (number of groups, missing rows, their weight, their sum)."""
    if medians is not None:
        groups, mn, mw = collect_rows(column, codes, wy, entries, lo, hi, floats, ints, hist, medians)
        return groups, mn, mw, 0.0
    if vectors is not None:
        groups, mn, mw = collect_vectors(
            column,
            codes,
            wy,
            tally,
            criterion,
            entries,
            lo,
            hi,
            n,
            w,
            floats,
            ints,
            hist,
            counts,
            occupied,
            summary,
            tallies,
            vectors,
        )
        return groups, mn, mw, 0.0
    return collect_pairs(
        column,
        codes,
        wy,
        tally,
        entries,
        lo,
        hi,
        n,
        w,
        s,
        center,
        floats,
        ints,
        hist,
        counts,
        occupied,
        summary,
        local,
        tallies,
    )


@part
def centred_sum(column, criterion, groups, ms, s, floats, vectors):
    """The node's sum as this column's groups add it up, so that rounding of the centre does not favour one side."""
    if criterion != SQUARED or column.implicit != NOTHING:
        return s
    if vectors is not None:
        for d in range(vectors.work.shape[1]):
            vectors.work[NODE_SUMS, d] = vectors.cum[groups - 1, d] + vectors.work[MISS, d]
        return s
    return floats[CUM_S, groups - 1] + ms


@part
def bury(column, lo, hi):
    """Mark a column as constant in the node, and so in all its descendants: its lists become empty."""
    hi[column.below] = lo[column.below]
    hi[column.above] = lo[column.above]
    hi[column.missing] = lo[column.missing]


@part
def best_cut(
    wy,
    limits,
    sign,
    lower,
    upper,
    first,
    last,
    groups,
    mn,
    mw,
    ms,
    n,
    w,
    s,
    mass,
    center,
    floor,
    tolerance,
    floats,
    ints,
    vectors,
    medians,
):
    """Best cut after one of the groups first…last-1."""
    if medians is not None:
        return best_absolute_cut(
            wy,
            limits,
            sign,
            lower,
            upper,
            groups,
            first,
            last,
            mn,
            mw,
            n,
            w,
            mass,
            floor,
            tolerance,
            floats,
            ints,
            medians,
        )
    if vectors is not None:
        return best_vector_cut(limits, first, last, mn, mw, n, w, floor, tolerance, floats, ints, vectors)
    return best_pair_cut(
        limits, sign, lower, upper, center, first, last, mn, mw, ms, n, w, s, floor, tolerance, floats, ints
    )


@part
def is_heavier(w_left, w):
    """Whether the left child has more than half of the weight: what a node without missing rows does with them."""
    return 2.0 * w_left - w > HALVES * w


@part
def search_numbers(
    column,
    f,
    wy,
    limits,
    entries,
    slot,
    lo,
    hi,
    groups,
    mn,
    mw,
    ms,
    n,
    w,
    s,
    mass,
    center,
    floor,
    tolerance,
    floats,
    ints,
    vectors,
    medians,
    values,
    threshold,
):
    """Look at a numeric column; returns the decrease, and records the cut in the slot if it beats `floor`.

    The groups of a column of values are the two sides of a threshold that was drawn already.
    """
    first, last = 0, groups if mn > 0 else groups - 1
    if values is not None and groups > 1:
        if column.is_valued == 0:
            threshold, first = random_cut(column, f, entries, lo, hi, groups, slot.key, ints, values)
        last = first + 1
    decrease, cut, missing_left = best_cut(
        wy,
        limits,
        column.monotonic,
        slot.lower,
        slot.upper,
        first,
        last,
        groups,
        mn,
        mw,
        ms,
        n,
        w,
        s,
        mass,
        center,
        floor,
        tolerance,
        floats,
        ints,
        vectors,
        medians,
    )
    if decrease == INVALID:
        return decrease
    n_left = ints[CUM_N, cut]
    slot.n_left = n_left
    slot.missing_left = np.int64(missing_left) if mn > 0 else np.int64(is_heavier(floats[CUM_W, cut], w))
    slot.threshold = threshold
    slot.at_right = NO_ROW
    if column.code_row >= 0:
        slot.at_left = ints[CODE, cut]
        if cut + 1 < groups:
            slot.at_right = ints[CODE, cut + 1]
    else:
        slot.at_left = entry_row(column, entries, lo, hi, n_left - 1)
        if cut + 1 < groups:
            slot.at_right = entry_row(column, entries, lo, hi, n_left)
    return decrease


@lean_kernel
def write_subset(column, slot, groups, mn, missing_left, w, ints, levels, subset):
    """Write the levels that go left. Levels that do not occur in the node go where missing values go; OUT subset."""
    n_left, w_left = 0, 0.0
    for g in range(groups):
        n_left += ints[SIZE, g] * ints[GOES_LEFT, g]
        w_left += levels.w[g] * ints[GOES_LEFT, g]
    default_left = missing_left if mn > 0 else is_heavier(w_left, w)
    for word in range(len(subset)):
        subset[word] = np.uint32(0)
    if default_left:
        for level in range(column.n_codes):
            subset[level >> 5] |= ONE << np.uint32(level & 31)
    for g in range(groups):
        level = ints[CODE, g] - 1
        bit = np.uint32(ONE << np.uint32(level & 31))
        if ints[GOES_LEFT, g] == 1:
            subset[level >> 5] |= bit
        else:
            subset[level >> 5] &= ~bit
    slot.missing_left, slot.n_left, slot.threshold = np.int64(default_left), n_left, np.nan


@part
def spread_of_shares(criterion, w, s, mass, vectors):
    """What a large difference of two levels is: of means the node's deviation, of shares and rates the node's own.

    Shares of vectors have no common scale: each is compared with itself.
    """
    if criterion == SQUARED:
        return math.sqrt(mass / w)
    return s / w if vectors is None else 0.0


@part
def chance_share(groups, mn, n):
    """Share of a node's impurity that K levels explain by chance: (K - 1) / (n - 1), exact for Gini and squares."""
    return min(1.0, (groups - (0 if mn > 0 else 1)) / (n - 1))


@lean_kernel
def mass_between(criterion, groups, mw, ms, w, s, floats, vectors, levels):
    """What all levels together, each by itself, take from the mass of a node."""
    single_groups(groups, floats, levels)
    if vectors is None:
        between = pair_mass(criterion, w, s) - (pair_mass(criterion, mw, ms) if mw > 0.0 else 0.0)
        for g in range(groups):
            between -= pair_mass(criterion, levels.w[g], levels.s[g])
        return between
    single_vectors(groups, vectors, levels)
    start = vectors.output_start
    between = vector_mass(criterion, w, vectors.work[NODE_SUMS], start)
    if mw > 0.0:
        between -= vector_mass(criterion, mw, vectors.work[MISS], start)
    for g in range(groups):
        between -= vector_mass(criterion, levels.w[g], levels.sums[g], start)
    return between


@lean_kernel
def credit_of_levels(criterion, groups, mn, mw, ms, n, w, s, mass, floats, vectors, medians, levels):
    """How much of a decrease counts: of what many levels explain together, the share that chance does not.

    With R the share of the mass that all levels explain, and c = chance_share + 2 standard deviations of it, that is
    1 - c / R. An identifier, which has a level for each row, explains everything and has c = 1: it counts nothing.
    Levels that decide the target count nearly in full, however many classes there are. Few levels are left alone.
    The absolute error has no sums of levels: it takes R = 1.
    """
    if groups <= FEW_LEVELS:
        return 1.0
    chance = chance_share(groups, mn, n)
    noise = chance + 2.0 * math.sqrt(2.0 * chance * (1.0 - chance) / (n - 1))
    if medians is not None:
        return max(0.0, 1.0 - noise)
    between = mass_between(criterion, groups, mw, ms, w, s, floats, vectors, levels)
    credit = 1.0 - noise * mass / between if between > 0.0 else 0.0
    return credit if credit > LEAST_CREDIT else 0.0


@lean_kernel
def search_categories(
    column,
    f,
    codes,
    wy,
    limits,
    entries,
    slot,
    lo,
    hi,
    groups,
    mn,
    mw,
    ms,
    n,
    w,
    s,
    mass,
    floor,
    tolerance,
    floats,
    ints,
    vectors,
    medians,
    values,
    levels,
    subset,
):
    """Look at a category column; returns the decrease, and records the subset if it beats `floor`."""
    for g in range(groups):
        ints[SIZE, g] = ints[CUM_N, g] - (ints[CUM_N, g - 1] if g > 0 else 0)
    scale = spread_of_shares(limits.criterion, w, s, mass, vectors)
    single_groups(groups, floats, levels)
    if values is not None and medians is None and groups > 1:
        toss_levels(groups, slot.key, f, floats, ints, vectors)
        decrease, _, missing_left = best_cut(
            wy,
            limits,
            0,
            INVALID,
            -INVALID,
            0,
            1,
            1,
            mn,
            mw,
            ms,
            n,
            w,
            s,
            mass,
            0.0,
            floor,
            tolerance,
            floats,
            ints,
            vectors,
            medians,
        )
    elif medians is not None:
        decrease, missing_left = best_absolute_subset(
            wy,
            limits,
            entries,
            lo,
            hi,
            codes[column.code_row],
            column.n_codes,
            groups,
            mn,
            mw,
            n,
            w,
            mass,
            floor,
            tolerance,
            ints,
            levels,
        )
    elif vectors is not None:
        decrease, missing_left = best_vector_subset(
            limits, scale, groups, mn, mw, n, w, floor, tolerance, floats, ints, vectors, levels
        )
    else:
        decrease, missing_left = best_pair_subset(
            limits, scale, groups, mn, mw, ms, n, w, s, floor, tolerance, floats, ints, levels
        )
    if decrease > INVALID:
        write_subset(column, slot, groups, mn, missing_left, w, ints, levels, subset)
    return decrease


@part
def rank_targets(wy, entries, lo, hi, medians):
    """Ranks of the node's rows by each target; OUT medians.rank_of, medians.ranked."""
    for o in range(wy.shape[1] - 1):
        first = lo[1 + o]
        for i in range(first, hi[1 + o]):
            r = entries[i] >> ONE
            medians.rank_of[o, r] = i - first
            medians.ranked[o, i - first] = wy[r, 1 + o]


@lean_kernel
def search(
    columns,
    codes,
    wy,
    tally,
    limits,
    entries,
    slot,
    lo,
    hi,
    n,
    w,
    s,
    mass,
    center,
    floats,
    ints,
    hist,
    counts,
    occupied,
    summary,
    local,
    tallies,
    gathered,
    allowed,
    features,
    vectors,
    medians,
    values,
    levels,
    at,
):
    """Find the best split of an open node; returns whether there is one, and writes it into the slot."""
    tolerance = TOLERANCE * mass
    floor = -1e-9 * mass - 1e-300  # a split without decrease is taken: it may prepare a good one
    if medians is not None:
        rank_targets(wy, entries, lo, hi, medians)
    if tallies is not None:
        fill_tallies(tally, entries, lo[0], hi[0], tallies)
    if local is not None and len(local) > 0:
        fill_local(wy, entries, lo[0], hi[0], center, local)
    slot.feature = -1
    for i in range(len(allowed)):
        if i >= limits.max_features and slot.feature >= 0:
            break  # constant columns count as looked at, as in scikit-learn, but at least one split is tried
        f = visit(i, allowed, limits, slot.key, features)
        column = columns[f]
        below, above, missing = column.below, column.above, column.missing
        if lo[below] == hi[below] and lo[above] == hi[above] and lo[missing] == hi[missing]:
            continue
        threshold = np.nan
        if values is not None and column.is_valued != 0:
            groups, mn, mw, ms, threshold = collect_drawn(
                column.is_valued,
                f,
                wy,
                limits.criterion,
                entries,
                lo,
                hi,
                w,
                s,
                slot.key,
                floats,
                ints,
                local,
                tallies,
                gathered,
                vectors,
                values,
            )
        else:
            groups, mn, mw, ms = collect(
                column,
                codes,
                wy,
                tally,
                limits.criterion,
                entries,
                lo,
                hi,
                n,
                w,
                s,
                center,
                floats,
                ints,
                hist,
                counts,
                occupied,
                summary,
                local,
                tallies,
                vectors,
                medians,
            )
        if groups == 0 or (groups == 1 and mn == 0):
            bury(column, lo, hi)
            continue
        total = centred_sum(column, limits.criterion, groups, ms, s, floats, vectors)
        decrease, credit = INVALID, 1.0
        if column.is_category == 0:
            decrease = search_numbers(
                column,
                f,
                wy,
                limits,
                entries,
                slot,
                lo,
                hi,
                groups,
                mn,
                mw,
                ms,
                n,
                w,
                total,
                mass,
                center,
                floor,
                tolerance,
                floats,
                ints,
                vectors,
                medians,
                values,
                threshold,
            )
        elif levels is not None:
            if values is None:  # levels that were tossed were not chosen
                credit = credit_of_levels(
                    limits.criterion, groups, mn, mw, ms, n, w, total, mass, floats, vectors, medians, levels
                )
                if credit == 0.0:
                    continue
            decrease = search_categories(
                column,
                f,
                codes,
                wy,
                limits,
                entries,
                slot,
                lo,
                hi,
                groups,
                mn,
                mw,
                ms,
                n,
                w,
                total,
                mass,
                floor if credit == 1.0 else max(floor, tolerance) / credit,
                tolerance,
                floats,
                ints,
                vectors,
                medians,
                values,
                levels,
                levels.subset[at],
            )
        if decrease > INVALID:
            slot.feature, slot.decrease = f, decrease
            floor = decrease * credit + tolerance
            if decrease * credit >= mass - tolerance:
                break  # both children are pure: nothing can be better
    return slot.feature >= 0
