"""One tree for all scores of a round: it is grown on one random mixture of their gradients, new in each round.

With directions r of mean square 1, the gradient of a row is the sum of r_k g_k and its hessian that of r_k² h_k. Its
expected gain is that of all scores together. Afterwards each score sets the leaf values by its own derivatives.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.kernels.projection import project, write_direction
from sapwood.threads import blocks, run_all

BLOCK = 1 << 14


def draw_direction(n_scores: int, key: int, sums_to_zero: bool) -> Floats:
    """Random signs, or numbers of sum 0 where the gradients of a row add up to 0; their mean square is 1.

    Three classes and the signs +, +, - give r = (0.71, 0.71, -1.41): the third class against the others.
    """
    direction = np.empty(n_scores)
    write_direction(np.uint64(key), sums_to_zero, direction)
    return direction


def project_all(gradient: Array, hessian: Array, direction: Floats, n_jobs: int) -> Array:
    """Gradient and hessian (2, rows) of all rows."""
    out = np.empty((2, gradient.shape[1]), dtype=gradient.dtype)
    of = partial(project, gradient, hessian, direction)
    run_all([partial(of, *block, out) for block in blocks(gradient.shape[1], BLOCK)], n_jobs)
    return out
