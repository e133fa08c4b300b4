"""Scores by 64 rows, by descent and by single rows against the specification: leaf by leaf, added in order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from descent_cases import Rows, columns, rows_for, slow_leaves, trees
from sapwood import NewtonBoostingRegressor, RandomForestClassifier, RandomForestRegressor
from sapwood.predictor import Scorer, bottom_up, code_descent
from sapwood.predictor import scorer as scorer_module
from sapwood.predictor.bottom_up import BLOCK_ROWS
from sapwood.predictor.scorer import FEW
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum
from strategies import examples


def tree_sum_of(grown: list[Tree], width: int, n_columns: int, divisor: float = 1.0) -> TreeSum:
    """Trees that say arbitrary things."""
    rng = np.random.default_rng(len(grown))
    terms = [
        Term(tree, rng.normal(size=(tree.node_count, width)), int(rng.integers(0, n_columns - width + 1)))
        for tree in grown
    ]
    return TreeSum(rng.normal(size=n_columns), len(terms), terms.__getitem__, divisor)


def slow_scores(tree_sum: TreeSum, X: NDArray[Any], stop_at_unseen: bool = False) -> NDArray[np.float64]:
    """The specification."""
    out = np.repeat(tree_sum.base[:, None], len(X), axis=1)
    for term in tree_sum:
        leaves = slow_leaves(term.tree, X, stop_at_unseen)
        out[term.column : term.column + term.values.shape[1]] += term.values[leaves].T
    return out / tree_sum.divisor


@st.composite
def tree_sums(draw: st.DrawFn) -> tuple[TreeSum, NDArray[Any]]:
    """A few trees of the same columns, and rows around the thresholds of the first."""
    categories = draw(st.booleans())
    n_levels = draw(columns(categories))
    grown = draw(st.lists(trees(categories, n_levels), min_size=1, max_size=4))
    width = draw(st.integers(1, 3))
    tree_sum = tree_sum_of(grown, width, width + draw(st.integers(0, 2)), draw(st.sampled_from([1.0, 3.0])))
    return tree_sum, draw(rows_for(max(grown, key=lambda tree: tree.node_count)))


@pytest.fixture(params=[0, FEW], ids=["codes", "row by row"])
def few(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Up to how many rows pass the trees one by one: none, so that tests of few rows reach the other ways, or some."""
    monkeypatch.setattr(scorer_module, "FEW", request.param)
    return int(request.param)


@pytest.mark.usefixtures("few")
@examples
@given(tree_sums(), st.booleans(), st.sampled_from([255, 1]), st.sampled_from([None, 65535, 3]))
def test_scores_are_those_of_the_specification(case: Any, stop: bool, most_steps: int, codes: int | None) -> None:
    tree_sum, X = case
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bottom_up, "MOST_STEPS", most_steps)
        patch.setattr(bottom_up, "TOP_STEPS", min(most_steps, 127))
        patch.setattr(code_descent, "MOST_STEPS", 255 if codes is None else most_steps)
        patch.setattr(code_descent, "CODES", codes)
        patch.setattr(code_descent, "LEAST_TREES", 0)
        scorer, twin = Scorer(tree_sum, stop), slow_scores(tree_sum, X, stop)
        np.testing.assert_array_equal(scorer.scores(Rows(X)), twin)
    for i, row in enumerate(X.astype(np.float64)):
        np.testing.assert_array_equal(scorer.score_row(row), twin[:, i])
    some = TreeSum(tree_sum.base, 1, tree_sum.term, tree_sum.divisor)
    np.testing.assert_array_equal(scorer.scores(Rows(X), n_trees=1), slow_scores(some, X, stop))
    np.testing.assert_array_equal(scorer.score_row(X[0].astype(np.float64), 1), slow_scores(some, X, stop)[:, 0])


@pytest.mark.usefixtures("few")
@examples
@given(tree_sums(), st.integers(1, 300), st.integers(1, 4))
def test_scores_do_not_depend_on_the_rows_around_or_on_threads(case: Any, n_rows: int, n_jobs: int) -> None:
    tree_sum, own = case
    picks = np.arange(n_rows) * 7 % len(own)
    scorer = Scorer(tree_sum)
    np.testing.assert_array_equal(scorer.scores(Rows(own[picks]), n_jobs=n_jobs), scorer.scores(Rows(own))[:, picks])


