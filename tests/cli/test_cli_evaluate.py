import re

import numpy as np
import pytest

from sapwood.cli.report import number


def test_cross_validation_gives_mean_and_standard_error(run, flowers):
    result = run("evaluate", "--train", flowers, "--target", "kind", "--cv", 3, "--set", "max_depth=2")
    assert result.exit_code == 0, result.output
    assert re.search(r"│ accuracy +│ +0\.\d{4} ± 0\.\d{4} │", result.output)
    assert "accuracy of a constant prediction" in result.output
    assert "3/3" in result.stderr


def test_cross_validation_of_numbers(run, houses):
    result = run("evaluate", "--train", houses, "--target", "price", "--cv", 2, "--weight", "w")
    assert result.exit_code == 0, result.output
    assert re.search(r"│ RMSE +│ +[\d.]+ ± [\d.]+ │", result.output)


def test_a_test_file_on_the_training_rows_is_predicted_perfectly(run, houses):
    result = run("evaluate", "--train", houses, "--target", "price", "--test", houses)
    assert result.exit_code == 0, result.output
    assert "Measures on 150 test rows" in result.output
    assert re.search(r"│ RMSE +│ +0 │", result.output)


def test_a_class_unknown_to_training_counts_as_wrong(run, tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("x,y\n" + "1,a\n2,b\n" * 10)
    test.write_text("x,y\n1,a\n2,b\n1,zebra\n2,b\n")
    result = run("evaluate", "--train", train, "--target", "y", "--test", test)
    assert result.exit_code == 0, result.output
    assert re.search(r"│ accuracy +│ 0\.7500 │", result.output)
    assert "zebra" in result.output


def test_targets_of_another_kind_are_refused(run, tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("x,y\n" + "1,0\n2,1\n" * 10)
    test.write_text("x,y\n1,no\n2,yes\n")
    result = run("evaluate", "--train", train, "--target", "y", "--test", test)
    assert result.exit_code == 1
    assert "holds text in" in result.output


def test_labels_that_look_like_numbers_stay_text(run, tmp_path):
    train, test = tmp_path / "train.csv", tmp_path / "test.csv"
    train.write_text("x,y\n" + "1,1\n2,b\n" * 10)
    test.write_text("x,y\n1,1\n1,1\n")
    result = run("evaluate", "--train", train, "--target", "y", "--test", test)
    assert result.exit_code == 0, result.output
    assert re.search(r"│ AUC +│ +– │", result.output)


@pytest.mark.parametrize("arguments", [[], ["--cv", 5, "--test", "x.csv"], ["--cv", 1]])
def test_exactly_one_way_must_be_chosen(run, houses, arguments):
    assert run("evaluate", "--train", houses, "--target", "price", *arguments).exit_code == 2


def test_more_folds_than_rows_are_refused(run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n1,a\n2,b\n3,b\n")
    result = run("evaluate", "--train", file, "--target", "y", "--cv", 4)
    assert result.exit_code == 1
    assert "more than the 3 rows" in result.output
    assert run("evaluate", "--train", file, "--target", "y", "--cv", 3).exit_code == 0


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.12345, "0.1235"), (1234567.8, "1234568"), (12.3456, "12.35"), (0.0, "0"), (1e-7, "1e-07"), (np.nan, "–")],
)
def test_numbers_keep_their_digits(value, text):
    assert number(value) == text
