"""The regression tree that the specification works out by hand (spec.md, example 5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from engine_cases import Data, begin

from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.losses import Squared

X = np.array([[12.5], [17.5], [28.5], [31.5]])
RESIDUAL = np.array([-10.5, 6.5, 7.5, -7.5])
OPTIONS = TreeOptions(max_depth=2, reg_lambda=0.0, min_child_weight=0.5)


def one_round(**options: float) -> Rounds:
    rounds = begin(Data.of(X, 0.5 + RESIDUAL), Squared(), replace(OPTIONS, **options), start=Ensemble(np.array([0.5])))
    rounds.advance(0.3)
    return rounds


def similarity(rows: list[int]) -> float:
    return RESIDUAL[rows].sum() ** 2 / len(rows)


def test_the_figures_by_hand() -> None:
    assert similarity([0, 1, 2, 3]) == 4.0
    assert similarity([0]) == 110.25
    assert similarity([1, 2, 3]) == pytest.approx(14.08, abs=0.005)


@pytest.mark.parametrize("leaf_wise", [False, True])
def test_the_first_split(leaf_wise: bool) -> None:
    tree = one_round(max_depth=1, leaf_wise=leaf_wise).trees[0][0]
    assert tree.threshold[0] == 15.0
    mass = tree.weighted_n_node_samples * tree.impurity
    assert 2 * (mass[0] - mass[1:].sum()) == pytest.approx(110.25 + similarity([1, 2, 3]) - 4.0)
    assert 2 * (mass[0] - mass[1:].sum()) == pytest.approx(120.33, abs=0.005)


@pytest.mark.parametrize("options", [{"max_depth": 2}, {"max_depth": 0, "max_leaves": 3, "leaf_wise": True}])
def test_leaves_and_predictions(options: dict) -> None:
    rounds = one_round(**options)
    tree = rounds.trees[0][0]
    assert tree.threshold[~tree.is_leaf].tolist() == [15.0, 30.0]
    np.testing.assert_allclose(tree.value[tree.is_leaf, 0, 0] / 0.3, [-10.5, 7.0, -7.5])
    np.testing.assert_allclose(rounds.score[0], [-2.65, 2.6, 2.6, -1.75])


def test_gains_of_columns() -> None:
    rounds = one_round()
    second = similarity([1, 2]) + similarity([3]) - similarity([1, 2, 3])
    np.testing.assert_allclose(2 * rounds.ensemble.gains(1), 120.33 + second, atol=0.005)


@pytest.mark.parametrize(("gamma", "leaves"), [(60.0, 3), (65.0, 3), (71.0, 1)])
def test_the_second_split_saves_the_first(gamma: float, leaves: int) -> None:
    """Half of the text's gains: 60.17, then 70.08."""
    assert one_round(gamma=gamma).trees[0][0].n_leaves == leaves