def tables() -> dict[str, Any]:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(2 * BLOCK_ROWS + 77, 6)).round(2)
    X[rng.random(X.shape) < 0.3] = 0.0
    return {
        "float64": X,
        "float32": X.astype(np.float32),
        "sparse": sparse.csr_matrix(X),
        "columns": np.asfortranarray(X),
    }


@pytest.mark.parametrize(
    "model",
    [NewtonBoostingRegressor(n_estimators=7, max_depth=5), RandomForestRegressor(3, max_bins=None, random_state=0)],
    ids=["small trees", "large trees"],
)
def test_blocks_and_threads_give_the_same_bits(model: Any) -> None:
    for X in tables().values():
        dense = X.toarray() if sparse.issparse(X) else X
        y = dense[:, 0] * dense[:, 1] + dense[:, 2]
        model.fit(X, y)
        tree_sum, table = model.model_.trees, model.model_.match(X)
        scorer = Scorer(tree_sum)
        alone = scorer.scores(table)
        np.testing.assert_array_equal(alone, scorer.scores(table, n_jobs=3))
        for rows in (slice(5, 6), slice(BLOCK_ROWS - 1, BLOCK_ROWS + 2), slice(9, 9 + FEW), slice(100, 164)):
            part = scorer.scores(model.model_.match(X[rows]))
            np.testing.assert_array_equal(part, alone[:, rows])
        np.testing.assert_array_equal(alone[:, :40], slow_scores(tree_sum, dense[:40]))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("n_jobs", [1, 3])
def test_large_trees_by_codes_and_by_descent_give_the_same_bits(
    dtype: type, n_jobs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(code_descent.BLOCK_ROWS + 77, 6)).astype(dtype)
    X[rng.random(X.shape) < 0.1] = np.nan
    X[:6] = [np.roll([np.inf, -np.inf, 0.0, -0.0, np.nan, 1.0], shift) for shift in range(6)]
    y = np.digitize(np.nan_to_num(X[:, 0]) + rng.normal(size=len(X)), [-0.5, 0.5])
    for model in (RandomForestClassifier(12, random_state=0), RandomForestRegressor(14, random_state=0)):
        fitted = model.fit(X[6:3000], y[6:3000]).model_
        by_codes, table = Scorer(fitted.trees), fitted.match(X)
        assert isinstance(by_codes.trees(np.dtype(dtype)), code_descent.CodeDescent)
        found = [by_codes.scores(table, n_trees=n, n_jobs=n_jobs) for n in (None, 1)]
        with monkeypatch.context() as patch:
            patch.setattr(code_descent, "MOST_STEPS", 1 << 30)
            twin = Scorer(fitted.trees)
            assert isinstance(twin.trees(np.dtype(dtype)), bottom_up.BottomUp)
            for n, scores in zip((None, 1), found, strict=True):
                np.testing.assert_array_equal(scores, twin.scores(table, n_trees=n))


def test_columns_with_thousands_of_thresholds() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2))
    model = NewtonBoostingRegressor(n_estimators=100, max_depth=6, tree_method="exact").fit(X, np.sin(9 * X[:, 0]))
    scorer = Scorer(model.model_.trees)
    own = scorer.trees(np.dtype(np.float64))
    assert own.places.n_places > 2 * 2
    np.testing.assert_array_equal(scorer.scores(Rows(X[:50])), slow_scores(model.model_.trees, X[:50]))


def test_a_grove_without_trees_says_its_base() -> None:
    tree_sum = TreeSum(np.array([1.0, -2.0]), 0, [].__getitem__)
    assert Scorer(tree_sum).scores(Rows(np.zeros((3, 2)))).tolist() == [[1.0] * 3, [-2.0] * 3]
    assert Scorer(tree_sum).score_row(np.zeros(2)).tolist() == [1.0, -2.0]


def test_rows_may_have_starts_of_their_own() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(70, 2))
    model = NewtonBoostingRegressor(n_estimators=3).fit(X, X[:, 0])
    scorer, begin = Scorer(model.model_.trees), rng.normal(size=(1, 70))
    twin = scorer.tree_sum.base[:, None] + begin
    for term in scorer.tree_sum:
        twin = twin + term.values[slow_leaves(term.tree, X)].T
    np.testing.assert_array_equal(scorer.scores(Rows(X), begin=begin), twin)
