"""Categories of many levels in the engine: the same model from any threads and shards, in bounded memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from engine_cases import LOSSES, POLICIES, Data, all_bytes, fit, lower, mixed_frame, target, trees_of, with_signs
from sklearn.model_selection import KFold

from sapwood import NewtonBoostingRegressor, cross_validate_boosting
from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.codes import coding
from sapwood.codes.coding import code
from sapwood.codes.ranked import RankedTable, rank_table
from sapwood.losses import Logistic, Squared
from sapwood.predictor import Predictor
from sapwood.table import Table

DRAWS: dict[str, dict[str, Any]] = {
    "no draws": {},
    "draws": {"subsample": 0.6, "columns": ColumnOptions(5, by_tree=0.8, by_level=0.8, by_node=0.7), "seed": 7},
    "draws by gradient": {"subsample": 0.5, "by_gradient": True, "seed": 7},
    "constraints": {"columns": ColumnOptions(5, together=(frozenset({0, 4}), frozenset({1, 2, 3})))},
}


@pytest.fixture(autouse=True)
def threads_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide even the smallest work between threads."""
    lower(monkeypatch, ROWS_PER_THREAD=4, BLOCK=64, SCAN_PER_THREAD=1, LITTLE_WORK=0, LARGE_CELLS=1)


def coded(frame: pd.DataFrame, y: Any, method: Any = "hist") -> Data:
    table = Table.from_any(frame)
    return Data(table, code(table, method, 32, 1)[0], y)  # type: ignore[arg-type]


def many_levels(n: int = 900, n_levels: int = 400) -> pd.DataFrame:
    """Numbers and categories, one of which has many levels, some of them missing."""
    frame, rng = mixed_frame(n), np.random.default_rng(5)
    levels = pd.Series(rng.permutation(np.concatenate([np.arange(n_levels), rng.integers(0, 60, n - n_levels)])))
    frame["many"] = pd.Categorical(levels.where(rng.random(n) > 0.05))
    return frame


