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
from sapwood.kernels.tree_frame import MISSING, VALUE

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
    return left + np.uint64(goes_left), right + np.uint64(not goes_left)


@part
def append_moved(entries, left, right, moved):
    """The right side follows the left one; OUT entries."""
    for i in range(right):
        entries[left + i] = moved[i]


@lean_kernel
def split_valued(values, entries, first, last, threshold, missing_left, moved):
    """Move the rows of a node when values up to a threshold go left; OUT entries; returns the cut."""
    left, right = np.uint64(first), np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        x = values[entries[i] >> ONE]
        goes_left = (x <= threshold) | ((x != x) & (missing_left != 0))  # noqa: PLR0124 - NaN
        left, right = place(entries[i], goes_left, left, right, entries, moved)
    append_moved(entries, left, right, moved)
    return np.int64(left)


@lean_kernel
def split_coded(codes, entries, first, last, top_left, missing_left, moved):
    """Move the rows of a node when codes up to top_left go left; OUT entries; returns the cut."""
    left, right = np.uint64(first), np.uint64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        c = np.int64(codes[entries[i] >> ONE])
        goes_left = (c <= top_left) & ((c > 0) | (missing_left != 0))
        left, right = place(entries[i], goes_left, left, right, entries, moved)
    append_moved(entries, left, right, moved)
    return np.int64(left)


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
def mark_sorted(frame, column, n_left, missing_left, at):
    """Sides of the rows when the first n_left present rows of a sorted column go left; OUT side."""
    entries, side, lo, hi = frame.entries, frame.side, frame.lo[at], frame.hi[at]
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


@lean_kernel
def mark_sides(frame, codes, values, subsets, at):
    """Give every row of the node in a slot its side under its split; OUT side."""
    slot, entries, side, first, last = frame.slots[at], frame.entries, frame.side, frame.lo[at, 0], frame.hi[at, 0]
    column, missing_left = frame.columns[slot.feature], slot.missing_left
    if values is not None and column.is_valued != 0:
        mark_valued(values.of_row[slot.feature], entries, first, last, slot.threshold, missing_left, side)
    elif column.code_row < 0:
        mark_sorted(frame, column, slot.n_left, missing_left, at)
    elif column.is_category == 0:
        mark_coded(codes[column.code_row], entries, first, last, slot.at_left, missing_left, side)
    elif subsets is not None:
        mark_subset(codes[column.code_row], entries, first, last, subsets[at], missing_left, side)


@lean_kernel
def split_rows(frame, codes, values, subsets, at):
    """Move the rows of a node whose columns have no lists that would have to follow; OUT entries; returns the cut."""
    slot, entries, moved, first, last = frame.slots[at], frame.entries, frame.moved, frame.lo[at, 0], frame.hi[at, 0]
    column, missing_left = frame.columns[slot.feature], slot.missing_left
    if values is not None and column.is_valued != 0:
        return split_valued(values.of_row[slot.feature], entries, first, last, slot.threshold, missing_left, moved)
    if column.is_category == 0:
        return split_coded(codes[column.code_row], entries, first, last, slot.at_left, missing_left, moved)
    mark_sides(frame, codes, values, subsets, at)
    return partition_list(entries, first, last, frame.side, moved)


@lean_kernel
def split_lists(frame, first, last, at):
    """Partition lists first…last-1 of a node between its children's slots; OUT entries, lo, hi."""
    entries, side, moved, lo, hi = frame.entries, frame.side, frame.moved, frame.lo, frame.hi
    left, right = frame.children[0], frame.children[1]
    for member in range(first, last):
        start, end = lo[at, member], hi[at, member]
        cut = partition_list(entries, start, end, side, moved) if end > start else start
        lo[left, member], hi[left, member] = start, cut
        lo[right, member], hi[right, member] = cut, end


@lean_kernel
def move_rows(frame, codes, values, subsets, at):
    """Move the rows of the node in a slot to its children's slots, in the lists that follow every split; OUT frame."""
    lo, hi, left, right = frame.lo, frame.hi, frame.children[0], frame.children[1]
    if frame.n_lists == 1:
        cut = split_rows(frame, codes, values, subsets, at)
        lo[left, 0], hi[left, 0], lo[right, 0], hi[right, 0] = lo[at, 0], cut, cut, hi[at, 0]
    else:
        mark_sides(frame, codes, values, subsets, at)
        split_lists(frame, np.int64(0), frame.n_always, at)
