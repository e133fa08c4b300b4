"""Candidates are in a total order: any blocks of columns, merged in any order, give the split of all columns."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from sapwood.codes.coded import code_table
from sapwood.growth.criteria import statistics_of
from sapwood.growth.grower import grow_tree
from sapwood.growth.rules import GrowthRules
from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.split_order import rounded
from sapwood.kernels.tree_frame import STEPS, Totals
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget, NumberTarget


@lean_kernel
def round_gain(mass, gain):
    return rounded(Totals(0, 0.0, 0.0, mass, 0.0, STEPS * mass), gain)


def tied_table(rng, n_rows):
    """Columns that tie: copies, mirror images, coarser copies, and others."""
    base = rng.integers(0, 6, size=(n_rows, 3)).astype(float)
    return np.column_stack([base, -base[:, 0], base[:, 1] * 3 + 1, base[:, ::-1], base[:, 0] // 2])


def stump(X, statistics, features, max_bins):
    table = Table.from_any(X)
    coded = code_table(table, max_bins=max_bins)
    rules = GrowthRules(max_depth=1)
    return grow_tree(coded, statistics, rules, n_levels=table.schema.n_levels, features=np.array(features))


def decrease_of(tree):
    weight, impurity = tree.weighted_n_node_samples, tree.impurity
    return weight[0] * impurity[0] - weight[1] * impurity[1] - weight[2] * impurity[2]


def merged(trees):
    """The best of some stumps: the larger rounded decrease, then the lower column."""
    mass = float(trees[0].weighted_n_node_samples[0] * trees[0].impurity[0])
    splits = [(-round_gain(mass, decrease_of(tree)), tree.feature[0]) for tree in trees if len(tree.feature) > 1]
    return min(splits)[1] if splits else -2


@pytest.mark.parametrize("max_bins", [None, 64])
@pytest.mark.parametrize("kind", ["numbers", "two classes", "three classes", "several numbers"])
def test_blocks_of_columns_merge_to_the_split_of_all(kind, max_bins):
    rng = np.random.default_rng(1)
    for n_rows in (7, 12, 40, 120):
        X, weight = tied_table(rng, n_rows), rng.integers(1, 4, n_rows) / 3
        y = rng.integers(0, 3 if kind == "three classes" else 2, n_rows)
        if kind in ("numbers", "several numbers"):
            y = y[:, None] + rng.integers(0, 4, (n_rows, 1 if kind == "numbers" else 2)) / 7
            statistics = statistics_of(NumberTarget(y, single=kind == "numbers"), weight, "squared_error")
        else:
            target = ClassTarget(y[:, None].astype(np.int64), (np.unique(y),), single=True)
            statistics = statistics_of(target, weight, "gini")
        expected = stump(X, statistics, range(X.shape[1]), max_bins)
        columns = rng.permutation(X.shape[1])
        blocks = np.split(columns, np.sort(rng.choice(np.arange(1, len(columns)), 3, replace=False)))
        stumps = [stump(X, statistics, np.sort(block), max_bins) for block in blocks]
        for order in itertools.permutations(stumps, len(stumps)):
            assert merged(list(order)) == expected.feature[0]


def test_rounding_is_monotone_and_coarse():
    rng = np.random.default_rng(0)
    for mass in (1e-200, 0.3, 1.0, 7e9, 1e200):
        gains = np.sort(rng.random(200)) * mass
        steps = [round_gain(mass, gain) for gain in gains]
        assert steps == sorted(steps)
        np.testing.assert_allclose(steps, gains, atol=mass * 2.0**-30, rtol=0)


def test_an_order_by_rounded_gain_does_not_depend_on_blocks():
    """A tolerance does: of 1, 1 + 0.8e-9 and 1 + 1.5e-9 it keeps the first or the last, by the blocks they are in."""
    gains = [1.0, 1.0 + 0.8e-9, 1.0 + 1.5e-9]
    keys = [(-round_gain(1.0, gain), place) for place, gain in enumerate(gains)]
    for cut in (1, 2):
        for order in ((keys[:cut], keys[cut:]), (keys[cut:], keys[:cut])):
            assert min(min(block) for block in order) == min(keys)


def test_a_decrease_of_nothing_and_no_split_stay_what_they_are():
    assert round_gain(5.0, 0.0) == 0.0
    assert round_gain(5.0, -np.inf) == -np.inf
