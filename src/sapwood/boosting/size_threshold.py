"""The mu for which Σ min(1, s / mu) is the wanted number of rows, of sizes s that are spread over parts.

Sizes are whole numbers of a unit, so that their sums are exact. With those above mu certain, their number and the sum
of all others give mu = (sum of the others) / (wanted - certain). Up to a border b,

    Σ min(1, s / b) b = (sum of the sizes below b) + b (number of the others) >= wanted b

as long as b is at most mu. Counts and sums by bucket of sizes tell between which borders mu is, round after round.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.kernels.selection import count_sizes, write_whole_sizes
from sapwood.row_parts.selection import LEAST_EXPONENT, SUM_BITS, UNIT_BITS

T = TypeVar("T")
MOST_ROWS = 1 << 16  # whose sizes parts may send
BUCKET_BITS = 12


class Ask(Protocol):
    """Gives each part's answer to a question about the sizes of its rows."""

    def __call__(self, question: Callable[[Floats], T], /) -> list[T]:
        """The answers, in the order of the rows."""
        ...


class Facts(NamedTuple):
    """The number of sizes above 0, and the least and largest of them."""

    n: int
    least: float
    largest: float


def threshold(ask: Ask, wanted: float) -> float:
    """The mu of all sizes; at most the least size above 0 if there are no more of these than are wanted."""
    counts, leasts, largests = zip(*ask(facts_of), strict=True)
    facts = Facts(sum(counts), min(leasts), max(largests))
    if facts.n <= wanted:
        return facts.least if facts.n else 1.0
    unit = _unit(facts)
    if facts.n <= MOST_ROWS:
        sizes = np.sort(np.concatenate(ask(partial(whole_sizes, unit))))
        return unit * _from_sizes(sizes, wanted)
    return unit * _from_counts(ask, unit, wanted)


def facts_of(sizes: Floats) -> Facts:
    """The facts of a part."""
    above = sizes[sizes > 0]
    return Facts(len(above), float(above.min(initial=np.inf)), float(above.max(initial=0.0)))


def whole_sizes(unit: float, sizes: Floats) -> Ints:
    """The sizes above 0 of a part in units, each at least 1."""
    out = np.empty(len(sizes), dtype=np.int64)
    return out[: write_whole_sizes(sizes, 1.0 / unit, out)]


def counts_of(unit: float, low: int, shift: int, sizes: Floats) -> Ints:
    """Number and sum (2, buckets) of a part's sizes in units, by buckets of 2^shift from `low` on."""
    found = np.zeros((2, 1 << BUCKET_BITS), dtype=np.int64)
    count_sizes(sizes, 1.0 / unit, low, shift, found[0], found[1])
    return found


def _unit(facts: Facts) -> float:
    """A power of two such that the sum of all sizes has at most 62 bits."""
    bits = min(UNIT_BITS, SUM_BITS - facts.n.bit_length())
    return float(np.ldexp(1.0, max(int(np.frexp(facts.largest)[1]) - bits, LEAST_EXPONENT)))


def _from_sizes(sizes: Ints, wanted: float) -> float:
    """The same of sizes that are sorted."""
    total = np.concatenate(([0], np.cumsum(sizes)))
    above = len(sizes) - np.arange(len(sizes))
    at = int(np.flatnonzero(total[:-1] + sizes * above >= wanted * sizes)[-1])
    return float(total[at + 1] / (wanted - (len(sizes) - at - 1)))


def _from_counts(ask: Ask, unit: float, wanted: float) -> float:
    """The same by counts of buckets; mu is at least `low`, and sizes below it have the sum `below`."""
    low, below, above, shift = 0, 0, 0, UNIT_BITS + 1 - BUCKET_BITS
    while True:
        parts = ask(partial(counts_of, unit, low, shift))
        counts, sums = np.sum(parts, axis=0)
        under = below + np.concatenate(([0], np.cumsum(sums)))
        over = above + np.concatenate((np.cumsum(counts[::-1])[::-1], [0]))
        borders = low + (np.arange(len(under)) << shift)
        at = int(np.flatnonzero(under + borders * over >= wanted * borders)[-1])
        if shift == 0 or at == len(counts):
            at = min(at, len(counts) - 1)
            return float(under[at + 1] / (wanted - over[at + 1]))
        low, below, above = int(borders[at]), int(under[at]), int(over[at + 1])
        shift = max(shift - BUCKET_BITS, 0)
