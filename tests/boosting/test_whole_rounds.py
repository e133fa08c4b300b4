"""Rounds that one call of a kernel advances, next to `Rounds.advance`, their plain twin: equal bits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import LOSSES, Data, begin, mixed_frame, target

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.replay import Replay
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.whole_rounds import WholeRounds
from sapwood.losses import PerTarget, Squared
from sapwood.metrics.names import find_metric
from sapwood.row_parts.rows import LocalRows

METRICS = {"squared": "rmse", "logistic": "logloss", "multinomial": "mlogloss", "targets": "loss"}
N_ROWS, N_ROUNDS, RATE = 700, 7, 0.3
TREES = {
    "by level": TreeOptions(max_depth=4),
    "by leaf": TreeOptions(max_depth=0, max_leaves=9, leaf_wise=True, min_child_weight=1e-3, cat_smooth=10.0),
    "rows counted": TreeOptions(max_depth=5, min_child_rows=12),
    "one cut": TreeOptions(max_depth=5, extra_trees=True),
    "groups of levels": TreeOptions(max_depth=4, max_cat_to_onehot=2, cat_l2=10.0, min_data_per_group=20.0),
    "penalties": TreeOptions(max_depth=6, reg_alpha=0.1, max_delta_step=0.5, reg_lambda=0.0),
    "symmetric": TreeOptions(max_depth=5, symmetric=True, min_child_weight=1e-3),
    "symmetric, levels": TreeOptions(
        max_depth=4, symmetric=True, max_leaves=12, max_cat_to_onehot=2, cat_l2=10.0, min_data_per_group=20.0
    ),
    "symmetric, one cut": TreeOptions(max_depth=5, symmetric=True, extra_trees=True, min_child_rows=5),
}
OPTIONS: dict[str, dict[str, Any]] = {
    "plain": {},
    "all drawn": {"subsample": 0.6, "columns": 0.5, "seed": 7},
    "leaves of all rows": {"subsample": 0.8, "leaves_of_all_rows": True},
    "noise": {"random_strength": 0.7, "subsample": 0.8},
    "one tree": {"one_tree": True},
    "one tree, noise": {"one_tree": True, "random_strength": 1.5},
    "one tree, all drawn": {"one_tree": True, "subsample": 0.5, "leaves_of_all_rows": True, "columns": 0.7},
    "one tree, leaves of the sample": {"one_tree": True, "subsample": 0.5},
}


def make(
    loss: str, tree: TreeOptions, part: bool, replays: bool, weighted: bool, columns: float = 1.0, **options: Any
) -> Rounds:
    """Rounds on all rows or on some, with another model that learns from all or without."""
    frame = mixed_frame(N_ROWS)
    weight = np.random.default_rng(3).uniform(0.1, 3.0, N_ROWS) if weighted else None
    y = target(loss, frame)
    if loss == "targets":
        y = np.stack([y, np.full(N_ROWS, 0.3), 1e5 * frame["b"].to_numpy() ** 2], axis=1)
    data = Data.of(frame, y, weight)
    found = LOSSES[loss]() if loss != "targets" else PerTarget.of(Squared(), "abc", LocalRows.of(y, weight))
    rows = np.flatnonzero(np.arange(N_ROWS) % 4 > 0) if part else None
    rounds = begin(data, found, tree, rows=rows, columns=ColumnOptions(5, columns), **options)
    if replays:
        rounds.replay = Replay(rounds.loss, rounds.y, rounds.weight, None, rounds.score.copy())
    return rounds


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("part", "replays"), [(False, False), (True, False), (True, True)])
@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("loss", METRICS)
def test_equal_to_step_by_step(loss: str, options: str, part: bool, replays: bool, weighted: bool) -> None:
    same_bits(loss, TREES["by leaf"], part, replays, weighted, **OPTIONS[options])


@pytest.mark.parametrize("loss", METRICS)
@pytest.mark.parametrize("tree", TREES)
def test_limits_of_trees(loss: str, tree: str) -> None:
    same_bits(loss, TREES[tree], True, True, False, **OPTIONS["all drawn"])


@pytest.mark.parametrize("loss", METRICS)
def test_noise_of_symmetric_trees(loss: str) -> None:
    same_bits(loss, TREES["symmetric"], True, True, True, **OPTIONS["noise"])


def same_bits(loss: str, tree: TreeOptions, part: bool, replays: bool, weighted: bool, **options: Any) -> None:
    """Equal trees, scores and losses of rows; in one call, in two, and step by step."""
    plain, whole = (make(loss, tree, part, replays, weighted, **options) for _ in range(2))
    held_out = np.flatnonzero(np.arange(N_ROWS) % 4 == 0)
    metric = find_metric(METRICS[loss], whole.loss.losses)
    assert WholeRounds.measures(whole.loss, metric)
    assert WholeRounds.suits(whole, learning_rate(RATE))
    engine = WholeRounds(whole, held_out)
    row_losses, row_scores = zip(*(engine.advance([RATE] * n) for n in (3, N_ROUNDS - 3)), strict=True)
    for own, scores in zip(np.concatenate(row_losses), np.concatenate(row_scores), strict=True):
        plain.advance(RATE)
        np.testing.assert_array_equal(scores, plain.score[:, held_out])
        response = plain.score[:, held_out] if metric.uses_score else plain.loss.response(plain.score)[:, held_out]
        wanted = metric.function(plain.y[held_out], response[0] if len(response) == 1 else response, None, None)
        assert metric.function.of_losses(own, None) == wanted
    np.testing.assert_array_equal(whole.score, plain.score)
    if plain.replay is not None and whole.replay is not None:
        np.testing.assert_array_equal(whole.replay.score, plain.replay.score)
    assert_equal(whole.ensemble, plain.ensemble)


def assert_equal(first: Ensemble, second: Ensemble) -> None:
    assert [len(trees) for trees in first.rounds] == [len(trees) for trees in second.rounds]
    for one, other in zip(first.rounds, second.rounds, strict=True):
        for tree, twin in zip(one, other, strict=True):
            for name, array in tree.arrays().items():
                np.testing.assert_array_equal(array, twin.arrays()[name], name)
