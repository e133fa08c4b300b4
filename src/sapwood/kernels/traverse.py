"""Traversal: from rows to leaves.

A crowd of rows descends side by side, level by level, so that the memory latency of one row hides behind the others: a
row asks for its next step, and looks at it when all others have made theirs. A crowd is `row << 32 | step`.
Rows that arrive leave the crowd; this and the choice of a side take no branch, so there is nothing to mispredict.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel, part, prefetch

SIDE_BY_SIDE = np.uint64(8)  # trees that one row descends together
CROWD = 512  # rows that descend together
HALF = np.uint64(32)


def step_dtype(real: type[np.floating]) -> np.dtype[np.void]:
    """What a row needs at an inner node: 16 bytes for float32, so that four share a cache line."""
    fields = [("threshold", real), ("test", np.uint32), ("left", np.int32), ("right", np.int32)]
    return np.dtype(fields, align=True)


STEPS = {np.dtype(real): step_dtype(real) for real in (np.float32, np.float64)}
"""Layout by the type of the cells. `test` is `feature << 1 | missing_left`; `left` and `right` are steps, or ~leaf."""


class Levels(NamedTuple):
    """What trees that split categories need beyond the steps."""

    start: Any  # for each step, its first word in `subsets`, or -1 for a threshold
    subsets: Any
    n_levels: Any  # for each column
    node: Any  # node of each step


@part
def _goes_left(step, x):
    """Whether a number is at most the threshold; a missing one goes where the step says."""
    return (x <= step.threshold) | ((x != x) & ((step.test & ONE) != 0))  # noqa: PLR0124 - NaN


@part
def _next_by_level(steps, levels, at, x, stop_at_unseen):
    """Where a row goes from a step that may split categories: cells are level numbers, all others are unseen levels."""
    step = steps[at]
    start = levels.start[at]
    left = _goes_left(step, x)
    if start >= 0:
        if x >= 0.0 and x < levels.n_levels[step.test >> ONE]:
            level = np.uint32(x)
            word = levels.subsets[np.uint32(start) + (level >> np.uint32(5))]
            left = (word >> (level & np.uint32(31))) & ONE != 0
        elif x == x:  # noqa: PLR0124 - not NaN
            left = step.test & ONE != 0
            if stop_at_unseen:
                return ~levels.node[at]
    return step.left if left else step.right


@part
def descend(steps, levels, X, first, begin, size, stop_at_unseen, crowd, at):
    """Send rows `first` to `first + size` of X down from the steps in `at[begin:]`; OUT at: ~leaf of each."""
    under_way = np.uint32(0)
    for k in range(size):
        crowd[under_way] = (np.uint64(k) << HALF) | np.uint64(np.uint32(at[begin + k]))
        under_way += np.uint32(at[begin + k] >= 0)
    size = under_way
    while size > 0:
        remaining = np.uint32(0)
        for k in range(size):
            both = crowd[k]
            row, here = both >> HALF, np.uint32(both)
            step = steps[here]
            x = X[first + row, step.test >> ONE]
            if levels is None:
                ahead = step.left if _goes_left(step, x) else step.right
            else:
                ahead = _next_by_level(steps, levels, here, x, stop_at_unseen)
            at[begin + row] = ahead
            prefetch(steps, np.uint64(max(ahead, 0)))
            crowd[remaining] = (row << HALF) | np.uint64(np.uint32(ahead))
            remaining += np.uint32(ahead >= 0)
        size = remaining


@kernel
def find_leaves(steps, levels, X, stop_at_unseen, out):
    """Leaf of every row of X; OUT out.

    `levels` is None for trees that split numbers only. An unseen level goes where missing values go, or the row stops
    at the node if `stop_at_unseen`.
    """
    n_rows = np.uint32(X.shape[0])
    crowd, at = np.empty(CROWD, np.uint64), np.empty(CROWD, np.int32)
    first = np.uint32(0)
    while first < n_rows:
        size = min(np.uint32(CROWD), n_rows - first)
        for k in range(size):
            at[k] = 0
        descend(steps, levels, X, first, np.uint32(0), size, stop_at_unseen, crowd, at)
        for k in range(size):
            out[first + k] = ~at[k]
        first += np.uint32(CROWD)


@kernel
def add_leaf_values(steps, levels, roots, leaf_values, width, column, X, stop_at_unseen, out, start):
    """Values of the leaves of trees; OUT out (columns, rows), from row `start` on: what is there, plus all trees.

    Rows pass a tree crowd by crowd while its steps are in the cache; leaf i has `width` values from `i * width` on.
    """
    n_rows, width, start = np.uint32(X.shape[0]), np.uint64(width), np.uint64(start)
    crowd, at = np.empty(CROWD, np.uint64), np.empty(CROWD, np.int32)
    for t in range(len(roots)):
        first = np.uint32(0)
        while first < n_rows:
            size = min(np.uint32(CROWD), n_rows - first)
            for k in range(size):
                at[k] = roots[t]
            descend(steps, levels, X, first, np.uint32(0), size, stop_at_unseen, crowd, at)
            for c in range(width):
                line = out[np.uint64(column[t]) + c]
                for k in range(size):
                    line[start + first + k] += leaf_values[np.uint64(~at[k]) * width + c]
            first += np.uint32(CROWD)


@kernel
def score_row(steps, levels, roots, leaf_values, width, column, x, stop_at_unseen, out):
    """Values of the leaves of one row; OUT out (columns): what is there, plus all trees.

    Eight trees are descended side by side, so that none waits for the memory of the others.
    """
    at = np.empty(SIDE_BY_SIDE, np.int32)
    width, n_trees = np.uint64(width), np.uint64(len(roots))
    for first in range(np.uint64(0), n_trees, SIDE_BY_SIDE):
        size = min(SIDE_BY_SIDE, n_trees - first)
        under_way = False
        for k in range(size):
            at[k] = roots[first + k]
            under_way |= at[k] >= 0
        while under_way:
            under_way = False
            for k in range(size):
                if at[k] >= 0:
                    here = np.uint32(at[k])
                    step = steps[here]
                    cell = x[step.test >> ONE]
                    if levels is None:
                        at[k] = step.left if _goes_left(step, cell) else step.right
                    else:
                        at[k] = _next_by_level(steps, levels, here, cell, stop_at_unseen)
                    under_way |= at[k] >= 0
        for k in range(size):
            for c in range(width):
                out[np.uint64(column[first + k]) + c] += leaf_values[np.uint64(~at[k]) * width + c]
