"""One tree for all scores of a round, and leaves that all rows set although a sample grew the tree."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_cases import (
    LOSSES,
    POLICIES,
    Data,
    all_bytes,
    assert_same_model,
    begin,
    fit,
    lower,
    mixed_frame,
    one_tree,
    structure,
    target,
    trees_of,
    with_signs,
)
from hypothesis import given
from hypothesis import strategies as st

from sapwood.boosting.rounds import Rounds
from sapwood.explain.leaf_boxes import subtree_ends
from sapwood.kernels.draws import mix
from sapwood.kernels.projection import write_direction
from sapwood.losses import Absolute, Multinomial
from sapwood.predictor import Predictor
from sapwood.row_parts.rows import LocalRows
from sapwood.tree import Tree
from strategies import examples

Floats = np.ndarray[Any, np.dtype[np.float64]]
VECTORS = ("multinomial", "quantiles")
RATE = 0.3
ALL = {"leaves_of_all_rows": True}


def draw_direction(n_scores: int, key: int, sums_to_zero: bool) -> Floats:
    direction = np.empty(n_scores)
    write_direction(np.uint64(key), sums_to_zero, direction)
    return direction


DRAWN: dict[str, dict[str, Any]] = {
    "uniform": {"subsample": 0.5, "seed": 7},
    "by gradient": {"subsample": 0.5, "by_gradient": True, "seed": 7},
    "counted": {"subsample": 0.5, "counted": True, "seed": 7},
}
each_vector_loss = pytest.mark.parametrize("loss", VECTORS)
each_policy = pytest.mark.parametrize("policy", POLICIES)
each_draw = pytest.mark.parametrize("draws", DRAWN)


def mixed_data(loss: str, n: int = 200, weighted: bool = False) -> Data:
    frame = mixed_frame(n)
    weight = np.random.default_rng(3).integers(1, 9, n) / 4 if weighted else None
    return Data.of(frame, target(loss, frame), weight, max_bins=32)


def derivatives(rounds: Rounds, score: Floats) -> tuple[Floats, Floats]:
    """Gradients and hessians (scores, rows) at a score, weights included."""
    gradient, hessian = np.empty_like(score), np.empty_like(score)
    rounds.loss.derivatives(rounds.y, score, gradient, hessian)
    weight = 1.0 if rounds.weight is None else rounds.weight
    return gradient * weight, hessian * weight


def newton_values(tree: Tree, leaves: Any, gradient: Floats, hessian: Floats, reg_lambda: float) -> Floats:
    """Newton's steps of all nodes (nodes, scores) from the rows below them, by brute force."""
    ends, values = subtree_ends(tree), np.zeros((tree.node_count, len(gradient)))
    for node in range(tree.node_count):
        inside = (leaves >= node) & (leaves < ends[node])  # in preorder
        values[node] = -gradient[:, inside].sum(axis=1) / (hessian[:, inside].sum(axis=1) + reg_lambda)
    return values


@examples
@given(st.integers(2, 9), st.integers(0, 2**64 - 1))
def test_directions_of_classes_add_up_to_nothing(n_scores: int, key: int) -> None:
    direction = draw_direction(n_scores, key, sums_to_zero=True)
    assert direction.sum() == pytest.approx(0.0, abs=1e-12)
    assert (direction**2).mean() == pytest.approx(1.0)
    assert len(set(direction.tolist())) == 2
    np.testing.assert_array_equal(direction, draw_direction(n_scores, key, sums_to_zero=True))


@examples
@given(st.integers(1, 9), st.integers(0, 2**64 - 1))
def test_directions_of_other_scores_are_signs(n_scores: int, key: int) -> None:
    direction = draw_direction(n_scores, key, sums_to_zero=False)
    assert set(direction.tolist()) <= {-1.0, 1.0}
    np.testing.assert_array_equal(direction, draw_direction(n_scores, key, sums_to_zero=False))


def test_each_class_and_each_side_is_drawn() -> None:
    found = {tuple(np.sign(draw_direction(3, key, sums_to_zero=True))) for key in range(200)}
    assert len(found) == 6  # all but three equal signs
    assert len({tuple(draw_direction(3, key, sums_to_zero=False)) for key in range(200)}) == 8


