"""Weights of rows: counts and floats mean the same, and a weight that vanishes next to others decides nothing."""

from __future__ import annotations

import numpy as np
import pytest

from sapwood import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.growth.criteria import statistics_of
from sapwood.growth.forest_grower import ForestGrower, code_for_many
from sapwood.growth.rules import GrowthRules
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("form", ["drawn", "ranked", "bins"])
@pytest.mark.parametrize("some_missing", [False, True])
def test_counts_of_rows_are_weights(n_classes, form, some_missing):
    rng = np.random.default_rng(3)
    X = rng.integers(0, 40, size=(300, 4)) / 8
    if some_missing:
        X[rng.random(X.shape) < 0.2] = np.nan
    y = ((np.nan_to_num(X[:, 0]) + rng.integers(0, 3, 300)) % n_classes).astype(np.int64)
    table, target = Table.from_any(X), ClassTarget(y[:, None], (np.arange(n_classes),), single=True)
    statistics = statistics_of(target, np.ones(300), "gini")
    draws = form == "drawn"
    coded = code_for_many(table, statistics, 2, max_bins=16 if form == "bins" else None, draws=draws)
    rules = GrowthRules(max_features=2)
    grower = ForestGrower(coded, statistics, rules, table.schema.n_levels, draw_thresholds=draws)
    counts = rng.integers(0, 4, 300)
    rows = np.flatnonzero(counts)
    by_count, by_weight = grower.grow(rows, counts[rows], 5), grower.grow(rows, counts[rows].astype(float), 5)
    np.testing.assert_array_equal(by_count.feature, by_weight.feature)
    np.testing.assert_array_equal(by_count.threshold, by_weight.threshold)
    np.testing.assert_allclose(by_count.value, by_weight.value)
    np.testing.assert_allclose(by_count.impurity, by_weight.impurity, atol=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_rows_that_weigh_nothing_next_to_others_do_not_decide(n_classes):
    """The weight of a child of light rows alone is lost in the sum; it must not count as an infinite gain."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=200)
    y, weight = (x > 0).astype(int), np.ones(200)
    light = np.argsort(x)[-8:]
    weight[light], y[light] = 1e-20, np.arange(8) % n_classes
    tree = DecisionTreeClassifier(max_depth=1).fit(x[:, None], y, sample_weight=weight)
    assert abs(tree.tree_.threshold[0]) < 0.1
    assert tree.score(x[:, None], y, sample_weight=weight) == pytest.approx(1.0)


def test_the_order_of_rows_does_not_decide_which_leaf_is_split_next():
    rng = np.random.default_rng(1)
    for _ in range(30):
        half = rng.integers(0, 30, 8) / 10
        x, y = np.arange(16.0), np.concatenate([half, half + 100])
        trees = set()
        for _ in range(10):
            order = rng.permutation(16)
            tree = DecisionTreeRegressor(max_leaf_nodes=3).fit(x[order, None], y[order]).tree_
            trees.add(tuple(np.round(tree.threshold, 6)))
        assert len(trees) == 1
