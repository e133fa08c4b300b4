"""Partition: the rows of a node move to its children, in every list and stably.

    entries of a list, sides by row          a b c|d e f    left: a c f
    left stays in place, right waits aside   a c f|         moved: b d e
    then follows                             a c f|b d e

The tie bit of an entry says "same value as the entry before". An entry opens a group in its child if it is the first
of its group to arrive there, so each side remembers whether a group has been opened since the last change of value.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, lean_kernel, part
from sapwood.kernels.tree_frame import MISSING, VALUE


@inner_kernel
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


@inner_kernel
def mark_list(entries, first, last, value, side):
    """Give the rows of a stretch of a list a side; OUT side."""
    for i in range(first, last):
        side[entries[i] >> ONE] = value


@inner_kernel
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


@part
def goes_left(values, codes, subset, limit, missing_left, row):
    """Whether a row goes left: a value or code up to a limit, or a level of a subset (code c is level c - 1)."""
    if values is not None:
        x = values[row]
        inside, is_missing = x <= limit, x != x  # noqa: PLR0124 - NaN
    if codes is not None:
        c = np.int64(codes[row])
        inside, is_missing = c <= limit, c == 0
        if subset is not None:
            inside = (subset[(c - 1) >> 5] >> np.uint32((c - 1) & 31)) & ONE == ONE
    return missing_left if is_missing else inside


@part
def cut_list(frame, member, cut, at):
    """The children get the parts of a list before and behind a cut; OUT lo, hi."""
    lo, hi, left, right = frame.lo, frame.hi, frame.children[0], frame.children[1]
    lo[left, member], hi[left, member] = lo[at, member], cut
    lo[right, member], hi[right, member] = cut, hi[at, member]


@inner_kernel
def split_rows(frame, values, codes, subset, limit, at):
    """Move the rows of a node in list 0; OUT entries, lo, hi, and side if other lists have to follow.

    Every row is written to both sides, and the one it belongs to keeps it.
    """
    entries, moved, side, is_marked = frame.entries, frame.moved, frame.side, frame.n_lists > 1
    missing_left = frame.slots[at].missing_left != 0
    left, right = np.uint64(frame.lo[at, 0]), np.uint64(0)
    for i in range(left, np.uint64(frame.hi[at, 0])):
        entry = entries[i]
        own = goes_left(values, codes, subset, limit, missing_left, entry >> ONE)
        if is_marked:
            side[entry >> ONE] = own
        entries[left] = entry
        moved[right] = entry
        left += np.uint64(own)
        right += np.uint64(not own)
    for i in range(right):
        entries[left + i] = moved[i]
    cut_list(frame, 0, np.int64(left), at)


@inner_kernel
def split_lists(frame, first, last, at):
    """Partition lists first…last-1 of a node between its children's slots; OUT entries, lo, hi."""
    entries, side, moved, lo, hi = frame.entries, frame.side, frame.moved, frame.lo, frame.hi
    for member in range(first, last):
        start, end = lo[at, member], hi[at, member]
        cut_list(frame, member, partition_list(entries, start, end, side, moved) if end > start else start, at)


@inner_kernel
def move_rows(frame, codes, values, subsets, at):
    """Move the rows of the node in a slot to its children's slots, in the lists that follow every split; OUT frame."""
    slot, column = frame.slots[at], frame.columns[frame.slots[at].feature]
    if values is not None and column.is_valued != 0:
        split_rows(frame, values.of_row[slot.feature], None, None, slot.threshold, at)
    elif column.code_row < 0:
        mark_sorted(frame, column, slot.n_left, slot.missing_left, at)
        split_lists(frame, np.int64(0), np.int64(1), at)
    elif column.is_category == 0:
        split_rows(frame, None, codes[column.code_row], None, slot.at_left, at)
    elif subsets is not None:
        split_rows(frame, None, codes[column.code_row], subsets[at], slot.at_left, at)
    split_lists(frame, np.int64(1), frame.n_always, at)
