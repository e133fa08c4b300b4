"""Categories of many levels count as far as they explain more than chance, in the tree as in its specification."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import strategies
from oracle import brute_force as bf
from oracle.compare import check_tree
from sapwood import DecisionTreeClassifier, DecisionTreeRegressor

CRITERIA = ("gini", "entropy", "error", "squared_error", "poisson")


@st.composite
def tables(draw: st.DrawFn, criterion: str) -> strategies.Case:
    """A category of up to ten levels, some of them once, and one or two columns of numbers."""
    n_rows = draw(st.integers(9, 30))
    cells = st.lists(st.integers(0, 9).map(float), min_size=n_rows, max_size=n_rows)
    values = np.array(draw(cells))
    values[:9] = np.arange(9)
    if draw(st.booleans()):
        values[draw(st.integers(0, n_rows - 1))] = np.nan
    numbers = [draw(strategies.number_columns(n_rows, True, True)) for _ in range(draw(st.integers(1, 2)))]
    y = draw(strategies.targets(criterion, n_rows, draw(st.integers(2, 3)), 1))
    weight = draw(strategies.weights(draw(st.sampled_from(["none", "integers", "floats"])), n_rows))
    if criterion == "poisson":
        y[0] = max(y[0], 1)
    if weight is not None:
        weight[:2] = np.maximum(weight[:2], 1)
    return strategies.Case((bf.Column(values, is_category=True), *numbers), y, weight)


def fitted(case: strategies.Case, rules: bf.Rules) -> tuple[Any, pd.DataFrame]:
    X = case.frame(tuple("abcdefghij"))
    kind = DecisionTreeClassifier if rules.is_classification else DecisionTreeRegressor
    model = kind(
        criterion=rules.criterion, min_samples_leaf=rules.min_samples_leaf, max_leaf_nodes=rules.max_leaf_nodes
    )
    return model.fit(X, case.y, sample_weight=case.weight), X


@pytest.mark.parametrize("criterion", CRITERIA)
@strategies.examples
@given(data=st.data())
def test_tree_is_the_specified_one(criterion: str, data: st.DataObject) -> None:
    case = data.draw(tables(criterion))
    leaf, leaves = data.draw(st.sampled_from([(1, None), (1, None), (2, None), (1, 3)]))
    rules = bf.Rules(criterion, min_samples_leaf=leaf, max_leaf_nodes=leaves)
    model, X = fitted(case, rules)
    kept = slice(None) if case.weight is None else case.weight > 0
    classes = [model.classes_] if rules.is_classification else None
    task = bf.make_task(case.columns, case.y, case.weight, rules)
    check_tree(model.tree_, model.apply(X)[kept], task, classes)


@pytest.mark.parametrize("y", [(0, 0, 0, 1, 1), (0.0, 1.0, 2.5, 4.0, 4.0), (1, 0, 0, 0, 0)])
def test_what_levels_explain_by_chance(y: tuple[float, ...]) -> None:
    """Over all ways to deal out the targets, K levels lower the impurity by (K - 1) / (n - 1) of it on average."""
    level = np.array([0, 1, 1, 2, 2])
    total = np.var(y) * len(y)
    explained = []
    for dealt in permutations(y):
        within = sum(np.var(np.array(dealt)[level == one]) * (level == one).sum() for one in range(3))
        explained.append((total - within) / total)
    assert np.mean(explained) == pytest.approx((3 - 1) / (5 - 1))


def test_identifiers_never_split() -> None:
    """A level for each row separates classes perfectly, and that says nothing."""
    y = np.arange(60) % 2
    X = pd.DataFrame({"id": pd.Categorical([f"r{i}" for i in range(60)])})
    for model, target in ((DecisionTreeClassifier(), y), (DecisionTreeRegressor(criterion="absolute_error"), y * 1.0)):
        with pytest.warns(UserWarning, match="60 different values"):
            assert model.fit(X, target).get_n_leaves() == 1


def test_few_levels_split_as_ever() -> None:
    """Eight levels, once each, may still be told apart."""
    X = pd.DataFrame({"id": list("abcdefgh")})
    assert DecisionTreeClassifier().fit(X, [0, 1] * 4).get_n_leaves() == 2


def test_many_levels_with_rows_enough_split() -> None:
    """Forty levels of ten rows that decide the target are found."""
    level = np.repeat(np.arange(40), 10)
    X = pd.DataFrame({"x": np.random.default_rng(0).normal(size=400), "level": [f"l{k}" for k in level]})
    model = DecisionTreeClassifier().fit(X, level % 2)
    assert model.get_n_leaves() == 2
    assert model.tree_.feature[0] == 1


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
@pytest.mark.parametrize(("n_rows", "n_levels", "n_classes"), [(60, 30, 10), (200, 30, 10), (1000, 100, 20)])
def test_levels_that_decide_many_classes_are_found(n_rows: int, n_levels: int, n_classes: int, criterion: str) -> None:
    """One split in two explains little of many classes; what counts is what the levels explain together."""
    level = np.arange(n_rows) % n_levels
    X = pd.DataFrame({"level": [f"l{k}" for k in level], "x": np.random.default_rng(0).normal(size=n_rows)})
    model = DecisionTreeClassifier(criterion=criterion).fit(X[["level"]], level % n_classes)
    assert model.score(X[["level"]], level % n_classes) == 1.0
    assert DecisionTreeClassifier(criterion=criterion).fit(X, level % n_classes).tree_.feature[0] == 0


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_levels_of_few_rows_that_decide_a_number_are_found(criterion: str) -> None:
    level = np.arange(150) % 100
    y = np.random.default_rng(0).normal(size=100)[level]
    X = pd.DataFrame({"level": [f"l{k}" for k in level]})
    assert DecisionTreeRegressor(criterion=criterion).fit(X, y).score(X, y) > 0.98


def test_levels_that_say_nothing_do_not_win() -> None:
    """Three hundred levels of two rows each, next to a column of numbers that says a little."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"level": [f"l{k}" for k in rng.integers(0, 300, 600)], "x": rng.normal(size=600)})
    y = (X["x"] + 2.0 * rng.normal(size=600) > 0).astype(int)
    assert DecisionTreeClassifier(max_depth=3).fit(X, y).feature_importances_[0] == 0.0
