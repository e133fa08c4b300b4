"""Traversal: from rows to leaves.

A batch of rows descends side by side, level by level, so that the memory latency of one row hides behind the others: a
row asks for its next step, and looks at it when all others have made theirs. Rows under way are `row << 32 | step`.
Rows that arrive leave the batch; this and the choice of a side take no branch, so there is nothing to mispredict.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel, part, prefetch
from sapwood.kernels.linear_leaves import line_value

SIDE_BY_SIDE = np.uint64(32)  # trees that one row descends together
BATCH = np.uint64(512)  # rows that descend together
HALF = np.uint64(32)

STEPS = {
    np.dtype(real): np.dtype(
        [("threshold", real), ("test", np.uint32), ("left", np.int32), ("right", np.int32)], align=True
    )
    for real in (np.float32, np.float64)
}
"""What a row needs at an inner node, by the type of the cells: 16 bytes for float32, so that four share a cache line.
`test` is `feature << 1 | missing_left`; `left` and `right` are steps, or ~leaf."""


class Levels(NamedTuple):
    """What trees that split categories need beyond the steps."""

    start: np.ndarray  # for each step, its first word in `subsets`, or -1 for a threshold
    subsets: np.ndarray
    n_levels: np.ndarray  # for each column
    node: np.ndarray  # node of each step


@part
def _next_step(steps, levels, at, x, stop_at_unseen):
    """Where a row goes from a step that may split categories: cells are level numbers, all others are unseen levels.

    `levels` is None for trees that split numbers only. An unseen level goes where missing values go, or the row stops
    at the node if `stop_at_unseen`.
    """
    step = steps[at]
    left = (x <= step.threshold) | ((x != x) & ((step.test & ONE) != 0))  # noqa: PLR0124 - NaN
    if levels is not None and levels.start[at] >= 0:
        if x >= 0.0 and x < levels.n_levels[step.test >> ONE]:
            level = np.uint32(x)
            word = levels.subsets[np.uint32(levels.start[at]) + (level >> np.uint32(5))]
            left = (word >> (level & np.uint32(31))) & ONE != 0
        elif x == x:  # noqa: PLR0124 - not NaN
            left = step.test & ONE != 0
            if stop_at_unseen:
                return ~levels.node[at]
    return step.left if left else step.right


@part
def descend(steps, levels, X, first, n_rows, stop_at_unseen, under_way, at):
    """Send `n_rows` rows of X, from row `first` on, down from their steps; SCRATCH under_way (BATCH); OUT at: ~leaf."""
    for begin in range(np.uint64(0), n_rows, BATCH):
        size = np.uint32(0)
        for row in range(begin, min(begin + BATCH, n_rows)):
            under_way[size] = (row << HALF) | np.uint64(np.uint32(at[row]))
            size += np.uint32(at[row] >= 0)
        while size > 0:
            remaining = np.uint32(0)
            for k in range(size):
                row, here = under_way[k] >> HALF, np.uint32(under_way[k])
                x = X[first + row, steps[here].test >> ONE]
                ahead = _next_step(steps, levels, here, x, stop_at_unseen)
                at[row] = ahead
                prefetch(steps, np.uint64(max(ahead, 0)))
                under_way[remaining] = (row << HALF) | np.uint64(np.uint32(ahead))
                remaining += np.uint32(ahead >= 0)
            size = remaining


@kernel
def find_leaves(steps, levels, X, stop_at_unseen, out):
    """Leaf of every row of X; OUT out."""
    under_way = np.empty(BATCH, np.uint64)
    for row in range(len(out)):
        out[row] = 0
    descend(steps, levels, X, np.uint64(0), np.uint64(len(out)), stop_at_unseen, under_way, out)
    for row in range(len(out)):
        out[row] = ~out[row]


@kernel
def score_rows(steps, levels, roots, leaf_values, lines, width, column, X, stop_at_unseen, out):
    """Values of the leaves of a few rows, one row after the other; OUT out (columns, rows): plus all trees.

    Some trees are descended side by side, so that none waits for the memory of the others.
    """
    at = np.empty(SIDE_BY_SIDE, np.int32)
    width, n_trees = np.uint64(width), np.uint64(len(roots))
    for row in range(np.uint64(X.shape[0])):
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
                        at[k] = _next_step(steps, levels, here, X[row, steps[here].test >> ONE], stop_at_unseen)
                        prefetch(steps, np.uint64(max(at[k], 0)))
                        under_way |= at[k] >= 0
            for k in range(size):
                leaf = np.uint64(~at[k])
                for c in range(width):
                    out[np.uint64(column[first + k]) + c, row] += leaf_values[leaf * width + c]
                if lines is not None:
                    for i in range(lines.starts[leaf], lines.starts[leaf + np.uint64(1)]):
                        line = lines.lines[i]
                        out[np.uint64(column[first + k]), row] += line_value(line, X[row, line.column])
