from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import accuracy_score, mean_squared_error
from tables import read_table

from sapwood.cli.dataset import read_dataset, split
from sapwood.cli.options import FileFormat, TrainingOptions
from sapwood.cli.report import scores
from sapwood.cli.train import fit


def test_strings_holes_quotes_and_unicode_train(run, flowers):
    result = run("train", flowers, "--target", "kind", "--set", "max_depth=4")
    assert result.exit_code == 0, result.output
    assert "classification, because 'kind' holds text, 2 different values" in result.output
    assert "Rows: 90 to train on, 30 to test on. Columns: 4." in result.output
    for word in ("accuracy", "balanced accuracy", "log loss", "AUC", "Confusion matrix", "été", "größe", "|---"):
        assert word in result.output


def test_csv_columns_have_their_types(flowers):
    table = read_table(flowers)
    assert table.schema.field("größe").type == pa.float64()
    assert table.schema.field("when").type == pa.date32()
    assert table.schema.field("tall").type == pa.bool_()
    assert table["colour"].to_pylist()[:6] == ["rot, hell", "blau", "жёлтый", 'say "hi"', "two\nlines", None]
    assert table["größe"].null_count == sum(i % 7 in (2, 3, 4, 5) for i in range(120))


def test_regression_reports_errors_and_a_constant(run, houses):
    result = run("train", houses, "--target", "price", "--drop", "id", "--weight", "w", "--no-show-tree")
    assert result.exit_code == 0, result.output
    for word in ("regression", "RMSE", "MAE", "R²", "constant prediction", "weighted", "area"):
        assert word in result.output
    assert "|---" not in result.output
    assert "│ id" not in result.output


def test_large_trees_are_printed_only_if_wanted(run, houses):
    assert "--show-tree prints it" in run("train", houses, "--target", "price").output
    assert "|---" in run("train", houses, "--target", "price", "--show-tree").output


def test_scores_are_those_of_the_test_rows(flowers, houses):
    options = TrainingOptions(target="kind")
    training, test = split(read_dataset(flowers, options), 0.25, 0)
    tree, _ = fit(options, training)
    assert scores(tree, test)["accuracy"] == accuracy_score(test.y, tree.predict(test.X))
    options = TrainingOptions(target="price", weight="w")
    training, test = split(read_dataset(houses, options), 0.5, 3)
    tree, _ = fit(options, training)
    error = mean_squared_error(test.y, tree.predict(test.X), sample_weight=test.weight)
    assert scores(tree, test)["RMSE"] == pytest.approx(error**0.5)


def test_parquet_with_categories_and_times(run, tmp_path):
    import datetime

    n = 80
    clock = [datetime.time(i % 24, 0) for i in range(n)]
    columns = {
        "clock": pa.array(clock, pa.time64("us")),
        "shade": pa.array(["ab"[i % 2] for i in range(n)]).dictionary_encode(),
        "zip": pa.array([i % 5 for i in range(n)]),
        "y": pa.array([float(i % 24 > 11) for i in range(n)]),
    }
    pq.write_table(pa.table(columns), tmp_path / "data.parquet")
    result = run("train", tmp_path / "data.parquet", "--target", "y", "--category", "zip")
    assert result.exit_code == 0, result.output
    assert "holds only 2 different whole numbers" in result.output
    assert "clock" in result.output


@pytest.mark.parametrize("extension", ["png", "svg", "pdf"])
def test_a_picture_is_drawn(run, flowers, tmp_path, extension):
    picture = tmp_path / f"tree.{extension}"
    result = run("train", flowers, "--target", "kind", "--set", "max_depth=2", "--picture", picture)
    assert result.exit_code == 0, result.output
    assert picture.stat().st_size > 1000


def test_markup_prints_literally(run, tmp_path):
    lines = ["[red]x[/red],:smile:,[b]y"] + [f"{i % 3},[link]{i % 2},[bold]{'ab'[i % 2]}[/]" for i in range(40)]
    file = tmp_path / "[red]data.csv"
    file.write_text("\n".join(lines))
    result = run("train", file, "--target", "[b]y", "--show-tree")
    assert result.exit_code == 0, result.output
    for word in ("[b]y", "[bold]a[/]", ":smile:", "[link]0"):
        assert word in result.output
    result = run("train", file, "--target", "[red]")
    assert result.exit_code == 1
    assert "[red]x[/red]" in result.output
    assert "[red]data.csv" in result.output


