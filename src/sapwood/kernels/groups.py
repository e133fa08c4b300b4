"""Groups: the rows of a node that share a code of one column, in ascending order, with cumulative statistics.

Both forms of a column end here: sorted lists are walked, codes are counted. Everything after this file sees only
groups. Each function returns (number of groups, missing rows, their weight, their sum) and fills floats[CUM_W],
floats[CUM_S] and ints[CUM_N] (ints[CODE] for coded columns); vectors fill `cum`, and the sums of the missing rows are
in work[MISS]. `center` is subtracted from the targets so that squared errors do not cancel.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lane_kernel, lean_kernel, lowest_bit, part
from sapwood.kernels.criteria import ERROR
from sapwood.kernels.records import (
    CENTER,
    CODE,
    CUM_N,
    CUM_S,
    CUM_W,
    HIST_N,
    HIST_S,
    HIST_W,
    LEFT,
    MISS,
    NODE_SUMS,
)

NOTHING, VALUE, MISSING = 0, 1, 2  # what the rows that stand in none of a column's lists hold
SIX = np.uint64(6)
TWELVE = np.uint64(12)
LOW_6 = np.uint64(63)
BIT = np.uint64(1)
EIGHT = np.uint64(8)
CLASS = np.uint64(255)
HALF = np.uint64(32)
ROW = np.uint64(1 << 32)
LOW_HALF = np.uint64(0xFFFFFFFF)


# One output, two classes or a number: statistics (w, s)


@part
def pair_of(wy, tally, center, r):
    """Weight and centred sum of a row."""
    if tally is None:
        return wy[r, 0], wy[r, 0] * (wy[r, 1] - center)
    own = tally[r]
    weight = np.float64(own >> np.uint32(8))
    return weight, weight * np.float64(own & ONE)


@part
def walk_pairs(entries, first, last, wy, tally, center, n, w, s, g, floats, ints):
    """Continue the cumulative sums along a list; an entry without the tie bit opens a group."""
    for i in range(first, last):
        entry = entries[i]
        weight, share = pair_of(wy, tally, center, entry >> ONE)
        n += 1
        w += weight
        s += share
        g += 1 - np.int64(entry & ONE)
        ints[CUM_N, g] = n
        floats[CUM_W, g] = w
        floats[CUM_S, g] = s
    return n, w, s, g


@part
def sum_pairs(entries, first, last, wy, tally, center):
    """Weight and sum of a stretch of a list."""
    w, s = 0.0, 0.0
    for i in range(first, last):
        weight, share = pair_of(wy, tally, center, entries[i] >> ONE)
        w += weight
        s += share
    return w, s


@part
def sorted_pairs(column, entries, lo, hi, wy, tally, center, n_node, w_node, s_node, floats, ints):
    """Groups of a sorted column."""
    n, w, s, g = 0, 0.0, 0.0, -1
    mn = hi[column.missing] - lo[column.missing]
    n, w, s, g = walk_pairs(entries, lo[column.below], hi[column.below], wy, tally, center, n, w, s, g, floats, ints)
    mw, ms = sum_pairs(entries, lo[column.missing], hi[column.missing], wy, tally, center)
    if column.implicit == MISSING:
        return g + 1, n_node - n, w_node - w, s_node - s
    at, n_implicit = g + 1, 0
    if column.implicit == VALUE:
        n_implicit = n_node - n - (hi[column.above] - lo[column.above]) - mn
    if n_implicit > 0:  # a group for the implicit rows: what all the lists leave over
        ints[CUM_N, at], floats[CUM_W, at], floats[CUM_S, at] = n, w, s
        g = at
    n, w, s, g = walk_pairs(entries, lo[column.above], hi[column.above], wy, tally, center, n, w, s, g, floats, ints)
    if n_implicit > 0:
        w_rest, s_rest = w_node - w - mw, s_node - s - ms
        for i in range(at, g + 1):
            ints[CUM_N, i] += n_implicit
            floats[CUM_W, i] += w_rest
            floats[CUM_S, i] += s_rest
    return g + 1, mn, mw, ms


@part
def note_code(c, top, occupied, summary):
    """Note in a bitmap that a code occurs; OUT occupied, summary; returns the last word of the upper level.

    A column of many codes has a bitmap of two levels: a bit of the summary for each word of `occupied` that is not 0.
    """
    occupied[c >> SIX] |= BIT << (c & LOW_6)
    if summary is None:
        return max(top, c >> SIX)
    summary[c >> TWELVE] |= BIT << ((c >> SIX) & LOW_6)
    return max(top, c >> TWELVE)


@part
def list_word(word, g, occupied, ints):
    """Append the codes of a word of the bitmap, code 0 aside; OUT ints[CODE], occupied becomes zero."""
    bits = occupied[word]
    occupied[word] = 0
    while bits != 0:
        c = (word << SIX) + lowest_bit(bits)
        bits &= bits - BIT
        ints[CODE, g] = c
        g += np.int64(c > 0)
    return g


@lean_kernel
def list_codes(top, occupied, summary, ints):
    """Codes that occur, ascending, without code 0; OUT ints[CODE]; the bitmap becomes zero; returns how many."""
    g = np.int64(0)
    for upper in range(top + BIT):
        if summary is None:
            g = list_word(upper, g, occupied, ints)
        else:
            words = summary[upper]
            summary[upper] = 0
            while words != 0:
                word = (upper << SIX) + lowest_bit(words)
                words &= words - BIT
                g = list_word(word, g, occupied, ints)
    return g


@lean_kernel
def fill_local(wy, entries, first, last, center, local):
    """Weight and centred sum of the rows of a node, side by side in the order of its list; OUT local.

    All coded columns of the node read them from here: a row's own would be fetched anew for each column.
    """
    for i in range(first, last):
        r = entries[i] >> ONE
        local[i - first, 0] = wy[r, 0]
        local[i - first, 1] = wy[r, 0] * (wy[r, 1] - center)


@lean_kernel
def fill_tallies(tally, entries, first, last, tallies):
    """The same for tallies; OUT tallies."""
    for i in range(first, last):
        tallies[i - first] = tally[entries[i] >> ONE]


@lean_kernel
def coded_pairs(codes, entries, first, last, local, floats, ints, hist, occupied, summary):
    """Groups of a coded column: count, then read off the codes that occur."""
    top = np.uint64(0)
    for i in range(first, last):
        c = np.uint64(codes[entries[i] >> ONE])
        hist[c, HIST_N] += 1.0
        hist[c, HIST_W] += local[i - first, 0]
        hist[c, HIST_S] += local[i - first, 1]
        top = note_code(c, top, occupied, summary)
    mn, mw, ms = np.int64(hist[0, HIST_N]), hist[0, HIST_W], hist[0, HIST_S]
    hist[0, HIST_N], hist[0, HIST_W], hist[0, HIST_S] = 0.0, 0.0, 0.0
    groups = list_codes(top, occupied, summary, ints)
    n, w, s = 0, 0.0, 0.0
    for g in range(groups):
        c = ints[CODE, g]
        n += np.int64(hist[c, HIST_N])
        w += hist[c, HIST_W]
        s += hist[c, HIST_S]
        ints[CUM_N, g], floats[CUM_W, g], floats[CUM_S, g] = n, w, s
        hist[c, HIST_N], hist[c, HIST_W], hist[c, HIST_S] = 0.0, 0.0, 0.0
    return groups, mn, mw, ms


# One output of classes, whose weights are whole numbers: a tally is weight << 8 | class, and sums are exact


@lean_kernel
def count_tallies(codes, entries, first, last, tallies, n_classes, counts, occupied, summary):
    """Add rows << 32 | weight for each code and class; OUT counts; returns the last word of the bitmap."""
    top, width = np.uint64(0), np.uint64(n_classes)
    for i in range(first, last):
        c = np.uint64(codes[entries[i] >> ONE])
        own = np.uint64(tallies[i - first])
        counts[c * width + (own & CLASS)] += ROW | (own >> EIGHT)
        top = note_code(c, top, occupied, summary)
    return top


@part
def take_tally(counts, place):
    """Rows and weight at a place of the countsogram, which becomes zero."""
    own = counts[place]
    counts[place] = 0
    return np.int64(own >> HALF), np.int64(own & LOW_HALF)


@lean_kernel
def tallied_pairs(codes, entries, first, last, tallies, floats, ints, counts, occupied, summary):
    """Groups of a coded column, for two classes."""
    top = count_tallies(codes, entries, first, last, tallies, 2, counts, occupied, summary)
    (zeros, zero_weight), (mn, ms) = take_tally(counts, 0), take_tally(counts, 1)
    groups = list_codes(top, occupied, summary, ints)
    n, w, s = np.int64(0), np.int64(0), np.int64(0)
    for g in range(groups):
        c = ints[CODE, g]
        n_0, w_0 = take_tally(counts, 2 * c)
        n_1, w_1 = take_tally(counts, 2 * c + 1)
        n += n_0 + n_1
        w += w_0 + w_1
        s += w_1
        ints[CUM_N, g], floats[CUM_W, g], floats[CUM_S, g] = n, w, s
    return groups, zeros + mn, np.float64(zero_weight + ms), np.float64(ms)


@lean_kernel
def tallied_vectors(codes, entries, first, last, tallies, floats, ints, counts, occupied, summary, vectors):
    """Groups of a coded column, for more than two classes."""
    work = vectors.work
    n_classes = work.shape[1]
    top = count_tallies(codes, entries, first, last, tallies, n_classes, counts, occupied, summary)
    mn, mw = np.int64(0), np.int64(0)
    for d in range(n_classes):
        n_d, w_d = take_tally(counts, d)
        mn += n_d
        mw += w_d
        work[LEFT, d], work[MISS, d] = 0.0, w_d
    groups = list_codes(top, occupied, summary, ints)
    n, w = np.int64(0), np.int64(0)
    for g in range(groups):
        start = ints[CODE, g] * n_classes
        for d in range(n_classes):
            n_d, w_d = take_tally(counts, start + d)
            n += n_d
            w += w_d
            work[LEFT, d] += w_d
            vectors.cum[g, d] = work[LEFT, d]
        ints[CUM_N, g], floats[CUM_W, g] = n, w
    return groups, mn, np.float64(mw)


# Several outputs or more than two classes: statistics are vectors


@part
def add_row(wy, r, criterion, vectors, sums):
    """Add a row's statistics to sums: its weight to its class, or its weighted target."""
    weight = wy[r, 0]
    for o in range(wy.shape[1] - 1):
        if criterion <= ERROR:
            sums[vectors.output_start[o] + np.int64(wy[r, 1 + o])] += weight
        else:
            sums[o] += weight * (wy[r, 1 + o] - vectors.work[CENTER, o])


