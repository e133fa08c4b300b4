"""Categories of many levels in the engine: the same model from any threads and shards, in bounded memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from engine_cases import LOSSES, POLICIES, Data, all_bytes, fit, lower, mixed_frame, target, trees_of, with_signs

from sapwood.boosting.coding import code
from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.codes import mixed
from sapwood.codes.mixed import MixedTable
from sapwood.codes.ranked import rank_table
from sapwood.losses import Logistic, Squared
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


def level_target(frame: pd.DataFrame, loss: str = "squared") -> Any:
    effect = np.random.default_rng(1).normal(size=frame["many"].nunique() + 1)
    signal = frame["a"] + 2.0 * effect[frame["many"].cat.codes] + np.random.default_rng(2).normal(0, 0.3, len(frame))
    return (signal > 0).to_numpy(float) if loss == "logistic" else signal.to_numpy()


@pytest.mark.parametrize("loss", ["squared", "logistic", "multinomial", "huber"])
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("draws", DRAWS)
def test_wide_columns_give_the_model_of_narrow_ones(
    loss: str, policy: str, draws: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = mixed_frame(300)
    y = target(loss, frame)
    narrow = coded(frame, y)
    expected = all_bytes(fit(narrow, LOSSES[loss](), POLICIES[policy], 5, **DRAWS[draws]).ensemble)
    for most, n_wide in ((7, 5), (20, 4)):  # all columns, and those of numbers
        monkeypatch.setattr(mixed, "MOST_BINS", most)
        wide = coded(frame, y)
        assert isinstance(wide.coded, MixedTable)
        assert wide.coded.is_wide.sum() == n_wide
        for options in ({}, {"n_jobs": 3}, {"n_shards": 3, "n_jobs": 2}):
            found = fit(wide, LOSSES[loss](), POLICIES[policy], 5, **DRAWS[draws], **options)
            assert all_bytes(found.ensemble) == expected, options


@pytest.mark.parametrize(
    "changes",
    [
        {"min_child_rows": 9},
        {"reg_alpha": 0.5, "max_delta_step": 0.7},
        {"cat_smooth": 3.0, "max_cat_to_onehot": 1},
        {"max_cat_threshold": 1, "max_cat_to_onehot": 1},
        {"min_child_share": 0.05, "ccp_alpha": 1e-4},
    ],
    ids=str,
)
def test_rules_hold_for_wide_columns(changes: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixed_frame(300)
    y, tree = target("squared", frame), replace(POLICIES["depthwise"], **changes)
    expected = all_bytes(fit(coded(frame, y), Squared(), tree, 4).ensemble)
    monkeypatch.setattr(mixed, "MOST_BINS", 7)
    assert all_bytes(fit(coded(frame, y), Squared(), tree, 4, n_shards=2).ensemble) == expected


def test_monotone_constraints_hold_for_wide_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = mixed_frame(300)
    y, tree = target("squared", frame), with_signs(POLICIES["depthwise"], 1, -1, 0, 0, 0)
    expected = all_bytes(fit(coded(frame, y), Squared(), tree, 4).ensemble)
    monkeypatch.setattr(mixed, "MOST_BINS", 7)
    assert all_bytes(fit(coded(frame, y), Squared(), tree, 4).ensemble) == expected


@pytest.mark.parametrize("policy", POLICIES)
def test_the_exact_method_gives_the_same_model_with_sets_beside_the_nodes(
    policy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    frame = mixed_frame(300)
    y = target("squared", frame)
    expected = all_bytes(fit(coded(frame, y, "exact"), Squared(), POLICIES[policy], 4, method="exact").ensemble)
    monkeypatch.setattr(mixed, "MOST_BINS", 3)
    for draws in ({}, {"subsample": 0.7, "seed": 2}):
        wide = fit(coded(frame, y, "exact"), Squared(), POLICIES[policy], 4, method="exact", n_jobs=2, **draws)
        assert (all_bytes(wide.ensemble) == expected) == (not draws)


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


def test_a_table_of_wide_columns_alone() -> None:
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
