"""How long a step is: the slope of the loss along a tree, and the size of the gradients, of rows in parts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from scipy.optimize import brentq

from sapwood.arrays import Floats
from sapwood.losses.loss import Loss
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.rows import RowPart, RowParts

LONGEST_STEP = 10.0  # of a line search: a tree whose leaves are Newton's steps is rarely off by more


def step_length(loss: Loss, rows: RowParts, values: Floats, k: int) -> float:
    """The rho of least loss of score k + rho * tree: there its slope is zero. Rows are grouped by the tree's leaves."""

    def slope(rho: float) -> float:
        return float(ExactSum.merged(rows.ask(partial(slope_of, loss, values, k, rho))))

    if slope(0.0) >= 0.0:
        return 0.0
    return LONGEST_STEP if slope(LONGEST_STEP) <= 0.0 else float(brentq(slope, 0.0, LONGEST_STEP, xtol=1e-12))


def slope_of(loss: Loss, values: Floats, k: int, rho: float, part: RowPart) -> ExactSum:
    """Σ w step g of a part's rows, where step is the value of a row's leaf and g is at the score + rho * step."""
    step, score = values[part.group], part.score.copy()
    score[k] += rho * step
    gradient, hessian = np.empty_like(score), np.empty_like(score)
    loss.derivatives(part.y, score, gradient, hessian)
    return ExactSum.of(gradient[k], step if part.weight is None else step * part.weight)


def gradient_norm(parts: Sequence[tuple[ExactSum, int]]) -> float:
    """Root of the mean squared gradient of the rows of all parts."""
    sums, counts = zip(*parts, strict=True)
    return float(np.sqrt(ExactSum.merged(sums).over(ExactSum.count(sum(counts)))))