@part
def weigh_row(wy, tally, r, criterion, vectors, sums):
    """Weight of a row, which is added to sums."""
    if tally is None:
        add_row(wy, r, criterion, vectors, sums)
        return wy[r, 0]
    weight = np.float64(tally[r] >> np.uint32(8))
    sums[tally[r] & np.uint32(255)] += weight
    return weight


@part
def note_group(g, n, w, floats, ints, vectors):
    """Write the sums so far for a group that ends; OUT floats, ints, vectors.cum."""
    ints[CUM_N, g], floats[CUM_W, g] = n, w
    for d in range(vectors.work.shape[1]):
        vectors.cum[g, d] = vectors.work[LEFT, d]


@part
def walk_vectors(entries, first, last, wy, tally, criterion, n, w, g, floats, ints, vectors):
    """Continue the cumulative vectors (the last one is work[LEFT]) along a list."""
    for i in range(first, last):
        entry = entries[i]
        if entry & ONE == 0:
            if i > first:
                note_group(g, n, w, floats, ints, vectors)
            g += 1
        n += 1
        w += weigh_row(wy, tally, entry >> ONE, criterion, vectors, vectors.work[LEFT])
    if last > first:
        note_group(g, n, w, floats, ints, vectors)
    return n, w, g


@lean_kernel
def sorted_vectors(column, entries, lo, hi, wy, tally, criterion, n_node, w_node, floats, ints, vectors):
    """Groups of a sorted column."""
    work, cum = vectors.work, vectors.cum
    for d in range(work.shape[1]):
        work[LEFT, d] = 0.0
        work[MISS, d] = 0.0
    n, w, g, mn, mw = 0, 0.0, -1, hi[column.missing] - lo[column.missing], 0.0
    n, w, g = walk_vectors(
        entries, lo[column.below], hi[column.below], wy, tally, criterion, n, w, g, floats, ints, vectors
    )
    for i in range(lo[column.missing], hi[column.missing]):
        mw += weigh_row(wy, tally, entries[i] >> ONE, criterion, vectors, work[MISS])
    if column.implicit == MISSING:
        for d in range(work.shape[1]):
            work[MISS, d] = work[NODE_SUMS, d] - work[LEFT, d]
        return g + 1, n_node - n, w_node - w
    at, n_implicit = g + 1, 0
    if column.implicit == VALUE:
        n_implicit = n_node - n - (hi[column.above] - lo[column.above]) - mn
    if n_implicit > 0:
        ints[CUM_N, at], floats[CUM_W, at] = n, w
        for d in range(work.shape[1]):
            cum[at, d] = work[LEFT, d]
        g = at
    n, w, g = walk_vectors(
        entries, lo[column.above], hi[column.above], wy, tally, criterion, n, w, g, floats, ints, vectors
    )
    if n_implicit > 0:
        for i in range(at, g + 1):
            ints[CUM_N, i] += n_implicit
            floats[CUM_W, i] += w_node - w - mw
            for d in range(work.shape[1]):
                cum[i, d] += work[NODE_SUMS, d] - work[LEFT, d] - work[MISS, d]
    return g + 1, mn, mw