def test_data_cannot_steer_the_terminal(run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x\x1b[31m,y\n" + "1,a\x1b]0;\x07\n2,b\n" * 10)
    result = run("train", file, "--target", "y")
    assert result.exit_code == 0, result.output
    assert "x�[31m" in result.output
    assert "\x1b" not in result.output


@pytest.mark.parametrize(
    ("text", "delimiter"),
    [("a;b\n1,5;2\n2,5;3\n", ";"), ("a\tb\n1.5\t2\n2.5\t3\n", "\t"), ("a|b\n1.5|2\n2.5|3\n", "|")],
)
def test_delimiters_and_decimal_commas_are_guessed(tmp_path, text, delimiter):
    file = tmp_path / "data.csv"
    file.write_text(text)
    assert read_table(file).to_pydict() == {"a": [1.5, 2.5], "b": [2, 3]}
    assert read_table(file, file_format=FileFormat(delimiter=delimiter)).to_pydict() == {"a": [1.5, 2.5], "b": [2, 3]}


def test_spaces_after_commas_are_layout(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("\ufeffa, b\n1, x\n ?, ?\n")
    assert read_table(file).to_pydict() == {"a": [1, None], "b": ["x", None]}


def test_compressed_csv(tmp_path):
    import gzip

    file = tmp_path / "data.csv.gz"
    file.write_bytes(gzip.compress(b"a,b\n1,x\n2,y\n"))
    assert read_table(file).to_pydict() == {"a": [1, 2], "b": ["x", "y"]}


def test_types_are_inferred_from_the_whole_file(tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("a,b\n" + "1,2\n" * 300_000 + "x,2.5\n")
    table = read_table(file)
    assert table.schema.types == [pa.string(), pa.float64()]


@pytest.mark.parametrize(
    ("values", "task"),
    [
        (["a", "b"] * 10, "classification"),
        (["true", "false"] * 10, "classification"),
        ([0, 1] * 10, "classification"),
        (["0.0", "1.0", "2.0"] * 20, "classification"),
        (list(range(20)), "regression"),
        ([0.5, 1, 2] * 10, "regression"),
    ],
)
def test_the_task_is_guessed_from_the_target(run, tmp_path, values, task):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n" + "".join(f"{i},{value}\n" for i, value in enumerate(values)))
    result = run("train", file, "--target", "y")
    assert result.exit_code == 0, result.output
    assert f"Task: {task}, because 'y' holds" in result.output


@pytest.mark.parametrize("values", ["ab", "abc", "aab", "abcdefgh", "aaaaaaab"])
def test_tiny_files_and_rare_classes_train(run, tmp_path, values):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n" + "".join(f"{i},{value}\n" for i, value in enumerate(values)))
    result = run("train", file, "--target", "y")
    assert result.exit_code == 0, result.output


def test_rows_without_target_are_dropped_if_asked(run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n" + "".join(f"{i},{'' if i < 3 else i % 2}\n" for i in range(43)))
    result = run("train", file, "--target", "y")
    assert result.exit_code == 1
    assert "missing in 3 of the 43 rows" in result.output
    assert "--drop-missing-target" in result.output
    result = run("train", file, "--target", "y", "--drop-missing-target")
    assert result.exit_code == 0, result.output
    assert "Rows: 30 to train on, 10 to test on" in result.output


def test_the_seed_decides_the_split(houses):
    dataset = read_dataset(houses, TrainingOptions(target="price"))
    first, again, other = (split(dataset, 0.25, seed)[0].y for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


def test_a_file_is_found_by_its_kind_not_by_case(tmp_path):
    file: Path = tmp_path / "DATA.CSV"
    file.write_text("a,b\n1,2\n")
    assert read_table(file).num_rows == 1
