"""Boosting on sparse tables: the model of the dense table, byte by byte, in memory for the stored cells only."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest
from engine_cases import POLICIES, all_bytes, lower
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone

from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor
from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import place_rows
from sapwood.boosting.options import RoundOptions
from sapwood.boosting.rounds import Rounds
from sapwood.codes.coding import code
from sapwood.codes.sparse import SparseTable
from sapwood.losses import Logistic
from sapwood.row_parts.rows import LocalRows
from sapwood.table import Table

Array = NDArray[Any]

N = 600


def words(n: int = N, n_features: int = 60, seed: int = 0) -> tuple[sparse.csr_array, Array]:
    """Counts of words, most of them absent, and a target that a few of them tell."""
    rng = np.random.default_rng(seed)
    dense = np.where(rng.random((n, n_features)) < 0.08, rng.poisson(3, (n, n_features)) - 0.5, 0.0)
    signal = dense[:, 0] - dense[:, 1] + (dense[:, 2] > 0) + 0.3 * rng.normal(size=n)
    return sparse.csr_array(dense), signal


def model_bytes(x: Any, y: Array, policy: str, absent: Any = "zero", **options: Any) -> bytes:
    table = Table.from_any(x, sparse_absent=absent)
    coded, _ = code(table, "hist", 255, 1)
    assert isinstance(coded, SparseTable) == sparse.issparse(x)
    loss, labels = Logistic(), (y > 0.3).astype(np.float64)
    start = Ensemble(loss.start(LocalRows.of(labels, None)))
    tree = POLICIES[policy]
    settings = RoundOptions(tree, ColumnOptions(coded.n_features), **options)
    scores = np.repeat(start.base[:, None], len(y), axis=1)
    shards = place_rows(coded, labels, None, scores, None, loss, settings)
    rounds = Rounds(coded, table.schema.n_levels, loss, settings, start, shards)
    for _ in range(6):
        rounds.advance(0.3)
    return all_bytes(rounds.ensemble)


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("absent", ["zero", "missing"])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("subsample", [1.0, 0.6])
def test_the_model_of_the_dense_table(
    monkeypatch: pytest.MonkeyPatch, policy: str, absent: str, packed: bool, subsample: float
) -> None:
    if packed:
        lower(monkeypatch, PACKED_ROWS=100)
    x, y = words()
    dense = x.toarray()
    if absent == "missing":
        dense[dense == 0.0] = np.nan
    expected = model_bytes(dense, y, policy, subsample=subsample)
    for n_jobs, n_shards in [(1, 1), (2, 1), (5, 1), (2, 3)]:
        options = {"n_jobs": n_jobs, "n_shards": n_shards, "subsample": subsample}
        assert model_bytes(x, y, policy, absent, **options) == expected


def test_rows_are_dealt_to_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = words()
    expected = model_bytes(x, y, "depthwise")
    lower(monkeypatch, ROWS_PER_THREAD=20)
    assert model_bytes(x, y, "depthwise", n_jobs=5) == expected


@pytest.mark.parametrize(
    "options",
    [
        {"colsample_bytree": 0.5},
        {"colsample_bynode": 0.5},
        {"monotone_constraints": {0: 1, 1: -1}},
        {"min_child_samples": 20},
        {"tree_method": "approx"},
        {"tree_method": "exact"},
        {"subsample": 0.5, "sampling_method": "gradient_based"},
    ],
)
def test_options_of_trees(options: dict[str, Any]) -> None:
    x, y = words()
    estimator = NewtonBoostingRegressor(recipe="xgboost", n_estimators=5, random_state=0, **options)
    ours, theirs = (clone(estimator).fit(table, y) for table in (x, x.toarray()))
    assert all_bytes(ours.ensemble_) == all_bytes(theirs.ensemble_)
    np.testing.assert_array_equal(ours.predict(x), theirs.predict(x.toarray()))


def test_evaluation_on_sparse_rows() -> None:
    x, y = words(N + 200)
    options: dict[str, Any] = {"n_estimators": 30, "early_stopping_rounds": 3}
    train, rest = (slice(0, N), slice(N, None))
    ours = NewtonBoostingClassifier(recipe="xgboost", **options).fit(
        x[train], y[train] > 0, eval_set=[(x[rest], y[rest] > 0)]
    )
    d = x.toarray()
    theirs = NewtonBoostingClassifier(recipe="xgboost", **options).fit(
        d[train], y[train] > 0, eval_set=[(d[rest], y[rest] > 0)]
    )
    assert ours.evals_result() == theirs.evals_result()
    np.testing.assert_array_equal(ours.predict_proba(x), theirs.predict_proba(d))


def test_a_wide_table_needs_memory_for_its_stored_cells_only() -> None:
    n, n_features = 4000, 20_000
    x = sparse.random_array((n, n_features), density=0.002, rng=1, format="csr")
    y = np.asarray(x[:, :50].sum(axis=1)).ravel()
    warm, _ = words()
    NewtonBoostingRegressor(recipe="xgboost", n_estimators=1).fit(warm, warm[:, [0]].toarray().ravel()).predict(warm)
    tracemalloc.start()
    model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, max_depth=2, max_bin=8).fit(x, y)
    model.predict(x)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n * n_features / 2  # a byte for each cell would be 80 MB
