"""The three methods of search: where every value has a bin of its own they are one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from law_cases import examples
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor
from sapwood.boosting.ensemble import Ensemble
from sapwood.codes.ranked import rank_table
from sapwood.codes.weighted import weighted_cuts
from sapwood.table.table import Table

pytestmark = pytest.mark.timeout(600)  # the first example waits for the compiler

SETTINGS: list[dict[str, Any]] = [
    {},
    {"grow_policy": "lossguide", "max_leaves": 9, "max_depth": 0},
    {"gamma": 0.2, "reg_alpha": 0.3, "max_delta_step": 0.5},
    {"min_child_samples": 4, "colsample_bynode": 0.6},
    {"monotone_constraints": {0: 1, 1: -1}},
    {"extra_trees": True, "min_child_samples": 3},
    {"random_strength": 1.0},
    {"max_cat_to_onehot": 1, "min_data_per_group": 30, "cat_l2": 10.0},
]


def mixed_rows(n: int, seed: int) -> tuple[NDArray, NDArray]:
    """Numbers with holes; the last column holds few whole numbers."""
    draw = np.random.default_rng(seed)
    X = draw.normal(size=(n, 4))
    X[:, 3] = draw.integers(0, 6, n)
    y = (X[:, 0] - X[:, 1] + (X[:, 3] > 2) + draw.normal(size=n) > 0.5).astype(int)
    X[draw.random(X.shape) < 0.15] = np.nan
    return X, y


def model_bytes(ensemble: Ensemble, without: tuple[str, ...] = ()) -> bytes:
    """All arrays of all trees."""
    trees = [tree for trees in ensemble.rounds for tree in trees]
    return b"".join(array.tobytes() for tree in trees for name, array in tree.arrays().items() if name not in without)


@pytest.mark.parametrize("settings", SETTINGS)
@pytest.mark.parametrize("categorical", [None, [3]])
def test_exact_equals_histograms_where_every_value_has_a_bin(settings: dict[str, Any], categorical: Any) -> None:
    X, y = mixed_rows(200, seed=1)
    common = {
        "n_estimators": 8,
        "categorical_features": categorical,
        "random_state": 0,
        **settings,
    }
    first = NewtonBoostingClassifier(recipe="xgboost", tree_method="hist", **common).fit(X, y)
    second = NewtonBoostingClassifier(recipe="xgboost", tree_method="exact", **common).fit(X, y)
    # Thresholds lie between the values of a node, not of the column; everything else is the same.
    assert model_bytes(first.ensemble_, ("threshold",)) == model_bytes(second.ensemble_, ("threshold",))
    np.testing.assert_array_equal(first.predict_proba(X), second.predict_proba(X))


@pytest.mark.parametrize("settings", SETTINGS)
def test_exact_does_not_depend_on_threads(settings: dict[str, Any]) -> None:
    X, y = mixed_rows(1500, seed=2)
    models = [
        NewtonBoostingClassifier(
            recipe="xgboost", tree_method="exact", n_estimators=5, random_state=0, n_jobs=jobs, **settings
        ).fit(X, y)
        for jobs in (1, 2, 5)
    ]
    assert len({model_bytes(model.ensemble_) for model in models}) == 1


def test_exact_sees_values_that_bins_hide() -> None:
    x = np.arange(3000.0)[:, None]
    y = (np.arange(3000) >= 1501).astype(float)  # no border of 255 equal bins lies here
    exact = NewtonBoostingRegressor(
        recipe="xgboost", tree_method="exact", n_estimators=1, max_depth=1, learning_rate=1.0, reg_lambda=0.0
    )
    assert exact.fit(x, y).ensemble_.rounds[0][0].threshold[0] == 1500.5
    np.testing.assert_allclose(exact.predict(x), y, atol=1e-9)


def test_approx_bins_follow_the_hessian() -> None:
    X, y = mixed_rows(3000, seed=3)
    hist = NewtonBoostingClassifier(recipe="xgboost", n_estimators=20, max_bin=16).fit(X, y)
    approx = NewtonBoostingClassifier(recipe="xgboost", n_estimators=20, max_bin=16, tree_method="approx").fit(X, y)
    assert model_bytes(hist.ensemble_) != model_bytes(approx.ensemble_)
    assert approx.score(X, y) > 0.9 * hist.score(X, y)
    again = NewtonBoostingClassifier(recipe="xgboost", n_estimators=20, max_bin=16, tree_method="approx", n_jobs=1).fit(
        X, y
    )
    assert model_bytes(again.ensemble_) == model_bytes(approx.ensemble_)


def test_continued_exact_training_is_the_whole() -> None:
    X, y = mixed_rows(400, seed=4)
    common = {"tree_method": "exact", "subsample": 0.5, "random_state": 0}
    half = NewtonBoostingClassifier(recipe="xgboost", n_estimators=5, **common).fit(X, y)
    joined = NewtonBoostingClassifier(recipe="xgboost", n_estimators=5, **common).fit(X, y, init_model=half)
    whole = NewtonBoostingClassifier(recipe="xgboost", n_estimators=10, **common).fit(X, y)
    assert model_bytes(joined.ensemble_) == model_bytes(whole.ensemble_)


@examples
@given(st.lists(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 1e-300, 2.0, np.inf, np.nan]), min_size=1, max_size=40))
def test_ranks_order_rows_as_their_values_do(cells: list[float]) -> None:
    table = rank_table(Table.from_any(np.array(cells)[:, None]))
    values, ranks = np.array(cells), table.columns[0]
    assert ((ranks == 0) == np.isnan(values)).all()
    present = ~np.isnan(values)
    _, expected = np.unique(values[present] + 0.0, return_inverse=True)
    assert ranks[present].tolist() == (expected + 1).tolist()
    assert (np.diff(ranks[table.orders[0]].astype(int)) >= 0).all()


@examples
@given(st.lists(st.integers(0, 30), min_size=2, max_size=60), st.integers(2, 12))
def test_weighted_cuts_divide_the_weight_evenly(masses: list[int], max_bins: int) -> None:
    values, mass = np.arange(float(len(masses))), np.array(masses, dtype=float)
    cuts = weighted_cuts(values, mass, max_bins)
    assert len(cuts) < max_bins
    assert (np.diff(cuts) > 0).all()
    heavy = mass > 0
    if heavy.sum() <= max_bins:
        assert len(cuts) == max(0, heavy.sum() - 1)
    else:
        bins = np.bincount(np.searchsorted(cuts, values[heavy]), weights=mass[heavy])
        assert bins.max() <= 2 * (mass.sum() / max_bins) + mass.max()
