"""Target statistics: columns derived from categories of many levels, such as the mean of the target by level.

In a model, a statistic is a function of the level, by the totals of all rows that train: a threshold on it is a subset
of the levels. While trees grow, each row that trains has the statistic of the rows of its level that come before it in
a random order, so that its own target is in none of its codes, and a level of few rows explains no more than it can
predict. This is the mean over some orders of

    (sum of targets before + strength * prior) / (weight before + strength)

The prior is the mean of all rows that train. Missing values are missing here, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.codes.bins import NumberBins, StatisticBins, cut_values
from sapwood.kernels.draws import mix, mix_into
from sapwood.kernels.target_statistics import add_means_before, sum_by_level, write_means
from sapwood.shard.gradient_units import fine_units
from sapwood.table.table import Table

N_ORDERS = 4
MOST_CODES = 32  # of a statistic
MOST_CLASSES = 8  # that have a statistic each, the most frequent ones
import os
ENV = os.environ.get("TS", "")
if "o1" in ENV: N_ORDERS = 1
if "o8" in ENV: N_ORDERS = 8
if "o16" in ENV: N_ORDERS = 16
if "c255" in ENV: MOST_CODES = 255
STRENGTHS = [10.0] if "a10" in ENV else [1.0, 10.0] if "aboth" in ENV else [1.0]
COUNTS = "cnt" in ENV
MEDIAN = "med" in ENV
ONLY_MANY = "many" in ENV
INSTEAD = "inst" in ENV
ORDER = 0x7A12  # keeps these draws apart


@dataclass(frozen=True)
class StatisticOptions:
    """Which categories have statistics, and of what: those of more levels; of classes, or (0) of numbers."""

    most_levels: int
    n_classes: int = 0
    seed: int = 0


class Target(NamedTuple):
    """Targets times weights, and weights, as whole numbers of units; for each row of a table."""

    values: Ints
    weights: Ints
    units: Floats  # (2)


class Statistics(NamedTuple):
    """Derived columns: codes (columns, rows)."""

    bins: list[StatisticBins]
    codes: NDArray[np.uint8]


def find_statistics(
    table: Table, y: Floats, weight: Floats | None, rows: Ints | None, options: StatisticOptions
) -> Statistics | None:
    """Statistics of the categories of many levels, of those rows that train (None: all); None if there are none."""
    n_levels = table.schema.n_levels.tolist()
    origins = [j for j, n in enumerate(n_levels) if n > (255 if ONLY_MANY else options.most_levels)]
    if not origins:
        return None
    own = np.arange(len(y)) if rows is None else np.asarray(rows, dtype=np.int64)
    targets = make_targets(y, weight, own, options.n_classes)
    orders = draw_orders(own, len(y), options.seed)
    found = []
    for j in origins:
        levels = np.maximum(table.values(j).astype(np.int64) + 1, 0)
        for target in targets:
            for strength in STRENGTHS:
                found.append(code_statistic(j, *ordered_means(levels, n_levels[j], target, own, orders, strength), levels, own))
        if COUNTS:
            found.append(code_statistic(j, *counts(levels, n_levels[j], targets[0], own), levels, own))
    found = [f for f in found if f[0].n_codes > 1]
    if not found:
        return None
    return Statistics([bins for bins, _ in found], np.stack([codes for _, codes in found]))


def counts(levels, n_levels, target, own):
    sums = np.zeros((n_levels + 1, 2), dtype=np.int64)
    sum_by_level(own, levels, target.values, target.weights, sums)
    c = sums[:, 1].astype(np.float64)
    return c[levels], c[1:]


def make_targets(y: Floats, weight: Floats | None, own: Ints, n_classes: int) -> list[Target]:
    """What statistics are means of: numbers; or which rows are of the second of two classes, or of each class."""
    w = np.ones(len(y)) if weight is None else weight
    if n_classes == 0:
        of = [y]
        if MEDIAN:
            of.append((y > np.median(y[own])).astype(np.float64))
    else:
        shares = np.bincount(y[own].astype(np.int64), weights=w[own], minlength=n_classes)
        classes = np.argsort(-shares, kind="stable")[:MOST_CLASSES] if n_classes > 2 else [1]
        of = [(y == c).astype(np.float64) for c in sorted(classes)]
    return [_in_units(values, w, own) for values in of]


def _in_units(values: Floats, weight: Floats, own: Ints) -> Target:
    weighted = values * weight
    most = np.array([[np.abs(weighted[own]).max(initial=0.0), weight[own].max(initial=0.0)]])
    units = fine_units(most, len(own))[0]
    return Target(np.rint(weighted / units[0]).astype(np.int64), np.rint(weight / units[1]).astype(np.int64), units)


def draw_orders(rows: Ints, n_rows: int, seed: int) -> list[Ints]:
    """Rows in random orders, by a hash of the seed, the order and the row's number."""
    key, drawn, found = np.uint64(mix(np.uint64(seed), np.int64(ORDER))), np.empty(n_rows, dtype=np.uint64), []
    for number in range(N_ORDERS):
        mix_into(np.uint64(mix(key, np.int64(number))), drawn)
        found.append(rows[np.argsort(drawn[rows], kind="stable")])
    return found


def ordered_means(
    levels: Ints, n_levels: int, target: Target, own: Ints, orders: Sequence[Ints], strength: float
) -> tuple[Floats, Floats]:
    """The statistic of each row, of rows that train from those before them, and of each level."""
    sums = np.zeros((n_levels + 1, 2), dtype=np.int64)  # of level 0, too: missing
    sum_by_level(own, levels, target.values, target.weights, sums)
    total = sums.sum(axis=0) * target.units
    prior = float(total[0] / total[1])
    by_level = np.empty(n_levels + 1)
    write_means(sums, target.units, prior, strength, by_level)
    means = by_level[levels]
    means[own] = 0.0
    for order in orders:
        add_means_before(order, levels, target.values, target.weights, target.units, prior, strength, sums, means)
    means[own] /= len(orders)
    return means, by_level[1:]


def code_statistic(
    origin: int, means: Floats, by_level: Floats, levels: Ints, own: Ints
) -> tuple[StatisticBins, NDArray[np.uint8]]:
    """Bins of about equal numbers of rows that train, and the codes of all rows; missing ones have code 0."""
    known = own[levels[own] > 0]
    bins: NumberBins = cut_values(means[known], MOST_CODES)
    codes = np.where(levels > 0, bins.codes(means), 0).astype(np.uint8)
    return StatisticBins(origin, bins.n_codes, bins.codes(by_level)), codes
