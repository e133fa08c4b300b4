"""Shapley kernels against the definitions, on any tree: levels, missing values, rows that stop, covers of zero."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from descent_cases import rows_for
from explain.shapley_oracle import (
    Rows,
    along_tree,
    games,
    interactions_of,
    terms,
    tree_sum_of,
    values_of,
    with_background,
)
from sapwood.explain.shap.games import (
    Interactions,
    Interventional,
    PathDependent,
    completed_pairs,
    parting_weights,
    play,
)
from sapwood.explain.shap.quadrature import gauss_rule
from sapwood.tree_sum import Term, TreeSum
from strategies import examples

NEAR = {"rtol": 1e-9, "atol": 1e-9}
kinds = st.booleans(), st.booleans(), st.integers(1, 3)


@examples
@given(st.data(), *kinds)
def test_values_along_the_tree(data: Any, categories: bool, stop: bool, width: int) -> None:
    term = data.draw(terms(categories, width))
    X = data.draw(rows_for(term.tree))
    found = play(PathDependent(X.shape[1]), tree_sum_of(term), Rows(X), stop, 1)
    worth = [games(along_tree(term, row, stop), X.shape[1]) for row in X]
    assert_allclose(found.values, values_of(worth), **NEAR)
    assert_allclose(found.base, worth[0][0], **NEAR)
    assert_allclose(found.scores, [each[-1] for each in worth], **NEAR)


@examples
@given(st.data(), *kinds)
def test_interactions_along_the_tree(data: Any, categories: bool, stop: bool, width: int) -> None:
    term = data.draw(terms(categories, width))
    X = data.draw(rows_for(term.tree))
    single = play(PathDependent(X.shape[1]), tree_sum_of(term), Rows(X), stop, 1)
    pairs = play(Interactions(X.shape[1]), tree_sum_of(term), Rows(X), stop, 1)
    expected = [interactions_of(games(along_tree(term, row, stop), X.shape[1])) for row in X]
    assert_allclose(completed_pairs(pairs.values, single.values), expected, **NEAR)


@examples
@given(st.data(), *kinds)
def test_values_against_a_background(data: Any, categories: bool, stop: bool, width: int) -> None:
    term = data.draw(terms(categories, width))
    X = data.draw(rows_for(term.tree))
    background = data.draw(rows_for(term.tree))  # X and background may be of different types
    found = play(Interventional(background), tree_sum_of(term), Rows(X), stop, 1)
    worth = [games(with_background(term, row, background, stop), X.shape[1]) for row in X]
    assert_allclose(found.values, values_of(worth), **NEAR)
    assert_allclose(found.base, worth[0][0], **NEAR)


@examples
@given(st.data(), st.booleans(), st.integers(1, 100), st.integers(1, 3))
def test_rows_and_threads_do_not_matter(data: Any, stop: bool, n_rows: int, n_jobs: int) -> None:
    """The same bits for a row in any company."""
    term = data.draw(terms(True, 2))
    few = data.draw(rows_for(term.tree))
    X = few[np.arange(n_rows) * 7 % len(few)]
    for game in (PathDependent(X.shape[1]), Interactions(X.shape[1]), Interventional(few)):
        many = play(game, tree_sum_of(term), Rows(X), stop, n_jobs).values
        one = [play(game, tree_sum_of(term), Rows(X[i : i + 1]), stop, 1).values[0] for i in range(min(n_rows, 3))]
        assert many[: len(one)].tobytes() == np.array(one).tobytes()


@examples
@given(st.data())
def test_many_batches_of_trees_add_up(data: Any) -> None:
    chosen = [data.draw(terms(False)) for _ in range(3)]
    width = max(term.tree.n_features for term in chosen)
    X = data.draw(st.lists(st.floats(-2, 2, width=32), min_size=5 * width, max_size=5 * width))
    X = np.array(X).reshape(5, width)
    base = TreeSum(np.array([0.5]), 3, chosen.__getitem__, 2.0)
    with pytest.MonkeyPatch.context() as patch:
        whole = play(PathDependent(width), base, Rows(X), False, 1)
        patch.setattr("sapwood.explain.shap.games.MOST_COEFFICIENTS", 1)
        parts = play(PathDependent(width), base, Rows(X), False, 2)
    alone = [play(PathDependent(width), tree_sum_of(term), Rows(X), False, 1) for term in chosen]
    assert_allclose(parts.values, whole.values, **NEAR)
    assert_allclose(whole.values, sum(each.values for each in alone) / 2, **NEAR)
    assert_allclose(whole.base, (0.5 + sum(each.base for each in alone)) / 2, **NEAR)
    assert_allclose(whole.base + whole.values.sum(axis=1), whole.scores, **NEAR)


@examples
@given(st.data(), st.booleans())
def test_features_that_do_the_same_get_the_same(data: Any, stop: bool) -> None:
    """A tree and its mirror image, features 0 and 1 exchanged: the values of two such features are exchanged, too."""
    term = data.draw(terms(False))
    n = max(2, term.tree.n_features)
    X = np.array(data.draw(st.lists(st.floats(-2, 2), min_size=4 * n, max_size=4 * n))).reshape(4, n)
    X[0, 1] = X[0, 0]
    swap = np.array([1, 0, *range(2, n)])
    tree_sum = tree_sum_of(term, mirrored(term))
    for game in (PathDependent(n), Interventional(np.vstack([X, X[:, swap]]))):
        values = play(game, tree_sum, Rows(X), stop, 1).values[..., 0]
        exchanged = play(game, tree_sum, Rows(X[:, swap]), stop, 1).values[..., 0]
        assert_allclose(values[0, 0], values[0, 1], **NEAR)
        assert_allclose(values[:, swap], exchanged, **NEAR)


def mirrored(term: Term) -> Term:
    feature = term.tree.feature
    other = np.where(feature == 0, 1, np.where(feature == 1, 0, feature)).astype(np.int32)
    return Term(replace(term.tree, feature=other), term.values)


@examples
@given(st.data(), st.booleans())
def test_features_that_do_nothing_get_zero(data: Any, categories: bool) -> None:
    term = data.draw(terms(categories))
    X = data.draw(rows_for(term.tree))
    absent = np.setdiff1d(np.arange(X.shape[1]), term.tree.feature)
    for game in (PathDependent(X.shape[1]), Interventional(X)):
        values = play(game, tree_sum_of(term), Rows(X), False, 1).values
        assert (values[:, absent] == 0.0).all()
        assert not np.signbit(values[:, absent]).any()


@pytest.mark.parametrize("degree", [-1, 0, 1, 2, 5, 30])
def test_the_rule_is_exact_up_to_its_degree(degree: int) -> None:
    points, weights = gauss_rule(degree)
    for power in range(max(degree, 0) + 1):
        assert (weights * points**power).sum() == pytest.approx(1 / (power + 1), rel=1e-12)
    assert len(points) == max(degree, 0) // 2 + 1


def test_weights_of_many_features_do_not_overflow() -> None:
    weights = parting_weights(200)
    assert weights[1, 0] == 1.0
    assert weights[2, 3] == pytest.approx(1 * 6 / 120)
    assert (weights[0] == 0.0).all()
    assert np.isfinite(weights).all()
    assert (weights[1:] > 0.0).all()
