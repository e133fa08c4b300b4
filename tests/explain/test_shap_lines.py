"""Shapley values of linear leaves against their definitions, on any tree and any lines."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from descent_cases import rows_for
from explain.shapley_oracle import (
    Rows,
    along_tree,
    games,
    interactions_of,
    linear_terms,
    tree_sum_of,
    values_of,
    with_background,
)
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor
from sapwood.explain import shap_interaction_values, shap_values
from sapwood.explain.shap.games import Interactions, Interventional, PathDependent, completed_pairs, play
from strategies import examples

NEAR = {"rtol": 1e-9, "atol": 1e-9}
kinds = st.booleans(), st.booleans()


@examples
@given(st.data(), *kinds)
def test_values_along_the_tree(data: Any, categories: bool, stop: bool) -> None:
    term = data.draw(linear_terms(categories))
    X = data.draw(rows_for(term.tree))
    found = play(PathDependent(X.shape[1]), tree_sum_of(term), Rows(X), stop, 1)
    worth = [games(along_tree(term, row, stop), X.shape[1]) for row in X]
    assert_allclose(found.values, values_of(worth), **NEAR)
    assert_allclose(found.base, worth[0][0], **NEAR)
    assert_allclose(found.scores, [each[-1] for each in worth], **NEAR)


@examples
@given(st.data(), *kinds)
def test_interactions_along_the_tree(data: Any, categories: bool, stop: bool) -> None:
    term = data.draw(linear_terms(categories))
    X = data.draw(rows_for(term.tree))
    single = play(PathDependent(X.shape[1]), tree_sum_of(term), Rows(X), stop, 1)
    pairs = play(Interactions(X.shape[1]), tree_sum_of(term), Rows(X), stop, 1)
    expected = [interactions_of(games(along_tree(term, row, stop), X.shape[1])) for row in X]
    assert_allclose(completed_pairs(pairs.values, single.values), expected, **NEAR)


@examples
@given(st.data(), *kinds)
def test_values_against_a_background(data: Any, categories: bool, stop: bool) -> None:
    term = data.draw(linear_terms(categories))
    X = data.draw(rows_for(term.tree))
    background = data.draw(rows_for(term.tree))
    found = play(Interventional(background), tree_sum_of(term), Rows(X), stop, 1)
    worth = [games(with_background(term, row, background, stop), X.shape[1]) for row in X]
    assert_allclose(found.values, values_of(worth), **NEAR)
    assert_allclose(found.base, worth[0][0], **NEAR)
    assert_allclose(found.scores, [each[-1] for each in worth], **NEAR)


@examples
@given(st.data(), st.booleans(), st.integers(1, 100), st.integers(1, 3))
def test_rows_and_threads_do_not_matter(data: Any, stop: bool, n_rows: int, n_jobs: int) -> None:
    term = data.draw(linear_terms(True))
    few = data.draw(rows_for(term.tree))
    X = few[np.arange(n_rows) * 7 % len(few)]
    for game in (PathDependent(X.shape[1]), Interactions(X.shape[1]), Interventional(few)):
        many = play(game, tree_sum_of(term), Rows(X), stop, n_jobs).values
        one = [play(game, tree_sum_of(term), Rows(X[i : i + 1]), stop, 1).values[0] for i in range(min(n_rows, 3))]
        assert many[: len(one)].tobytes() == np.array(one).tobytes()


rng = np.random.default_rng(0)
FRAME = pd.DataFrame(rng.normal(size=(400, 4)), columns=list("abcd"))
FRAME.loc[rng.random(400) < 0.1, "b"] = np.nan
FRAME["kind"] = pd.Categorical(rng.choice([None, *"uvw"], 400))
Z = FRAME.fillna({"b": 0.0})
Y = 2.0 * Z["a"] - Z["b"] * Z["c"] + (FRAME["kind"] == "u")
MODELS = {
    "numbers": lambda: NewtonBoostingRegressor(n_estimators=20, linear_tree=True, random_state=0).fit(FRAME, Y),
    "folds": lambda: NewtonBoostingRegressor(linear_tree=True, random_state=0).fit(FRAME, Y),
    "two classes": lambda: NewtonBoostingClassifier(n_estimators=9, linear_tree=True).fit(FRAME, Y > 0),
    "three classes": lambda: NewtonBoostingClassifier(n_estimators=9, linear_tree=True).fit(
        FRAME, np.digitize(Y, [-1, 1])
    ),
}


@pytest.mark.parametrize("name", MODELS)
def test_values_add_up_to_the_scores_of_models(name: str) -> None:
    model = MODELS[name]()
    assert model.model_.trees.is_linear
    wanted = model.predict(FRAME, output_margin=True)
    along, against = shap_values(model, FRAME), shap_values(model, FRAME, background=FRAME[:30])
    pairs = shap_interaction_values(model, FRAME[:50])
    for found in (along, against):
        assert_allclose(found.base_values + found.values.sum(axis=1), wanted, **NEAR)
    assert_allclose(pairs.values.sum(axis=2), along.values[:50], **NEAR)
    assert_array_equal(pairs.values, pairs.values.swapaxes(1, 2))


def test_a_line_is_worth_its_distance_from_the_centre() -> None:
    """One leaf on each side of x = 0, with slopes 1 and 3: what x adds beyond the leaf is the line."""
    x = np.linspace(-1.0, 1.0, 200)[:, None]
    y = np.where(x[:, 0] > 0, 5.0 + 3.0 * x[:, 0], x[:, 0])
    plain: dict[str, Any] = {"recipe": "xgboost", "learning_rate": 1.0, "max_depth": 1, "reg_lambda": 0.0}
    model = NewtonBoostingRegressor(n_estimators=1, **plain, linear_tree=True, linear_lambda=0.0).fit(x, y)
    found = shap_values(model, [[0.5]])
    assert_allclose(found.base_values, y.mean(), rtol=1e-12)
    assert_allclose(found.values[0, 0], 5.0 + 3.0 * 0.5 - y.mean(), rtol=1e-9)
