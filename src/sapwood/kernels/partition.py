"""Partition: the rows of a node move to its children, in every list and stably.

    entries of a list, sides by row          a b c|d e f    left: a c f
    left stays in place, right waits aside   a c f|         moved: b d e
    then follows                             a c f|b d e

The tie bit of an entry says "same value as the entry before". An entry opens a group in its child if it is the first
of its group to arrive there, so each side remembers whether a group has been opened since the last change of value.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part
from sapwood.kernels.groups import MISSING, VALUE

ZERO = np.uint32(0)


@lean_kernel
def partition_list(entries, first, last, side, moved):
    """Move the entries of rows with side 1 to the front, both parts in order; OUT entries; returns the cut."""
    left, right = first, 0
    fresh_left, fresh_right = ONE, ONE  # 1 until the current group has an entry on that side
    for i in range(first, last):
        entry = entries[i]
        opens = (entry & ONE) ^ ONE
        fresh_left |= opens
        fresh_right |= opens
        goes_left = np.uint32(side[entry >> ONE])
        row = entry & ~ONE
        entries[left] = row | (fresh_left ^ ONE)
        moved[right] = row | (fresh_right ^ ONE)
        left += np.int64(goes_left)
        right += np.int64(goes_left ^ ONE)
        fresh_left &= goes_left ^ ONE
        fresh_right &= goes_left
    for i in range(right):
        entries[left + i] = moved[i]
    return left


@part
def place(entry, goes_left, left, right, entries, moved):
    """Write an entry to both sides, and let the one it belongs to keep it; OUT entries, moved."""
    entries[left] = entry
    moved[right] = entry
    return left + np.int64(goes_left), right + np.int64(not goes_left)


@part
def append_moved(entries, left, right, moved):
    """The right side follows the left one; OUT entries."""
    for i in range(right):
        entries[left + i] = moved[i]


@lean_kernel
def split_valued(values, entries, first, last, threshold, missing_left, moved):
    """Move the rows of a node when values up to a threshold go left; OUT entries; returns the cut."""
    left, right = first, np.int64(0)
    for i in range(first, last):
        x = values[entries[i] >> ONE]
        goes_left = (x <= threshold) | ((x != x) & (missing_left != 0))  # noqa: PLR0124 - NaN
        left, right = place(entries[i], goes_left, left, right, entries, moved)
    append_moved(entries, left, right, moved)
    return left


@lean_kernel
def split_coded(codes, entries, first, last, top_left, missing_left, moved):
    """Move the rows of a node when codes up to top_left go left; OUT entries; returns the cut."""
    left, right = first, np.int64(0)
    for i in range(first, last):
        c = np.int64(codes[entries[i] >> ONE])
        goes_left = (c <= top_left) & ((c > 0) | (missing_left != 0))
        left, right = place(entries[i], goes_left, left, right, entries, moved)
    append_moved(entries, left, right, moved)
    return left


@lean_kernel
def select_list(entries, first, last, inside, out):
    """Copy the entries of the rows inside a sample, in order; OUT out; returns how many."""
    n, fresh = 0, ONE
    for i in range(first, last):
        entry = entries[i]
        fresh |= (entry & ONE) ^ ONE
        out[n] = (entry & ~ONE) | (fresh ^ ONE)
        taken = np.uint32(inside[entry >> ONE])
        n += np.int64(taken)
        fresh &= taken ^ ONE
    return n


@lean_kernel
def mark_list(entries, first, last, value, side):
    """Give the rows of a stretch of a list a side; OUT side."""
    for i in range(first, last):
        side[entries[i] >> ONE] = value


@lean_kernel
def mark_sorted(column, entries, lo, hi, n_left, missing_left, side):
    """Sides of the rows when the first n_left present rows of a sorted column go left; OUT side."""
    below, above, missing = column.below, column.above, column.missing
    n_below = hi[below] - lo[below]
    n_implicit = hi[0] - lo[0] - n_below - (hi[above] - lo[above]) - (hi[missing] - lo[missing])
    if column.implicit == VALUE and n_implicit > 0:
        mark_list(entries, lo[0], hi[0], np.int64(n_left > n_below), side)
    elif column.implicit == MISSING:
        mark_list(entries, lo[0], hi[0], missing_left, side)
    cut_below = lo[below] + min(n_left, n_below)
    cut_above = lo[above] + max(np.int64(0), n_left - n_below - n_implicit)
    mark_list(entries, lo[below], cut_below, np.int64(1), side)
    mark_list(entries, cut_below, hi[below], np.int64(0), side)
    mark_list(entries, lo[above], cut_above, np.int64(1), side)
    mark_list(entries, cut_above, hi[above], np.int64(0), side)
    mark_list(entries, lo[missing], hi[missing], missing_left, side)


@lean_kernel
def mark_coded(codes, entries, first, last, top_left, missing_left, side):
    """Sides of the rows when codes up to top_left go left; OUT side."""
    for i in range(first, last):
        r = entries[i] >> ONE
        c = np.int64(codes[r])
        side[r] = missing_left if c == 0 else c <= top_left


@lean_kernel
def mark_valued(values, entries, first, last, threshold, missing_left, side):
    """Sides of the rows when values up to a threshold go left; OUT side."""
    for i in range(first, last):
        r = entries[i] >> ONE
        x = values[r]
        side[r] = missing_left if x != x else x <= threshold  # noqa: PLR0124 - NaN


@lean_kernel
def mark_subset(codes, entries, first, last, subset, missing_left, side):
    """Sides of the rows when the levels in `subset` go left (code c is level c - 1); OUT side."""
    for i in range(first, last):
        r = entries[i] >> ONE
        c = np.int64(codes[r])
        if c == 0:
            side[r] = missing_left
        else:
            side[r] = (subset[(c - 1) >> 5] >> np.uint32((c - 1) & 31)) & ONE
