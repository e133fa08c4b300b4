"""A limit on leaves that the rows cannot reach costs nothing, and changes nothing."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sklearn.datasets import load_iris

from sapwood import DecisionTreeClassifier, DecisionTreeRegressor, RandomForestClassifier
from sapwood.growth.rules import GrowthRules


@pytest.mark.parametrize("limit", [150, 10**9, 2**62, 10**30])
def test_huge_limits_give_the_unlimited_tree(limit: int) -> None:
    X, y = load_iris(return_X_y=True)
    free = DecisionTreeClassifier(random_state=0).fit(X, y)
    tracemalloc.start()
    limited = DecisionTreeClassifier(random_state=0, max_leaf_nodes=limit).fit(X, y)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 50e6
    for name, array in free.tree_.arrays().items():
        np.testing.assert_array_equal(getattr(limited.tree_, name), array, err_msg=name)


def test_other_trees_take_huge_limits() -> None:
    X, y = load_iris(return_X_y=True)
    RandomForestClassifier(2, max_leaf_nodes=2**62, random_state=0).fit(X, y)
    DecisionTreeRegressor(criterion="absolute_error", max_leaf_nodes=2**62, max_depth=3).fit(X, y)
    DecisionTreeRegressor(max_leaf_nodes=10**12, min_samples_leaf=5).fit(X, y)


def test_limits_that_count_stay() -> None:
    assert GrowthRules(max_leaves=7).on(100, draws=True).max_leaves == 7
    assert GrowthRules(max_leaves=99).on(100, draws=True).max_leaves == 99
    assert GrowthRules(max_leaves=100).on(100, draws=True).max_leaves == 0
    assert GrowthRules(max_leaves=20, min_child_rows=5).on(100, draws=True).max_leaves == 0


def test_a_tree_without_draws_has_no_seed() -> None:
    assert GrowthRules(seed=7).on(100, draws=True).seed == 7
    assert GrowthRules(seed=7).on(100, draws=False).seed == 0
    X, y = load_iris(return_X_y=True)
    assert DecisionTreeClassifier(max_leaf_nodes=4).fit(X, y).get_n_leaves() == 4
