"""Rounds of several targets: the mixture that one tree is grown on, shards, draws, and a peer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import (
    POLICIES,
    Data,
    all_bytes,
    begin,
    fit,
    lower,
    mixed_frame,
    one_tree,
    structure,
    target,
    trees_of,
)

import sapwood as sw
from sapwood.kernels.draws import mix
from sapwood.kernels.projection import write_direction
from sapwood.losses import Absolute, Loss, PerTarget, Poisson, Squared
from sapwood.row_parts.rows import LocalRows

RATE, N_ROWS = 0.3, 200
FRAME = mixed_frame(N_ROWS)
Y = np.column_stack([target("squared", FRAME), np.full(N_ROWS, 0.1), 1e4 * FRAME["b"] ** 2, 1e-4 * np.abs(FRAME["d"])])
WEIGHT = np.random.default_rng(3).integers(1, 4, N_ROWS).astype(np.float64)
each_policy = pytest.mark.parametrize("policy", POLICIES)
each_loss = pytest.mark.parametrize("loss", [Squared(), Absolute(), Poisson()], ids=lambda loss: loss.name)


def targets(loss: Loss, weight: Any = None) -> tuple[Data, PerTarget]:
    y = Y if loss.name != "poisson" else np.abs(Y)
    return Data.of(FRAME, y, weight), PerTarget.of(loss, "abcd", LocalRows.of(y, weight))


@each_policy
@each_loss
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["", "weighted"])
def test_splits_are_those_of_the_mixture_of_targets_on_one_scale(loss: Loss, policy: str, weight: Any) -> None:
    """By hand: gradients over their root mean square at the best constants, hessians over their mean there."""
    data, joint = targets(loss, weight)
    start = np.repeat(joint.start(LocalRows.of(data.y, weight))[:, None], N_ROWS, axis=1)
    first = np.empty((2, 4, N_ROWS))
    joint.derivatives(data.y, start, *first)
    sizes = np.sqrt(np.average(first[0] ** 2, axis=1, weights=weight)), np.average(first[1], axis=1, weights=weight)
    sizes[0][1] = 1.0
    rounds = begin(data, joint, POLICIES[policy], one_tree=True, seed=5)
    for t in range(3):
        gradient, hessian = np.empty((2, 4, N_ROWS))
        joint.derivatives(data.y, rounds.score, gradient, hessian)
        direction = np.empty(4)
        write_direction(np.uint64(int(mix(np.uint64(5), np.int64(t)))), False, direction)
        direction[1] = 0.0  # constant
        rounds.advance(RATE)
        (tree,) = rounds.trees[-1]
        twin = one_tree(
            data,
            np.sum([r * g / size / 2.0 for r, g, size in zip(direction, gradient, sizes[0], strict=True)], axis=0),
            np.sum([r * r * h / size / 4.0 for r, h, size in zip(direction, hessian, sizes[1], strict=True)], axis=0),
            POLICIES[policy],
        )
        for own, other in zip(structure(tree), structure(twin), strict=True):
            np.testing.assert_array_equal(own, other)
        assert tree.n_leaves > 4


@each_loss
@pytest.mark.parametrize("draws", [{}, {"subsample": 0.5, "by_gradient": True}, {"subsample": 0.5}])
@pytest.mark.parametrize("one", [False, True])
def test_threads_and_shards_change_nothing(
    loss: Loss, draws: dict[str, Any], one: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(monkeypatch, ROWS_PER_THREAD=4, BLOCK=64, SCAN_PER_THREAD=1, LITTLE_WORK=0, LARGE_CELLS=1)
    lower(monkeypatch, available_cores=lambda: 5)
    data, joint = targets(loss)
    alone = fit(data, joint, POLICIES["leafwise"], 3, one_tree=one, **draws)
    assert any(tree.n_leaves > 4 for tree in trees_of(alone.ensemble))
    for n_jobs, n_shards in ((2, 1), (1, 3), (2, 3)):
        many = fit(data, joint, POLICIES["leafwise"], 3, one_tree=one, n_jobs=n_jobs, n_shards=n_shards, **draws)
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble), (n_jobs, n_shards)
        np.testing.assert_array_equal(many.score, alone.score)


def test_draws_by_gradient_do_not_depend_on_units() -> None:
    data, joint = targets(Squared())
    factors = np.array([2.0**40, 1.0, 1.0, 2.0**-20])
    other = PerTarget.of(Squared(), "abcd", LocalRows.of(data.y * factors))
    drawn = {"subsample": 0.5, "by_gradient": True, "one_tree": True}
    first = fit(data, joint, POLICIES["depthwise"], 3, **drawn)
    second = fit(Data.of(FRAME, data.y * factors), other, POLICIES["depthwise"], 3, **drawn)
    np.testing.assert_array_equal(second.score, first.score * factors[:, None])


@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_xgboost_is_not_better(strategy: str) -> None:
    """XGBoost's vector trees are grown on all gradients, ours on one mixture in each round; losses are alike."""
    xgboost = pytest.importorskip("xgboost")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    parts = np.column_stack([X[:, 0] * X[:, 1], np.sin(2.0 * X[:, 2]) + X[:, 3]])
    y = parts @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(1500, 4))
    train, test = slice(0, 1000), slice(1000, None)
    options = {"n_estimators": 60, "learning_rate": 0.2, "max_depth": 4, "multi_strategy": strategy, "n_jobs": 1}
    theirs = xgboost.XGBRegressor(tree_method="hist", **options).fit(X[train], y[train]).predict(X[test])
    ours = (
        sw.NewtonBoostingRegressor(recipe="xgboost", random_state=0, **options).fit(X[train], y[train]).predict(X[test])
    )
    errors = [((found - y[test]) ** 2).mean() for found in (ours, theirs)]
    assert errors[0] < 1.05 * errors[1]
