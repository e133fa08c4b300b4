"""Traversal: from rows to leaves.

Sixteen rows descend side by side, so that the memory latency of one hides behind the others. A leaf is its own child, so rows that
arrive early simply stay.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import kernel

STEP = np.dtype(  # what a row needs at a node, in one cache line
    [
        ("threshold", np.float64),
        ("feature", np.uint32),
        ("left", np.uint32),
        ("right", np.uint32),
        ("missing_left", np.int32),
    ]
)
LANES = 16


@kernel
def find_leaves(steps, X, out):
    """Leaf of every row of X, for trees that split numbers only; OUT out."""
    n_rows = X.shape[0]
    at = np.zeros(LANES, np.uint32)
    first = 0
    while first < n_rows:
        lanes = min(LANES, n_rows - first)
        for k in range(lanes):
            at[k] = 0
        moving = True
        while moving:
            moving = False
            for k in range(lanes):
                step = steps[at[k]]
                x = np.float64(X[first + k, step.feature])
                goes_left = x <= step.threshold
                if x != x:  # noqa: PLR0124 - NaN
                    goes_left = step.missing_left != 0
                ahead = step.left if goes_left else step.right
                moving |= ahead != at[k]
                at[k] = ahead
        for k in range(lanes):
            out[first + k] = at[k]
        first += lanes


@kernel
def find_leaves_by_levels(steps, subset_start, subsets, n_levels, X, stop_at_unseen, out):
    """The same where categories are split; level numbers stand in X, negative ones are unseen levels.

    An unseen level goes where missing values go, or the row stops at the node if `stop_at_unseen`. OUT out.
    """
    for i in range(X.shape[0]):
        node = np.uint32(0)
        while steps[node].left != node:
            step = steps[node]
            x = np.float64(X[i, step.feature])
            if subset_start[node] < 0:
                goes_left = step.missing_left != 0 if x != x else x <= step.threshold  # noqa: PLR0124 - NaN
            elif x >= 0.0 and x < n_levels[step.feature]:
                level = np.int64(x)
                word = subsets[subset_start[node] + (level >> 5)]
                goes_left = (word >> np.uint32(level & 31)) & np.uint32(1) == 1
            else:
                goes_left = step.missing_left != 0
                if stop_at_unseen and x == x:  # noqa: PLR0124 - not NaN
                    break
            node = step.left if goes_left else step.right
        out[i] = node
