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
from sapwood.elementary import sum_of_rows
from sapwood.kernels.bagging import draw_rows
from sapwood.row_parts.selection import Keyed, keys_of
from sapwood.row_parts.smallest import Smallest, smallest

T = TypeVar("T")
PHILOX_BLOCK = 4  # numbers of its stream that are made at a time


@dataclass(frozen=True, eq=False)
class Sample:
    """Rows of a round (None: all), and what their weight is multiplied by (None: nothing)."""

    rows: Array | None = None
    factor: Floats | None = None


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
