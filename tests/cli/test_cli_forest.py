"""Forests, bagging and AdaBoost on the command line."""

from __future__ import annotations

import re

import pytest

pytestmark = pytest.mark.filterwarnings("ignore:.*in the bag of every tree")

MODELS = {
    "forest": ("RandomForest", "7 trees"),
    "extra-trees": ("ExtraTrees", "7 trees"),
    "bagging": ("Bagging", "7 trees"),
    "adaboost": ("AdaBoost", "7 learners"),
}


@pytest.mark.parametrize("model", MODELS)
def test_strings_and_holes_train(run, flowers, model):
    result = run("train", flowers, "--target", "kind", "--model", model, "--set", "n_estimators=7")
    assert result.exit_code == 0, result.output
    kind, size = MODELS[model]
    assert f"Model: {kind}Classifier, {size}" in result.output
    for word in ("accuracy", "log loss", "Confusion matrix", "Importance of columns", "größe", "colour"):
        assert word in result.stdout
    assert "7/7" in result.stderr


@pytest.mark.parametrize("model", MODELS)
def test_numbers_train_with_weights_and_categories(run, houses, model):
    arguments = ["train", houses, "--target", "price", "--model", model, "--weight", "w", "--drop", "id"]
    result = run(*arguments, "--category", "rooms", "--set", "n_estimators=30")
    assert result.exit_code == 0, result.output
    error, constant = re.search(r"│ RMSE +│ +\S+ │ +(\S+) │ +(\S+) │", result.output).groups()
    assert float(error) < float(constant)


@pytest.mark.parametrize("model", ["forest", "bagging"])
def test_the_out_of_bag_error_is_shown_while_trees_grow(run, flowers, model):
    result = run("train", flowers, "--target", "kind", "--model", model, "--set", "n_estimators=30")
    assert result.exit_code == 0, result.output
    assert re.search(r"30/30 oob error 0", result.stderr)
    assert re.search(r"out-of-bag error \d", result.output)


def test_learners_are_set_by_name(run, flowers):
    settings = ["--set", "n_estimators=5", "--set", "estimator__max_depth=3"]
    result = run("train", flowers, "--target", "kind", "--model", "adaboost", *settings)
    assert result.exit_code == 0, result.output


@pytest.mark.parametrize("model", MODELS)
def test_evaluation_and_prediction(run, flowers, tmp_path, model):
    result = run("evaluate", "--train", flowers, "--target", "kind", "--model", model, "--cv", "3")
    assert result.exit_code == 0, result.output
    out = tmp_path / "out.csv"
    arguments = ["--train", flowers, "--target", "kind", "--input", flowers, "--out", out, "--model", model]
    result = run("predict", *arguments)
    assert result.exit_code == 0, result.output
    assert out.exists()


def test_no_forest_can_be_drawn(run, flowers):
    result = run("train", flowers, "--target", "kind", "--model", "forest", "--show-tree")
    assert result.exit_code == 1
    assert "makes many trees" in result.stderr
