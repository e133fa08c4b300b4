"""`sapwood train` of rows that are read batch by batch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from outcomes import error_line

import sapwood as sw
from sapwood.cli import train_batches
from sapwood.cli.model_file import read_model


@pytest.fixture
def sales(tmp_path: Path) -> Path:
    """Text that is numbers, a category, a number that is one, a target with gaps, and weights."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"price": [f"${k:,}" for k in rng.integers(100, 9000, 90)], "shop": rng.choice(list("ab"), 90)}
    )
    frame["zone"] = rng.integers(0, 4, 90)
    frame["sold"] = rng.integers(0, 2, 90).astype(float)
    frame.loc[[5, 70], "sold"] = np.nan
    frame["w"], frame["id"] = rng.integers(0, 3, 90), np.arange(90)
    (tmp_path / "sales").mkdir()
    frame.iloc[:40].to_csv(tmp_path / "sales" / "a.csv", index=False)
    frame.iloc[40:].to_csv(tmp_path / "sales" / "b.csv", index=False)
    return tmp_path / "sales"


ROLES = ["--target", "sold", "--weight", "w", "--category", "zone", "--drop", "id", "--drop-missing-target"]
SET = ["--set", "n_estimators=4"]


def test_the_model_is_that_of_memory(run: Any, sales: Path, tmp_path: Path) -> None:
    """The same command in memory, and from a code file."""
    models = [tmp_path / f"{name}.sapwood" for name in ("memory", "batches", "codes")]
    given = [*ROLES, *SET, "--model", "boosting"]
    result = run("train", sales, *given, "--test-size", 0, "--out", models[0])
    assert result.exit_code == 0, result.output
    result = run("train", sales / "*.csv", *given, "--max-memory", "2GB", "--scratch", tmp_path, "--out", models[1])
    assert result.exit_code == 0, result.output
    assert "rows x 3 columns" in result.output
    assert "memory: " in result.output
    assert "'price' was read as numbers" in result.output
    assert "It was trained on all 61 rows" in result.output
    assert run("encode", sales, *ROLES, "-o", tmp_path / "sales.codes").exit_code == 0
    result = run("train", tmp_path / "sales.codes", *SET, "--out", models[2])
    assert result.exit_code == 0, result.output
    saved = [read_model(path) for path in models]
    first = saved[0].estimator
    for one in saved[1:]:
        assert one.readings == saved[0].readings
        assert one.estimator.schema_ == first.schema_
        assert arrays_of(one.estimator) == arrays_of(first)


def arrays_of(model: Any) -> list[bytes]:
    trees = [tree for trees in model.ensemble_.rounds for tree in trees]
    return [array.tobytes() for tree in trees for array in tree.arrays().values()]


def test_the_plan_alone(run: Any, sales: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.sapwood"
    result = run("train", sales, *ROLES, "--plan", "--out", out)
    assert result.exit_code == 0, result.output
    assert "The model is bit for bit the one that training in memory gives." in result.output
    assert not out.exists()


def test_rounds_are_measured_on_other_files(run: Any, sales: Path) -> None:
    more = ["--set", "early_stopping_rounds=3", "--validation", sales / "b.csv"]
    result = run("train", sales / "a.csv", *ROLES, *more)
    assert result.exit_code == 0, result.output
    assert "Validation: " in result.output


def test_files_that_are_larger_than_memory_are_read_in_batches(run: Any, sales: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(train_batches, "_GROWTH", 1 << 40)
    result = run("train", sales, *ROLES, *SET)
    assert result.exit_code == 0, result.output
    assert "rows x 3 columns" in result.output


def test_a_checkpoint_is_resumed(run: Any, sales: Path, tmp_path: Path) -> None:
    given = ["train", sales, *ROLES, *SET, "--max-memory", "1GB", "--checkpoint", tmp_path / "c.sapwood"]
    assert run(*given).exit_code == 0
    again = run(*given)
    assert again.exit_code == 0, again.output
    assert "holds the finished model" in again.output
    assert sw.load(tmp_path / "c.sapwood").n_estimators_ == 4


def test_what_batches_do_not_allow(run: Any, sales: Path, tmp_path: Path) -> None:
    in_batches = ["train", sales, *ROLES, "--max-memory", "1GB"]
    assert "--test-size needs all rows in memory" in error_line(run(*in_batches, "--test-size", 0.2))
    assert "--model forest needs all rows in memory" in error_line(run(*in_batches, "--model", "forest"))
    assert "makes many trees" in error_line(run(*in_batches, "--picture", tmp_path / "x.png"))
    assert "max_memory=1 KB is too little" in error_line(run("train", sales, *ROLES, "--max-memory", "1KB"))
    assert "not an amount of memory" in error_line(run("train", sales, *ROLES, "--max-memory", "much"))
    assert "is not a folder" in error_line(run(*in_batches, "--scratch", tmp_path / "nowhere"))
    assert run("train", sales, "--max-memory", "1GB").exit_code == 2
    assert run("train", sales).exit_code == 2
