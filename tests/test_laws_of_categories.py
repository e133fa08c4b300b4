"""Laws of trees of categories and missing values: the order of rows says nothing, and a weight of k is k rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from sapwood import (
    BaggingRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)

N_ROWS, SEEDS = 120, range(40)
CLASSIFIERS = {
    "gini": lambda seed: DecisionTreeClassifier(random_state=seed),
    "entropy": lambda seed: DecisionTreeClassifier(criterion="entropy", random_state=seed),
}
REGRESSORS = {
    "squared": lambda seed: DecisionTreeRegressor(random_state=seed),
    "absolute": lambda seed: DecisionTreeRegressor(criterion="absolute_error", max_depth=5, random_state=seed),
    "poisson": lambda seed: DecisionTreeRegressor(criterion="poisson", random_state=seed),
    "drawn": lambda seed: DecisionTreeRegressor(splitter="random", random_state=seed),
}
TREES = CLASSIFIERS | REGRESSORS
FORESTS = {
    "forest of numbers": lambda seed: RandomForestRegressor(4, random_state=seed),
    "forest of classes": lambda seed: RandomForestClassifier(4, random_state=seed),
    "extra trees": lambda seed: ExtraTreesClassifier(4, random_state=seed),
    "bagging": lambda seed: BaggingRegressor(n_estimators=4, random_state=seed),
}


def table(random: np.random.Generator, name: str) -> tuple[pd.DataFrame, np.ndarray]:
    """Categories, numbers with ties, missing values in most columns, and targets with many ties."""
    n = N_ROWS
    X = pd.DataFrame(
        {
            "eight": random.choice(list("abcdefgh"), n),
            "six": random.choice(list("zyxwvu"), n),
            "ties": random.integers(0, 6, n) * 1.0,
            "x": random.normal(size=n),
        }
    )
    for column in ("eight", "six", "ties"):
        X.loc[random.random(n) < 0.1, column] = None
    if name in CLASSIFIERS or "classes" in name or name == "extra trees":
        return X, random.integers(0, random.integers(2, 4), n)
    y = random.normal(size=n).round(1) if random.random() < 0.5 else random.integers(0, 4, n) * 0.3
    return X, np.abs(y) + 0.1 if name == "poisson" else y


def check_same(one: Any, other: Any, where: str) -> None:
    """Two trees have the same nodes, rows of them counted by weight; sums are added up in another order."""
    for name in ("feature", "children_left", "children_right", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=f"{where}: {name}")
    for name in ("threshold", "value", "weighted_n_node_samples"):
        found, expected = getattr(one, name), getattr(other, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-12, err_msg=f"{where}: {name}")
    for node in np.flatnonzero(one.subset_start >= 0).tolist():
        np.testing.assert_array_equal(one.left_levels(node), other.left_levels(node), err_msg=f"{where}: levels")


def trees_of(model: Any) -> list[Any]:
    return [model.tree_] if hasattr(model, "tree_") else [member.tree_ for member in model.estimators_]


@pytest.mark.parametrize("name", [*TREES, *FORESTS])
def test_order_of_rows_says_nothing(name: str) -> None:
    make = (TREES | FORESTS)[name]
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        X, y = table(random, name)
        order = random.permutation(N_ROWS)
        models = make(seed).fit(X, y), make(seed).fit(X.iloc[order].reset_index(drop=True), y[order])
        for t, (one, other) in enumerate(zip(*map(trees_of, models), strict=True)):
            check_same(one, other, f"seed {seed}, tree {t}")


@pytest.mark.parametrize("name", TREES)
def test_a_weight_of_k_is_k_rows(name: str) -> None:
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        X, y = table(random, name)
        weight = random.integers(0, 4, N_ROWS)
        weight[:10] = 1
        rows = np.repeat(np.arange(N_ROWS), weight)
        weighted = TREES[name](seed).fit(X, y, sample_weight=weight.astype(float))
        repeated = TREES[name](seed).fit(X.iloc[rows].reset_index(drop=True), y[rows])
        check_same(weighted.tree_, repeated.tree_, f"seed {seed}")


@pytest.mark.parametrize("name", ["forest of numbers", "forest of classes"])
def test_in_a_forest_rows_drawn_k_times_are_k_rows(name: str) -> None:
    """The same bags, of rows that occur once and are drawn often, or of as many copies, each drawn once."""
    for seed in SEEDS:
        random = np.random.default_rng(seed)
        X, y = table(random, name)
        copies = np.repeat(np.arange(N_ROWS), 3)
        bags = [np.sort(random.choice(3 * N_ROWS, N_ROWS, replace=False)) for _ in range(4)]
        once = FORESTS[name](seed).fit(X, y, rows=[copies[bag].tolist() for bag in bags])
        apart = FORESTS[name](seed).fit(
            X.iloc[copies].reset_index(drop=True), y[copies], rows=[b.tolist() for b in bags]
        )
        for t, (one, other) in enumerate(zip(trees_of(once), trees_of(apart), strict=True)):
            check_same(one, other, f"seed {seed}, tree {t}")


def test_missing_values_follow_the_heavier_child() -> None:
    """Three light rows on the left, one heavy row on the right: the weight decides."""
    X, y = np.array([[0.0], [0.0], [0.0], [1.0]]), [0, 0, 0, 1]
    for weight, goes_left in (([1, 1, 1, 1], True), ([1, 1, 1, 9], False), ([1, 1, 1, 3], False), ([1, 1, 1, 2], True)):
        assert DecisionTreeRegressor().fit(X, y, sample_weight=weight).tree_.missing_go_to_left[0] == goes_left
        frame = pd.DataFrame({"c": ["a", "a", "a", "b"]})
        model = DecisionTreeClassifier().fit(frame, y, sample_weight=weight)
        assert model.predict(pd.DataFrame({"c": ["new"]}))[0] == (0 if goes_left else 1)


def test_levels_of_equal_means_stay_together_whatever_the_rounding() -> None:
    """All levels have the node's own mean, up to rounding: there is nothing to tell them apart by but their weight."""
    X = pd.DataFrame({"c": list("aabbc")})
    y = np.array([0.1, 0.2, -0.2, 0.5, 0.15])
    found = set()
    for order in ([0, 1, 2, 3, 4], [4, 3, 2, 1, 0], [2, 0, 4, 1, 3], [1, 0, 3, 2, 4]):
        tree = DecisionTreeRegressor(max_depth=1).fit(X.iloc[order].reset_index(drop=True), y[order]).tree_
        found.add(tuple(tree.left_levels(0)) if tree.node_count > 1 else ())
    assert len(found) == 1
