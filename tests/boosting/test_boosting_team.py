"""Trees that a team grows in one call, next to those that are grown step by step on shards."""

from __future__ import annotations

import pickle
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from engine_cases import Data, all_bytes, fit, lower

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.options import TreeOptions
from sapwood.codes import bundles
from sapwood.losses import Logistic

TREES = {
    "by level": TreeOptions(max_depth=7),
    "by leaf": TreeOptions(max_depth=0, max_leaves=50, leaf_wise=True),
    "without limits": TreeOptions(max_depth=0, min_child_weight=0.5),
    "pruned": TreeOptions(max_depth=6, gamma=0.4),
    "penalties": TreeOptions(max_depth=6, reg_alpha=0.1, max_delta_step=0.5),
    "one cut of each column": TreeOptions(max_depth=7, extra_trees=True),
    "rows counted": TreeOptions(max_depth=6, min_child_rows=30),
    "symmetric": TreeOptions(max_depth=6, symmetric=True),
    "symmetric, other rules": TreeOptions(
        max_depth=5, symmetric=True, min_child_rows=20, max_leaves=20, reg_alpha=0.1, extra_trees=True, gamma=0.4
    ),
    "monotone": TreeOptions(max_depth=6, signs=np.array([1, -1] + [0] * 98, dtype=np.int8)),
}


@pytest.fixture(autouse=True)
def threads_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let five threads split nodes together, whatever the machine has, and look for bundles in few rows."""
    lower(monkeypatch, LITTLE_WORK=0, LARGE_CELLS=1)
    lower(monkeypatch, available_cores=lambda: 5)
    monkeypatch.setattr(bundles, "LEAST_ROWS", 100)


def data_of(n: int, n_numbers: int, n_flags: int) -> Data:
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(n, n_numbers))
    numbers[rng.random((n, n_numbers)) < 0.05] = np.nan
    chosen = rng.integers(0, n_flags + 1, n) if n_flags else np.zeros(n)
    flags = chosen[:, None] == np.arange(n_flags)
    score = np.nan_to_num(numbers[:, 0]) * np.nan_to_num(numbers[:, 1]) + np.sin(chosen)
    y = (rng.random(n) < 1 / (1 + np.exp(-2 * score))).astype(np.float64)
    return Data.of(np.hstack([numbers, flags]), y)


def same_for_all(data: Data, tree: TreeOptions, n_rounds: int, **options: Any) -> None:
    """One thread, several, and shards that are asked step by step give equal bytes."""
    alone = fit(data, Logistic(), tree, n_rounds, **options)
    assert alone.trees[0][0].n_leaves > 5
    for n_jobs, n_shards in ((2, 1), (5, 1), (2, 3)):
        many = fit(data, Logistic(), tree, n_rounds, n_jobs=n_jobs, n_shards=n_shards, **options)
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble), (n_jobs, n_shards)
        np.testing.assert_array_equal(many.score, alone.score)


def cut(tree: TreeOptions, n_columns: int) -> TreeOptions:
    return tree if tree.signs is None else TreeOptions(max_depth=tree.max_depth, signs=tree.signs[:n_columns])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("kind", TREES)
def test_numbers_and_bundled_flags(kind: str, packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if packed:
        lower(monkeypatch, PACKED_ROWS=1)
    data = data_of(3000, 5, 12)
    assert data.coded.is_bundled
    same_for_all(data, cut(TREES[kind], 17), 3)


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("direct", [0, 300, 1024])
@pytest.mark.parametrize("kind", ["by level", "by leaf", "rows counted"])
def test_many_columns_are_searched_by_tiles(
    kind: str, direct: int, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if packed:
        lower(monkeypatch, PACKED_ROWS=1)
    lower(monkeypatch, LARGE_CELLS=500 * 330)
    lower(monkeypatch, DIRECT=direct)
    same_for_all(data_of(1500, 330, 0), TREES[kind], 2)


@pytest.mark.parametrize("packed", [False, True])
def test_tiles_of_columns_that_are_drawn(packed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if packed:
        lower(monkeypatch, PACKED_ROWS=1)
    columns = ColumnOptions(330, by_tree=0.7)
    same_for_all(data_of(1500, 330, 0), TreeOptions(max_depth=5), 3, columns=columns, seed=1)


def test_rows_and_columns_are_drawn() -> None:
    columns = ColumnOptions(17, by_tree=0.6)
    same_for_all(data_of(3000, 5, 12), TreeOptions(max_depth=6), 3, subsample=0.5, columns=columns, seed=3)


def test_flags_may_share_bytes_or_not(monkeypatch: pytest.MonkeyPatch) -> None:
    bundled = fit(data_of(3000, 3, 20), Logistic(), TreeOptions(max_depth=6), 5)
    monkeypatch.setattr(bundles, "LEAST_ROWS", 10**9)
    apart = data_of(3000, 3, 20)
    assert not apart.coded.is_bundled
    assert all_bytes(bundled.ensemble) == all_bytes(fit(apart, Logistic(), TreeOptions(max_depth=6), 5).ensemble)


@pytest.mark.parametrize("n_shards", [1, 2])
def test_a_copy_of_a_training_goes_on_by_itself(n_shards: int) -> None:
    data = data_of(300, 4, 0)
    rounds = fit(data, Logistic(), TreeOptions(max_depth=4), 2, n_shards=n_shards)
    for copy in (deepcopy(rounds), pickle.loads(pickle.dumps(rounds))):
        before = rounds.score.copy()
        for _ in range(2):
            copy.advance(0.3)
        np.testing.assert_array_equal(rounds.score, before)
        assert all_bytes(copy.ensemble) == all_bytes(fit(data, Logistic(), TreeOptions(max_depth=4), 4).ensemble)
    for _ in range(2):
        rounds.advance(0.3)
    assert all_bytes(rounds.ensemble) == all_bytes(copy.ensemble)
