"""Checkpoints: killed and resumed, a training ends with the bytes it would have ended with."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, LogisticRegression

import sapwood as sw
from model_cases import frame, three_classes, two_classes
from model_cases import signal as numbers_of
from sapwood.errors import InputError, ModelFileError, ParameterError, ParameterTypeError
from sapwood.estimators.checkpoint import Checkpoints

X = frame(200, seed=1)
Y, TWO, THREE = numbers_of(X), two_classes(X), three_classes(X)
EARLY = {"validation_fraction": 0.2, "early_stopping_rounds": 3, "learning_rate": 1.0}

Case = tuple[Callable[[], Any], Any, dict[str, Any]]
CASES: dict[str, Case] = {
    "newton, samples": (
        lambda: sw.NewtonBoostingRegressor(n_estimators=12, subsample=0.7, colsample_bytree=0.8, random_state=0),
        Y,
        {"eval_set": [(X, Y)]},
    ),
    "newton, linear leaves": (
        lambda: sw.NewtonBoostingRegressor(n_estimators=12, linear_tree=True, random_state=0),
        Y,
        {"eval_set": [(X, Y)]},
    ),
    "newton, early stopping": (
        lambda: sw.NewtonBoostingClassifier(n_estimators=40, random_state=1, **EARLY),
        TWO,
        {"sample_weight": np.linspace(0, 1, 200)},
    ),
    "newton, one tree for all": (
        lambda: sw.NewtonBoostingClassifier(
            n_estimators=12, multi_strategy="multi_output_tree", subsample=0.7, leaf_rows="all", random_state=0
        ),
        THREE,
        {"eval_set": [(X, THREE)]},
    ),
    "newton, new bins": (
        lambda: sw.NewtonBoostingClassifier(n_estimators=7, tree_method="approx", random_state=0),
        THREE,
        {},
    ),
    "newton, statistics of levels": (
        lambda: sw.NewtonBoostingRegressor(
            n_estimators=12, target_statistics=True, max_cat_to_onehot=2, min_data_per_group=100, random_state=0
        ),
        Y,
        {"eval_set": [(X, Y)]},
    ),
    "newton, ranks": (
        lambda: sw.NewtonBoostingRanker(n_estimators=7, random_state=0),
        np.digitize(Y, [4.0, 5.0]),
        {"group": [120, 80]},
    ),
    "gradient, huber": (
        lambda: sw.GradientBoostingRegressor(n_estimators=12, loss="huber", subsample=0.7, random_state=0),
        Y,
        {},
    ),
    "gradient, patience": (
        lambda: sw.GradientBoostingClassifier(n_estimators=40, n_iter_no_change=3, learning_rate=0.8, random_state=0),
        THREE,
        {},
    ),
    "forest": (
        lambda: sw.RandomForestRegressor(12, oob_score=True, keep_targets=True, random_state=0, n_jobs=1),
        Y,
        {},
    ),
    "extra trees": (lambda: sw.ExtraTreesClassifier(12, random_state=0, n_jobs=1), THREE, {}),
    "bagging": (lambda: sw.BaggingClassifier(n_estimators=12, max_features=0.7, random_state=0, n_jobs=1), TWO, {}),
    "adaboost": (lambda: sw.AdaBoostClassifier(n_estimators=12, random_state=0), THREE, {}),
    "adaboost, draws": (lambda: sw.AdaBoostRegressor(n_estimators=9, resample=True, random_state=0), Y, {}),
}
pytestmark = pytest.mark.filterwarnings("ignore:.*in the bag of every tree.*")


class StopError(Exception):
    """Stands for a crash."""


def saved(model: Any, path: Path) -> bytes:
    sw.save(model, path)
    return path.read_bytes()


@pytest.mark.parametrize("name", CASES)
def test_a_training_that_crashes_ends_as_if_it_had_not(name: str, tmp_path: Path, monkeypatch: Any) -> None:
    make, y, options = CASES[name]
    want = saved(make().fit(X, y, **options), tmp_path / "whole.sapwood")
    path = tmp_path / "part.sapwood"
    after = Checkpoints.after

    def crash(self: Checkpoints, n_done: int, *so_far: Any) -> None:
        before = self._written
        after(self, n_done, *so_far)
        if self._written > before:
            raise StopError

    monkeypatch.setattr(Checkpoints, "after", crash)
    crashes, model = 0, None
    while model is None:
        try:
            model = make().fit(X, y, checkpoint=sw.Checkpoint(path, rounds=3), **options)
        except StopError:
            crashes += 1
            assert len(sw.load(path).predict(X)) == 200
    assert crashes > 0
    assert saved(model, tmp_path / "resumed.sapwood") == want
    assert saved(sw.load(path), tmp_path / "loaded.sapwood") == want
    again = make().fit(X, y, checkpoint=path, **options)  # nothing is left to do
    assert saved(again, tmp_path / "again.sapwood") == want


def test_a_continued_model_can_be_interrupted_too(tmp_path: Path, monkeypatch: Any) -> None:
    first = sw.NewtonBoostingRegressor(n_estimators=5, random_state=0).fit(X, Y)
    sw.save(first, tmp_path / "first.sapwood")
    model = sw.NewtonBoostingRegressor(n_estimators=6, random_state=0)
    want = saved(model.fit(X, Y, init_model=first), tmp_path / "whole.sapwood")
    path = tmp_path / "part.sapwood"
    finish = Checkpoints.finish
    monkeypatch.setattr(Checkpoints, "finish", lambda self, *model: None)
    model.fit(X, Y, init_model=first, checkpoint=sw.Checkpoint(path, rounds=4))
    assert sw.load(path).n_estimators_ == 9
    monkeypatch.setattr(Checkpoints, "finish", finish)
    model.fit(X, Y, init_model=tmp_path / "first.sapwood", checkpoint=path)
    assert saved(model, tmp_path / "resumed.sapwood") == want
    with pytest.raises(InputError, match="another init_model"):
        model.fit(X, Y, checkpoint=path)


def test_threads_and_callbacks_may_change_on_the_way(tmp_path: Path) -> None:
    path = tmp_path / "a.sapwood"
    sw.RandomForestClassifier(5, random_state=0, n_jobs=1).fit(X, TWO, checkpoint=path)
    forest = sw.RandomForestClassifier(5, random_state=0, n_jobs=2, verbose=0).fit(X, TWO, checkpoint=path)
    assert forest.n_jobs == 2
    assert len(forest.estimators_) == 5


def test_minutes_are_a_rule_of_their_own(tmp_path: Path, monkeypatch: Any) -> None:
    clock = iter(range(0, 100_000, 40))
    monkeypatch.setattr("sapwood.estimators.checkpoint.time", SimpleNamespace(monotonic=lambda: next(clock)))
    written: list[int] = []
    monkeypatch.setattr(Checkpoints, "_write", lambda self, model, *_: written.append(model.n_estimators_))
    often = sw.Checkpoint(tmp_path / "a.sapwood", rounds=None, minutes=1)
    sw.NewtonBoostingRegressor(n_estimators=6).fit(X, Y, checkpoint=often)
    assert written == [2, 4, 6]


def of_an_earlier_version(path: Path) -> Any:
    """A checkpoint whose digest of X is the SHA-256 of all cells in their order."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sapwood.estimators.boosting_rows.digest_table", lambda _: "0" * 64)
        maker().fit(X, Y, checkpoint=path)
    return maker().fit(X, Y, checkpoint=path)


