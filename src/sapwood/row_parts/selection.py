"""The k-th smallest numbers of groups of rows that are spread over parts, by a few exchanges of counts.

Each part counts the rows whose keys are inside of a bracket, bucket by bucket. Added up, the counts tell which bucket
the wanted key is in, which is the next bracket. Once few rows are left, their keys are asked for. Counts are integers,
so neither the parts nor the number of exchanges can change what is found.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.kernels.selection import count_buckets, select_ranks, write_facts, write_inside, write_keys

T = TypeVar("T")
Keys = NDArray[np.uint64]

MOST_ROWS = 1 << 16  # that parts may send in all
MOST_CELLS = 1 << 17  # of counts that a part sends
UNIT_BITS, SUM_BITS, LEAST_EXPONENT = 52, 62, -1000
_MOST_KEY = np.uint64((1 << 64) - 1)


class Keyed(NamedTuple):
    """The rows of a part: their keys, weights (None: all 1) and groups (None: all 0; numbers beyond are left out)."""

    keys: Keys
    weight: Floats | None = None
    group: Array | None = None


class Ask(Protocol):
    """Gives each part's answer to a question about its rows; questions can be pickled."""

    def __call__(self, question: Callable[[Keyed], T], /) -> list[T]:
        """The answers, in the order of the rows."""
        ...


class Facts(NamedTuple):
    """Of each group: rows of weight above 0, their least and largest keys, and their largest weight."""

    rows: Ints
    least: Keys
    most: Keys
    largest: Floats


class Found(NamedTuple):
    """What was found for each target (groups, targets): its key, and the units of the rows below that key."""

    keys: Keys
    below: Ints


Inside = tuple[Array, Keys, Ints]  # the bracket, key and units of rows inside of brackets


