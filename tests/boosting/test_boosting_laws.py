"""Laws of whole ensembles: the same model from any number of threads and shards, in one run or in two."""

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
    target,
    trees_of,
    with_signs,
)

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.options import TreeOptions
from sapwood.codes.ranked import rank_table
from sapwood.losses import Logistic, Squared
from sapwood.row_parts.rows import LocalRows
from sapwood.table import Table

each_loss = pytest.mark.parametrize("loss", LOSSES)
each_policy = pytest.mark.parametrize("policy", POLICIES)
DRAWS: dict[str, dict[str, Any]] = {
    "no draws": {},
    "draws": {"subsample": 0.6, "columns": ColumnOptions(5, by_tree=0.8, by_level=0.8, by_node=0.7), "seed": 7},
    "draws by gradient": {"subsample": 0.5, "by_gradient": True, "seed": 7},
}


@pytest.fixture(autouse=True)
def threads_for_little_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Divide even the smallest work between threads."""
    lower(monkeypatch, ROWS_PER_THREAD=4, BLOCK=64, SCAN_PER_THREAD=1, LITTLE_WORK=0, LARGE_CELLS=1)
    lower(monkeypatch, available_cores=lambda: 5)


def mixed_data(loss: str, n: int = 250, weighted: bool = False) -> Data:
    frame = mixed_frame(n)
    weight = np.random.default_rng(3).integers(1, 9, n) / 4 if weighted else None
    return Data.of(frame, target(loss, frame), weight, max_bins=32)


@each_loss
@each_policy
def test_scores_of_training_are_those_of_prediction(loss: str, policy: str) -> None:
    data = mixed_data(loss)
    for draws in DRAWS.values():
        trained = fit(data, LOSSES[loss](), POLICIES[policy], 8, **draws)
        for n_jobs in (1, 3):
            np.testing.assert_array_equal(trained.ensemble.scores(data.table, n_jobs=n_jobs), trained.score)


@each_loss
@each_policy
@pytest.mark.parametrize("draws", DRAWS)
def test_threads_and_shards_change_nothing(loss: str, policy: str, draws: str) -> None:
    data = mixed_data(loss, weighted=draws == "draws")
    alone = fit(data, LOSSES[loss](), POLICIES[policy], 6, **DRAWS[draws])
    assert any(tree.n_leaves > 4 for tree in trees_of(alone.ensemble))
    for n_jobs, n_shards in ((2, 1), (5, 1), (1, 3), (2, 3)):
        many = fit(data, LOSSES[loss](), POLICIES[policy], 6, n_jobs=n_jobs, n_shards=n_shards, **DRAWS[draws])
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble), (n_jobs, n_shards)
        np.testing.assert_array_equal(many.score, alone.score)


@each_policy
def test_threads_and_shards_change_nothing_when_sums_are_packed(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    lower(monkeypatch, PACKED_ROWS=1)
    data = mixed_data("logistic", weighted=True)
    alone = fit(data, Logistic(), POLICIES[policy], 6)
    for n_jobs, n_shards in ((2, 1), (5, 1), (1, 3)):
        many = fit(data, Logistic(), POLICIES[policy], 6, n_jobs=n_jobs, n_shards=n_shards)
        assert all_bytes(many.ensemble) == all_bytes(alone.ensemble), (n_jobs, n_shards)
    np.testing.assert_array_equal(alone.ensemble.scores(data.table), alone.score)


def error_beside_an_outlier(outlier: float) -> float:
    """Share of the variance that is left in all rows but one, which a column of its own tells from the others."""
    X = np.random.default_rng(0).normal(size=(1000, 2))
    X[:, 1] = np.arange(1000) == 7
    data = Data.of(X, np.where(X[:, 1], outlier, X[:, 0]))
    trained = fit(data, Squared(), TreeOptions(max_depth=4, reg_lambda=0.0), 10, start=Ensemble(np.zeros(1)))
    return float(np.delete((trained.score[0] - data.y) ** 2, 7).mean())


@pytest.mark.parametrize("outlier", [1e2, 1e6])
def test_one_outlier_does_not_hide_all_other_rows(outlier: float, monkeypatch: pytest.MonkeyPatch) -> None:
    assert error_beside_an_outlier(outlier) < 0.1
    lower(monkeypatch, PACKED_ROWS=1)
    assert error_beside_an_outlier(outlier) < 0.1


@each_loss
@each_policy
def test_with_a_bin_for_every_value_histograms_are_exact(loss: str, policy: str) -> None:
    frame = mixed_frame(200)
    y, weight = target(loss, frame), 0.5 + np.random.default_rng(0).random(200)  # no two gradients are equal
    binned = Data.of(frame, y, weight)
    ranked = replace(binned, coded=rank_table(binned.table, 1))
    first = fit(binned, LOSSES[loss](), POLICIES[policy], 6)
    second = fit(ranked, LOSSES[loss](), POLICIES[policy], 6, method="exact")
    np.testing.assert_allclose(first.score, second.score, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(second.ensemble.scores(binned.table), second.score)


@each_loss
@each_policy
def test_thirty_and_thirty_rounds_are_sixty(loss: str, policy: str) -> None:
    data = mixed_data(loss, n=80)
    draws = DRAWS["draws by gradient" if loss in ("squared", "poisson") else "draws"]
    whole = fit(data, LOSSES[loss](), POLICIES[policy], 60, **draws)
    first = fit(data, LOSSES[loss](), POLICIES[policy], 30, **draws)
    second = fit(data, LOSSES[loss](), POLICIES[policy], 30, start=first.ensemble, **draws)
    assert second.n_done == 60
    assert all_bytes(second.ensemble) == all_bytes(whole.ensemble)
    np.testing.assert_array_equal(second.score, whole.score)


@each_loss
@each_policy
def test_a_weight_of_k_is_k_copies(loss: str, policy: str) -> None:
    data = mixed_data(loss, n=120)
    copies = np.random.default_rng(0).integers(1, 4, 120)
    weighted = fit(replace(data, weight=copies.astype(np.float64)), LOSSES[loss](), POLICIES[policy], 6)
    copied = fit(data.take(np.repeat(np.arange(120), copies)), LOSSES[loss](), POLICIES[policy], 6)
    assert_same_model(weighted.ensemble, copied.ensemble)


@each_loss
@each_policy
def test_a_weight_of_zero_is_absence(loss: str, policy: str) -> None:
    data = mixed_data(loss, n=150)
    weight = np.random.default_rng(0).integers(0, 3, 150).astype(np.float64)
    kept = np.flatnonzero(weight)
    with_zeros = fit(replace(data, weight=weight), LOSSES[loss](), POLICIES[policy], 6)
    without = fit(replace(data, weight=weight).take(kept), LOSSES[loss](), POLICIES[policy], 6)
    assert_same_model(with_zeros.ensemble, without.ensemble)


@each_loss
def test_a_common_factor_of_weights_changes_nothing_without_penalties(loss: str) -> None:
    data = mixed_data(loss, weighted=True)
    tree = replace(POLICIES["depthwise"], reg_lambda=0.0)
    first, second = (fit(replace(data, weight=data.weight * factor), LOSSES[loss](), tree, 4) for factor in (1.0, 8.0))
    assert_same_model(first.ensemble, second.ensemble)


@each_loss
@each_policy
def test_rows_in_another_order(loss: str, policy: str) -> None:
    data = mixed_data(loss)
    order = np.random.default_rng(0).permutation(len(data.y))
    start = Ensemble(LOSSES[loss]().start(LocalRows.of(data.y)))
    first = fit(data, LOSSES[loss](), POLICIES[policy], 6, start=start)
    second = fit(data.take(order), LOSSES[loss](), POLICIES[policy], 6, start=start)
    if loss == "huber":  # means of leaves are rounded
        assert_same_model(first.ensemble, second.ensemble, 1e-12)
    else:
        assert all_bytes(first.ensemble) == all_bytes(second.ensemble)


@each_loss
@each_policy
def test_columns_in_another_order(loss: str, policy: str) -> None:
    """Of equal splits the lowest column's is taken, which parts the training rows in the same way."""
    frame = mixed_frame(250)
    y, weight = target(loss, frame), 0.5 + np.random.default_rng(0).random(250)  # no two gradients are equal
    first, second = (Data.of(frame[list(names)], y, weight) for names in ("abcd", "cadb"))
    scores = [fit(data, LOSSES[loss](), POLICIES[policy], 6).score for data in (first, second)]
    np.testing.assert_array_equal(*scores)


