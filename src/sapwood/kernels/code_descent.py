"""Scores of a block of rows by large trees: descent on codes of two bytes.

Cells become codes first: how many thresholds of the model lie below them. The nodes of all trees, leaves among them,
are entries of eight bytes, both children of a node side by side, so a step to a child is one comparison and one
addition, without a branch. A leaf is its own child, so rows take their first steps all together, whether or not some
arrive early; in the end, rows that are still under way go on alone.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part, prefetch
from sapwood.kernels.bottom_up import GROUP, ONE, ZERO, count_cuts

ENTRY = np.dtype(
    [
        ("code", np.uint16),  # codes above go to the second child
        ("place", np.uint16),  # of the code in a row
        ("child", np.uint32),  # the first one; a leaf's is the leaf itself
    ]
)
LEAF_CODE = np.uint16(65535)  # no code is above it
BATCH = np.uint64(128)  # rows that descend together: their codes stay in the nearest cache
FIRST = 4  # steps of a row one after the other: to nodes that all rows pass, which are in the nearest cache
HALF = np.uint64(32)


class Entries(NamedTuple):
    """All trees: their entries, and where the values of leaves are."""

    entries: np.ndarray
    roots: np.ndarray  # of each tree
    n_steps: np.ndarray  # that the rows of each tree take together
    column: np.ndarray  # of the scores, for each tree
    leaf: np.ndarray  # number of each entry that is a leaf
    leaf_values: np.ndarray  # leaf by leaf
    width: np.uint64


class Scratch(NamedTuple):
    """Memory for some groups of 64 rows."""

    codes: np.ndarray  # (rows, places), flat
    cells: np.ndarray  # 64
    counts: np.ndarray  # 64
    at: np.ndarray  # for each row, an entry
    under_way: np.ndarray  # row << 32 | entry
    n_rows: np.uint64
    n_places: np.uint64  # of a row, those that only fill up a cache line included


@lean_kernel
def _code_column(X, first, row, column, coding, scratch):
    """Codes of 64 cells at all places of a column, the last row again where there are no more; OUT scratch.codes."""
    cells, counts, codes, width = scratch.cells, scratch.counts, scratch.codes, scratch.n_places
    last = np.uint64(X.shape[0]) - ONE
    for lane in range(GROUP):
        cells[lane] = X[min(first + row + lane, last), column.feature]
    count_cuts(cells, coding.cuts, column.first, column.depth, counts)
    for p in range(column.first_place, column.first_place + column.n_places):
        below, missing = np.int32(coding.places[p].below), np.int32(coding.places[p].missing)
        for lane in range(GROUP):
            x, code = cells[lane], min(max(np.int32(counts[lane]) - below, np.int32(0)), np.int32(LEAF_CODE))
            codes[(row + lane) * width + p] = np.uint16(missing if x != x else code)  # noqa: PLR0124 - NaN


@part
def _ahead(entries, here, codes, own):
    """The child of an entry that a row goes to, whose codes begin at `own`."""
    entry = entries[here]
    return np.uint32(entry.child + np.uint32(codes[own + np.uint64(entry.place)] > entry.code))


@inner_kernel
def _find_leaves(trees, t, scratch, some):
    """Entries of the leaves of some rows; OUT scratch.at."""
    entries, root, n_steps = trees.entries, trees.roots[t], trees.n_steps[t]
    codes, width, at, under_way = scratch.codes, scratch.n_places, scratch.at, scratch.under_way
    n_left = ZERO
    for begin in range(ZERO, some, BATCH):
        end = min(begin + BATCH, some)
        for row in range(begin, end):
            here = root
            for _ in range(FIRST):
                here = _ahead(entries, here, codes, row * width)
            at[row] = here
            prefetch(entries, np.uint64(here))
        for _ in range(FIRST, n_steps):
            for row in range(begin, end):
                ahead = _ahead(entries, at[row], codes, row * width)
                at[row] = ahead
                prefetch(entries, np.uint64(ahead))
        for row in range(begin, end):
            under_way[n_left] = row << HALF | np.uint64(at[row])
            n_left += np.uint64(entries[at[row]].code != LEAF_CODE)
    while n_left > ZERO:
        remaining = ZERO
        for k in range(n_left):
            row, here = under_way[k] >> HALF, np.uint32(under_way[k])
            ahead = _ahead(entries, here, codes, row * width)
            at[row] = ahead
            prefetch(entries, np.uint64(ahead))
            under_way[remaining] = row << HALF | np.uint64(ahead)
            remaining += np.uint64(ahead != here)
        n_left = remaining


@inner_kernel
def _add_leaf_values(trees, t, at, some, out, start):
    """Values of the leaves of some rows; OUT out, SCRATCH at."""
    leaf_values, width, column = trees.leaf_values, trees.width, np.uint64(trees.column[t])
    for row in range(some):
        at[row] = trees.leaf[at[row]]
        prefetch(leaf_values, np.uint64(at[row]) * width)
    for c in range(width):
        for row in range(some):
            out[column + c, start + row] += leaf_values[np.uint64(at[row]) * width + c]


@lean_kernel
def add_scores_by_codes(X, coding, trees, scratch, n_trees, out, start):
    """Scores of a block of rows; OUT out (columns, rows), from row `start` on: what is there, plus the first trees."""
    n_rows = np.uint64(X.shape[0])
    for first in range(ZERO, n_rows, scratch.n_rows):
        some = min(scratch.n_rows, n_rows - first)
        for c in range(np.uint64(len(coding.columns))):  # whose cuts stay in the cache
            for row in range(ZERO, some, GROUP):
                _code_column(X, first, row, coding.columns[c], coding, scratch)
        for t in range(n_trees):
            _find_leaves(trees, t, scratch, some)
            _add_leaf_values(trees, t, scratch.at, some, out, start + first)
