"""Groups: the rows of a node that share a code of one column, in ascending order, with cumulative statistics.

Both forms of a column end here: sorted lists are walked, codes are counted. Everything after this file sees only
groups. Each function returns (number of groups, missing rows, their weight, their sum) and fills floats[CUM_W],
floats[CUM_S] and ints[CUM_N] (ints[CODE] for coded columns); vectors fill `cum`, and the sums of the missing rows are
in work[MISS]. `center` is subtracted from the targets so that squared errors do not cancel.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, lowest_bit, part
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
LOW_6 = np.uint64(63)
BIT = np.uint64(1)


# One output, two classes or a number: statistics (w, s)


@part
def walk_pairs(entries, first, last, wy, center, n, w, s, g, floats, ints):
    """Continue the cumulative sums along a list; an entry without the tie bit opens a group."""
    for i in range(first, last):
        entry = entries[i]
        r = entry >> ONE
        weight = wy[r, 0]
        n += 1
        w += weight
        s += weight * (wy[r, 1] - center)
        g += 1 - np.int64(entry & ONE)
        ints[CUM_N, g] = n
        floats[CUM_W, g] = w
        floats[CUM_S, g] = s
    return n, w, s, g


@part
def sum_pairs(entries, first, last, wy, center):
    """Weight and sum of a stretch of a list."""
    w, s = 0.0, 0.0
    for i in range(first, last):
        r = entries[i] >> ONE
        w += wy[r, 0]
        s += wy[r, 0] * (wy[r, 1] - center)
    return w, s


@part
def sorted_pairs(column, entries, lo, hi, wy, center, n_node, w_node, s_node, floats, ints):
    """Groups of a sorted column."""
    n, w, s, g = 0, 0.0, 0.0, -1
    mn = hi[column.missing] - lo[column.missing]
    n, w, s, g = walk_pairs(entries, lo[column.below], hi[column.below], wy, center, n, w, s, g, floats, ints)
    mw, ms = sum_pairs(entries, lo[column.missing], hi[column.missing], wy, center)
    if column.implicit == MISSING:
        return g + 1, n_node - n, w_node - w, s_node - s
    at, n_implicit = g + 1, 0
    if column.implicit == VALUE:
        n_implicit = n_node - n - (hi[column.above] - lo[column.above]) - mn
    if n_implicit > 0:  # a group for the implicit rows: what all the lists leave over
        ints[CUM_N, at], floats[CUM_W, at], floats[CUM_S, at] = n, w, s
        g = at
    n, w, s, g = walk_pairs(entries, lo[column.above], hi[column.above], wy, center, n, w, s, g, floats, ints)
    if n_implicit > 0:
        w_rest, s_rest = w_node - w - mw, s_node - s - ms
        for i in range(at, g + 1):
            ints[CUM_N, i] += n_implicit
            floats[CUM_W, i] += w_rest
            floats[CUM_S, i] += s_rest
    return g + 1, mn, mw, ms


@lean_kernel
def coded_pairs(codes, entries, first, last, wy, center, floats, ints, hist, occupied):
    """Groups of a coded column: count, then read off the occupied codes through a bitmap."""
    top = np.uint64(0)
    for i in range(first, last):
        r = entries[i] >> ONE
        c = np.uint64(codes[r])
        weight = wy[r, 0]
        hist[c, HIST_N] += 1.0
        hist[c, HIST_W] += weight
        hist[c, HIST_S] += weight * (wy[r, 1] - center)
        occupied[c >> SIX] |= BIT << (c & LOW_6)
        top = max(top, c >> SIX)
    mn, mw, ms = np.int64(hist[0, HIST_N]), hist[0, HIST_W], hist[0, HIST_S]
    n, w, s, g = 0, 0.0, 0.0, -1
    for word in range(np.int64(top) + 1):
        bits = occupied[word]
        occupied[word] = 0
        while bits != 0:
            c = (np.uint64(word) << SIX) + lowest_bit(bits)
            bits &= bits - BIT
            if c > 0:
                g += 1
                n += np.int64(hist[c, HIST_N])
                w += hist[c, HIST_W]
                s += hist[c, HIST_S]
                ints[CUM_N, g], floats[CUM_W, g], floats[CUM_S, g] = n, w, s
                ints[CODE, g] = c
            hist[c, HIST_N], hist[c, HIST_W], hist[c, HIST_S] = 0.0, 0.0, 0.0
    return g + 1, mn, mw, ms


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
def walk_vectors(entries, first, last, wy, criterion, n, w, g, floats, ints, vectors):
    """Continue the cumulative vectors (the last one is work[LEFT]) along a list."""
    running = vectors.work[LEFT]
    for i in range(first, last):
        entry = entries[i]
        r = entry >> ONE
        n += 1
        w += wy[r, 0]
        add_row(wy, r, criterion, vectors, running)
        g += 1 - np.int64(entry & ONE)
        ints[CUM_N, g] = n
        floats[CUM_W, g] = w
        for d in range(len(running)):
            vectors.cum[g, d] = running[d]
    return n, w, g


@lean_kernel
def sorted_vectors(column, entries, lo, hi, wy, criterion, n_node, w_node, floats, ints, vectors):
    """Groups of a sorted column."""
    work, cum = vectors.work, vectors.cum
    for d in range(work.shape[1]):
        work[LEFT, d] = 0.0
        work[MISS, d] = 0.0
    n, w, g, mn, mw = 0, 0.0, -1, hi[column.missing] - lo[column.missing], 0.0
    n, w, g = walk_vectors(entries, lo[column.below], hi[column.below], wy, criterion, n, w, g, floats, ints, vectors)
    for i in range(lo[column.missing], hi[column.missing]):
        r = entries[i] >> ONE
        mw += wy[r, 0]
        add_row(wy, r, criterion, vectors, work[MISS])
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
    n, w, g = walk_vectors(entries, lo[column.above], hi[column.above], wy, criterion, n, w, g, floats, ints, vectors)
    if n_implicit > 0:
        for i in range(at, g + 1):
            ints[CUM_N, i] += n_implicit
            floats[CUM_W, i] += w_node - w - mw
            for d in range(work.shape[1]):
                cum[i, d] += work[NODE_SUMS, d] - work[LEFT, d] - work[MISS, d]
    return g + 1, mn, mw


@lean_kernel
def coded_vectors(codes, entries, first, last, wy, criterion, floats, ints, hist, occupied, vectors):
    """Groups of a coded column."""
    top = np.uint64(0)
    for i in range(first, last):
        r = entries[i] >> ONE
        c = np.uint64(codes[r])
        hist[c, HIST_N] += 1.0
        hist[c, HIST_W] += wy[r, 0]
        add_row(wy, r, criterion, vectors, hist[c, HIST_S:])
        occupied[c >> SIX] |= BIT << (c & LOW_6)
        top = max(top, c >> SIX)
    mn, mw = np.int64(hist[0, HIST_N]), hist[0, HIST_W]
    work = vectors.work
    for d in range(work.shape[1]):
        work[LEFT, d] = 0.0
        work[MISS, d] = hist[0, HIST_S + d]
    n, w, g = 0, 0.0, -1
    for word in range(np.int64(top) + 1):
        bits = occupied[word]
        occupied[word] = 0
        while bits != 0:
            c = (np.uint64(word) << SIX) + lowest_bit(bits)
            bits &= bits - BIT
            if c > 0:
                g += 1
                n += np.int64(hist[c, HIST_N])
                w += hist[c, HIST_W]
                ints[CUM_N, g], floats[CUM_W, g], ints[CODE, g] = n, w, c
                for d in range(work.shape[1]):
                    work[LEFT, d] += hist[c, HIST_S + d]
                    vectors.cum[g, d] = work[LEFT, d]
            for d in range(hist.shape[1]):
                hist[c, d] = 0.0
    return g + 1, mn, mw


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
