"""What goes wrong while training on a source: an error that says so, the model as it was, nothing left behind."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from source_fits import FEATURES, KEEPS, file_of, force, sales, shown

import sapwood as sw
from sapwood.errors import DataFileError, InputError, ParameterError, SapwoodError
from sapwood.estimators.checkpoint import Checkpoints
from sapwood.scratch import SCRATCH, scratch_folder
from sapwood.sources.encode import encode
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")

FRAME = sales()
OPTIONS: dict[str, Any] = {"n_estimators": 4, "random_state": 0, "target_statistics": False, "linear_tree": False}


@pytest.fixture
def scratch(tmp_path: Path) -> Path:
    (tmp_path / "scratch").mkdir()
    return tmp_path / "scratch"


@pytest.fixture
def path(tmp_path: Path) -> str:
    return file_of(FRAME, tmp_path, "price", "w")


def model(scratch: Path, **more: Any) -> Any:
    return sw.NewtonBoostingRegressor(**OPTIONS | {"scratch": str(scratch)} | more)


def refused(scratch: Path, X: Any, error: type[Exception], words: str, target: str = "price", **given: Any) -> None:
    """The fit fails, the fitted model stays as it was, and no scratch file stays."""
    fitted = model(scratch).fit(FRAME[FEATURES], FRAME["price"])
    before = shown(fitted)
    with pytest.raises(error, match=words):
        fitted.fit(X, target=target, **given)
    assert shown(fitted) == before
    assert not list(scratch.iterdir())


WRONG: dict[str, tuple[dict[str, Any], type[Exception], str]] = {
    "target": ({"target": "prize"}, ParameterError, "target='prize' is not a column of the source.*'price'"),
    "weight": ({"sample_weight": "v"}, ParameterError, "weight='v' is not a column of the source"),
    "weights": ({"sample_weight": np.ones(320)}, ParameterError, "must be the name of a column, not a ndarray"),
    "y": ({"y": FRAME["price"]}, ParameterError, "y is not allowed with a source"),
    "targets": ({"target": ["price", "w"]}, ParameterError, "names 2 columns, but a source has one target"),
    "nothing": ({"target": None}, ParameterError, "needs the name of its target"),
    "a validation set without it": (
        {"eval_set": [FRAME[FEATURES]]},
        SapwoodError,
        "eval_set",
    ),
}


@pytest.mark.parametrize("name", WRONG)
@pytest.mark.parametrize("keep", ["all", "table"])
def test_wrong_names(name: str, keep: str, path: str, scratch: Path, monkeypatch: Any) -> None:
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 41)
    given, error, words = WRONG[name]
    refused(scratch, path, error, words, **given)


def test_wrong_names_of_queries(tmp_path: Path, scratch: Path) -> None:
    path = file_of(FRAME, tmp_path, "grade", "query")
    ranker = sw.NewtonBoostingRanker(**OPTIONS, scratch=str(scratch))
    with pytest.raises(ParameterError, match="query='session' is not a column of the source"):
        ranker.fit(path, target="grade", qid="session")
    with pytest.raises(ParameterError, match="group is not allowed with a source"):
        ranker.fit(path, target="grade", group=[300, 20])
    with pytest.raises(InputError, match="rows of a query must be contiguous"):
        ranker.fit(file_of(FRAME.assign(query=FRAME.index % 3), tmp_path, "grade", "query"), "grade", qid="query")
    assert not list(scratch.iterdir())


def test_a_target_is_missing_in_block_57(tmp_path: Path, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS["all"], 5)
    gap = FRAME.assign(price=FRAME["price"].mask(FRAME.index == 288))
    folder = tmp_path / "rows"
    folder.mkdir()
    file_of(gap.iloc[:200], folder, "price", name="a.parquet")
    file_of(gap.iloc[200:], folder, "price", name="b.parquet")
    refused(scratch, folder, InputError, r"The target 'price' is missing in row 88 of '.*b.parquet'")


def test_a_truncated_file(path: str, scratch: Path) -> None:
    Path(path).write_bytes(Path(path).read_bytes()[:-40])
    refused(scratch, path, DataFileError, "rows.parquet")


class Changing:
    """Frames of which another one comes in a given pass: they are opened, counted, surveyed and coded."""

    def __init__(self, number: int, change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
        self._passes, self._number, self._change = 0, number, change

    def __iter__(self) -> Any:
        self._passes += 1
        rows = FRAME[["price", *FEATURES]]
        yield rows.iloc[:100]
        yield (self._change if self._passes == self._number else pd.DataFrame.copy)(rows.iloc[100:])


@pytest.mark.parametrize("keep", KEEPS)
@pytest.mark.parametrize("number", [3, 4])
def test_rows_that_change_between_passes(keep: str, number: int, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS[keep], 41)
    source = Changing(number, lambda rows: rows.assign(a=rows["a"] + (rows.index == 250)))
    refused(scratch, source, DataFileError, "other rows in the second pass")
    fewer = Changing(number, lambda rows: rows.iloc[:-1])
    refused(scratch, fewer, DataFileError, "same rows each time")


@pytest.mark.parametrize("keep", [*KEEPS, "table"])
@pytest.mark.parametrize("act", ["changed", "removed"])
def test_a_file_that_changes_after_the_first_pass(
    keep: str, act: str, path: str, scratch: Path, monkeypatch: Any
) -> None:
    if keep != "table":
        force(monkeypatch, KEEPS[keep], 41)
    from sapwood.estimators import training_plan

    def surveyed(*given: Any, **options: Any) -> Any:
        found = survey(*given, **options)
        if act == "removed":
            Path(path).unlink()
        else:
            file_of(FRAME.assign(a=FRAME["a"] + 1), Path(path).parent, "price", "w")
        return found

    monkeypatch.setattr(training_plan, "survey", surveyed)
    refused(scratch, path, DataFileError, "rows.parquet")


def code_file(path: str, folder: Path) -> Path:
    return encode(
        survey(open_source(path), Roles(target="price"), task="numbers"), folder / "rows.codes", block_rows=50
    ).path


DAMAGES: dict[str, Callable[[Path], Any]] = {
    "truncated": lambda file: os.truncate(file, file.stat().st_size - 100),
    "empty": lambda file: os.truncate(file, 8),
    "contents": lambda file: file.write_bytes(file.read_bytes()[:-60] + b"x" + file.read_bytes()[-59:]),
}


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_code_file(how: str, path: str, tmp_path: Path, scratch: Path) -> None:
    file = code_file(path, tmp_path)
    DAMAGES[how](file)
    refused(scratch, file, DataFileError, "rows.codes.* is damaged", target=None)


def test_code_files_train_and_say_what_they_lack(path: str, tmp_path: Path, scratch: Path) -> None:
    file = code_file(file_of(FRAME, tmp_path, "price"), tmp_path)
    wanted = shown(model(scratch).fit(FRAME[FEATURES], FRAME["price"]))
    assert shown(model(scratch).fit(file)) == wanted
    assert shown(model(scratch).fit(str(file), target="price")) == wanted
    refused(scratch, file, InputError, "has the target 'price', not 'w'", target="w")
    refused(scratch, file, InputError, "is a code file, whose cells", eval_set=[file])
    with pytest.raises(InputError, match="holds numbers, which NewtonBoostingClassifier does not predict"):
        sw.NewtonBoostingClassifier().fit(file)


def test_folds_need_cells(path: str, tmp_path: Path, scratch: Path) -> None:
    many = file_of(sales(800), tmp_path, "price", name="many.parquet")
    with pytest.raises(ParameterError, match="n_estimators='auto' is validated on folds of 800 rows"):
        model(scratch, n_estimators="auto").fit(code_file(many, tmp_path))


@pytest.mark.parametrize("keep", ["codes", "all"])
def test_a_code_file_that_changes_during_training(
    keep: str, path: str, tmp_path: Path, scratch: Path, monkeypatch: Any
) -> None:
    file = code_file(path, tmp_path)
    force(monkeypatch, KEEPS[keep], 41)
    os.utime(file, ns=(1, 1))
    from sapwood.codes.code_file import CodeFile

    opened = CodeFile.open(file)
    os.utime(file, ns=(5, 5))
    refused(scratch, opened, DataFileError, "was changed while it was in use", target=None)


@pytest.mark.parametrize("keep", KEEPS)
def test_a_full_disk_is_found_before_training(keep: str, path: str, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS[keep], 41)
    usage = SimpleNamespace(free=1000)
    monkeypatch.setattr("sapwood.estimators.training_plan.shutil.disk_usage", lambda _: usage)
    refused(scratch, path, DataFileError, "has 0.977 KB free, but training on .* needs .* KB")


@pytest.mark.skipif(not hasattr(os, "posix_fallocate"), reason="simulates posix_fallocate")
def test_a_disk_that_is_full_when_arrays_are_made(path: str, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS["all"], 41)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "posix_fallocate", full)
    refused(scratch, path, DataFileError, "cannot be reserved .* No space left on device.*scratch=")


def test_a_disk_that_is_full_when_codes_are_written(path: str, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS["codes"], 41)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("sapwood.codes.code_file.CodeFileWriter.add", full)
    refused(scratch, path, DataFileError, "rows.codes.* cannot be written: No space left on device")


def test_scratch_folders_that_cannot_be_used(path: str, scratch: Path, monkeypatch: Any) -> None:
    with pytest.raises(ParameterError, match=r"scratch='.*nowhere' is not a folder"):
        model(scratch / "nowhere").fit(path, target="price")

    def denied(*_: Any, **__: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("sapwood.scratch.tempfile.mkdtemp", denied)
    with pytest.raises(DataFileError, match="cannot be written to: Permission denied"):
        model(scratch).fit(path, target="price")


@pytest.mark.parametrize("keep", KEEPS)
def test_ctrl_c_keeps_the_rounds_done(keep: str, path: str, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS[keep], 41)
    stopping = model(scratch, callbacks=[lambda _: signal.raise_signal(signal.SIGINT)])
    with pytest.warns(UserWarning, match="interrupted by SIGINT after 1 round"):
        stopping.fit(path, target="price")
    assert stopping.n_estimators_ == 1
    assert not list(scratch.iterdir())


def test_ctrl_c_while_reading_leaves_nothing(path: str, scratch: Path, monkeypatch: Any) -> None:
    force(monkeypatch, KEEPS["all"], 41)

    def interrupted(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("sapwood.codes.code_file.CodeFileWriter.add", interrupted)
    refused(scratch, path, KeyboardInterrupt, "^$")


def _killed(path: str, scratch: Path) -> None:
    with pytest.MonkeyPatch.context() as patch:
        force(patch, KEEPS["all"], 41)
        model(scratch, callbacks=[lambda _: os.kill(os.getpid(), signal.SIGKILL)]).fit(path, target="price")


@pytest.mark.skipif(sys.platform == "win32", reason="needs fork")
def test_the_next_training_removes_what_a_killed_one_left(path: str, scratch: Path) -> None:
    model(scratch).fit(path, target="price")  # kernels are compiled
    child = multiprocessing.get_context("fork").Process(target=_killed, args=(path, scratch))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL
    (left,) = scratch.iterdir()
    assert left.name.startswith(SCRATCH)
    with scratch_folder(scratch) as other:  # of a training that still runs
        model(scratch).fit(path, target="price")
        assert list(scratch.iterdir()) == [other]
    assert not list(scratch.iterdir())


class StopError(Exception):
    """A crash."""


PLACES = ["memory", "codes", "all", "frame"]


@pytest.mark.parametrize(("first", "second"), [(a, b) for a in PLACES for b in PLACES])
def test_a_training_goes_on_elsewhere(first: str, second: str, path: str, tmp_path: Path, monkeypatch: Any) -> None:
    (tmp_path / "scratch").mkdir()
    make = sw.NewtonBoostingRegressor(**OPTIONS, subsample=0.6)
    wanted = shown(make.fit(FRAME[FEATURES], FRAME["price"], FRAME["w"]))
    checkpoint = sw.Checkpoint(tmp_path / "part.sapwood", rounds=2)

    def fit(place: str) -> Any:
        if place == "frame":
            return make.fit(FRAME[FEATURES], FRAME["price"], FRAME["w"], checkpoint=checkpoint)
        with pytest.MonkeyPatch.context() as patch:
            force(patch, KEEPS[place], 41)
            return make.fit(path, target="price", sample_weight="w", checkpoint=checkpoint)

    after = Checkpoints.after

    def crash(self: Checkpoints, n_done: int, *so_far: Any) -> None:
        after(self, n_done, *so_far)
        if n_done == 2:
            raise StopError

    with monkeypatch.context() as patch:
        patch.setattr(Checkpoints, "after", crash)
        with pytest.raises(StopError):
            fit(first)
    assert sw.load(tmp_path / "part.sapwood").n_estimators_ == 2
    assert shown(fit(second)) == wanted


@pytest.mark.parametrize("name", ["RandomForestRegressor", "GradientBoostingRegressor", "DecisionTreeRegressor"])
def test_other_estimators_name_the_ones_that_train_on_files(name: str, path: str) -> None:
    with pytest.raises(SapwoodError, match=r"NewtonBoosting"):
        getattr(sw, name)().fit(path, FRAME["price"])