def test_monotone_transforms_of_columns_change_nothing() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = X[:, 0] + X[:, 1] ** 2
    scores = [fit(Data.of(table, y), Squared(), POLICIES["depthwise"], 6).score for table in (X, np.exp(X), X**3)]
    np.testing.assert_array_equal(scores[0], scores[1])
    np.testing.assert_array_equal(scores[0], scores[2])


@pytest.mark.parametrize("power", [-200, -20, 20, 200])
def test_powers_of_two_scale_the_model_of_squared_errors(power: int) -> None:
    data = mixed_data("squared")
    scaled = replace(data, y=data.y * 2.0**power)
    first, second = (fit(d, Squared(), POLICIES["depthwise"], 6) for d in (data, scaled))
    for one, other in zip(trees_of(first.ensemble), trees_of(second.ensemble), strict=True):
        np.testing.assert_array_equal(one.threshold, other.threshold)
        np.testing.assert_array_equal(one.value * 2.0**power, other.value)


@each_loss
@each_policy
def test_rows_that_only_watch_change_nothing(loss: str, policy: str) -> None:
    data = mixed_data(loss)
    rows = np.sort(np.random.default_rng(0).permutation(250)[:170])
    start = Ensemble(LOSSES[loss]().start(LocalRows.of(data.y[rows])))
    among = fit(data, LOSSES[loss](), POLICIES[policy], 5, start=start, rows=rows)
    alone = fit(data.take(rows), LOSSES[loss](), POLICIES[policy], 5, start=start)
    if loss == "huber":  # delta is a quantile over all rows
        return
    assert_same_model(among.ensemble, alone.ensemble)
    np.testing.assert_array_equal(among.ensemble.scores(data.table), among.score)