@dataclass(frozen=True, eq=False)
class Brackets:
    """Keys low … high of each bracket, in buckets of 2^shift; the brackets of group g are starts[g] … starts[g+1]-1."""

    starts: Ints
    low: Keys
    high: Keys
    shift: Keys
    n_buckets: int
    inverse_unit: Floats  # of each group's weights

    @classmethod
    def of(cls, group: Ints, low: Keys, high: Keys, inverse_unit: Floats) -> Brackets:
        """Brackets in the order of their groups, with as many buckets as the counts have room for."""
        bits = max(2, (MOST_CELLS // max(1, len(group))).bit_length() - 1)
        size = np.frexp((high - low).astype(np.float64))[1]  # the width is below 2^size
        shift = np.maximum(size - bits, 0).astype(np.uint64)
        starts = np.searchsorted(group, np.arange(len(inverse_unit) + 1)).astype(np.int64)
        return cls(starts, low, high, shift, 1 << bits, inverse_unit)

    @classmethod
    def whole(cls, inverse_unit: Floats) -> Brackets:
        """One for each group, of all keys."""
        n = len(inverse_unit)
        low, high = np.zeros(n, dtype=np.uint64), np.full(n, _MOST_KEY)
        return cls(np.arange(n + 1), low, high, low, 1, inverse_unit)


def keys_of(values: Floats) -> Keys:
    """Keys in the order of numbers."""
    keys = np.empty(len(values), dtype=np.uint64)
    write_keys(np.ascontiguousarray(values, dtype=np.float64), keys)
    return keys


def values_of(keys: Keys) -> Floats:
    """Numbers of keys."""
    top = np.uint64(1 << 63)
    return np.where(keys >= top, keys ^ top, ~keys).view(np.float64)


def facts_of(n_groups: int, rows: Keyed) -> Facts:
    """The facts of a part."""
    found = Facts(
        np.zeros(n_groups, dtype=np.int64),
        np.full(n_groups, _MOST_KEY, dtype=np.uint64),
        np.zeros(n_groups, dtype=np.uint64),
        np.zeros(n_groups),
    )
    write_facts(*rows, *found)
    return found


def counts_of(brackets: Brackets, rows: Keyed) -> Ints:
    """Units and rows (2, brackets, buckets) of a part."""
    counts = np.zeros((2, len(brackets.low), brackets.n_buckets), dtype=np.int64)
    bounds = brackets.starts, brackets.low, brackets.high, brackets.shift
    count_buckets(*rows, brackets.inverse_unit, *bounds, counts[0], counts[1])
    return counts


def rows_of(brackets: Brackets, rows: Keyed) -> Inside:
    """Brackets, keys and units of a part's rows inside of brackets."""
    bounds = brackets.inverse_unit, brackets.starts, brackets.low, brackets.high
    n = write_inside(*rows, *bounds, None, None, None)
    number = np.uint16 if len(brackets.low) <= 1 << 16 else np.int64  # which is sorted faster
    found = np.empty(n, dtype=number), np.empty(n, dtype=np.uint64), np.empty(n, dtype=np.int64)
    write_inside(*rows, *bounds, *found)
    return found


def select(ask: Ask, n_groups: int, ranks: Callable[[Ints], Ints]) -> Found:
    """For each group, the least keys up to which its rows add up to the ranks, (groups, targets).

    `ranks` gets the units of all rows of each group; ranks are 1 … those units. A group without rows has the key 0.
    """
    facts = _merged(ask(partial(facts_of, n_groups)))
    inverse_unit = _inverse_units(facts)
    if facts.rows.sum() <= MOST_ROWS:
        return _select_here(_Inside.of(ask(partial(rows_of, Brackets.whole(inverse_unit))), n_groups), ranks)
    search = _Search(np.flatnonzero(facts.rows), facts, inverse_unit)
    while not search.knows_ranks or (search.n_rows > MOST_ROWS and search.is_open.any()):
        brackets = search.brackets()
        search.narrow(brackets, _total(ask(partial(counts_of, brackets))), ranks)
    if search.is_open.any():
        brackets = search.brackets()
        search.finish(_Inside.of(ask(partial(rows_of, brackets)), len(brackets.low)))
    return search.found(n_groups)


class _Inside(NamedTuple):
    """Keys and units of rows by bracket: those of bracket b are starts[b] … starts[b + 1] - 1."""

    keys: Keys
    units: Ints
    starts: Ints

    @classmethod
    def of(cls, parts: Sequence[Inside], n_brackets: int) -> _Inside:
        """The rows of all parts."""
        bracket, keys, units = parts[0] if len(parts) == 1 else map(np.concatenate, zip(*parts, strict=True))
        starts = np.zeros(n_brackets + 1, dtype=np.int64)
        np.cumsum(np.bincount(bracket, minlength=n_brackets), out=starts[1:])
        if n_brackets > 1:
            order = np.argsort(bracket, kind="stable")
            keys, units = keys[order], units[order]
        return cls(keys, units, starts)

    def select(self, bracket: Ints, ranks: Ints) -> Found:
        """The keys of ranks in brackets."""
        found = Found(np.empty(len(bracket), dtype=np.uint64), np.empty(len(bracket), dtype=np.int64))
        select_ranks(*self, bracket, ranks, *found)
        return found


def _select_here(rows: _Inside, ranks: Callable[[Ints], Ints]) -> Found:
    """The same of rows that are all here, whose brackets are the groups."""
    reached = np.concatenate(([0], np.cumsum(rows.units)))
    wanted = ranks(np.diff(reached[rows.starts]))
    groups = np.flatnonzero(np.diff(rows.starts))
    found = Found(np.zeros(wanted.shape, dtype=np.uint64), np.zeros(wanted.shape, dtype=np.int64))
    own = rows.select(np.repeat(groups, wanted.shape[1]), wanted[groups].reshape(-1))
    for out, values in zip(found, own, strict=True):
        out[groups] = values.reshape(len(groups), wanted.shape[1])
    return found


class _Search:
    """The targets, each with its group, rank and bracket; one for each group until the ranks are known."""

    def __init__(self, groups: Ints, facts: Facts, inverse_unit: Floats) -> None:
        self.group, self.inverse_unit = groups, inverse_unit
        self.low, self.high = facts.least[groups], facts.most[groups]
        self.n_rows = int(facts.rows.sum())
        self.below, self.rank = np.zeros((2, len(groups)), dtype=np.int64)
        self.knows_ranks, self.n_targets = False, 1

    @property
    def is_open(self) -> NDArray[np.bool_]:
        """Whose keys are not known yet."""
        return np.asarray(self.low < self.high)

    def brackets(self) -> Brackets:
        """The different brackets of open targets, or of all before the ranks are known; notes which each target has."""
        use = self.is_open if self.knows_ranks else np.ones(len(self.group), dtype=np.bool_)
        bounds = np.stack([self.group[use].astype(np.uint64), self.low[use], self.high[use]])
        different, place = np.unique(bounds, axis=1, return_inverse=True)
        self.bracket = np.full(len(self.group), -1)
        self.bracket[use] = place.reshape(-1)
        group, low, high = (np.ascontiguousarray(own) for own in different)
        return Brackets.of(group.astype(np.int64), low, high, self.inverse_unit)

    def _set_ranks(self, units: Ints, ranks: Callable[[Ints], Ints]) -> None:
        """Learn the ranks from the units of each bracket, which has all rows of its group."""
        total = np.zeros(len(self.inverse_unit), dtype=np.int64)
        total[self.group] = units
        wanted = ranks(total)[self.group]
        self.n_targets, self.knows_ranks = wanted.shape[1], True
        for name in ("group", "low", "high", "below", "bracket"):
            setattr(self, name, np.repeat(getattr(self, name), self.n_targets))
        self.rank = wanted.reshape(-1)

    def narrow(self, brackets: Brackets, counts: Ints, ranks: Callable[[Ints], Ints]) -> None:
        """Put every open target into the bucket that its key is in."""
        reached = np.cumsum(counts[0], axis=1)
        if not self.knows_ranks:
            self._set_ranks(reached[:, -1], ranks)
        use = np.flatnonzero(self.is_open)
        own = self.bracket[use]
        bucket = (reached[own] < (self.rank - self.below)[use, None]).sum(axis=1)
        self.below[use] += np.where(bucket > 0, reached[own, np.maximum(bucket, 1) - 1], 0)
        shift = brackets.shift[own]
        low = self.low[use] + (bucket.astype(np.uint64) << shift)
        self.high[use] = low + np.minimum(self.high[use] - low, (np.uint64(1) << shift) - np.uint64(1))
        self.low[use] = low
        still = self.is_open[use]
        inside = np.unique(own[still] * brackets.n_buckets + bucket[still])
        self.n_rows = int(counts[1].reshape(-1)[inside].sum())

    def finish(self, rows: _Inside) -> None:
        """Find the keys of open targets among the rows inside of their brackets."""
        use = np.flatnonzero(self.is_open)
        found = rows.select(self.bracket[use], (self.rank - self.below)[use])
        self.low[use] = self.high[use] = found.keys
        self.below[use] += found.below

    def found(self, n_groups: int) -> Found:
        """The keys of all targets, by group."""
        keys, below = np.zeros((n_groups, self.n_targets), np.uint64), np.zeros((n_groups, self.n_targets), np.int64)
        for out, own in ((keys, self.low), (below, self.below)):
            out[self.group[:: self.n_targets]] = own.reshape(-1, self.n_targets)
        return Found(keys, below)


def _merged(parts: Sequence[Facts]) -> Facts:
    if len(parts) == 1:
        return parts[0]
    rows, least, most, largest = (np.stack(own) for own in zip(*parts, strict=True))
    return Facts(rows.sum(axis=0), least.min(axis=0), most.max(axis=0), largest.max(axis=0))


def _total(parts: Sequence[Ints]) -> Ints:
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def _inverse_units(facts: Facts) -> Floats:
    """1 / the unit of each group's weights: a power of two by which sums of all rows fit into 62 bits."""
    if not facts.largest.any():
        return np.ones(len(facts.rows))
    bits = np.minimum(UNIT_BITS, SUM_BITS - np.frexp(facts.rows)[1])  # there are less than 2^exponent rows
    exponent = np.frexp(facts.largest)[1] - bits  # the largest weight is below 2^bits units
    return np.asarray(np.ldexp(1.0, -np.maximum(exponent, LEAST_EXPONENT)))
