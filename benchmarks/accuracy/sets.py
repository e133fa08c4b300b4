"""The data sets of the folder SAPWOOD_DATA that take part, and their two parts: to tune defaults on, and to judge them.

A dense set takes part if its manifest says that it has two classes, several classes or numbers to predict, and at least
400 rows. Left out are sparse matrices, text, survival times, rankings, counts and amounts of insurance, and several
targets at once.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from data import DATA_FOLDER

Task = Literal["binary", "classes", "numbers"]
TASKS: tuple[Task, ...] = ("binary", "classes", "numbers")
PARTS = ("tune", "gate")
MIN_ROWS = 400
MAX_ROWS = 20_000  # of training, and of testing
TEST_SHARE = 0.25
FEW_ROWS = 5_000  # below it, a set is small

_TASKS: dict[str, Task] = {
    "binary": "binary",
    "multiclass": "classes",
    "multiclass/regression": "classes",
    "regression": "numbers",
}


@dataclass(frozen=True)
class DataSet:
    """What the manifest says of a set."""

    name: str
    task: Task
    target: str
    rows: int
    path: Path

    @property
    def is_small(self) -> bool:
        return training_rows(self.rows) < FEW_ROWS


def training_rows(rows: int) -> int:
    """How many of the rows are for training."""
    return min(MAX_ROWS, rows - test_rows(rows))


def test_rows(rows: int) -> int:
    """How many of the rows are for testing."""
    return min(MAX_ROWS, round(rows * TEST_SHARE))


def data_folder() -> Path:
    """The folder that the environment variable SAPWOOD_DATA names."""
    folder = os.environ.get(DATA_FOLDER)
    if not folder:
        raise SystemExit(f"The environment variable {DATA_FOLDER} names no folder of data sets.")
    return Path(folder)


def all_sets() -> dict[str, DataSet]:
    """Every set that takes part, by name."""
    folder = data_folder()
    manifest = json.loads((folder / "manifest.json").read_text())
    return {
        name: DataSet(name, _TASKS[facts["task"]], facts["target"], facts["rows"], folder / facts["file"])
        for name, facts in sorted(manifest.items())
        if facts["task"] in _TASKS and facts["rows"] >= MIN_ROWS
    }


def parts(sets: dict[str, DataSet]) -> dict[str, str]:
    """To which part each set belongs: every other one by the hash of its name, within task and size."""
    order = sorted(sets.values(), key=lambda each: (each.task, each.is_small, _hash(each.name)))
    return {each.name: PARTS[number % 2] for number, each in enumerate(order)}


def _hash(name: str) -> str:
    return hashlib.sha256(name.encode()).hexdigest()