REFUSED: dict[str, tuple[Callable[[Path], Any], type[Exception], str]] = {
    "another parameter": (
        lambda path: sw.NewtonBoostingRegressor(n_estimators=4, max_depth=3, random_state=0).fit(X, Y, checkpoint=path),
        ParameterError,
        "was made with max_depth='auto', but now it is max_depth=3",
    ),
    "another estimator": (
        lambda path: sw.RandomForestRegressor(4).fit(X, Y, checkpoint=path),
        ParameterError,
        "is of a NewtonBoostingRegressor, but this is a RandomForestRegressor",
    ),
    "other rows": (
        lambda path: maker().fit(X.iloc[::-1], Y, checkpoint=path),
        InputError,
        "was made with another X",
    ),
    "an earlier version": (
        lambda path: of_an_earlier_version(path.with_name("earlier")),
        InputError,
        "is of an earlier version of Sapwood",
    ),
    "another target": (lambda path: maker().fit(X, Y + 1, checkpoint=path), InputError, "another y"),
    "other weights": (lambda path: maker().fit(X, Y, np.full(200, 2.0), checkpoint=path), InputError, "another weight"),
    "an evaluation set": (
        lambda path: maker().fit(X, Y, eval_set=[(X, Y)], checkpoint=path),
        InputError,
        r"another eval_set\[0\]: X",
    ),
    "no path": (lambda path: maker().fit(X, Y, checkpoint=3), ParameterTypeError, "checkpoint=3 is not allowed"),
    "no rounds": (lambda path: sw.Checkpoint(path, rounds=0), ParameterError, "rounds=0"),
    "no time": (lambda path: sw.Checkpoint(path, minutes=0), ParameterError, "minutes=0"),
    "foreign members": (
        lambda path: sw.BaggingClassifier(LogisticRegression()).fit(X[["age"]], TWO, checkpoint=path),
        ParameterError,
        "not a tree of Sapwood",
    ),
    "a foreign start": (
        lambda path: sw.GradientBoostingRegressor(init=LinearRegression()).fit(
            X[["age"]], Y, checkpoint=path.with_name("new.sapwood")
        ),
        ParameterError,
        "cannot hold init=LinearRegression",
    ),
    "draws that cannot be repeated": (
        lambda path: sw.AdaBoostClassifier().fit(X, TWO, checkpoint=path.with_name("new.sapwood")),
        ParameterError,
        "a number as random_state",
    ),
}


