"""Target statistics: columns derived from categories of many levels, such as the mean target of each level.

In a model, a statistic is a function of the level, by the totals of all rows that train: a threshold on it is a subset
of the levels. While trees grow, a row that trains has instead the mean over some random orders of

    (sum of targets before + STRENGTH * prior) / (weight before + STRENGTH)

where "before" are the rows of its level that come before it in an order, and the prior is the mean of all rows that
train. So its own target is in none of its codes, and levels of few rows explain no more than they can predict. Missing
values are missing here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Ints
from sapwood.codes.bins import StatisticBins, cut_values
from sapwood.kernels.draws import mix, mix_into
from sapwood.kernels.target_statistics import add_means_before, sum_by_level, write_means
from sapwood.shard.gradient_units import fine_units
from sapwood.table.table import Table
from sapwood.threads import run_all

N_ORDERS = 4
STRENGTH = 1.0  # weight of the prior
MOST_CODES = 32  # of a statistic
MOST_CLASSES = 8  # that have a statistic each, the most frequent ones
BY_ORDER = 0x7A12  # keeps these draws apart from those of rounds


@dataclass(frozen=True)
class StatisticOptions:
    """Which categories have statistics, those of more levels, and of how many classes; 0: of numbers."""

    most_levels: int
    n_classes: int
    seed: int
    n_jobs: int = 1


class Targets(NamedTuple):
    """Targets times weights, and weights, of each row, as whole numbers of units."""

    weighted: Ints
    weights: Ints
    units: Floats  # of both


class DerivedColumns(NamedTuple):
    """Columns of statistics, and their codes (columns, rows)."""

    bins: list[StatisticBins]
    codes: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class TargetStatistics:
    """What statistics of categories follow from: targets, and the rows that train, also in each of the orders."""

    targets: Sequence[Targets]
    rows: Ints
    orders: Sequence[Ints]

    @classmethod
    def of(cls, y: Floats, weight: Floats | None, rows: Ints | None, options: StatisticOptions) -> TargetStatistics:
        """From the targets and weights of all rows; None are all rows, or no weights."""
        own = np.arange(len(y)) if rows is None else np.asarray(rows, dtype=np.int64)
        w = np.ones(len(y)) if weight is None else weight
        found = [in_units(values, w, own) for values in _values(y, w, own, options.n_classes)]
        return cls(found, own, draw_orders(own, len(y), options.seed))

    def of_levels(self, levels: Ints, n_levels: int) -> Floats:
        """Statistics (targets, levels + 1) by the totals of all rows that train; levels count from 1, 0 is missing."""
        means = np.empty((len(self.targets), n_levels + 1))
        for target, own in zip(self.targets, means, strict=True):
            sums, prior = self._totals(levels, n_levels, target)
            write_means(sums, target.units, prior, STRENGTH, own)
        return means

    def of_rows(self, levels: Ints, n_levels: int) -> Floats:
        """Statistics (targets, rows): of rows that train by those before them, of others by their levels."""
        means = self.of_levels(levels, n_levels)[:, levels]
        for target, own in zip(self.targets, means, strict=True):
            sums, prior = self._totals(levels, n_levels, target)
            own[self.rows] = 0.0
            for order in self.orders:
                add_means_before(order, levels, *target, prior, STRENGTH, sums, own)
            own[self.rows] /= len(self.orders)
        return means

    def _totals(self, levels: Ints, n_levels: int, target: Targets) -> tuple[Ints, float]:
        """Sums (levels + 1, 2) of targets and weights, and the mean of all rows."""
        sums = np.zeros((n_levels + 1, 2), dtype=np.int64)
        sum_by_level(self.rows, levels, target.weighted, target.weights, sums)
        total, weight = (sums.sum(axis=0) * target.units).tolist()
        return sums, total / weight

    def columns(self, origin: int, levels: Ints, n_levels: int) -> list[tuple[StatisticBins, NDArray[np.uint8]]]:
        """Statistics of a category in bins of about equal numbers of rows that train; none that is constant."""
        found, known = [], self.rows[levels[self.rows] > 0]
        each = self.of_levels(levels, n_levels), self.of_rows(levels, n_levels)
        for by_level, by_row in zip(*each, strict=True):
            bins = cut_values(by_row[known], MOST_CODES)
            if bins.n_codes > 1:
                codes = np.where(levels > 0, bins.codes(by_row), 0).astype(np.uint8)
                found.append((StatisticBins(origin, bins.n_codes, bins.codes(by_level[1:])), codes))
        return found


def derive_columns(
    table: Table, y: Floats, weight: Floats | None, rows: Ints | None, options: StatisticOptions
) -> DerivedColumns | None:
    """Statistics of all categories of many levels, by the rows that train (None: all); None if there are none."""
    categories = wide_categories(table, options.most_levels)
    if not categories:
        return None
    statistics = TargetStatistics.of(y, weight, rows, options)
    tasks = [partial(statistics.columns, j, levels_of(table, j), n) for j, n in categories.items()]
    found = [one for own in run_all(tasks, options.n_jobs) for one in own]
    return DerivedColumns([bins for bins, _ in found], np.stack([codes for _, codes in found])) if found else None


def tabulate(
    table: Table, y: Floats, weight: Floats | None, rows: Ints | None, options: StatisticOptions
) -> dict[str, Floats]:
    """Statistics (levels, targets) of each of these categories, by its name, by the totals of the rows that train."""
    categories = wide_categories(table, options.most_levels)
    if not categories:
        return {}
    statistics, names = TargetStatistics.of(y, weight, rows, options), table.schema.names
    found = {names[j]: statistics.of_levels(levels_of(table, j), n) for j, n in categories.items()}
    return {name: np.ascontiguousarray(means[:, 1:].T) for name, means in found.items()}


def wide_categories(table: Table, most_levels: int) -> dict[int, int]:
    """Levels of the columns that have more than so many."""
    return {j: n for j, n in enumerate(table.schema.n_levels.tolist()) if n > most_levels}


def levels_of(table: Table, j: int) -> Ints:
    """The level of each row, from 1 on; 0 for missing."""
    return np.maximum(table.values(j).astype(np.int64) + 1, 0)


def _values(y: Floats, weight: Floats, rows: Ints, n_classes: int) -> list[Floats]:
    """What is averaged: each target; or whether rows are of the second of two classes, or of each frequent one."""
    if n_classes == 0:
        return list(np.ascontiguousarray(y.T)) if y.ndim == 2 else [y]
    shares = np.bincount(y[rows].astype(np.int64), weight[rows], n_classes)
    classes = [1] if n_classes == 2 else np.sort(np.argsort(-shares, kind="stable")[:MOST_CLASSES]).tolist()
    return [(y == k).astype(np.float64) for k in classes]


def in_units(values: Floats, weight: Floats, rows: Ints) -> Targets:
    """Targets of some rows, 0 for others, whose sums do not depend on the order of the rows."""
    numbers = np.zeros((2, len(values)))
    numbers[:, rows] = values[rows] * weight[rows], weight[rows]
    units: Floats = fine_units(np.abs(numbers).max(axis=1)[None], len(rows))[0]
    weighted, weights = np.rint(numbers / units[:, None]).astype(np.int64)
    return Targets(weighted, weights, units)


def draw_orders(rows: Ints, n_rows: int, seed: int) -> list[Ints]:
    """Some of n rows in random orders, by hashes of the seed, the order and the row's number."""
    drawn, found = np.empty(n_rows, dtype=np.uint64), []
    key = np.uint64(mix(np.uint64(seed), np.int64(BY_ORDER)))
    for number in range(N_ORDERS):
        mix_into(np.uint64(mix(key, np.int64(number))), 0, drawn)
        found.append(rows[np.argsort(drawn[rows], kind="stable")])
    return found
