from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapwood import (
    Certificate,
    DecisionTreeRegressor,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    SapwoodError,
)
from sapwood.boosting.ensemble import Ensemble
from sapwood.explain.certificate import certify
from sapwood.model import Model, Response
from sapwood.table.table import Table
from sapwood.tree import Tree


def frame(seed: int, n: int = 400) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, missing values, categories and dates; the target is monotone in nothing."""
    random = np.random.default_rng(seed)
    X = pd.DataFrame(
        {
            "age": random.normal(size=n),
            "size": random.integers(0, 8, n).astype(float),
            "colour": random.choice(["red", "green", "blue", "none"], n),
            "when": pd.Timestamp("2024-01-01") + pd.to_timedelta(random.integers(0, 50, n), unit="D"),
            "flag": random.random(n) < 0.5,
        }
    )
    X.loc[random.random(n) < 0.15, "age"] = np.nan
    X.loc[random.random(n) < 0.1, "colour"] = None
    wave = np.sin(3 * X["age"].fillna(0.7)) * np.where(X["colour"] == "red", 1, -0.5)
    y = wave + np.cos(X["size"]) + 0.02 * X["when"].dt.day * X["flag"] + random.normal(0, 0.2, n)
    return X, y.to_numpy()


def regressor(**parameters) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(
        recipe="xgboost", **{"n_estimators": 20, "max_depth": 4, "random_state": 0, **parameters}
    )


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"grow_policy": "lossguide", "max_leaves": 20, "max_depth": 0},
        {"objective": "absolute_error"},
        {"gamma": 0.3, "subsample": 0.5},
        {"reg_alpha": 0.5, "max_delta_step": 0.7},
    ],
)
def test_models_trained_with_constraints_are_certified(seed, sign, parameters):
    X, y = frame(seed)
    constraints = {"age": sign, "size": -sign, "when": sign}
    model = regressor(monotone_constraints=constraints, **parameters).fit(X, y)
    certificate = model.certify()
    assert certificate
    assert certificate.ok
    assert certificate.counter_example is None
    assert certificate.n_trees == 20
    assert certificate.n_leaf_pairs > 0
    assert len(certificate.checked) == 3
    assert "So each tree is monotone" in certificate.proof
    rows = X.sample(30, random_state=seed)
    for name, direction in constraints.items():
        values = np.sort(X[name].dropna().unique())
        swept = pd.concat([rows.assign(**{name: value}) for value in values])
        scores = model.predict(swept).reshape(len(values), 30)
        assert (direction * np.diff(scores, axis=0) >= 0).all()


def test_classes_and_interactions_are_certified():
    X, y = frame(7)
    labels = np.where(y > 0, "high", "low")
    sets = [["age", "colour"], ["size", "when", "colour"]]
    model = NewtonBoostingClassifier(
        recipe="xgboost",
        n_estimators=10,
        monotone_constraints={"size": 1},
        interaction_constraints=sets,
        random_state=0,
    ).fit(X, labels)
    certificate = model.certify()
    assert certificate.ok
    assert certificate.n_trees == 10
    assert certificate.n_paths == sum(tree.n_leaves for trees in model.ensemble_.rounds for tree in trees)
    assert "all columns lie in one allowed set" in certificate.proof
    assert "{'age', 'colour'}" in certificate.checked[1]


@pytest.mark.parametrize("loss", ["squared_error", "huber", "poisson"])
def test_gradient_boosting_is_certified(loss):
    X, y = frame(9)
    parameters = {"loss": loss, "n_estimators": 15, "random_state": 0}
    constraints = {"monotonic_cst": {"size": -1, "age": 1}, "interaction_cst": [["age", "size"]]}
    model = GradientBoostingRegressor(**parameters, **constraints).fit(X, y - y.min())
    certificate = model.certify()
    assert certificate.ok
    assert len(certificate.checked) == 3
    free = GradientBoostingRegressor(**parameters).fit(X, y - y.min())
    example = free.certify(monotone_constraints={"size": 1}).counter_example
    scores = free.predict(pd.DataFrame(list(example.rows)), output_margin=True)
    assert tuple(scores) == example.scores
    assert scores[0] > scores[1]


def test_nothing_can_be_proved_of_an_init():
    X, y = frame(9)
    numbers = X[["size"]].to_numpy()
    model = GradientBoostingRegressor(init=DecisionTreeRegressor(), n_estimators=2).fit(numbers, y)
    with pytest.raises(SapwoodError, match="cannot analyse a model with a custom init"):
        model.certify(monotone_constraints=[1])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("name", ["age", "size", "when"])
@pytest.mark.parametrize("sign", [1, -1])
def test_counter_examples_of_order_really_are(seed, name, sign):
    X, y = frame(seed)
    model = regressor(n_estimators=30).fit(X, y)
    certificate = model.certify(monotone_constraints={name: sign})
    assert not certificate
    example = certificate.counter_example
    assert example.kind == "monotone"
    assert example.columns == (name,)
    low, high = example.rows
    assert [column for column in X if low[column] is not high[column] and low[column] != high[column]] == [name]
    assert low[name] < high[name]
    rows = pd.DataFrame([low, high])
    assert example.in_model
    assert model.predict(rows) == pytest.approx(example.scores, rel=0, abs=0)
    assert sign * (example.scores[1] - example.scores[0]) < 0
    assert "the wrong way" in certificate.proof


def test_counter_examples_of_interactions_really_are():
    X, y = frame(3)
    model = regressor().fit(X, y)
    certificate = model.certify(interaction_constraints=[["age", "size"], ["colour", "when"], ["flag"]])
    example = certificate.counter_example
    assert example.kind == "interaction"
    first, second = example.columns
    row, one, other, both = example.rows
    assert one == {**row, first: one[first]}
    assert other == {**row, second: other[second]}
    assert both == {**row, first: one[first], second: other[second]}
    scores = model.predict(pd.DataFrame(list(example.rows)))
    assert scores == pytest.approx(example.scores, rel=0, abs=0)
    assert abs((scores[1] - scores[0]) - (scores[3] - scores[2])) > 1e-6
    assert "which no allowed set permits" in certificate.proof


def test_three_columns_that_may_meet_in_pairs_only():
    X, y = frame(5)
    model = regressor(n_estimators=3, max_depth=6).fit(X[["age", "size", "flag"]], y)
    pairs = [["age", "size"], ["size", "flag"], ["age", "flag"]]
    certificate = model.certify(interaction_constraints=pairs)
    assert certificate.counter_example.columns == ("age", "size", "flag")
    assert not certificate.counter_example.in_model
    assert len(certificate.counter_example.rows) == 1
    assert model.certify(interaction_constraints=[["age", "size", "flag"]]).ok


def test_classes_are_certified_by_their_scores():
    X, y = frame(11)
    model = NewtonBoostingClassifier(recipe="xgboost", n_estimators=10, random_state=0).fit(
        X, np.digitize(y, [-0.5, 0.5])
    )
    example = model.certify(monotone_constraints={"size": 1}).counter_example
    scores = model.decision_function(pd.DataFrame(list(example.rows)))[:, example.tree]
    assert scores == pytest.approx(example.scores, rel=0, abs=0)
    assert scores[0] > scores[1]


def test_constraints_may_be_given_as_arrays_and_must_be_given():
    X, y = frame(0)
    numbers = X[["age", "size"]].to_numpy()
    model = regressor().fit(numbers, y)
    assert not model.certify(monotone_constraints=np.array([1, 0]))
    assert model.certify(interaction_constraints=[[0, 1]])
    with pytest.raises(SapwoodError, match="There is nothing to certify"):
        model.certify()
    with pytest.raises(SapwoodError, match="column 'nose'"):
        model.certify(monotone_constraints={"nose": 1})
    with pytest.raises(SapwoodError, match="not fitted"):
        regressor().certify()


def test_only_the_rounds_that_prediction_uses_are_looked_at():
    X, y = frame(2)
    model = regressor(n_estimators=60, learning_rate=1.0, early_stopping_rounds=3, validation_fraction=0.3).fit(X, y)
    assert model.certify(interaction_constraints=[list(X)]).n_trees == model.best_n_rounds_ < model.n_estimators_


def tree_of(values: list[float], splits: dict[int, tuple[int, float, bool]]) -> Tree:
    """Nodes in preorder; `splits` maps nodes to (feature, threshold, missing left), `values` are those of all nodes."""
    n = len(values)
    left, right = np.full(n, -1, np.int32), np.full(n, -1, np.int32)

    def place(node: int) -> int:
        """Number children, and return the node after the last descendant."""
        if node not in splits:
            return node + 1
        left[node] = node + 1
        right[node] = place(node + 1)
        return place(int(right[node]))

    place(0)
    feature = np.array([splits[i][0] if i in splits else -2 for i in range(n)], np.int32)
    threshold = np.array([splits[i][1] if i in splits else -2.0 for i in range(n)])
    missing = np.array([splits[i][2] if i in splits else False for i in range(n)])
    return Tree(
        left,
        right,
        feature,
        threshold,
        missing,
        np.array(values)[:, None, None],
        np.zeros(n),
        np.ones(n, np.int64),
        np.ones(n),
        np.full(n, -1, np.int32),
        np.empty(0, np.uint32),
        np.zeros(2, np.int32),
    )


def certified(*trees: Tree, sign: int = 1) -> Certificate:
    schema = Table.from_any(np.array([[-5.0, -5.0], [5.0, 5.0]])).schema
    ensemble = Ensemble(np.zeros(1), tuple((tree,) for tree in trees))
    model = Model("NewtonBoostingRegressor", schema, ensemble.tree_sum(), Response(), ("score",))
    return certify(model, np.array([sign, 0], np.int8), None)


def test_leaves_that_no_row_can_pass_between_may_be_in_any_order():
    # x0 <= 0 ? (x1 <= 1 ? 5 : 0) : (x1 <= 1 ? 6 : 3); 5 and 3 are out of order, but x1 parts them
    values, splits = [0, 0, 5, 0, 0, 6, 3], {0: (0, 0.0, True), 1: (1, 1.0, True), 4: (1, 1.0, True)}
    assert certified(tree_of(values, splits)).ok
    shifted = splits | {4: (1, 0.5, True)}  # now rows with x1 in (0.5, 1] pass from 5 to 3
    example = certified(tree_of(values, shifted)).counter_example
    assert example.scores == (5.0, 3.0)
    assert 0.5 < example.rows[0]["x1"] <= 1.0
    both_missing = {0: (0, 0.0, True), 1: (1, 1.0, True), 4: (1, 1.0, False)}  # missing x1: from 5 to 3
    example = certified(tree_of(values, both_missing)).counter_example
    assert example.scores == (5.0, 3.0)
    assert np.isnan(example.rows[0]["x1"])


def test_missing_values_of_the_column_have_no_place_in_the_order():
    only_missing_right = {0: (0, np.inf, False)}
    assert certified(tree_of([0, 5, -7], only_missing_right)).ok
    # x0 <= inf ? (x0 <= 0 ? 1 : 2) : -7 where missing goes right
    assert certified(tree_of([0, 0, 1, 2, -7], {0: (0, np.inf, False), 1: (0, 0.0, True)})).ok
    assert not certified(tree_of([0, 0, 2, 1, -7], {0: (0, np.inf, False), 1: (0, 0.0, True)})).ok


def test_minus_infinity_is_a_value():
    assert not certified(tree_of([0, 5, 1], {0: (0, -np.inf, True)})).ok
    assert certified(tree_of([0, 1, 5], {0: (0, -np.inf, True)})).ok


def test_a_tree_that_others_make_up_for_is_named():
    bad, good = tree_of([0, 1, 0], {0: (0, 0.0, True)}), tree_of([0, 0, 3], {0: (0, 0.0, True)})
    certificate = certified(bad, good)
    assert not certificate.ok
    example = certificate.counter_example
    assert not example.in_model
    assert example.tree_values == (1.0, 0.0)
    assert example.scores == (1.0, 3.0)
    assert "other trees compensate for it" in certificate.proof
    assert certified(good).ok


@st.composite
def small_trees(draw):
    """Any tree of depth 3 on two columns, with few thresholds and values."""
    splits, values = {}, []

    def grow(depth: int) -> None:
        node = len(values)
        values.append(float(draw(st.integers(0, 3))))
        if depth < 3 and draw(st.integers(0, 3)) > 0:
            threshold = draw(st.sampled_from([-1.0, 0.0, 1.0, np.inf]))
            splits[node] = (draw(st.integers(0, 1)), threshold, draw(st.booleans()))
            grow(depth + 1)
            grow(depth + 1)

    grow(0)
    return tree_of(values, splits)


@settings(max_examples=150, deadline=None)
@given(small_trees())
def test_certificates_agree_with_trying_everything(tree):
    """One value of each cell, and missing ones, are all that a tree can tell apart."""
    cells = [-1.5, -0.5, 0.5, 1.5]
    others = [*cells, np.nan]
    table = Table.from_any(np.array(list(product(cells, others))))
    ensemble = Ensemble(np.zeros(1), ((tree,),))
    scores = ensemble.scores(table)[0].reshape(len(cells), len(others))
    for sign in (1, -1):
        certificate = certified(tree, sign=sign)
        assert certificate.ok == bool((sign * np.diff(scores, axis=0) >= 0).all())
        if not certificate.ok:
            example = certificate.counter_example
            low, high = ([row["x0"], row["x1"]] for row in example.rows)
            assert low[0] < high[0]
            assert low[1] == high[1] or (np.isnan(low[1]) and np.isnan(high[1]))
            found = ensemble.scores(Table.from_any(np.array([low, high])))[0]
            assert tuple(found) == example.scores
            assert sign * (found[1] - found[0]) < 0


def test_a_changed_leaf_is_found_out():
    X, y = frame(1)
    model = regressor(monotone_constraints={"size": 1}).fit(X, y)
    rounds = list(model.ensemble_.rounds)
    at, tree = next((t, trees[0]) for t, trees in enumerate(rounds) if (trees[0].feature == 1).any())
    node = int(np.flatnonzero(tree.feature == 1)[0])
    value = tree.value.copy()
    value[tree.children_left[node] : tree.children_right[node]] += 10.0
    rounds[at] = (replace(tree, value=value),)
    model.ensemble_ = Ensemble(model.ensemble_.base, tuple(rounds))
    certificate = model.certify()
    assert not certificate.ok
    assert certificate.counter_example.round == at
