"""Measures of models in files."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from outcomes import cell, error_line, usage_error

import sapwood as sw
from sapwood.cli.dataset import read_dataset
from sapwood.cli.options import TrainingOptions
from sapwood.cli.report import scores


def test_measures_of_a_file_are_those_of_its_model(run, flowers, saved):
    result = run("evaluate", "--model", saved, "--data", flowers, "--target", "kind")
    assert result.exit_code == 0, result.output
    for words in ("Model: NewtonBoostingClassifier", "Measures on 120 test rows", "best constant of these rows"):
        assert words in result.output
    assert "Confusion matrix of the test rows" in result.output
    expected = scores(sw.load(saved), read_dataset(flowers, TrainingOptions(target="kind")))
    for measure, value in expected.items():
        assert cell(result.output, measure) == pytest.approx(value, abs=1e-4)


def test_numbers_of_a_file_are_measured_with_weights(run, houses, saved_prices):
    result = run("evaluate", "--model", saved_prices, "--data", houses, "--target", "price", "--weight", "w")
    assert result.exit_code == 0, result.output
    assert "Measures on 150 test rows, weighted" in result.output
    assert "Confusion" not in result.output
    dataset = read_dataset(houses, TrainingOptions(target="price", weight="w"))
    assert cell(result.output, "RMSE") == pytest.approx(scores(sw.load(saved_prices), dataset)["RMSE"], rel=1e-3)
    assert cell(result.output, "R²", 2) == 0.0


def test_a_class_that_the_model_does_not_know_counts_as_wrong(run, tmp_path):
    train, test, path = (tmp_path / name for name in ("train.csv", "test.csv", "model.sapwood"))
    train.write_text("x,y\n" + "1,a\n2,b\n" * 10)
    test.write_text("x,y\n1,a\n2,b\n1,zebra\n2,b\n")
    assert run("train", train, "--target", "y", "--out", path).exit_code == 0
    result = run("evaluate", "--model", path, "--data", test, "--target", "y")
    assert result.exit_code == 0, result.output
    assert cell(result.output, "accuracy") == 0.75
    assert "zebra" in result.output


@pytest.mark.parametrize("labels", [[0.0, 1.0], [False, True], ["0", "1"], [0, 1]])
def test_classes_of_models_made_in_python_are_found_again(run, tmp_path, labels):
    path, test = tmp_path / "model.sapwood", tmp_path / "test.csv"
    X, y = np.arange(20.0)[:, None], np.array(labels)[np.arange(20) // 10]
    sw.save(sw.DecisionTreeClassifier().fit(X, y), path)
    words = ["false", "true"] if labels[1] is True else ["0", "1"]
    test.write_text("a,y\n" + "".join(f"{i},{words[i // 10]}\n" for i in range(20)))
    result = run("evaluate", "--model", path, "--data", test, "--target", "y")
    assert result.exit_code == 0, result.output
    assert cell(result.output, "accuracy") == 1.0


def test_a_target_of_another_kind_is_refused(run, houses, saved, saved_prices, flowers):
    arguments = ["evaluate", "--model", saved_prices, "--data", houses, "--target"]
    assert "Did you mean 'price'?" in error_line(run(*arguments, "prize"))
    assert "regression needs numbers" in error_line(
        run("evaluate", "--model", saved_prices, "--data", flowers, "--target", "kind")
    )
    assert "The model's column 'area' is not a column" in error_line(run(*arguments, "area"))


def test_rows_without_target_are_left_out_if_asked(run, houses, saved_prices, tmp_path):
    test = tmp_path / "test.csv"
    test.write_text("area,rooms,price\n50,2,200\n60,3,\n70,3,300\n")
    arguments = ["evaluate", "--model", saved_prices, "--data", test, "--target", "price"]
    assert "missing in 1 of the 3 rows" in error_line(run(*arguments))
    result = run(*arguments, "--drop-missing-target")
    assert result.exit_code == 0, result.output
    assert "Measures on 2 test rows" in result.output


def test_a_file_is_evaluated_on_data_not_by_folds(run, flowers, saved):
    arguments = ["evaluate", "--model", saved, "--target", "kind"]
    assert "Give the rows to measure the model on with --data." in usage_error(run(*arguments))
    assert "Leave out --cv." in usage_error(run(*arguments, "--cv", 3, "--data", flowers))
    assert run("evaluate", "--model", saved, "--data", flowers).exit_code == 2


def test_a_column_that_the_model_does_not_predict_is_refused(run, saved, flowers, tmp_path):
    more = tmp_path / "more.csv"
    pd.read_csv(flowers).assign(price=np.arange(120) / 7).to_csv(more, index=False)
    result = run("evaluate", "--model", saved, "--data", more, "--target", "price")
    assert result.exit_code == 1
    assert "holds none of the classes of the model" in result.output
