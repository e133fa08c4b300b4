"""Row samples of a round: uniform, or by the size of the gradients.

By gradients ("minimal variance sampling", Ibragimov and Gusev 2019): row i is drawn with probability
p_i = min(1, s_i / mu), s_i = sqrt(g_i^2 + lambda h_i^2), where mu makes the expected number of rows the wanted one, and
counts 1 / p_i times.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.kernels.bagging import draw_rows


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a round (None: all), and what their weight is multiplied by (None: nothing)."""

    rows: Array | None = None
    factor: Floats | None = None


def uniform_rows(candidates: Array | None, n_rows: int, share: float, key: int) -> Array:
    """Each candidate with the same probability; at least one row."""
    return _draw(candidates, n_rows, None, share, key)


def counted_rows(candidates: Array | None, n_rows: int, share: float, key: int) -> Array:
    """A share of the candidates, rounded down; every set of so many is equally likely. At least one row."""
    n = n_rows if candidates is None else len(candidates)
    count = max(1, int(share * n))
    uniform = np.random.Generator(np.random.Philox(key)).random(n)
    drawn = np.sort(np.argpartition(uniform, count - 1)[:count])
    return drawn if candidates is None else candidates[drawn]


def gradient_sample(
    candidates: Array | None, gradient: Floats, hessian: Floats, weight: Floats | None, share: float, key: int
) -> Sample:
    """By the size of gradients (scores, rows): rows of the largest ones are surely drawn."""
    size = np.sqrt((gradient**2 + hessian**2).sum(axis=0))
    if weight is not None:
        size = size * weight
    own = size if candidates is None else size[candidates]
    probability = np.minimum(1.0, size / threshold(own, share * len(own)))
    with np.errstate(divide="ignore"):
        factor = np.where(probability > 0, 1.0 / probability, 0.0)
    return Sample(_draw(candidates, len(size), probability, 0.0, key), factor)


def threshold(sizes: Floats, expected: float) -> float:
    """The mu for which sum(min(1, sizes / mu)) is the expected number of rows.

    With the k largest certain, mu = (sum of the others) / (expected - k); k is right once the k-th is at least mu.
    """
    ordered = np.sort(sizes)[::-1]
    others = np.cumsum(ordered[::-1])[::-1]  # sum of the k-th largest and all below it
    n_certain = np.arange(len(ordered))
    with np.errstate(divide="ignore", invalid="ignore"):
        mu = others / (expected - n_certain)
    is_right = (n_certain < expected) & (ordered <= mu) & (mu > 0)
    if is_right.any():
        return float(mu[np.argmax(is_right)])
    return float(ordered[ordered > 0].min(initial=np.inf)) if ordered.any() else 1.0  # all gradients but 0 are certain


def _draw(candidates: Array | None, n_rows: int, shares: Floats | None, share: float, key: int) -> Array:
    rows = np.empty(n_rows if candidates is None else len(candidates), dtype=np.int64)
    count = draw_rows(np.uint64(key), shares, share, candidates, rows)
    return rows[: max(count, 1)]