@each_policy
@pytest.mark.parametrize("weighted", [False, True])
def test_trees_are_those_of_the_mixture_and_leaves_those_of_each_class(policy: str, weighted: bool) -> None:
    """Small data, by hand: splits by the projected gradients, leaf values by each class's own."""
    data, options = mixed_data("multinomial", weighted=weighted), POLICIES[policy]
    rounds = begin(data, Multinomial(3), options, one_tree=True, seed=5)
    for t in range(5):
        gradient, hessian = derivatives(rounds, rounds.score)
        key = int(mix(np.uint64(5), np.int64(t)))
        direction = draw_direction(3, key, sums_to_zero=True)
        before = rounds.score.copy()
        rounds.advance(RATE)
        (tree,) = rounds.trees[-1]
        twin = one_tree(replace(data, weight=None), direction @ gradient, direction**2 @ hessian, options)
        for own, other in zip(structure(tree), structure(twin), strict=True):
            np.testing.assert_array_equal(own, other)
        np.testing.assert_allclose(tree.weighted_n_node_samples, twin.weighted_n_node_samples, rtol=1e-6)
        leaves = Predictor(tree).leaves(data.table)
        expected = RATE * newton_values(tree, leaves, gradient, hessian, options.reg_lambda)
        np.testing.assert_allclose(tree.value[:, :, 0], expected, rtol=1e-7, atol=1e-9)
        np.testing.assert_array_equal(rounds.score, before + tree.value[leaves, :, 0].T)
    assert any(tree.n_leaves > 4 for tree in trees_of(rounds.ensemble))
    assert {len(trees) for trees in rounds.trees} == {1}


def test_leaves_of_quantiles_are_quantiles_of_their_rows() -> None:
    data = mixed_data("quantiles")
    rounds = begin(data, LOSSES["quantiles"](), POLICIES["depthwise"], one_tree=True)
    for _ in range(3):
        before = rounds.score.copy()
        rounds.advance(1.0)
        (tree,) = rounds.trees[-1]
        leaves = Predictor(tree).leaves(data.table)
        for leaf in np.flatnonzero(tree.is_leaf):
            inside = leaves == leaf
            for k in range(2):
                (step,) = rounds.loss.leaf_steps(LocalRows.of(data.y[inside], None, before[:, inside]), k)
                assert tree.value[leaf, k, 0] == pytest.approx(step)


def test_one_score_needs_no_mixture() -> None:
    data = mixed_data("logistic")
    one, other = (fit(data, LOSSES["logistic"](), POLICIES["depthwise"], 4, one_tree=on) for on in (False, True))
    assert all_bytes(one.ensemble) == all_bytes(other.ensemble)


@each_vector_loss
@each_policy
@pytest.mark.parametrize("draws", [None, *DRAWN])
@pytest.mark.parametrize("of_all", [False, True])
def test_threads_and_shards_change_nothing(
    loss: str, policy: str, draws: str | None, of_all: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(monkeypatch, ROWS_PER_THREAD=4, BLOCK=64, SCAN_PER_THREAD=1, LITTLE_WORK=0, LARGE_CELLS=1)
    lower(monkeypatch, available_cores=lambda: 5)
    data = mixed_data(loss, weighted=draws == "uniform")
    options = {"one_tree": True, "leaves_of_all_rows": of_all, **({} if draws is None else DRAWN[draws])}
    alone = fit(data, LOSSES[loss](), POLICIES[policy], 4, **options)
    assert any(tree.n_leaves > 4 for tree in trees_of(alone.ensemble))
    np.testing.assert_array_equal(alone.ensemble.scores(data.table), alone.score)
    for n_jobs, n_shards in ((2, 1), (1, 3), (2, 3)):
        many = fit(data, LOSSES[loss](), POLICIES[policy], 4, n_jobs=n_jobs, n_shards=n_shards, **options)
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble), (n_jobs, n_shards)
        np.testing.assert_array_equal(many.score, alone.score)


def test_threads_and_shards_change_nothing_when_sums_are_packed(monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, PACKED_ROWS=1, ROWS_PER_THREAD=4, BLOCK=64)
    data, options = mixed_data("multinomial"), {"one_tree": True, **ALL, **DRAWN["uniform"]}
    alone = fit(data, Multinomial(3), POLICIES["depthwise"], 4, **options)
    for n_jobs, n_shards in ((2, 1), (2, 3)):
        many = fit(data, Multinomial(3), POLICIES["depthwise"], 4, n_jobs=n_jobs, n_shards=n_shards, **options)
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble)


@each_vector_loss
@each_policy
def test_a_weight_of_k_is_k_copies(loss: str, policy: str) -> None:
    data = mixed_data(loss, n=120)
    copies = np.random.default_rng(0).integers(1, 4, 120)
    weighted = replace(data, weight=copies.astype(np.float64))
    first = fit(weighted, LOSSES[loss](), POLICIES[policy], 5, one_tree=True)
    second = fit(data.take(np.repeat(np.arange(120), copies)), LOSSES[loss](), POLICIES[policy], 5, one_tree=True)
    assert_same_model(first.ensemble, second.ensemble)


@each_vector_loss
def test_rounds_continue_where_they_stopped(loss: str) -> None:
    data, options = mixed_data(loss), {"one_tree": True, **ALL, **DRAWN["uniform"]}
    whole = fit(data, LOSSES[loss](), POLICIES["depthwise"], 6, **options)
    half = fit(data, LOSSES[loss](), POLICIES["depthwise"], 3, **options)
    rest = fit(data, LOSSES[loss](), POLICIES["depthwise"], 3, start=half.ensemble, **options)
    assert all_bytes(rest.ensemble) == all_bytes(whole.ensemble)


