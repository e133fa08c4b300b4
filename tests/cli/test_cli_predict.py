import csv
import os

import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from tables import read_table, write_table

from sapwood import DecisionTreeClassifier
from sapwood.cli.dataset import read_dataset
from sapwood.cli.options import TrainingOptions


def test_predictions_are_those_of_the_estimator_in_the_order_of_the_rows(run, flowers, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", "--train", flowers, "--target", "kind", "--input", flowers, "--out", out, "--keep", "when")
    assert result.exit_code == 0, result.output
    dataset = read_dataset(flowers, TrainingOptions(target="kind"))
    tree = DecisionTreeClassifier(random_state=0).fit(dataset.X, dataset.y)
    with out.open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["when", "prediction", "probability_winter", "probability_été"]
    assert [row["prediction"] for row in rows] == tree.predict(dataset.X).tolist()
    probability = tree.predict_proba(dataset.X)
    assert [float(row["probability_été"]) for row in rows] == pytest.approx(probability[:, 1].tolist())
    assert [row["when"] for row in rows] == [str(day) for day in dataset.X["when"].to_pylist()]


def test_parquet_out_without_probabilities(run, flowers, tmp_path):
    out = tmp_path / "out.parquet"
    arguments = ("--train", flowers, "--target", "kind", "--input", flowers, "--out", out, "--no-proba")
    assert run("predict", *arguments).exit_code == 0
    assert pq.read_table(out).column_names == ["prediction"]


def test_numbers_have_no_probabilities(run, houses, tmp_path):
    out = tmp_path / "out.csv"
    arguments = ["predict", "--train", houses, "--target", "price", "--input", houses, "--out", out]
    assert run(*arguments).exit_code == 0
    assert pa_csv.read_csv(out).column_names == ["prediction"]
    result = run(*arguments, "--proba")
    assert result.exit_code == 1
    assert "needs classes" in result.output


def test_text_stays_text_where_new_values_look_like_numbers(run, tmp_path):
    train, new, out = tmp_path / "train.csv", tmp_path / "new.csv", tmp_path / "out.csv"
    train.write_text("code,y\n" + "1,no\n2,no\nx,yes\n" * 10)
    new.write_text("code\n2\n1\n")
    assert run("predict", "--train", train, "--target", "y", "--input", new, "--out", out).exit_code == 0
    assert read_table(out)["prediction"].to_pylist() == ["no", "no"]


def test_the_input_files_are_never_overwritten(run, flowers, tmp_path):
    before = flowers.read_bytes()
    link = tmp_path / "link.csv"
    os.link(flowers, link)
    for out in (flowers, link):
        result = run("predict", "--train", flowers, "--target", "kind", "--input", flowers, "--out", out)
        assert result.exit_code == 1
        assert "is one of the input files" in result.output
    assert flowers.read_bytes() == before


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch, flowers):
    out = tmp_path / "folder" / "out.csv"
    out.parent.mkdir()
    out.write_text("old")

    def fail(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("pyarrow.csv.CSVWriter", fail)
    with pytest.raises(ValueError, match="No space left"):
        write_table(out, read_table(flowers))
    assert out.read_text() == "old"
    assert list(out.parent.iterdir()) == [out]


def test_an_existing_output_is_replaced(run, flowers, tmp_path):
    out = tmp_path / "out.csv"
    out.write_text("old")
    assert run("predict", "--train", flowers, "--target", "kind", "--input", flowers, "--out", out).exit_code == 0
    assert read_table(out).num_rows == 120


def test_what_cannot_be_written_is_refused_at_once(run, flowers, tmp_path):
    arguments = ["predict", "--train", flowers, "--target", "kind", "--input", flowers, "--out"]
    assert "unknown extension '.xlsx'" in run(*arguments, tmp_path / "out.xlsx").output
    assert "There is no folder" in run(*arguments, tmp_path / "nowhere" / "out.csv").output
    (tmp_path / "folder.csv").mkdir()
    assert "not a regular file" in run(*arguments, tmp_path / "folder.csv").output


def test_columns_of_the_input_are_checked(run, flowers, tmp_path):
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    new.write_text("größe,color,when,tall,prediction\n1,blau,2024-01-01,true,1\n")
    arguments = ["predict", "--train", flowers, "--target", "kind", "--input", new, "--out", out]
    result = run(*arguments)
    assert result.exit_code == 1
    assert "'colour' is not a column" in result.output
    assert "Did you mean 'color'?" in result.output
    result = run(*arguments, "--drop", "colour", "--keep", "prediction")
    assert result.exit_code == 1
    assert "has the name of a column of predictions" in result.output
    assert "'tal' is not a column" in run(*arguments, "--drop", "colour", "--keep", "tal").output
    assert run(*arguments, "--drop", "colour", "--keep", "tall").exit_code == 0
