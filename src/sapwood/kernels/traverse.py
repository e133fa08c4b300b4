"""Traversal: from rows to leaves.

A crowd of rows descends side by side, level by level, so that the memory latency of one row hides behind the others.
Rows that arrive leave the crowd; this and the choice of a side take no branch, so there is nothing to mispredict.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel, part
from sapwood.kernels.records import Array

CROWD = 256  # rows that descend together; those of 28 float32 columns fit into the first cache


def step_dtype(real: type[np.floating]) -> np.dtype[np.void]:
    """What a row needs at an inner node: 16 bytes for float32, so that four share a cache line."""
    fields = [("threshold", real), ("test", np.uint32), ("left", np.int32), ("right", np.int32)]
    return np.dtype(fields, align=True)


STEPS = {np.dtype(real): step_dtype(real) for real in (np.float32, np.float64)}
"""Layout by the type of the cells. `test` is `feature << 1 | missing_left`; `left` and `right` are steps, or ~leaf."""


class Levels(NamedTuple):
    """What trees that split categories need beyond the steps."""

    start: Array  # for each step, its first word in `subsets`, or -1 for a threshold
    subsets: Array
    n_levels: Array  # for each column
    node: Array  # node of each step


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


@kernel
def find_leaves(steps, levels, X, stop_at_unseen, out):
    """Leaf of every row of X; OUT out.

    `levels` is None for trees that split numbers only. An unseen level goes where missing values go, or the row stops
    at the node if `stop_at_unseen`.
    """
    n_rows = np.uint32(X.shape[0])
    crowd = np.empty(CROWD, np.uint32)
    first = np.uint32(0)
    while first < n_rows:
        size = min(np.uint32(CROWD), n_rows - first)
        for k in range(size):
            crowd[k] = first + k
            out[first + k] = 0
        while size > 0:
            remaining = np.uint32(0)
            for k in range(size):
                row = crowd[k]
                at = np.uint32(out[row])
                step = steps[at]
                x = X[row, step.test >> ONE]
                if levels is None:
                    ahead = step.left if _goes_left(step, x) else step.right
                else:
                    ahead = _next_by_level(steps, levels, at, x, stop_at_unseen)
                out[row] = ahead
                crowd[remaining] = row
                remaining += np.uint32(ahead >= 0)
            size = remaining
        first += np.uint32(CROWD)
    for row in range(n_rows):
        out[row] = ~out[row]
