"""Whatever ends a refit, bad input or an interrupt at any moment, attributes and predictions stay bit for bit."""

from __future__ import annotations

import errno
import pickle
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import sapwood
from sapwood import SapwoodError
from sapwood.errors import CheckpointWarning

PACKAGE = str(Path(sapwood.__file__).parent)
RNG = np.random.default_rng(0)
X = RNG.normal(size=(80, 4))
OTHER = RNG.normal(size=(50, 3))
ESTIMATORS = sorted(name for name in sapwood.__all__ if name.endswith(("Classifier", "Regressor", "Ranker")))
WITH_CHECKPOINTS = [name for name in ESTIMATORS if not name.startswith("DecisionTree")]
N_MOMENTS = 12


def target(name: str, rows: np.ndarray) -> np.ndarray:
    number = rows[:, 0] + rows[:, 1]
    return number if "Regressor" in name else np.digitize(number, [-0.5, 0.5])


def small(name: str, **parameters: Any) -> Any:
    if not name.startswith("DecisionTree"):
        parameters = {"n_estimators": 3, **parameters}
    return getattr(sapwood, name)(random_state=0, n_jobs=1, **parameters)


class Snapshot:
    """A fitted model as it is: its attributes, their content, and what it predicts."""

    def __init__(self, name: str) -> None:
        self.name, self.model = name, small(name).fit(X, target(name, X))
        self.predicted = self.model.predict(X)
        self.attributes, self.content = dict(vars(self.model)), pickle.dumps(self.model)

    def refit(self, **options: Any) -> Any:
        """Fit the model to other rows, with fewer columns."""
        return self.model.fit(OTHER, target(self.name, OTHER), **options)

    def check(self, attempt: Callable[[], Any], kind: type[BaseException] = SapwoodError) -> None:
        """The attempt fails, and the model is as it was."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with pytest.raises(kind):
                attempt()
        assert vars(self.model).keys() == self.attributes.keys()
        assert all(value is self.attributes[name] for name, value in vars(self.model).items())
        assert pickle.dumps(self.model) == self.content
        np.testing.assert_array_equal(self.model.predict(X), self.predicted)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_weights(name: str) -> None:
    fitted = Snapshot(name)
    argument = "query_weight" if "Ranker" in name else "sample_weight"
    for weight in (np.full(50, -1.0), np.zeros(50), np.full(50, np.nan), np.ones(49), "heavy"):
        fitted.check(lambda weight=weight: fitted.refit(**{argument: weight}))


@pytest.mark.parametrize("name", ESTIMATORS)
def test_bad_constraints(name: str) -> None:
    fitted = Snapshot(name)
    model = fitted.model
    parameter = next((p for p in ("monotonic_cst", "monotone_constraints") if p in model.get_params()), None)
    if parameter is None:  # bagging and AdaBoost: of the trees inside
        kind = sapwood.DecisionTreeClassifier if "Classifier" in name else sapwood.DecisionTreeRegressor
        model.set_params(estimator=kind(monotonic_cst=[1, 0]))
    else:
        model.set_params(**{parameter: [1, 0]})
    fitted.attributes, fitted.content = dict(vars(model)), pickle.dumps(model)
    fitted.check(fitted.refit)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_an_interrupt_at_any_moment(name: str) -> None:
    """KeyboardInterrupt is raised in place of some calls of functions of the package, evenly spread over the fit."""
    n_calls = calls_until(None, Snapshot(name).refit)
    assert n_calls > 100
    fitted = Snapshot(name)
    offset = int(RNG.integers(n_calls // N_MOMENTS))
    for moment in range(1 + offset, n_calls, n_calls // N_MOMENTS):
        fitted.check(lambda moment=moment: calls_until(moment, fitted.refit), KeyboardInterrupt)
    fitted.refit()
    again = small(name).fit(OTHER, target(name, OTHER))
    np.testing.assert_array_equal(fitted.model.predict(OTHER), again.predict(OTHER))


def calls_until(moment: int | None, attempt: Callable[[], Any]) -> int:
    """How many calls of the package's functions an attempt takes; at the given one, it is interrupted."""
    count = 0

    def watch(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        code = frame.f_code
        if event == "call" and code.co_filename.startswith(PACKAGE) and code.co_name != "<genexpr>":  # closed unseen
            count += 1
            if count == moment:
                raise KeyboardInterrupt

    sys.setprofile(watch)
    try:
        attempt()
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize("name", WITH_CHECKPOINTS)
def test_a_folder_that_cannot_be_written(name: str, tmp_path: Path) -> None:
    fitted = Snapshot(name)
    fitted.check(lambda: fitted.refit(checkpoint=tmp_path / "no" / "such" / "folder.sapwood"))


@pytest.mark.parametrize("name", WITH_CHECKPOINTS)
def test_a_full_disk_costs_the_checkpoint_and_not_the_training(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kept.sapwood"

    def full(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("sapwood.atomic_file.os.fsync", full)
    fitted = Snapshot(name)
    with pytest.warns(CheckpointWarning, match="No space left"):
        fitted.refit(checkpoint=sapwood.Checkpoint(path, rounds=1))
    assert not list(tmp_path.iterdir())
    again = small(name).fit(OTHER, target(name, OTHER))
    np.testing.assert_array_equal(fitted.model.predict(OTHER), again.predict(OTHER))