def maker() -> Any:
    return sw.NewtonBoostingRegressor(n_estimators=4, random_state=0)


@pytest.mark.parametrize("name", REFUSED)
def test_what_does_not_fit_is_refused_and_the_file_stays(name: str, tmp_path: Path) -> None:
    act, error, words = REFUSED[name]
    path = tmp_path / "a.sapwood"
    maker().fit(X, Y, checkpoint=path)
    before = path.read_bytes()
    with pytest.raises(error, match=words):
        act(path)
    assert path.read_bytes() == before


def test_a_model_that_is_no_checkpoint_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "a.sapwood"
    sw.save(maker().fit(X, Y), path)
    with pytest.raises(ModelFileError, match="not a checkpoint"):
        maker().fit(X, Y, checkpoint=path)


def test_a_folder_that_is_not_there_is_noticed_before_training(tmp_path: Path) -> None:
    model = maker().set_params(callbacks=[lambda progress: pytest.fail("trained")])
    with pytest.raises(ModelFileError, match="is not a folder that you may write to"):
        model.fit(X, Y, checkpoint=tmp_path / "nowhere" / "a.sapwood")


def test_a_damaged_checkpoint_is_not_trusted(tmp_path: Path) -> None:
    path = tmp_path / "a.sapwood"
    maker().fit(X, Y, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(ModelFileError, match="checksum"):
        maker().fit(X, Y, checkpoint=path)


# Kills. The child is forked from this process, whose kernels are compiled, so that a kill meets training itself.


def _fit(name: str, path: Path, out: Path) -> None:
    make, y, options = CASES[name]
    sw.save(make().fit(X, y, checkpoint=sw.Checkpoint(path, rounds=1), **options), out)


def kill_often(name: str, n_kills: int, folder: Path, seed: int) -> int:
    """Kill trainings at random moments until there were so many; whatever gets through must give the same bytes."""
    make, y, options = CASES[name]
    begin = time.monotonic()
    want = saved(make().fit(X, y, **options), folder / "whole.sapwood")
    usual = time.monotonic() - begin
    path, out, draws, kills = folder / "part.sapwood", folder / "out.sapwood", random.Random(seed), 0
    fork = multiprocessing.get_context("fork")
    while True:
        child = fork.Process(target=_fit, args=(name, path, out))
        child.start()
        if kills < n_kills:
            child.join(draws.uniform(0.0, usual))
            if child.is_alive():
                os.kill(child.pid, signal.SIGKILL)
                kills += 1
        child.join()
        if child.exitcode == 0:
            assert out.read_bytes() == want
            if kills >= n_kills:
                return kills
            path.unlink()  # from the beginning
        elif path.exists():
            sw.load(path)  # whole, whenever the kill came


needs_fork = pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
KILLED = ("newton, samples", "gradient, huber", "forest", "adaboost")


@needs_fork
@pytest.mark.parametrize("name", KILLED)
def test_a_few_kills(name: str, tmp_path: Path) -> None:
    assert kill_often(name, 3, tmp_path, seed=0) >= 3


@pytest.mark.slow
@needs_fork
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", CASES)
def test_fifty_kills(name: str, tmp_path: Path) -> None:
    kills = kill_often(name, 50, tmp_path, seed=1)
    print(f"{name}: resumed to equal bytes after {kills} kills")
