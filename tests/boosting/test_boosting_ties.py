"""Data built to tie: any number of threads and shards grows the same trees, from the first of equal columns."""

from __future__ import annotations

import numpy as np
import pytest
from engine_cases import Array, Data, all_bytes, fit, lower

from sapwood import NewtonBoostingRegressor, fingerprint
from sapwood.boosting.options import TreeOptions
from sapwood.codes import bundles
from sapwood.losses import Squared

TREES = {
    "by level": TreeOptions(max_depth=5, min_child_weight=0.0),
    "by leaf": TreeOptions(max_depth=0, max_leaves=20, leaf_wise=True, min_child_weight=0.0),
    "penalties": TreeOptions(max_depth=5, reg_alpha=0.01),
    "rows counted": TreeOptions(max_depth=5, min_child_rows=3),
}


@pytest.fixture(autouse=True)
def threads_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let five threads split nodes together, whatever the machine has."""
    lower(monkeypatch, LITTLE_WORK=0, LARGE_CELLS=1)
    lower(monkeypatch, available_cores=lambda: 5)
    monkeypatch.setattr(bundles, "LEAST_ROWS", 100)


def tied_arrays(n_columns: int, missing: bool) -> tuple[Array, Array]:
    """Duplicates, mirrored and shifted copies of three columns of few values; the target has few values, too."""
    rng = np.random.default_rng(1)
    base = rng.integers(0, 6, size=(1200, 3)).astype(np.float64)
    columns = [(1 if j % 2 else -1) * base[:, j % 3] + (j % 5) for j in range(n_columns)]
    X = np.column_stack(columns)
    if missing:
        X[rng.random(1200) < 0.2] = np.nan
    return X, np.round(base.sum(axis=1) / 4)


def tied(n_columns: int, missing: bool) -> Data:
    return Data.of(*tied_arrays(n_columns, missing))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("kind", TREES)
def test_threads_and_shards(kind: str, missing: bool) -> None:
    data = tied(30, missing)
    alone = fit(data, Squared(), TREES[kind], 3)
    assert alone.trees[0][0].n_leaves > 5
    for n_jobs, n_shards in ((2, 1), (5, 1), (1, 3), (2, 2)):
        many = fit(data, Squared(), TREES[kind], 3, n_jobs=n_jobs, n_shards=n_shards)
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble), (n_jobs, n_shards)


def test_tiles_of_many_columns() -> None:
    few, one, five = (
        fit(tied(n, False), Squared(), TREES["by level"], 2, n_jobs=j) for n, j in ((30, 1), (330, 1), (330, 5))
    )
    assert all_bytes(one.ensemble) == all_bytes(five.ensemble)
    for (a,), (b,) in zip(few.trees, five.trees, strict=True):  # copies of columns never win
        np.testing.assert_array_equal(a.feature, b.feature)
        np.testing.assert_array_equal(a.threshold, b.threshold)


def test_of_copies_the_first_is_split() -> None:
    trees = [tree for (tree,) in fit(tied(30, False), Squared(), TREES["by level"], 3, n_jobs=5).trees]
    assert {int(j) for tree in trees for j in tree.feature if j >= 0} <= {0, 1, 2}


@pytest.mark.parametrize("method", ["hist", "approx", "exact"])
def test_every_method_splits_the_first_of_copies(method: str) -> None:
    X, y = tied_arrays(12, True)
    models = [
        NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, tree_method=method, n_jobs=n).fit(X, y)
        for n in (1, 3)
    ]
    assert fingerprint(models[0].set_params(n_jobs=1)) == fingerprint(models[1].set_params(n_jobs=1))
    features = {int(j) for (tree,) in models[0].ensemble_.rounds for j in tree.feature if j >= 0}
    assert features <= {0, 1, 2}