@lean_kernel
def coded_vectors(codes, entries, first, last, wy, criterion, floats, ints, hist, occupied, summary, vectors):
    """Groups of a coded column."""
    top = np.uint64(0)
    for i in range(first, last):
        r = entries[i] >> ONE
        c = np.uint64(codes[r])
        hist[c, HIST_N] += 1.0
        hist[c, HIST_W] += wy[r, 0]
        add_row(wy, r, criterion, vectors, hist[c, HIST_S:])
        top = note_code(c, top, occupied, summary)
    mn, mw = np.int64(hist[0, HIST_N]), hist[0, HIST_W]
    running = vectors.work[LEFT]
    for d in range(len(running)):
        running[d] = 0.0
        vectors.work[MISS, d] = hist[0, HIST_S + d]
    hist[0, :] = 0.0
    groups = list_codes(top, occupied, summary, ints)
    n, w = 0, 0.0
    for g in range(groups):
        own = hist[ints[CODE, g]]
        n += np.int64(own[HIST_N])
        w += own[HIST_W]
        ints[CUM_N, g], floats[CUM_W, g] = n, w
        for d in range(len(running)):
            running[d] += own[HIST_S + d]
            vectors.cum[g, d] = running[d]
        own[:] = 0.0
    return groups, mn, mw


