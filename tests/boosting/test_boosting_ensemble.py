"""Fitted ensembles: trees with thresholds and levels, scores by round, gains, and copies."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
from engine_cases import (
    LOSSES,
    POLICIES,
    Data,
    all_bytes,
    fit,
    mixed_frame,
    one_tree,
    target,
    trees_of,
)

from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.losses import Squared
from sapwood.predictor import Predictor

FREE = TreeOptions(max_depth=0, reg_lambda=0.0, min_child_weight=0.0)


@pytest.fixture(scope="module")
def trained() -> tuple[Data, Rounds]:
    frame = mixed_frame(250)
    data = Data.of(frame, target("multinomial", frame))
    return data, fit(data, LOSSES["multinomial"](), POLICIES["depthwise"], 6)


def test_an_empty_ensemble_says_its_base(trained: tuple[Data, Rounds]) -> None:
    data, _ = trained
    scores = Ensemble(np.array([1.0, -2.0])).scores(data.table)
    np.testing.assert_array_equal(scores, np.repeat([[1.0], [-2.0]], 250, axis=1))


def test_staged_scores_are_those_of_the_first_rounds(trained: tuple[Data, Rounds]) -> None:
    data, rounds = trained
    ensemble = rounds.ensemble
    stages = list(ensemble.staged_scores(data.table))
    assert len(stages) == ensemble.n_rounds == 6
    for n, stage in enumerate(stages, start=1):
        np.testing.assert_array_equal(stage, ensemble.scores(data.table, n_rounds=n))
        np.testing.assert_array_equal(stage, ensemble.upto(n).scores(data.table))
    np.testing.assert_array_equal(stages[-1], rounds.score)


def test_scores_are_base_and_leaves_added_up(trained: tuple[Data, Rounds]) -> None:
    data, rounds = trained
    ensemble = rounds.ensemble
    leaves = ensemble.leaves(data.table)
    assert leaves.shape == (250, 6, 3)
    total = np.repeat(ensemble.base[:, None], 250, axis=1)
    for t, trees in enumerate(ensemble.rounds):
        for k, tree in enumerate(trees):
            assert tree.is_leaf[leaves[:, t, k]].all()
            np.testing.assert_array_equal(leaves[:, t, k], Predictor(tree).leaves(data.table))
            total[k] += tree.value[leaves[:, t, k], 0, 0]
    np.testing.assert_array_equal(total, rounds.score)


def test_nodes_hold_the_rows_that_reach_them(trained: tuple[Data, Rounds]) -> None:
    data, rounds = trained
    for tree in trees_of(rounds.ensemble):
        counts = np.bincount(Predictor(tree).leaves(data.table), minlength=tree.node_count)
        for node in range(tree.node_count - 1, -1, -1):
            if not tree.is_leaf[node]:
                counts[node] = counts[tree.children_left[node]] + counts[tree.children_right[node]]
        np.testing.assert_array_equal(counts, tree.n_node_samples)


def test_gains_add_up_over_trees(trained: tuple[Data, Rounds]) -> None:
    _, rounds = trained
    ensemble = rounds.ensemble
    assert (ensemble.gains(5) >= 0).all()
    np.testing.assert_allclose(
        sum(ensemble.upto(n).gains(5) - ensemble.upto(n - 1).gains(5) for n in range(1, 7)), ensemble.gains(5)
    )
    np.testing.assert_array_equal(ensemble.gains(5, n_rounds=2), ensemble.upto(2).gains(5))
    assert ensemble.upto(0).gains(5).tolist() == [0.0] * 5


def test_a_pickle_is_the_same_model(trained: tuple[Data, Rounds]) -> None:
    data, rounds = trained
    copy = pickle.loads(pickle.dumps(rounds.ensemble))
    assert all_bytes(copy) == all_bytes(rounds.ensemble)
    np.testing.assert_array_equal(copy.scores(data.table), rounds.score)


def test_trees_are_frozen_and_in_preorder(trained: tuple[Data, Rounds]) -> None:
    _, rounds = trained
    for tree in trees_of(rounds.ensemble):
        inner = np.flatnonzero(~tree.is_leaf)
        np.testing.assert_array_equal(tree.children_left[inner], inner + 1)
        assert (tree.children_right[inner] > tree.children_left[inner]).all()
        assert not any(array.flags.writeable for array in tree.arrays().values())


def test_thresholds_are_midpoints_of_neighbouring_values() -> None:
    data = Data.of(np.array([[1.0], [2.0], [4.0], [8.0]]), np.zeros(4))
    tree = one_tree(data, np.array([-1.0, -1.0, 1.0, 5.0]), np.ones(4), FREE)
    assert sorted(tree.threshold[~tree.is_leaf].tolist()) == [3.0, 6.0]


def test_missing_rows_split_off_alone_leave_every_value_on_the_other_side() -> None:
    X = np.array([[1.0], [np.inf], [-np.inf], [np.nan], [np.nan]])
    data = Data.of(X, np.zeros(5))
    tree = one_tree(data, np.array([-1.0, -1.0, -1.0, 4.0, 4.0]), np.ones(5), FREE)
    assert tree.n_leaves == 2
    assert tree.threshold[0] == np.inf
    assert not tree.missing_go_to_left[0]
    np.testing.assert_array_equal(Predictor(tree).leaves(data.table), [1, 1, 1, 2, 2])


def test_levels_that_go_left() -> None:
    frame = pd.DataFrame({"x": pd.Categorical(["a", "b", "c", "d", "e", "f", None])})
    gradient = np.array([-5.0, 5.0, -5.0, 5.0, -5.0, 5.0, 5.0])
    tree = one_tree(Data.of(frame, np.zeros(7)), gradient, np.ones(7), FREE)
    assert tree.n_leaves == 2
    assert tree.left_levels(0).tolist() in ([0, 2, 4], [1, 3, 5])
    np.testing.assert_array_equal(np.sign(tree.value[tree.is_leaf, 0, 0]), [1, -1])


def test_hundreds_of_levels_find_their_leaves() -> None:
    rng = np.random.default_rng(0)
    levels = rng.integers(0, 400, 3000)
    frame = pd.DataFrame({"x": pd.Categorical(levels)})
    y = (levels % 2).astype(np.float64)
    data = Data.of(frame, y)
    trained = fit(data, Squared(), TreeOptions(max_cat_threshold=255), 3, 1.0)
    np.testing.assert_array_equal(trained.ensemble.scores(data.table), trained.score)
    assert np.mean((trained.score - y) ** 2) < 0.5 * np.var(y)


def test_values_beyond_those_of_training_go_with_the_nearest() -> None:
    data = Data.of(np.arange(10.0)[:, None], np.arange(10.0))
    trained = fit(data, Squared(), FREE, 1, 1.0)
    new = data.table.schema.match(np.array([[-99.0], [99.0], [-np.inf], [np.inf]]), unseen="missing")
    np.testing.assert_array_equal(trained.ensemble.scores(new)[0], trained.score[0][[0, 9, 0, 9]])
