"""Sides: where every row would go from every inner node of a tree, whether it comes there or not.

Shapley values ask a row at each node. Once its sides are known, numbers, levels and missing values, cells of either
type, are one thing to them.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part

LEFT, RIGHT, STOP = 0, 1, 2  # a row with an unseen level may stop at the node


@part
def _side_of_level(step, start, n_levels, subsets, x, stop_at_unseen):
    """Where a category goes: cells are level numbers, all others are unseen levels."""
    if x >= 0.0 and x < n_levels:
        level = np.uint32(x)
        word = subsets[np.uint32(start) + (level >> np.uint32(5))]
        return LEFT if (word >> (level & np.uint32(31))) & ONE != 0 else RIGHT
    if x == x and stop_at_unseen:  # noqa: PLR0124 - not NaN
        return STOP
    return LEFT if step.test & ONE != 0 else RIGHT


@lean_kernel
def find_sides(steps, levels, cells, stop_at_unseen, out):
    """Side of every row (n) at every step; `cells` are (columns, rows), so that rows lie side by side; OUT out.

    `levels` is None for trees that split numbers only.
    """
    n_rows = cells.shape[1]
    for at in range(len(steps)):
        step = steps[at]
        column = cells[step.test >> ONE]
        if levels is None or levels.start[at] < 0:
            threshold, missing_left = step.threshold, (step.test & ONE) != 0
            for row in range(n_rows):
                x = column[row]
                goes_left = (x <= threshold) | ((x != x) & missing_left)  # noqa: PLR0124 - NaN
                out[at, row] = LEFT if goes_left else RIGHT
        else:
            start, n_levels = levels.start[at], levels.n_levels[step.test >> ONE]
            for row in range(n_rows):
                out[at, row] = _side_of_level(step, start, n_levels, levels.subsets, column[row], stop_at_unseen)