# A drawn threshold: two groups, up to it and above it


@lane_kernel
def gather_values(column, entries, first, last, own):
    """Values of the rows of a node, none of them missing; OUT own; returns the least and the largest."""
    low = high = column[entries[first] >> ONE]
    for i in range(np.uint64(first), np.uint64(last)):
        x = column[entries[i] >> ONE]
        own[i - np.uint64(first)] = x
        low = min(low, x)
        high = max(high, x)
    return np.float64(low), np.float64(high)


@lean_kernel
def gather_present(column, entries, first, last, own):
    """Values of the rows of a node; OUT own; returns the least and the largest, and how many are missing."""
    low, high, n_missing = np.inf, -np.inf, np.int64(0)
    for i in range(first, last):
        x = column[entries[i] >> ONE]
        own[i - first] = x
        low = np.float64(x) if x < low else low  # never true of a missing value
        high = np.float64(x) if x > high else high
        n_missing += np.int64(x != x)  # noqa: PLR0124 - NaN
    return low, high, n_missing


@lean_kernel
def sum_up_to(own, n_rows, local, threshold):
    """Rows, weight and sum of the values up to a threshold.

    Without a branch, which would be mispredicted every second time, and with two sums of each kind, because an
    addition waits for the one before it.
    """
    n, w, s, w_odd, s_odd = np.int64(0), 0.0, 0.0, 0.0, 0.0
    for half in range(np.uint64(n_rows) >> BIT):
        i = half << BIT
        inside, other = np.int64(own[i] <= threshold), np.int64(own[i | BIT] <= threshold)
        n += inside + other
        w += local[i, 0] * inside
        s += local[i, 1] * inside
        w_odd += local[i | BIT, 0] * other
        s_odd += local[i | BIT, 1] * other
    if n_rows & 1:
        inside = np.int64(own[n_rows - 1] <= threshold)
        n += inside
        w += local[n_rows - 1, 0] * inside
        s += local[n_rows - 1, 1] * inside
    return n, w + w_odd, s + s_odd


@lean_kernel
def tally_up_to(own, n_rows, tallies, threshold):
    """The same from tallies of two classes."""
    n, w, s = np.uint32(0), np.uint32(0), np.uint32(0)
    for i in range(np.uint64(n_rows)):
        inside = np.uint32(own[i] <= threshold)
        weight = (tallies[i] >> np.uint32(8)) * inside
        n += inside
        w += weight
        s += weight * (tallies[i] & ONE)
    return np.int64(n), np.float64(w), np.float64(s)


