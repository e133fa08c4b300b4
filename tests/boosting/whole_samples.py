"""Samples of all rows as one part: the specification of those that parts draw."""

from __future__ import annotations

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.row_parts.selection import Keyed, Keys
from sapwood.row_parts.smallest import Smallest, taken
from sapwood.shard.sampling import Sample, counted_keys, draw_by_size, draw_uniform, sizes_of
from sapwood.shard.size_threshold import threshold


def uniform_rows(candidates: Array | None, n_rows: int, share: float, key: int) -> Array:
    """Each candidate with the same probability; at least one row."""
    return at_least_one(draw_uniform(candidates, n_rows, 0, share, key), candidates, n_rows)


def counted_rows(candidates: Array | None, n_rows: int, share: float, key: int) -> Array:
    """A share of the candidates, rounded down; every set of so many is equally likely. At least one row."""
    n = n_rows if candidates is None else len(candidates)
    drawn = smallest_here(counted_keys(key, 0, n).keys, max(1, int(share * n)))
    return drawn if candidates is None else candidates[drawn]


def gradient_sample(
    candidates: Array | None, gradient: Floats, hessian: Floats, weight: Floats | None, share: float, key: int
) -> Sample:
    """By the size of gradients (scores, rows): rows of the largest ones are surely drawn. At least one row."""
    sizes = sizes_of(gradient, hessian, weight)
    own = sizes if candidates is None else sizes[candidates]
    mu = threshold(lambda question: [question(own)], share * len(own))
    sample = draw_by_size(candidates, sizes, mu, 0, key)
    assert sample.rows is not None
    return Sample(at_least_one(sample.rows, candidates, len(sizes)), sample.factor)


def at_least_one(drawn: Array, candidates: Array | None, n_rows: int) -> Array:
    """The drawn rows, or the last candidate if there are none."""
    if len(drawn):
        return drawn
    return np.array([n_rows - 1]) if candidates is None else np.asarray(candidates[-1:])


def smallest_here(keys: Keys, count: int) -> Ints:
    """The rows of the `count` smallest keys, at least one, ascending, where all rows are one part and one group."""
    kth = np.partition(keys, count - 1)[count - 1]
    below = np.count_nonzero(keys < kth)
    return taken(Smallest(kth[None], np.array([count - below])), Keyed(keys))
