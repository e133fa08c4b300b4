"""A training that a signal or the time limit ended is not finished: the same call resumes it from its checkpoint."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood.errors import InputError, ParameterError
from sapwood.estimators.checkpoint import Checkpoints

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
NUMBERS = X[:, 0] + RNG.normal(size=120) / 3
KINDS = (
    *("RandomForestRegressor", "ExtraTreesRegressor", "BaggingRegressor", "AdaBoostRegressor"),
    *("GradientBoostingRegressor", "NewtonBoostingRegressor"),
)


def new(name: str, **parameters: Any) -> Any:
    return getattr(sapwood, name)(**{"n_estimators": 40, "random_state": 0, "n_jobs": 1, **parameters})


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("name", KINDS)
def test_the_same_call_resumes_after_a_signal(
    name: str, number: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = sapwood.Checkpoint(tmp_path / "kept.sapwood", rounds=5)
    after = Checkpoints.after

    def interrupt(self: Checkpoints, n_done: int, *so_far: Any) -> None:
        after(self, n_done, *so_far)
        if n_done == 8:
            signal.raise_signal(number)

    monkeypatch.setattr(Checkpoints, "after", interrupt)
    with pytest.warns(UserWarning, match=f"interrupted by {number.name}"):
        first = new(name).fit(X, NUMBERS, checkpoint=kept)
    monkeypatch.undo()
    assert first.stopped_reason_.startswith(f"interrupted by {number.name}")
    resumed, whole = new(name).fit(X, NUMBERS, checkpoint=kept), new(name).fit(X, NUMBERS)
    assert sapwood.fingerprint(resumed) == sapwood.fingerprint(whole) != sapwood.fingerprint(first)


@pytest.mark.parametrize("name", ["NewtonBoostingRegressor", "GradientBoostingRegressor"])
def test_the_same_call_resumes_after_the_time_limit(name: str, tmp_path: Path) -> None:
    limited, path = new(name, max_seconds=1e-9), tmp_path / "kept.sapwood"
    assert limited.fit(X, NUMBERS, checkpoint=path).n_estimators_ == 1
    assert limited.fit(X, NUMBERS, checkpoint=path).n_estimators_ == 2
    resumed = new(name).fit(X, NUMBERS, checkpoint=path)
    np.testing.assert_array_equal(resumed.predict(X), new(name).fit(X, NUMBERS).predict(X))


def test_out_of_bag_results_have_a_row_for_each_row_given() -> None:
    weight = np.ones(120)
    weight[-5:] = 0.0
    model = new("RandomForestRegressor", oob_score=True).fit(X, NUMBERS, sample_weight=weight)
    assert model.oob_prediction_.shape == (120,)
    assert np.isnan(model.oob_prediction_[-5:]).all()


def test_out_of_bag_accuracy_of_several_outputs_is_weighted() -> None:
    y, weight = np.stack([NUMBERS > 0, X[:, 1] > 0], axis=1), RNG.uniform(0.1, 3.0, 120)
    model = new("RandomForestClassifier", oob_score=True).fit(X, y, sample_weight=weight)
    predicted = np.stack([shares.argmax(axis=1) for shares in model.oob_decision_function_.transpose(2, 0, 1)], axis=1)
    expected = np.average((predicted == y).all(axis=1), weights=weight)
    assert model.oob_score_ == pytest.approx(expected)


@pytest.mark.parametrize("parameters", [{"oob_score": True}, {"keep_targets": True}])
def test_a_warm_start_does_not_measure_earlier_trees_on_other_bags(parameters: dict[str, Any]) -> None:
    """Rows that a tree was grown on would count as unseen."""
    model = new("RandomForestRegressor", n_estimators=20, warm_start=True, **parameters).fit(X, NUMBERS)
    model.set_params(n_estimators=21)
    for other in ((X[:100], NUMBERS[:100]), (X[::-1] + 1.0, NUMBERS)):
        with pytest.raises(InputError, match="warm_start=True keeps the 20 trees"):
            model.fit(*other)
    assert len(model.fit(X, NUMBERS)) == 21


def test_a_warm_start_with_given_rows_keeps_those_of_earlier_trees() -> None:
    rows = [np.arange(60), np.arange(60, 120), np.arange(30, 90)]
    model = new("RandomForestRegressor", n_estimators=2, warm_start=True, oob_score=True).fit(X, NUMBERS, rows=rows[:2])
    model.set_params(n_estimators=3)
    with pytest.raises(InputError, match="warm_start=True keeps"):
        model.fit(X, NUMBERS, rows=rows[:1])
    assert len(model.fit(X, NUMBERS, rows=rows)) == 3


def test_a_model_continues_with_the_same_quantiles() -> None:
    low = new("NewtonBoostingRegressor", objective="quantile", quantile_alpha=0.1).fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="init_model was trained with the loss"):
        new("NewtonBoostingRegressor", objective="quantile", quantile_alpha=0.9).fit(X, NUMBERS, init_model=low)
