"""Row samples of a round: uniform, or by the size of the gradients. Each part of the rows draws its own.

By gradients ("minimal variance sampling", Ibragimov and Gusev 2019): row i is drawn with probability
p_i = min(1, s_i / mu), s_i = sqrt(g_i^2 + lambda h_i^2), where mu makes the expected number of rows the wanted one, and
counts 1 / p_i times.

A draw is a hash of the row's number among all rows, or a number of a stream that begins anywhere. No part needs to know
of the others but by a threshold. Whoever asks them sees to it that at least one row is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.size_threshold import threshold
from sapwood.elementary import sum_of_rows
from sapwood.kernels.bagging import draw_rows
from sapwood.row_parts.selection import Keyed, keys_of
from sapwood.row_parts.smallest import Smallest, smallest, smallest_here

T = TypeVar("T")
PHILOX_BLOCK = 4  # numbers of its stream that are made at a time


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a round (None: all), and what their weight is multiplied by (None: nothing)."""

    rows: Array | None = None
    factor: Floats | None = None


# All rows, as one part


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


# A part of the rows: rows and candidates are numbered from 0 there, and the first has a number among all rows


def draw_uniform(candidates: Array | None, n_rows: int, first_row: int, share: float, key: int) -> Array:
    """Each candidate of a part with the same probability."""
    return _draw(candidates, n_rows, first_row, None, share, key)


def draw_by_size(candidates: Array | None, sizes: Floats, mu: float, first_row: int, key: int) -> Sample:
    """Each candidate of a part with a probability by its size."""
    probability = np.minimum(1.0, sizes / mu)
    with np.errstate(divide="ignore"):
        factor = np.where(probability > 0, 1.0 / probability, 0.0)
    return Sample(_draw(candidates, len(sizes), first_row, probability, 0.0, key), factor)


def sizes_of(gradient: Array, hessian: Array, weight: Floats | None) -> Floats:
    """The size of each row's derivatives (scores, rows) of a part, on one scale."""
    square = partial(np.square, dtype=np.float64)
    sizes: Floats = np.sqrt(sum_of_rows(square(gradient) + square(hessian)))
    return sizes if weight is None else sizes * weight


def counted_keys(key: int, first: int, n: int) -> Keyed:
    """The numbers by which n candidates are drawn, of which the first has this number among all candidates.

    They are those of one stream, whose generator can jump.
    """
    stream = np.random.Philox(key)
    stream.advance(first // PHILOX_BLOCK)
    skipped = first % PHILOX_BLOCK
    return Keyed(keys_of(np.random.Generator(stream).random(skipped + n)[skipped:]))


class AskKeyed(Protocol):
    """Gives each part's answer to a question about the keys of its candidates."""

    def __call__(self, question: Callable[[Keyed], T], /) -> list[T]:
        """The answers, in the order of the rows."""
        ...


def choose_counted(ask: AskKeyed, count: int) -> list[Smallest]:
    """For each part, which of its candidates are among the `count` of smallest keys; see `row_parts/smallest.py`."""
    return smallest(ask, np.array([count]))


def _draw(candidates: Array | None, n_rows: int, first_row: int, shares: Floats | None, share: float, key: int) -> Ints:
    rows = np.empty(n_rows if candidates is None else len(candidates), dtype=np.int64)
    return rows[: draw_rows(np.uint64(key), shares, share, candidates, first_row, rows)]