@each_loss
@pytest.mark.parametrize("draws", DRAWS)
def test_a_validation_set_follows_the_model(loss: str, draws: str) -> None:
    frame = mixed_frame(300)
    y = target(loss, frame)
    data = Data.of(frame[:200], y[:200])
    new = data.table.schema.match(frame[200:].assign(level="unseen"), unseen="missing")
    trained = begin(data, LOSSES[loss](), POLICIES["depthwise"], **DRAWS[draws])
    score = trained.ensemble.scores(new)
    trained.validation = [(new, score)]
    for _ in range(5):
        trained.advance(0.3)
    np.testing.assert_array_equal(score, trained.ensemble.scores(new))


@each_loss
@each_policy
def test_monotone_models_of_all_losses(loss: str, policy: str) -> None:
    frame = mixed_frame(250)
    data = Data.of(frame, target(loss, frame), max_bins=32)
    tree = with_signs(POLICIES[policy], 1, 0, 0, -1, 0)
    trained = fit(data, LOSSES[loss](), tree, 6)
    assert any(0 in tree.feature for tree in trees_of(trained.ensemble))
    for column, sign in (("a", 1), ("d", -1)):
        grid = [data.table.schema.match(frame.assign(**{column: x}), unseen="missing") for x in np.linspace(-3, 3, 9)]
        scores = np.array([trained.ensemble.scores(table) for table in grid])
        assert (sign * np.diff(scores, axis=0) >= 0).all()


@each_loss
def test_the_loss_of_training_falls(loss: str) -> None:
    data = mixed_data(loss)
    trained = begin(data, LOSSES[loss](), POLICIES["depthwise"])
    losses = []
    for _ in range(6):
        trained.advance(0.3)
        losses.append(trained.loss.losses(data.y, trained.score).mean())
    if loss != "huber":  # delta changes with the round
        assert (np.diff(losses) < 0).all()
    assert losses[-1] < losses[0]


@pytest.mark.parametrize("line_search", [False, True])
def test_a_line_search_is_never_worse_after_one_round(line_search: bool) -> None:
    data = mixed_data("logistic")
    losses = []
    for rate in (0.1, 1.0):
        trained = fit(data, Logistic(), POLICIES["depthwise"], 1, rate, line_search=line_search)
        losses.append(trained.loss.losses(data.y, trained.score).sum())
        np.testing.assert_array_equal(trained.ensemble.scores(data.table), trained.score)
    if line_search:
        plain = fit(data, Logistic(), POLICIES["depthwise"], 1, 1.0)
        assert losses[1] <= plain.loss.losses(data.y, plain.score).sum() * (1 + 1e-6)
    assert losses[1] < losses[0]


def test_seeds_decide_the_draws() -> None:
    data = mixed_data("squared")
    draws = DRAWS["draws"]
    models = [fit(data, Squared(), POLICIES["depthwise"], 3, **draws | {"seed": seed}).ensemble for seed in (1, 1, 2)]
    assert all_bytes(models[0]) == all_bytes(models[1])
    assert all_bytes(models[0]) != all_bytes(models[2])


def test_trees_of_a_round_and_rounds_have_their_own_draws() -> None:
    frame = mixed_frame(250)
    data = Data.of(frame, target("multinomial", frame))
    columns = ColumnOptions(5, by_tree=0.2)
    trained = fit(data, LOSSES["multinomial"](), TreeOptions(max_depth=1), 12, columns=columns)
    used = [[int(tree.feature[0]) for tree in trees] for trees in trained.ensemble.rounds]
    assert len({tuple(row) for row in used}) > 1
    assert any(len(set(row)) > 1 for row in used)


def test_float32_and_float64_tables_give_the_same_model() -> None:
    X = np.random.default_rng(0).normal(size=(200, 3)).astype(np.float32)
    y = X[:, 0].astype(np.float64)
    models = [fit(Data.of(X.astype(dtype), y), Squared(), TreeOptions(), 4) for dtype in (np.float32, np.float64)]
    assert all_bytes(models[0].ensemble) == all_bytes(models[1].ensemble)
    for model in models:
        for dtype in (np.float32, np.float64):
            np.testing.assert_array_equal(model.ensemble.scores(Table.from_any(X.astype(dtype))), models[0].score)
