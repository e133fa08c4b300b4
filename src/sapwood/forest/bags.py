"""Bags: the rows that each tree of a forest is grown on.

Draws refer to the rows in an order that their contents decide (`canonical_order`), not the order in which they stand
in the table. So a forest does not change when rows are shuffled.

A bag has as many draws as there are rows, or as max_samples sets, regardless of weights: these are only the
probabilities of the draws. So weights times any constant give the same bags. A row of weight 3 is drawn like three
rows of weight 1; a bag is the same, too, if max_samples gives the number of draws, which three rows would raise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sapwood.arrays import Array, Ints
from sapwood.elementary import log
from sapwood.errors import InputError
from sapwood.kernels.bagging import count_draws, hash_cells, hash_rows
from sapwood.kernels.draws import mix
from sapwood.table.storage import SparseStorage
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all

ROW_DRAW, COLUMN_DRAW, CONTENT = 1, 2, 3  # what a hash is for: keeps draws of rows and columns apart
BLOCK = 1 << 13
SEED_SHIFT = 33


@dataclass(frozen=True, eq=False)
class Bag:
    """Rows, ascending, how often each was drawn, and the columns of the tree (None: all)."""

    rows: Array
    counts: Array
    features: Array | None = None

    @classmethod
    def of(cls, drawn: Array, n_rows: int, features: Array | None = None) -> Bag:
        """From rows in any order, any of them many times."""
        counts = np.bincount(drawn, minlength=n_rows)
        rows = np.flatnonzero(counts)
        return cls(rows, counts[rows], features)

    def outside(self, n_rows: int) -> Ints:
        """Rows that are not in the bag."""
        is_outside = np.ones(n_rows, dtype=np.bool_)
        is_outside[self.rows] = False
        return np.flatnonzero(is_outside)

    def equals(self, other: Bag) -> bool:
        """Whether both have the same rows, counts and columns."""
        pairs = ((self.rows, other.rows), (self.counts, other.counts), (self.features, other.features))
        return all(_are_equal(one, two) for one, two in pairs)

    @property
    def drawn(self) -> Ints:
        """Every row as often as it was drawn."""
        return np.repeat(self.rows, self.counts).astype(np.int64)


@dataclass(frozen=True, eq=False)
class Bags:
    """How bags are drawn; bag t depends on the seed and on t, and on nothing else."""

    seed: int
    order: Array  # of the rows, by their contents
    weight: Array | None = None  # of the rows, for draws
    n_draws: int | None = None  # None: every row once
    replace: bool = True
    n_features: int = 0
    n_chosen: int | None = None  # columns of each bag; None: all
    repeat_columns: bool = False
    given: Sequence[Bag] | None = None  # bags that were not drawn

    @property
    def n_rows(self) -> int:
        """Rows to draw from."""
        return len(self.order)

    def draws_like(self, other: Bags, n_bags: int) -> bool:
        """Whether the first bags of both are the same."""
        if (self.given is None) != (other.given is None):
            return False
        if self.given is not None and other.given is not None:
            both = list(zip(self.given[:n_bags], other.given[:n_bags], strict=False))
            return len(both) == n_bags and all(one.equals(two) for one, two in both)
        numbers = ("seed", "n_draws", "replace", "n_features", "n_chosen", "repeat_columns")
        arrays = ((self.order, other.order), (self.weight, other.weight))
        same = all(getattr(self, name) == getattr(other, name) for name in numbers)
        return same and all(_are_equal(one, two) for one, two in arrays)

    def key(self, t: int) -> int:
        """The seed of tree t, small enough for `random_state`: a single tree with it grows the same splits."""
        return int(mix(np.uint64(self.seed), np.int64(t))) >> SEED_SHIFT

    def bag(self, t: int) -> Bag:
        """The bag of tree t; a forest that came from another library has none."""
        if not self.n_rows:
            raise InputError(
                "This forest was imported, and the rows that its trees were grown on are not known. Fit a forest of "
                "Sapwood to use its bags."
            )
        if self.given is not None:
            return self.given[t]
        features = None if self.n_chosen is None else self._columns(t)
        if self.n_draws is None:
            return Bag(np.arange(self.n_rows), np.ones(self.n_rows, dtype=np.int64), features)
        counts = self._counts(np.uint64(mix(np.uint64(self.key(t)), np.int64(ROW_DRAW))))
        rows = np.flatnonzero(counts)
        return Bag(rows, counts[rows], features)

    def _counts(self, key: Any) -> Array:
        counts = np.zeros(self.n_rows, dtype=np.int64)
        assert self.n_draws is not None
        if self.replace:
            ends = None if self.weight is None else np.cumsum(self.weight[self.order])
            count_draws(key, self.n_draws, self.order, ends, counts)
            return counts
        # The smallest of exponential draws, one for each row, whose rates are the weights: each is drawn at most once.
        late = -log(1.0 - np.random.default_rng(int(key)).random(self.n_rows))
        if self.weight is not None:
            with np.errstate(divide="ignore"):
                late = late / self.weight[self.order]
        counts[self.order[np.argsort(late, kind="stable")[: self.n_draws]]] = 1
        return counts

    def _columns(self, t: int) -> Array:
        draws = np.random.default_rng(int(mix(np.uint64(self.key(t)), np.int64(COLUMN_DRAW))))
        chosen = draws.choice(self.n_features, self.n_chosen, replace=self.repeat_columns)
        return np.sort(chosen)


def canonical_order(table: Table, target: Array, n_jobs: int = 1) -> Ints:
    """Rows in order of a hash of their cells and targets."""
    hashes = np.zeros(table.n_rows, dtype=np.uint64)
    n_columns = table.n_features + target.shape[1]
    keys = np.array([mix(np.uint64(j), np.int64(CONTENT)) for j in range(n_columns)], dtype=np.uint64)

    def add(start: int, stop: int) -> None:
        hash_rows(table.block(start, stop), keys, hashes[start:stop])

    if isinstance(table.storage, SparseStorage):
        for j in range(table.n_features):
            rows, values = table.storage.explicit(j)
            hash_cells(values.astype(np.float64), rows, keys[j], hashes)
    else:
        run_all([partial(add, *block) for block in blocks(table.n_rows, BLOCK)], n_jobs)
    hash_rows(np.ascontiguousarray(target, dtype=np.float64), keys[table.n_features :], hashes)
    return np.argsort(hashes, kind="stable")


def n_drawn(setting: int | float | None, n_rows: int) -> int:
    """How many draws a bag has: a number, or a share of the rows."""
    if setting is None:
        return n_rows
    if isinstance(setting, (int, np.integer)):
        return int(setting)
    return max(1, int(setting * n_rows))


def _are_equal(one: Array | None, other: Array | None) -> bool:
    return one is other or (one is not None and other is not None and np.array_equal(one, other))
