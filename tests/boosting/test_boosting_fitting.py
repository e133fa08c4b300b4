"""Fitting from tables: bins, validation sets, held-out rows, continued models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from engine_cases import LOSSES, Data, all_bytes, assert_same_model, fit, mixed_frame, target

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.fitting import Rows, Setup, fit_ensemble, score_of
from sapwood.boosting.options import RoundOptions, TreeOptions
from sapwood.boosting.rate import learning_rate
from sapwood.boosting.training import Outcome, Plan
from sapwood.losses import Exponential, Logistic, Multinomial, Poisson, Quantile, Squared
from sapwood.metrics.names import find_metric
from sapwood.table import Table

SMALL = TreeOptions(max_depth=3)


def setup(loss: str, n_rounds: int = 5, **options: Any) -> Setup:
    plan = Plan(n_rounds, learning_rate(0.3))
    return Setup(LOSSES[loss](), RoundOptions(SMALL, ColumnOptions(5)), plan, **options)


def rows_of(loss: str, n: int = 120, **options: Any) -> Rows:
    frame = mixed_frame(n)
    return Rows(Table.from_any(frame), target(loss, frame), **options)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_fit_is_a_number_of_rounds(loss: str) -> None:
    rows = rows_of(loss)
    outcome = fit_ensemble(rows, [], setup(loss))
    expected = fit(Data.of(mixed_frame(120), rows.y), LOSSES[loss](), SMALL, 5)
    assert all_bytes(outcome.ensemble) == all_bytes(expected.ensemble)


@pytest.mark.parametrize("loss", ["squared", "logistic", "poisson"])
def test_curves_are_metrics_of_the_stages(loss: str) -> None:
    rows, new = rows_of(loss), mixed_frame(50, seed=1)
    evaluated = Rows(rows.table.schema.match(new, unseen="missing"), target(loss, new), name="valid")
    own = LOSSES[loss]()
    metric = find_metric("loss", own.losses)
    outcome = fit_ensemble(rows, [rows, evaluated], setup(loss, metrics=[metric]))
    for which in (rows, evaluated):
        stages = outcome.ensemble.staged_scores(which.table)
        expected = [own.losses(which.y, score).mean() for score in stages]
        np.testing.assert_allclose(outcome.history.curves[which.name]["loss"], expected, rtol=1e-12)


def held_out_fit(rows: Rows) -> Outcome:
    """Every fourth row only watches."""
    held_out = np.arange(0, len(rows.y), 4)
    return fit_ensemble(rows, [], setup("squared", held_out=held_out, metrics=[find_metric("rmse")]))


def test_held_out_rows_are_watched() -> None:
    rows = rows_of("squared")
    outcome = held_out_fit(rows)
    residual = (outcome.ensemble.scores(rows.table)[0] - rows.y)[::4]
    assert outcome.history.curves["validation"]["rmse"][-1] == pytest.approx(np.sqrt(np.mean(residual**2)))


@pytest.mark.parametrize("outlier", [10.0, 1e9])
def test_held_out_rows_teach_nothing(outlier: float) -> None:
    rows = rows_of("squared")
    changed = Rows(rows.table, np.where(np.arange(120) % 4 == 0, outlier, rows.y))
    assert_same_model(held_out_fit(rows).ensemble, held_out_fit(changed).ensemble)


def test_a_continued_fit_is_one_fit() -> None:
    rows = rows_of("logistic")
    whole = fit_ensemble(rows, [], setup("logistic", 8))
    first = fit_ensemble(rows, [], setup("logistic", 3))
    second = fit_ensemble(rows, [], setup("logistic", 5, start=first.ensemble))
    assert all_bytes(second.ensemble) == all_bytes(whole.ensemble)


def test_scores_may_start_anywhere() -> None:
    rows = rows_of("squared")
    outcome = fit_ensemble(rows, [], setup("squared", 1, base=np.array([0.5])))
    assert outcome.ensemble.base.tolist() == [0.5]


def test_scores_of_a_response() -> None:
    assert score_of(Squared(), 0.5).tolist() == [0.5]
    assert score_of(Logistic(), 0.5) == pytest.approx(0.0, abs=1e-12)
    assert score_of(Logistic(), 0.9) == pytest.approx(np.log(9.0))
    assert score_of(Exponential(), 0.9) == pytest.approx(0.5 * np.log(9.0))
    assert score_of(Poisson(), 2.0) == pytest.approx(np.log(2.0))
    assert score_of(Multinomial(3), 0.5).tolist() == [0.0] * 3
    assert score_of(Quantile((0.1, 0.9)), 4.0).tolist() == [4.0, 4.0]