def grouped_frame() -> pd.DataFrame:
    """The first of five columns has 300 levels in 900 rows."""
    frame = mixed_frame(900)
    frame["a"] = pd.Categorical((frame["a"].rank(method="first") // 3).astype(int).where(frame["a"].notna()))
    return frame


def level_target(frame: pd.DataFrame, loss: str = "squared") -> Any:
    effect = np.random.default_rng(1).normal(size=frame["many"].nunique() + 1)
    signal = frame["a"] + 2.0 * effect[frame["many"].cat.codes] + np.random.default_rng(2).normal(0, 0.3, len(frame))
    return (signal > 0).to_numpy(float) if loss == "logistic" else signal.to_numpy()


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial", "huber"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("draws", DRAWS)
def test_a_tree_knows_where_its_rows_are(loss: str, policy: str, draws: str) -> None:
    frame = grouped_frame()
    data = coded(frame, target(loss, mixed_frame(900)))
    found = fit(data, LOSSES[loss](), POLICIES[policy], 5, **DRAWS[draws])
    np.testing.assert_allclose(found.score, found.ensemble.scores(data.table), rtol=1e-9, atol=1e-12)
    if "subsample" not in DRAWS[draws]:
        for tree in trees_of(found.ensemble):
            leaves = np.bincount(Predictor(tree).leaves(data.table), minlength=tree.node_count)
            at = tree.children_left < 0
            np.testing.assert_array_equal(tree.n_node_samples[at], leaves[at])
            inner = np.flatnonzero(~at)
            below = tree.n_node_samples[tree.children_left[inner]] + tree.n_node_samples[tree.children_right[inner]]
            np.testing.assert_array_equal(tree.n_node_samples[inner], below)


@pytest.mark.parametrize("policy", POLICIES)
def test_rules_hold_for_the_rows_as_new_rows_are_routed(policy: str) -> None:
    frame = many_levels()
    data, tree = coded(frame, level_target(frame)), replace(POLICIES[policy], min_child_rows=25)
    found = fit(data, Squared(), tree, 20)
    assert any((own.feature == 5).any() for own in trees_of(found.ensemble))
    for own in trees_of(found.ensemble):
        rows = np.bincount(Predictor(own).leaves(data.table))
        assert rows[rows > 0].min() >= 25
        assert own.n_node_samples.min() >= 25


def test_a_column_of_names_is_never_split() -> None:
    frame = mixed_frame(900)
    frame["many"] = pd.Categorical(np.random.default_rng(0).permutation(900))
    found = fit(coded(frame, target("squared", frame)), Squared(), POLICIES["depthwise"], 20)
    assert not any((tree.feature == 5).any() for tree in trees_of(found.ensemble))


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("signs", [(0, 0, 0, 0, 0), (1, -1, 0, 0, 0)])
def test_more_bins_than_a_byte_holds_are_ranked(policy: str, signs: tuple[int, ...], monkeypatch: Any) -> None:
    frame = mixed_frame(300)
    y, tree = target("squared", frame), with_signs(POLICIES[policy], *signs)
    expected = fit(coded(frame, y), Squared(), tree, 4).ensemble
    monkeypatch.setattr(coding, "MOST_BINS", 7)
    data = coded(frame, y)
    assert isinstance(data.coded, RankedTable)
    for options in ({}, {"n_jobs": 3}):
        assert all_bytes(fit(data, Squared(), tree, 4, **options).ensemble) == all_bytes(expected)


def test_folds_that_are_trained_at_once_have_their_own_groups() -> None:
    frame = many_levels(2000)
    y, folds = level_target(frame), KFold(4)
    curves = [
        cross_validate_boosting(
            NewtonBoostingRegressor(recipe="xgboost", n_estimators=8, max_bin=32, n_jobs=n_jobs),
            frame,
            y,
            cv=folds,
            metric="rmse",
        ).test_curve.mean
        for n_jobs in (1, 4, 4)
    ]
    np.testing.assert_array_equal(curves[0], curves[1])
    np.testing.assert_array_equal(curves[0], curves[2])


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("policy", POLICIES)
def test_models_of_many_levels_do_not_depend_on_threads_and_shards(
    policy: str, packed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if packed:
        lower(monkeypatch, PACKED_ROWS=1)
    frame = many_levels()
    data = coded(frame, level_target(frame, "logistic"))
    for draws in ({}, {"subsample": 0.6, "seed": 3}):
        expected = fit(data, Logistic(), POLICIES[policy], 5, **draws)
        assert any((tree.feature == 5).any() for tree in trees_of(expected.ensemble))
        np.testing.assert_allclose(expected.score, expected.ensemble.scores(data.table), rtol=1e-12)
        for options in ({"n_jobs": 3}, {"n_shards": 3}, {"n_shards": 2, "n_jobs": 4}):
            found = fit(data, Logistic(), POLICIES[policy], 5, **draws, **options)
            assert all_bytes(found.ensemble) == all_bytes(expected.ensemble), options


def test_methods_agree_on_a_category_of_many_levels() -> None:
    frame = many_levels()[["many", "level"]]
    y = level_target(many_levels())
    hist = fit(coded(frame, y), Squared(), POLICIES["depthwise"], 4, columns=ColumnOptions(2))
    table = Table.from_any(frame)
    ranked = Data(table, rank_table(table), y)  # type: ignore[arg-type]
    exact = fit(ranked, Squared(), POLICIES["depthwise"], 4, method="exact", columns=ColumnOptions(2))
    assert all_bytes(hist.ensemble) == all_bytes(exact.ensemble)


def test_a_table_of_many_levels_alone() -> None:
    frame = many_levels()[["many"]]
    data = coded(frame, level_target(many_levels()))
    one, other = (fit(data, Squared(), POLICIES["depthwise"], 4, n_shards=n) for n in (1, 3))
    assert all_bytes(one.ensemble) == all_bytes(other.ensemble)
    assert trees_of(one.ensemble)[0].node_count > 1


def test_memory_does_not_grow_with_leaves_times_levels() -> None:
    """Histograms of 64 nodes on 4 columns of 50 000 levels would take 200 to 300 MB."""
    rng, n, n_levels = np.random.default_rng(0), 60_000, 50_000
    columns = {name: pd.Categorical(rng.permutation(n) % n_levels) for name in "abcd"}
    y = rng.normal(size=n) + rng.normal(size=n_levels)[columns["a"].codes]
    data = coded(pd.DataFrame(columns), y)
    tree = TreeOptions(max_depth=0, max_leaves=64, leaf_wise=True, max_cat_threshold=2**31)
    tracemalloc.start()
    rounds = fit(data, Squared(), tree, 1, columns=ColumnOptions(4), n_jobs=2)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert isinstance(rounds, Rounds)
    assert isinstance(rounds.ensemble, Ensemble)
    assert peak < 100e6
