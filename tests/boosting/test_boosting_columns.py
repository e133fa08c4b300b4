"""Draws of columns: how many, which ones, and for whom."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import Data, fit, mixed_frame, target, trees_of
from hypothesis import given
from hypothesis import strategies as st

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.options import TreeOptions
from sapwood.losses import Squared
from strategies import examples

keys = st.integers(0, 2**64 - 1)
shares = st.one_of(st.sampled_from([0.01, 0.5, 0.999]), st.floats(0.001, 0.999))
masks = st.lists(st.booleans(), min_size=1, max_size=30).map(np.array).filter(np.any)


def count(options: ColumnOptions, share: float, n_draws: int = 4000) -> Any:
    """How often each column is drawn."""
    everything = np.ones(options.n_features, dtype=np.bool_)
    return np.sum([options.draw(everything, share, key) for key in range(n_draws)], axis=0)


@examples
@given(masks, shares, keys)
def test_a_share_of_the_columns_at_least_one(mask: Any, share: float, key: int) -> None:
    drawn = ColumnOptions(len(mask)).draw(mask, share, key)
    assert drawn.dtype == np.bool_
    assert (drawn <= mask).all()
    assert drawn.sum() == max(1, round(share * mask.sum()))


@examples
@given(masks, keys)
def test_all_columns_are_drawn_if_all_are_wanted(mask: Any, key: int) -> None:
    np.testing.assert_array_equal(ColumnOptions(len(mask)).draw(mask, 1.0, key), mask)


@examples
@given(masks, shares, keys)
def test_a_draw_is_a_function_of_its_key(mask: Any, share: float, key: int) -> None:
    options = ColumnOptions(len(mask))
    np.testing.assert_array_equal(options.draw(mask, share, key), options.draw(mask.copy(), share, key))


@pytest.mark.parametrize("share", [0.1, 0.3, 0.8])
def test_columns_are_equally_likely(share: float) -> None:
    counts = count(ColumnOptions(10), share)
    expected = share * 4000
    assert (np.abs(counts - expected) < 4 * np.sqrt(expected)).all()


def test_heavier_columns_are_likelier() -> None:
    weights = np.array([1.0, 2.0, 3.0, 4.0])
    counts = count(ColumnOptions(4, weights=weights), 0.25)
    np.testing.assert_allclose(counts / 4000, weights / 10, atol=0.03)


def test_weighted_draws_are_without_replacement() -> None:
    """Of two columns out of three, the first is drawn by its weight and the second by the weights that are left."""
    counts = count(ColumnOptions(3, weights=np.array([1.0, 1.0, 2.0])), 0.67)
    expected = [0.25 + 0.25 / 3 + 0.5 / 2] * 2 + [0.5 + 0.5 * 2 / 3]
    np.testing.assert_allclose(counts / 4000, expected, atol=0.03)


def test_a_column_of_weight_zero_is_drawn_last() -> None:
    options = ColumnOptions(3, weights=np.array([1.0, 0.0, 1.0]))
    assert count(options, 0.67, 200).tolist() == [200, 0, 200]
    assert options.draw(np.array([False, True, False]), 0.5, 1).tolist() == [False, True, False]


def stumps(options: ColumnOptions, n_rounds: int, max_depth: int, seed: int = 0) -> list[Any]:
    """Columns of the inner nodes of trees, with their depths."""
    frame = mixed_frame(300)
    data = Data.of(frame[list("abcd")], target("squared", frame))
    tree = TreeOptions(max_depth=max_depth, min_child_weight=0.0, reg_lambda=0.0)
    trained = fit(data, Squared(), tree, n_rounds, 0.1, columns=options, seed=seed)
    return [
        (tree.feature[~tree.is_leaf], tree.compute_node_depths()[~tree.is_leaf]) for tree in trees_of(trained.ensemble)
    ]


def test_a_tree_keeps_to_its_columns() -> None:
    used = [set(features.tolist()) for features, _ in stumps(ColumnOptions(4, by_tree=0.5), 20, 4)]
    assert all(len(columns) <= 2 for columns in used)
    assert set().union(*used) == {0, 1, 2, 3}


@pytest.mark.parametrize("seed", range(4))
def test_a_level_keeps_to_its_columns(seed: int) -> None:
    found = stumps(ColumnOptions(4, by_level=0.25), 10, 4, seed)
    for features, depths in found:
        assert all(len(set(features[depths == depth].tolist())) == 1 for depth in set(depths.tolist()))
    assert any(len(set(features.tolist())) > 1 for features, _ in found)


@pytest.mark.parametrize("seed", range(4))
def test_nodes_draw_their_own_columns(seed: int) -> None:
    found = stumps(ColumnOptions(4, by_node=0.25), 10, 4, seed)
    assert any(len(set(features[depths == 3].tolist())) > 1 for features, depths in found)
    alone = stumps(ColumnOptions(4, by_tree=0.25, by_node=0.25), 10, 4, seed)
    assert all(len(set(features.tolist())) == 1 for features, _ in alone)


@pytest.mark.parametrize("seed", range(4))
def test_shares_multiply(seed: int) -> None:
    options = ColumnOptions(4, by_tree=0.5, by_level=0.5)
    for features, depths in stumps(options, 5, 4, seed):
        assert len(set(features.tolist())) <= 2
        assert all(len(set(features[depths == depth].tolist())) == 1 for depth in set(depths.tolist()))


@pytest.mark.parametrize("seed", range(4))
def test_interaction_constraints_with_any_seed(seed: int) -> None:
    together = (frozenset({0, 1}), frozenset({2, 3}))
    for features, _ in stumps(ColumnOptions(4, together=together), 5, 3, seed):
        assert len(set(features.tolist())) <= 3


def test_a_column_outside_of_all_sets_may_only_meet_itself() -> None:
    used = [set(f.tolist()) for f, _ in stumps(ColumnOptions(4, together=(frozenset({1, 2}),)), 8, 4)]
    assert all(len(columns) == 1 or columns == {1, 2} for columns in used)
    assert {0} in used
