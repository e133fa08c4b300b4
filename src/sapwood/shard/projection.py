"""One tree for all scores of a round: it is grown on one random mixture of their gradients, new in each round.

With directions r of mean square 1, the gradient of a row is the sum of r_k g_k and its hessian that of r_k² h_k. Its
expected gain is that of all scores together. Afterwards each score sets the leaf values by its own derivatives.

Directions are random signs, or numbers of sum 0 where the gradients of a row add up to 0: three classes and the signs
+, +, - give r = (0.71, 0.71, -1.41), the third class against the others.

Scores of targets of their own have scales of their own. Their gradients and hessians are brought to one scale first
(`Loss.scales`), and the mixture of K of them is divided by the root of K and by K: it is as large as one of them, so
that limits of hessians and penalties mean what they mean for one target.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.kernels.projection import project, write_factors
from sapwood.losses.loss import Loss
from sapwood.threads import blocks, run_all

BLOCK = 1 << 14


def mixture_scales(loss: Loss) -> Floats:
    """What gradients and hessians of each score are multiplied by in the mixture, (2, scores)."""
    if loss.scales is None:
        return np.ones((2, loss.n_scores))
    return np.asarray(loss.scales / np.array([[np.sqrt(loss.n_scores)], [loss.n_scores]]))


def project_all(gradient: Array, hessian: Array, loss: Loss, key: int, n_jobs: int) -> Array:
    """Gradient and hessian (2, rows) of all rows, in a direction that the key draws."""
    out, factors = np.empty((2, gradient.shape[1]), dtype=gradient.dtype), np.empty((2, loss.n_scores))
    write_factors(np.uint64(key), loss.sums_to_zero, mixture_scales(loss), factors)
    of = partial(project, gradient, hessian, factors)
    run_all([partial(of, *block, out) for block in blocks(gradient.shape[1], BLOCK)], n_jobs)
    return out
