"""`sapwood encode`, what `sapwood inspect` says of its files, and predictions of several files."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from outcomes import error_line

import sapwood as sw
from sapwood.cli.data_file import open_data
from sapwood.cli.dataset import read_rows
from sapwood.cli.options import TrainingOptions
from sapwood.codes.binned import bin_table, find_bins
from sapwood.codes.code_file import CodeFile
from sapwood.table.table import Table


@pytest.fixture
def sales(tmp_path):
    """Text that is numbers and dates, a category, a number that is one, and targets that are missing."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"price": [f"${k:,}" for k in random.integers(100, 9000, 90)], "shop": random.choice(list("ab"), 90)}
    )
    frame["when"] = [f"{d:02d}.05.2024" for d in random.integers(1, 30, 90)]
    frame["zone"] = random.integers(0, 4, 90)
    frame["sold"] = random.integers(0, 2, 90).astype(float)
    frame.loc[[5, 70], "sold"] = np.nan
    frame["w"] = random.integers(0, 3, 90)
    (tmp_path / "sales").mkdir()
    frame.iloc[:40].to_csv(tmp_path / "sales" / "a.csv", index=False)
    frame.iloc[40:].to_csv(tmp_path / "sales" / "b.csv", index=False)
    return tmp_path / "sales"


def test_files_are_coded_as_train_reads_them(run, sales, tmp_path):
    out = tmp_path / "sales.codes"
    options = ["--target", "sold", "--weight", "w", "--category", "zone", "--drop-missing-target", "--block-rows", 25]
    result = run("encode", sales, *options, "-o", out)
    assert result.exit_code == 0, result.output
    assert "'price' was read as numbers" in result.output
    assert "4 columns: 1 number, 2 categories, 1 date." in result.output
    assert "Target: sold, 2 classes." in result.output
    file = CodeFile.open(out)
    assert f"Code file: {out} ({file.n_rows} rows in {file.n_blocks} blocks, " in result.output
    wanted = TrainingOptions(target="sold", weight="w", category=["zone"], drop_missing_target=True)
    dataset, _ = read_rows(sales, wanted)
    table = Table.from_any(dataset.X, categorical_features=["zone"]).take(np.flatnonzero(dataset.weight))
    assert file.schema == table.schema
    codes = bin_table(table, find_bins(table, 255)).columns
    np.testing.assert_array_equal(np.concatenate([block.table.columns for block in file], axis=1), codes)
    np.testing.assert_array_equal(file.contents.classes[file.others("y")], dataset.y[dataset.weight > 0])
    assert file.contents.notes == {"readings": {name: [r.kind, r.form] for name, r in dataset.readings.items()}}


def test_inspect_shows_code_files(run, sales, tmp_path):
    out = tmp_path / "sales.codes"
    assert run("encode", sales, "--target", "zone", "--drop", "sold,w", "-o", out).exit_code == 0
    said = run("inspect", out).output
    assert "90 rows in 1 block" in said
    assert "Target: zone" in said
    assert "price" in said
    facts = json.loads(run("inspect", out, "--json").output)
    assert (facts["n_rows"], facts["roles"]["target"], facts["classes"]) == (90, "zone", [0, 1, 2, 3])
    assert [column["name"] for column in facts["columns"]] == ["price", "shop", "when"]


def test_what_cannot_be_coded(run, sales, tmp_path):
    out = tmp_path / "x.codes"
    missing = error_line(run("encode", sales, "--target", "sold", "-o", out))
    assert "'sold' is missing in row 5 of" in missing
    assert "a.csv" in missing
    assert "--target 'sld' is not a column" in error_line(run("encode", sales, "--target", "sld", "-o", out))
    assert "several options" in error_line(run("encode", sales, "--target", "w", "--weight", "w", "-o", out))
    assert "one of the input files" in error_line(run("encode", sales, "--target", "w", "-o", sales / "a.csv"))
    bad = error_line(run("encode", sales, "--target", "shop", "--task", "regression", "-o", out))
    assert "not a number" in bad
    assert sorted(path.name for path in tmp_path.iterdir()) == ["sales"]


@pytest.mark.parametrize("suffix", [".arrow", ".arrows", ".feather", ".parquet"])
def test_predictions_of_patterns_and_in_arrow_files(run, tmp_path, suffix):
    random = np.random.default_rng(0)
    rows = pa.table({"a": random.normal(size=200), "b": random.normal(size=200)})
    sw.save(sw.DecisionTreeRegressor(max_depth=3).fit(rows, rows["a"]), tmp_path / "m.sapwood")
    for k in range(4):
        pq.write_table(rows.slice(50 * k, 50), tmp_path / f"part-{k}.parquet")
    out, alone = tmp_path / f"out{suffix}", tmp_path / "alone.csv"
    given = ["predict", "--model", tmp_path / "m.sapwood", "--input", tmp_path / "part-*.parquet"]
    assert run(*given, "--out", out).exit_code == 0
    expected = sw.load(tmp_path / "m.sapwood").predict(rows)
    np.testing.assert_array_equal(open_data(out).read()["prediction"].to_numpy(), expected)
    assert run(*given[:-1], tmp_path / "part-0.parquet", "--out", alone).exit_code == 0
    np.testing.assert_array_equal(open_data(alone).read()["prediction"].to_numpy(), expected[:50])
    assert "one of the input files" in error_line(run(*given, "--out", tmp_path / "part-2.parquet"))
    assert pq.read_table(tmp_path / "part-2.parquet").equals(rows.slice(100, 50))
