"""Plain fits that advance by whole rounds, next to the same fits step by step: equal bits, histories and reasons."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sapwood
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor
from sapwood.boosting import team_growth, training
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.whole_rounds import MOST_ROWS, WholeRounds
from sapwood.errors import ParameterError

RNG = np.random.default_rng(8)
N_ROWS, N_ROUNDS = 4_000, 37
MANY = RNG.normal(size=(N_ROWS, 12))  # enough cells for a team of threads
MANY[RNG.random(MANY.shape) < 0.05] = np.nan
FEW = pd.DataFrame(MANY[:600, :4], columns=list("abcd")).assign(level=pd.Categorical(RNG.choice([*"stuvwxyz"], 600)))
SIGNAL = np.nansum(MANY[:, :3], axis=1) + RNG.normal(size=N_ROWS)
TWO, THREE = (SIGNAL > 0.3).astype(int), np.digitize(SIGNAL, [-1.0, 1.0])
WEIGHT = RNG.uniform(0.5, 2.0, N_ROWS)
TABLES: dict[str, Any] = {"few rows": FEW, "a team of threads": MANY}

Fits = tuple[Any, Any, int]  # at once, step by step, and how many rounds a kernel advanced at a time, at most


@pytest.fixture(autouse=True)
def _threads_for_few_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team_growth, "LITTLE_WORK", FEW.size)
    monkeypatch.setattr(team_growth, "available_cores", lambda: 5)


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], Any]], Fits]:
    """Make a model by whole rounds, and step by step."""

    def make(fit: Callable[[], Any]) -> Fits:
        most, advance = [0], WholeRounds.advance

        def counted(self: WholeRounds, rates: Any) -> Any:
            most.append(len(rates))
            return advance(self, rates)

        with monkeypatch.context() as patch:
            patch.setattr(WholeRounds, "advance", counted)
            at_once = fit()
        with monkeypatch.context() as patch:
            patch.setattr(WholeRounds, "suits", classmethod(lambda *_: False))
            return at_once, fit(), max(most)

    return make


def assert_equal(found: Fits) -> None:
    at_once, step_by_step, _ = found
    assert sapwood.fingerprint(at_once) == sapwood.fingerprint(step_by_step)
    assert at_once.stopped_reason_ == step_by_step.stopped_reason_
    assert at_once.evals_result_ == step_by_step.evals_result_
    for one, other in zip(at_once.ensemble_.rounds, step_by_step.ensemble_.rounds, strict=True):
        for tree, twin in zip(one, other, strict=True):
            for name, array in tree.arrays().items():
                assert array.dtype == twin.arrays()[name].dtype, name
                np.testing.assert_array_equal(array, twin.arrays()[name], name)


def classifier(**options: Any) -> NewtonBoostingClassifier:
    return NewtonBoostingClassifier(**{"n_estimators": N_ROUNDS, "n_jobs": 2, "random_state": 3} | options)


def regressor(**options: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(**{"n_estimators": 2, "n_jobs": 2, "random_state": 3} | options)


OPTIONS: dict[str, dict[str, Any]] = {
    "recipe": {},
    "xgboost": {"recipe": "xgboost"},
    "by level": {"grow_policy": "depthwise", "max_depth": 5, "max_leaves": 0},
    "without limits": {"grow_policy": "depthwise", "max_depth": 0, "max_leaves": 0, "min_child_weight": 4.0},
    "all drawn": {"subsample": 0.5, "colsample_bytree": 0.4, "leaf_rows": "drawn"},
    "noise and one cut": {"random_strength": 1.0, "extra_trees": True},
    "rows counted": {"min_child_samples": 9},
    "penalties": {"reg_alpha": 0.2, "max_delta_step": 0.5},
    "symmetric": {"grow_policy": "symmetric", "max_depth": 4, "n_jobs": 1},
    "rates": {"learning_rate": [0.3, 0.1, 0.2]},
    "function of the round": {"learning_rate": lambda t: 0.3 / (1 + t)},
    "weights of classes": {"class_weight": {0: 1.0, 1: 3.0}},
    "one thread": {"n_jobs": 1},
    "five threads": {"n_jobs": 5},
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("options", OPTIONS)
def test_options(options: str, table: str, both: Callable[..., Fits]) -> None:
    X = TABLES[table]
    found = both(lambda: classifier(**OPTIONS[options]).fit(X, TWO[: len(X)]))
    assert_equal(found)
    assert found[2] == training.AT_ONCE


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("strategy", ["one_output_per_tree", "multi_output_tree"])
def test_several_scores(strategy: str, table: str, both: Callable[..., Fits]) -> None:
    X, options = TABLES[table], {"n_estimators": 20, "n_jobs": 2, "random_state": 3, "multi_strategy": strategy}
    n, y = len(X), np.stack([SIGNAL, 1e3 * SIGNAL**2], axis=1)
    found = both(lambda: NewtonBoostingClassifier(**options).fit(X, THREE[:n], WEIGHT[:n]))
    assert_equal(found)
    assert found[2] == training.AT_ONCE
    assert_equal(both(lambda: NewtonBoostingRegressor(**options).fit(X, y[:n], WEIGHT[:n])))


STEP_BY_STEP: dict[str, dict[str, Any]] = {
    "norm of the gradient": {"learning_rate": lambda t, norm: 0.1 + 0.1 * norm / (1 + t)},
    "pruning": {"gamma": 0.5},
    "columns of a level": {"colsample_bylevel": 0.5},
    "interactions": {"interaction_constraints": [[0, 1], [2, 3]]},
    "rows by gradient": {"subsample": 0.5, "sampling_method": "gradient_based"},
    "weights of columns": {"feature_weights": [1, 2, 3, 4] + [1] * 8, "colsample_bytree": 0.5},
    "constraints": {"monotone_constraints": {0: 1}},
    "another loss": {"objective": "exponential"},
    "ranks": {"tree_method": "exact", "max_depth": 3, "max_leaves": 0, "grow_policy": "depthwise"},
    "new bins": {"tree_method": "approx"},
    "linear leaves": {"linear_tree": True},
    "a callback": {"callbacks": [lambda progress: progress.round == 9]},
}


@pytest.mark.parametrize("options", STEP_BY_STEP)
def test_what_asks_python_goes_step_by_step(options: str, both: Callable[..., Fits]) -> None:
    found = both(lambda: classifier(n_estimators=12, **STEP_BY_STEP[options]).fit(MANY, TWO))
    assert_equal(found)
    assert found[2] == 0


def test_a_table_of_many_rows_goes_step_by_step(both: Callable[..., Fits]) -> None:
    """Beyond so many rows one thread would be alone with too much, and node numbers may need more than 16 bits."""
    X = np.arange(MOST_ROWS + 1.0)[:, None]
    options = {"max_depth": 0, "max_leaves": 0, "grow_policy": "depthwise", "min_child_weight": 0.0}
    assert both(lambda: regressor(**options).fit(X, X[:, 0] % 3))[2] == 0


def test_many_nodes_of_few_rows(both: Callable[..., Fits]) -> None:
    X = np.arange(40_000.0)[:, None] // 7
    options = {"max_depth": 0, "max_leaves": 0, "grow_policy": "depthwise", "min_child_weight": 0.0}
    assert_equal(both(lambda: regressor(**options, n_jobs=1).fit(X, X[:, 0] % 3)))


def test_many_nodes_of_models_of_folds(both: Callable[..., Fits]) -> None:
    """Nodes of more numbers than 16 bits hold: such folds go step by step."""
    X = np.arange(33_000.0)[:, None] // 7
    options = {"max_depth": 0, "max_leaves": 0, "grow_policy": "depthwise", "min_child_weight": 0.0, "cv": 2}
    assert both(lambda: regressor(**options, linear_tree=False).fit(X, X[:, 0] % 3))[2] == 0


VALIDATION: dict[str, dict[str, Any]] = {
    "history": {},
    "early stopping": {"early_stopping_rounds": 4, "learning_rate": 0.8},
    "several metrics": {"eval_metric": ["auc", "logloss"]},
    "a metric of the user": {"eval_metric": lambda y, p: float(np.abs(y - p).mean())},
}


@pytest.mark.parametrize("held_out", [False, True])
@pytest.mark.parametrize("options", VALIDATION)
def test_validation(options: str, held_out: bool, both: Callable[..., Fits]) -> None:
    given = VALIDATION[options] | ({"validation_fraction": 0.3} if held_out else {})
    sets = {} if held_out else {"eval_set": {"a": (MANY[2000:], TWO[2000:]), "b": (MANY[3000:], TWO[3000:])}}
    found = both(lambda: classifier(**given).fit(MANY[:3000], TWO[:3000], WEIGHT[:3000], **sets))
    assert_equal(found)
    assert found[2] == 1
    if "early_stopping_rounds" in given:
        assert found[0].n_estimators_ < N_ROUNDS
        assert found[0].best_iteration_ == found[1].best_iteration_


def test_rounds_of_many_cells_are_fewer_at_a_time(both: Callable[..., Fits], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training, "CELLS_AT_ONCE", 5 * MANY.size + 1)
    found = both(lambda: classifier(n_estimators=13).fit(MANY, TWO))
    assert_equal(found)
    assert found[2] == 5


def test_validation_of_several_classes(both: Callable[..., Fits]) -> None:
    for strategy in ("one_output_per_tree", "multi_output_tree"):
        model = classifier(n_estimators=9, multi_strategy=strategy)
        assert_equal(both(lambda: model.fit(MANY, THREE, eval_set=[(MANY[::5], THREE[::5])])))  # noqa: B023


def test_continued_training(both: Callable[..., Fits]) -> None:
    def fit() -> Any:
        start = classifier(n_estimators=11).fit(MANY, TWO)
        return classifier(n_estimators=26).fit(MANY, TWO, init_model=start)

    found = both(fit)
    assert_equal(found)
    assert found[2] == training.AT_ONCE


def test_checkpoints(both: Callable[..., Fits], tmp_path: Path) -> None:
    def fit() -> Any:
        (tmp_path / "run").unlink(missing_ok=True)
        checkpoint = sapwood.Checkpoint(tmp_path / "run", rounds=5)
        with pytest.raises(RuntimeError, match="stop here"):
            classifier(callbacks=[stop_at(23)]).fit(MANY, TWO, checkpoint=checkpoint)
        return classifier().fit(MANY, TWO, checkpoint=checkpoint)

    found = both(fit)
    assert_equal(found)
    assert found[2] == 1
    assert sapwood.fingerprint(classifier().fit(MANY, TWO)) == sapwood.fingerprint(found[0])


def stop_at(n: int) -> Callable[[Any], None]:
    def callback(progress: Any) -> None:
        if progress.round == n:
            raise RuntimeError("stop here")

    return callback


def test_a_progress_bar_is_told_of_every_round(both: Callable[..., Fits], capsys: pytest.CaptureFixture[str]) -> None:
    printed = []

    def fit() -> Any:
        model = classifier(n_estimators=6).fit(MANY, TWO, verbose=2)
        printed.append(capsys.readouterr().err.count("\n"))
        return model

    assert both(fit)[2] == 1
    assert printed[0] == printed[1] >= 3


def test_max_seconds(both: Callable[..., Fits]) -> None:
    at_once, step_by_step, most = both(lambda: classifier(max_seconds=1e-9).fit(MANY, TWO))
    assert at_once.n_estimators_ == step_by_step.n_estimators_ == most == 1
    assert at_once.stopped_reason_ == step_by_step.stopped_reason_


def test_an_interrupt_ends_training_between_two_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = classifier().fit(MANY, TWO)
    advance = WholeRounds.advance

    def interrupted(self: WholeRounds, rates: Any) -> Any:
        os.kill(os.getpid(), signal.SIGINT)
        return advance(self, rates)

    monkeypatch.setattr(WholeRounds, "advance", interrupted)
    with pytest.warns(UserWarning, match=f"interrupted by SIGINT after {training.AT_ONCE} rounds"):
        model = classifier().fit(MANY, TWO)
    assert model.n_estimators_ == training.AT_ONCE
    first, wanted = model.predict_proba(MANY[:50]), whole.predict_proba(MANY[:50], n_rounds=training.AT_ONCE)
    np.testing.assert_array_equal(first, wanted)


def test_divergence_is_told_of_the_same_round(monkeypatch: pytest.MonkeyPatch) -> None:
    def message() -> str:
        with pytest.raises(ParameterError, match=r"diverges.*learning_rate") as found:
            regressor(n_estimators=60, learning_rate=1e9).fit(FEW, SIGNAL[: len(FEW)])
        return str(found.value)

    at_once = message()
    monkeypatch.setattr(WholeRounds, "suits", classmethod(lambda *_: False))
    assert at_once == message()


def test_step_by_step_is_not_used_where_rounds_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Rounds, "advance", None)
    classifier(n_estimators=3).fit(MANY, TWO)
