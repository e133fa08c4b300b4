"""Every function that writes a file, on a disk that is full, read-only or gone, and with two writers at once."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sapwood as sw
from sapwood import atomic_file, interchange
from sapwood.errors import CheckpointWarning, SapwoodError

OLD = b"what was there before"
ROWS = np.arange(300.0).reshape(-1, 3)
TARGET = np.sin(ROWS[:, 0])
MODEL = sw.NewtonBoostingRegressor(n_estimators=3).fit(ROWS, TARGET)
TREE = sw.DecisionTreeRegressor(max_depth=3).fit(ROWS, TARGET)

WRITERS: dict[str, Callable[[Path], Any]] = {
    "save": lambda path: sw.save(MODEL, path),
    "save as JSON": lambda path: sw.save(MODEL, path, form="json"),
    "export_graphviz": lambda path: sw.export_graphviz(TREE, out_file=path),
    "to_c": lambda path: interchange.to_c(TREE, path),
    "to_python": lambda path: interchange.to_python(TREE, path),
    "to_sql": lambda path: interchange.to_sql(TREE, path),
    "to_onnx": lambda path: interchange.to_onnx(TREE, path),
    "to_xgboost": lambda path: interchange.to_xgboost(MODEL, path),
}
FAULTS = [errno.ENOSPC, errno.EROFS, errno.EDQUOT, errno.EIO, errno.ESTALE]


def fails(code: int) -> Callable[..., Any]:
    def fail(*_: Any) -> None:
        raise OSError(code, os.strerror(code))

    return fail


def ending(writer: str) -> str:
    return ".json" if writer in ("save as JSON", "to_xgboost") else ".out"


@pytest.mark.parametrize("code", FAULTS, ids=[errno.errorcode[code] for code in FAULTS])
@pytest.mark.parametrize("writer", WRITERS)
def test_a_disk_that_refuses_leaves_the_old_file_and_says_why(
    writer: str, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / f"file{ending(writer)}"
    path.write_bytes(OLD)
    monkeypatch.setattr(atomic_file, "store", fails(code))
    with pytest.raises(SapwoodError, match=os.strerror(code)):
        WRITERS[writer](path)
    assert path.read_bytes() == OLD
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_that_was_removed_is_named(writer: str, tmp_path: Path) -> None:
    path = tmp_path / "gone" / f"file{ending(writer)}"
    with pytest.raises(SapwoodError, match=r"gone.*No such file or directory"):
        WRITERS[writer](path)
    assert not path.parent.exists()


@pytest.mark.parametrize("writer", WRITERS)
def test_a_folder_in_the_place_of_the_file_is_left_alone(writer: str, tmp_path: Path) -> None:
    path = tmp_path / f"file{ending(writer)}"
    path.mkdir()
    (path / "inside").write_bytes(OLD)
    with pytest.raises(SapwoodError, match="cannot be written"):
        WRITERS[writer](path)
    assert (path / "inside").read_bytes() == OLD
    assert [found.name for found in tmp_path.iterdir()] == [path.name]


def test_two_writers_and_a_reader_see_whole_files_only(tmp_path: Path) -> None:
    path = tmp_path / "model.sapwood"
    models = [MODEL, TREE]
    answers = [model.predict(ROWS) for model in models]
    sw.save(MODEL, path)
    found: list[bool] = []

    def write(model: Any) -> None:
        for _ in range(40):
            sw.save(model, path)

    writers = [threading.Thread(target=write, args=(model,)) for model in models]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        told = sw.load(path).predict(ROWS)
        found.append(any(np.array_equal(told, answer) for answer in answers))
    assert all(found)
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


ESTIMATORS: dict[str, Callable[[], Any]] = {
    "newton": lambda: sw.NewtonBoostingRegressor(n_estimators=8, random_state=0),
    "gradient": lambda: sw.GradientBoostingRegressor(n_estimators=8, random_state=0),
    "forest": lambda: sw.RandomForestRegressor(n_estimators=8, random_state=0),
    "adaboost": lambda: sw.AdaBoostRegressor(n_estimators=8, random_state=0),
    "bagging": lambda: sw.BaggingRegressor(n_estimators=8, random_state=0),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_training_goes_on_when_a_checkpoint_cannot_be_written(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Hours of training are worth more than a checkpoint: a full disk costs the checkpoint alone."""
    path = tmp_path / "way.sapwood"
    monkeypatch.setattr(atomic_file, "store", fails(errno.ENOSPC))
    with pytest.warns(CheckpointWarning, match="No space left") as told:
        model = ESTIMATORS[kind]().fit(ROWS, TARGET, checkpoint=sw.Checkpoint(path, rounds=2))
    assert len(told) == 1
    assert list(tmp_path.iterdir()) == []
    assert sw.fingerprint(model) == sw.fingerprint(ESTIMATORS[kind]().fit(ROWS, TARGET))


def test_a_checkpoint_that_fails_once_is_written_the_next_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, store, left = tmp_path / "way.sapwood", atomic_file.store, [1]

    def fail_once(*arguments: Any) -> None:
        if left:
            left.pop()
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        store(*arguments)

    monkeypatch.setattr(atomic_file, "store", fail_once)
    with pytest.warns(CheckpointWarning):
        model = ESTIMATORS["newton"]().fit(ROWS, TARGET, checkpoint=sw.Checkpoint(path, rounds=2))
    assert sw.fingerprint(sw.load(path)) == sw.fingerprint(model)