@each_vector_loss
@pytest.mark.parametrize("of_all", [False, True])
def test_rows_that_only_watch_change_nothing(loss: str, of_all: bool) -> None:
    data, n = mixed_data(loss), 140
    options = {"one_tree": True, "leaves_of_all_rows": of_all}
    watched = begin(data, LOSSES[loss](), POLICIES["depthwise"], rows=np.arange(n), **options)
    alone = begin(data.take(np.arange(n)), LOSSES[loss](), POLICIES["depthwise"], start=watched.start, **options)
    for rounds in (watched, alone):
        for _ in range(4):
            rounds.advance(RATE)
    assert_same_model(watched.ensemble, alone.ensemble)
    np.testing.assert_allclose(watched.score[:, :n], alone.score, rtol=1e-9)


@each_draw
@pytest.mark.parametrize(("loss", "vector"), [("logistic", False), ("multinomial", False), ("multinomial", True)])
def test_leaves_of_all_rows_are_newton_steps_of_all_rows(draws: str, loss: str, vector: bool) -> None:
    data, options = mixed_data(loss, weighted=True), POLICIES["depthwise"]
    rounds = begin(data, LOSSES[loss](), options, one_tree=vector, **ALL, **DRAWN[draws])
    for _ in range(3):
        gradient, hessian = derivatives(rounds, rounds.score)
        rounds.advance(RATE)
        assert len(rounds.sample) < 0.9 * len(data.y)
        for k, tree in enumerate(rounds.trees[-1]):
            leaves = Predictor(tree).leaves(data.table)
            of = slice(None) if vector else slice(k, k + 1)
            expected = RATE * newton_values(tree, leaves, gradient[of], hessian[of], options.reg_lambda)
            np.testing.assert_allclose(tree.value[:, :, 0], expected, rtol=1e-7, atol=1e-9)


@each_draw
def test_splits_of_the_first_round_are_those_of_the_sample(draws: str) -> None:
    data = mixed_data("logistic")
    drawn, of_all = (
        fit(data, LOSSES["logistic"](), POLICIES["depthwise"], 1, leaves_of_all_rows=on, **DRAWN[draws])
        for on in (False, True)
    )
    for own, other in zip(structure(drawn.trees[0][0]), structure(of_all.trees[0][0]), strict=True):
        np.testing.assert_array_equal(own, other)
    assert not np.allclose(drawn.trees[0][0].value, of_all.trees[0][0].value)


def test_leaves_of_all_rows_without_draws_change_nothing() -> None:
    data = mixed_data("logistic")
    one, other = (fit(data, LOSSES["logistic"](), POLICIES["depthwise"], 4, leaves_of_all_rows=on) for on in (0, 1))
    assert all_bytes(one.ensemble) == all_bytes(other.ensemble)


@each_draw
def test_leaves_of_the_absolute_error_are_medians_of_all_rows(draws: str) -> None:
    data = mixed_data("absolute")
    rounds = begin(data, Absolute(), POLICIES["depthwise"], **ALL, **DRAWN[draws])
    for _ in range(3):
        rest = data.y - rounds.score[0]
        rounds.advance(1.0)
        (tree,) = rounds.trees[-1]
        leaves = Predictor(tree).leaves(data.table)
        for leaf in np.flatnonzero(tree.is_leaf):
            assert tree.value[leaf, 0, 0] == pytest.approx(np.median(rest[leaves == leaf]))


@each_draw
@pytest.mark.parametrize("loss", ["squared", "logistic", "absolute", "poisson"])
def test_leaves_of_all_rows_keep_monotone_constraints(draws: str, loss: str) -> None:
    data = mixed_data(loss)
    tree = with_signs(POLICIES["depthwise"], 1, 0, 0, -1, 0)
    trained = fit(data, LOSSES[loss](), tree, 6, **ALL, **DRAWN[draws])
    frame = mixed_frame(60, seed=4)
    for name, sign in (("a", 1), ("d", -1)):
        steps = []
        for value in np.linspace(-3.0, 3.0, 41):
            table = data.table.schema.match(frame.assign(**{name: value}))
            steps.append(trained.ensemble.scores(table)[0])
        assert (sign * np.diff(steps, axis=0) >= -1e-12).all()


@each_vector_loss
def test_the_loss_of_training_falls(loss: str) -> None:
    data, own = mixed_data(loss), LOSSES[loss]()
    rounds, before = begin(data, own, POLICIES["depthwise"], one_tree=True), np.inf
    for _ in range(4):
        for _ in range(5):
            rounds.advance(0.2)
        now = float(np.mean(own.losses(data.y, rounds.score)))
        assert now < before
        before = now
