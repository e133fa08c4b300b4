"""Splits with chance in them: one random cut of each column, and noise of scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from engine_cases import Data, fit, one_tree

from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rounds import Rounds
from sapwood.kernels.draws import mix, normal
from sapwood.kernels.exact_sum import LENGTH, carry_all
from sapwood.kernels.noise import add_noise_terms, noise_of, noise_of_sums
from sapwood.losses import Squared

STUMP = TreeOptions(max_depth=1, min_child_weight=0.0, extra_trees=True)


def stumps(X: np.ndarray, y: np.ndarray, n: int) -> list[tuple[int, float, bool]]:
    """Column, threshold and side of missing values of the first split, for n seeds."""
    found = []
    for seed in range(n):
        tree = fit(Data.of(X, y), Squared(), STUMP, 1, seed=seed).trees[0][0]
        found.append((int(tree.feature[0]), float(tree.threshold[0]), bool(tree.missing_go_to_left[0])))
    return found


def test_every_cut_of_a_column_is_equally_likely() -> None:
    X = np.repeat(np.arange(6.0), 10)[:, None]
    n = 600
    thresholds = [threshold for _, threshold, _ in stumps(X, X[:, 0], n)]
    values, counts = np.unique(thresholds, return_counts=True)
    assert values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]
    assert abs(counts - n / 5).max() < 4 * math.sqrt(n * 0.2 * 0.8)


def test_missing_values_go_to_the_better_side_and_may_be_parted_from_all_others() -> None:
    X = np.array([0.0] * 10 + [1.0] * 10 + [np.nan] * 10)[:, None]
    y = np.array([0.0] * 10 + [5.0] * 10 + [5.0] * 10)
    found = set(stumps(X, y, 40))
    assert (0, 0.5, False) in found
    assert len({threshold for _, threshold, _ in found}) == 2  # the other one has all values on one side


def test_the_best_of_the_drawn_cuts_of_all_columns_is_taken() -> None:
    """One column has a single cut, which is perfect: it is always drawn and always the best."""
    rng = np.random.default_rng(0)
    X = np.column_stack([rng.normal(size=80), np.repeat([0.0, 1.0], 40)])
    assert {feature for feature, _, _ in stumps(X, X[:, 1], 30)} == {1}


def first_columns(strength: float, y: np.ndarray, X: np.ndarray, n: int) -> list[int]:
    tree = TreeOptions(max_depth=1, min_child_weight=0.0)
    rounds = [fit(Data.of(X, y), Squared(), tree, 1, seed=seed, random_strength=strength) for seed in range(n)]
    return [int(one.trees[0][0].feature[0]) for one in rounds]


def test_columns_of_nearly_equal_gain_take_turns_under_noise_and_clear_ones_do_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, (400, 2)).astype(float)
    y = X[:, 0] + 0.98 * X[:, 1]
    assert set(first_columns(0.0, y, X, 5)) == {0}
    share = np.mean(first_columns(0.5, y, X, 60))
    assert 0.1 < share < 0.9
    assert set(first_columns(0.5, X[:, 0] + 0.05 * X[:, 1], X, 30)) == {0}


def test_noise_does_not_make_splits_that_gain_nothing() -> None:
    X = np.arange(40.0)[:, None] % 4
    rounds: Rounds = fit(Data.of(X, np.zeros(40)), Squared(), TreeOptions(), 2, random_strength=100.0)
    assert all(trees[0].node_count == 1 for trees in rounds.trees)
    tree = one_tree(
        Data.of(X, np.zeros(40)), np.ones(40), np.ones(40), TreeOptions(reg_lambda=0.0), random_strength=9.0
    )
    assert tree.node_count == 1


def test_the_size_of_noise_by_hand() -> None:
    """g = 3, 4 and h = 1, 4, weights 1 and 2: r sqrt(41 / 9) m, with m = 2 e^-s / (1 + 2 e^-s) at s = 0.5."""
    m = 2 * math.exp(-0.5) / (1 + 2 * math.exp(-0.5))
    sums = np.empty((2, LENGTH), dtype=np.int64)
    found = noise_of(np.array([3.0, 4.0]), np.array([1.0, 4.0]), np.array([1.0, 2.0]), 0.7, 0.5, sums)
    assert found == pytest.approx(0.7 * math.sqrt(41 / 9) * m, rel=1e-14)
    assert noise_of(np.zeros(2), np.zeros(2), np.ones(2), 1.0, 0.0, sums) == 0.0


def test_the_size_of_noise_is_that_of_parts() -> None:
    g, h, w = np.random.default_rng(0).random((3, 50))
    whole = noise_of(g, h, w, 1.0, 0.1, np.empty((2, LENGTH), dtype=np.int64))
    for cut in (0, 1, 17, 50):
        parts = np.zeros((2, 2, LENGTH), dtype=np.int64)
        pairs = zip((slice(cut), slice(cut, 50)), parts, strict=True)
        n = sum(add_noise_terms(g[of], h[of], w[of], own) for of, own in pairs)
        sums = parts.sum(axis=0)
        carry_all(sums)
        assert noise_of_sums(sums, n, 1.0, 0.1) == whole


def test_normal_draws_have_mean_0_and_variance_1() -> None:
    drawn = np.array([normal(np.uint64(mix(np.uint64(1), np.int64(i)))) for i in range(20_000)])
    assert abs(drawn.mean()) < 4 / math.sqrt(len(drawn))
    assert abs(drawn.var() - 1.0) < 4 * math.sqrt(2 / len(drawn))
    assert abs(np.mean(drawn < -1.0) - 0.1587) < 0.012