@part
def left_pairs(own, n_rows, local, tallies, threshold):
    """Rows, weight and sum of the values up to a threshold."""
    if tallies is not None:
        return tally_up_to(own, n_rows, tallies, threshold)
    if local is not None:
        return sum_up_to(own, n_rows, local, threshold)
    return np.int64(0), 0.0, 0.0


@lean_kernel
def drawn_pairs(own, n_rows, local, tallies, threshold, mn, w_node, s_node, floats, ints):
    """Two groups, of the values up to a threshold and of the others; returns weight and sum of missing rows."""
    mw, ms = 0.0, 0.0
    if mn > 0:
        _, w, s = left_pairs(own, n_rows, local, tallies, np.inf)
        mw, ms = w_node - w, s_node - s
    n, w, s = left_pairs(own, n_rows, local, tallies, threshold)
    ints[CUM_N, 0], floats[CUM_W, 0], floats[CUM_S, 0] = n, w, s
    ints[CUM_N, 1], floats[CUM_W, 1], floats[CUM_S, 1] = n_rows - mn, w_node - mw, s_node - ms
    return mw, ms


@lean_kernel
def drawn_vectors(own, entries, first, last, wy, criterion, threshold, mn, floats, ints, vectors):
    """The same with vectors of sums; those of missing rows are in work[MISS]. Returns the weight of missing rows."""
    work, cum = vectors.work, vectors.cum
    for d in range(work.shape[1]):
        work[MISS, d], cum[0, d], cum[1, d] = 0.0, 0.0, 0.0
    mw, n_left, w_left, w_right = 0.0, 0, 0.0, 0.0
    for i in range(first, last):
        r = entries[i] >> ONE
        x, weight = own[i - first], wy[r, 0]
        if x <= threshold:
            n_left += 1
            w_left += weight
            add_row(wy, r, criterion, vectors, cum[0])
        elif x == x:  # noqa: PLR0124 - not NaN
            w_right += weight
            add_row(wy, r, criterion, vectors, cum[1])
        else:
            mw += weight
            add_row(wy, r, criterion, vectors, work[MISS])
    for d in range(work.shape[1]):
        cum[1, d] += cum[0, d]
    ints[CUM_N, 0], floats[CUM_W, 0] = n_left, w_left
    ints[CUM_N, 1], floats[CUM_W, 1] = last - first - mn, w_left + w_right
    return mw


# Absolute error: rows in order, not sums


@lean_kernel
def sorted_rows(column, entries, lo, hi, wy, floats, ints, medians):
    """Rows of a sorted column in order, where each group ends, and missing rows; OUT medians.rows."""
    n, w, g = 0, 0.0, -1
    for i in range(lo[column.below], hi[column.below]):
        r = entries[i] >> ONE
        medians.rows[0, n] = r
        n += 1  # noqa: SIM113 - kernels count in int64
        w += wy[r, 0]
        g += 1 - np.int64(entries[i] & ONE)
        ints[CUM_N, g], floats[CUM_W, g] = n, w
    mn, mw = 0, 0.0
    for i in range(lo[column.missing], hi[column.missing]):
        r = entries[i] >> ONE
        medians.rows[1, mn] = r
        mn += 1
        mw += wy[r, 0]
    return g + 1, mn, mw


@lean_kernel
def coded_rows(codes, n_codes, entries, first, last, wy, floats, ints, hist, medians):
    """The same for a coded column: a counting sort."""
    for i in range(first, last):
        hist[codes[entries[i] >> ONE], HIST_N] += 1.0
    mn, g, n = np.int64(hist[0, HIST_N]), -1, 0
    for c in range(1, n_codes + 1):
        size = np.int64(hist[c, HIST_N])
        if size > 0:
            g += 1
            hist[c, HIST_N] = n  # from here on: where the code's next row goes
            n += size
            ints[CUM_N, g], ints[CODE, g] = n, c
    mw, n_missing = 0.0, 0
    for i in range(first, last):
        r = entries[i] >> ONE
        c = codes[r]
        if c == 0:
            medians.rows[1, n_missing] = r
            n_missing += 1
            mw += wy[r, 0]
        else:
            medians.rows[0, np.int64(hist[c, HIST_N])] = r
            hist[c, HIST_N] += 1.0
    w, start = 0.0, 0
    for i in range(g + 1):
        for j in range(start, ints[CUM_N, i]):
            w += wy[medians.rows[0, j], 0]
        start = ints[CUM_N, i]
        floats[CUM_W, i] = w
    for c in range(n_codes + 1):
        hist[c, HIST_N] = 0.0
    return g + 1, mn, mw
