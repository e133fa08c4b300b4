"""Models in files: saved by train, used by predict and evaluate."""

from __future__ import annotations

import json
import os
import re

import numpy as np
import pytest
from outcomes import cell, error_line, usage_error
from tables import read_table

import sapwood as sw
from sapwood.cli.dataset import read_dataset, split
from sapwood.cli.model_kinds import KINDS
from sapwood.cli.options import TrainingOptions
from sapwood.cli.report import scores
from sapwood.cli.train import fit

pytestmark = pytest.mark.filterwarnings("ignore:.*in the bag of every tree")

SMALL = ["--set", "n_estimators=5"]


@pytest.mark.parametrize("model", KINDS)
def test_the_saved_model_is_the_one_that_was_measured(run, flowers, tmp_path, model):
    path = tmp_path / "model.sapwood"
    settings = [] if model == "tree" else SMALL
    result = run("train", flowers, "--target", "kind", "--model", model, *settings, "--out", path)
    assert result.exit_code == 0, result.output
    seen = "It was trained on 90 rows, not on the 30 to test on (--test-size 0 trains on all rows)."
    assert re.search(rf"Saved model: {re.escape(str(path))} \([\d.,]+ \w+\)\. {re.escape(seen)}", result.output)
    options = TrainingOptions(target="kind", model=model, settings=settings[1:])
    training, test = split(read_dataset(flowers, options), 0.25, 0)
    loaded = sw.load(path)
    assert scores(loaded, test)["log loss"] == pytest.approx(cell(result.output, "log loss", 2), abs=1e-4)
    assert sw.fingerprint(loaded) == sw.fingerprint(fit(options, training, with_bar=False)[0])
    assert loaded.get_params().get("verbose", 0) == 0


def test_without_test_rows_the_model_has_seen_all_of_them(run, houses, tmp_path):
    path = tmp_path / "model.sapwood"
    result = run("train", houses, "--target", "price", "--test-size", 0, "--out", path)
    assert result.exit_code == 0, result.output
    assert "Rows: 150 to train on, none to test on." in result.output
    assert "It was trained on all 150 rows." in result.output
    assert "train, constant prediction" in result.output
    assert "│ test" not in result.output
    dataset = read_dataset(houses, TrainingOptions(target="price"))
    assert sw.load(path).tree_.n_node_samples[0] == 150
    assert np.array_equal(sw.load(path).predict(dataset.X), dataset.y)


@pytest.mark.parametrize("extension", ["json", "JSON"])
def test_models_are_saved_as_json_too(run, flowers, tmp_path, extension):
    path = tmp_path / f"model.{extension}"
    assert run("train", flowers, "--target", "kind", "--out", path).exit_code == 0
    assert json.loads(path.read_text())
    assert run("predict", "--model", path, "--input", flowers, "--out", tmp_path / "out.csv").exit_code == 0


def test_what_train_cannot_write_is_refused_before_training(run, flowers, tmp_path, monkeypatch):
    def fail(*_, **__):
        raise AssertionError("trained")

    monkeypatch.setattr("sapwood.cli.train.fit", fail)
    arguments = ["train", flowers, "--target", "kind", "--out"]
    assert "unknown extension '.pkl'. Use .sapwood, .json." in error_line(run(*arguments, tmp_path / "model.pkl"))
    assert "There is no folder" in error_line(run(*arguments, tmp_path / "nowhere" / "model.sapwood"))
    (tmp_path / "folder.sapwood").mkdir()
    assert "not a regular file" in error_line(run(*arguments, tmp_path / "folder.sapwood"))
    link = tmp_path / "data.json"
    os.link(flowers, link)
    assert "is one of the input files" in error_line(run(*arguments, link))
    monkeypatch.setattr(os, "access", lambda path, mode, **_: mode != os.W_OK)
    assert "is not writable" in error_line(run(*arguments, tmp_path / "model.sapwood"))


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_predictions_of_a_file_are_those_of_its_model(run, flowers, saved, tmp_path, extension):
    out = tmp_path / f"out.{extension}"
    result = run("predict", "--model", saved, "--input", flowers, "--out", out, "--keep", "when")
    assert result.exit_code == 0, result.output
    assert "Model: NewtonBoostingClassifier, 5 rounds, 5 trees" in result.output
    assert f"Predictions of 120 rows: {out}" in result.output
    model, X = sw.load(saved), read_dataset(flowers, TrainingOptions(target="kind")).X
    table = read_table(out)
    assert table.column_names == ["when", "prediction", "probability_winter", "probability_été"]
    assert table["prediction"].to_pylist() == model.predict(X).tolist()
    assert table["probability_été"].to_pylist() == pytest.approx(model.predict_proba(X)[:, 1].tolist())


def test_a_file_and_training_on_all_rows_predict_the_same(run, flowers, tmp_path):
    path, outs = tmp_path / "model.sapwood", [tmp_path / "a.csv", tmp_path / "b.csv"]
    settings = ["--model", "forest", *SMALL, "--seed", 3]
    assert run("train", flowers, "--target", "kind", "--test-size", 0, "--out", path, *settings).exit_code == 0
    assert run("predict", "--model", path, "--input", flowers, "--out", outs[0]).exit_code == 0
    result = run("predict", "--train", flowers, "--target", "kind", "--input", flowers, "--out", outs[1], *settings)
    assert result.exit_code == 0, result.output
    assert outs[0].read_bytes() == outs[1].read_bytes()


def test_probabilities_of_a_file_are_left_out_or_refused(run, flowers, houses, saved, saved_prices, tmp_path):
    out = tmp_path / "out.csv"
    assert run("predict", "--model", saved, "--input", flowers, "--out", out, "--no-proba").exit_code == 0
    assert read_table(out).column_names == ["prediction"]
    arguments = ["predict", "--model", saved_prices, "--input", houses, "--out", out]
    assert "needs classes" in error_line(run(*arguments, "--proba"))
    assert run(*arguments).exit_code == 0
    assert read_table(out).column_names == ["prediction"]


def test_text_stays_text_where_new_values_look_like_numbers(run, tmp_path):
    train, new, out, path = (tmp_path / name for name in ("train.csv", "new.csv", "out.csv", "model.sapwood"))
    train.write_text("code,y\n" + "1,no\n2,no\nx,yes\n" * 10)
    new.write_text("code\n2\n1\n")
    assert run("train", train, "--target", "y", "--out", path).exit_code == 0
    assert run("predict", "--model", path, "--input", new, "--out", out).exit_code == 0
    assert read_table(out)["prediction"].to_pylist() == ["no", "no"]


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_exactly_one_of_a_file_and_training(run, flowers, saved, tmp_path, command):
    files = ["--input", flowers, "--out", tmp_path / "out.csv"] if command == "predict" else ["--data", flowers]
    wanted = [command, *files, "--target", "kind"]
    assert "Give either a model file with --model or data to train on with --train" in usage_error(run(*wanted))
    both = usage_error(run(*wanted, "--model", saved, "--train", flowers))
    assert "not both" in both
    assert "gradient-boosting" in both
    assert "--model forest is a kind of model" in usage_error(run(*wanted, "--model", "forest"))
    assert not (tmp_path / "out.csv").exists()


@pytest.mark.parametrize(
    "option",
    [["--target", "kind"], ["--seed", 0], ["--set", "max_depth=3"], ["--task", "auto"], ["--weight", "größe"]],
)
def test_options_of_training_are_refused_with_a_file(run, flowers, saved, tmp_path, option):
    result = run("predict", "--model", saved, "--input", flowers, "--out", tmp_path / "out.csv", *option)
    assert f"The model file is trained already. Leave out {option[0]}." in usage_error(result)


def test_training_needs_a_target(run, flowers, tmp_path):
    result = run("predict", "--train", flowers, "--input", flowers, "--out", tmp_path / "out.csv")
    assert "--train needs --target" in usage_error(result)


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_files_that_are_no_models(run, flowers, saved, tmp_path, command):
    files = ["--input", flowers, "--out", tmp_path / "out.csv"] if command == "predict" else ["--data", flowers]
    wanted = [command, *files, *([] if command == "predict" else ["--target", "kind"]), "--model"]
    message = error_line(run(*wanted, saved.with_name("flower.sapwood")))
    assert "There is no file" in message
    assert "Did you mean 'flowers.sapwood'?" in message
    assert "is a folder. Give a model file." in error_line(run(*wanted, tmp_path))
    assert "This is not a model file" in error_line(run(*wanted, flowers))
    whole = bytearray(saved.read_bytes())
    whole[-9] ^= 1
    saved.write_bytes(whole)
    assert "The checksum is wrong" in error_line(run(*wanted, saved))


def test_the_model_file_is_never_overwritten(run, flowers, saved, tmp_path):
    link = tmp_path / "link.csv"
    os.link(saved, link)
    before = saved.read_bytes()
    result = run("predict", "--model", saved, "--input", flowers, "--out", link)
    assert "is one of the input files" in error_line(result)
    result = run("predict", "--model", saved, "--input", flowers, "--out", flowers)
    assert "is one of the input files" in error_line(result)
    assert saved.read_bytes() == before


def test_columns_that_do_not_fit_the_model(run, saved, tmp_path):
    new, out = tmp_path / "new.csv", tmp_path / "out.csv"
    new.write_text("größe,color,when,tall,kind\n1,blau,2024-01-01,true,winter\n")
    arguments = ["predict", "--model", saved, "--input", new, "--out", out]
    message = error_line(run(*arguments))
    assert "The model's column 'colour' is not a column" in message
    assert "Did you mean 'color'?" in message
    evaluated = ["evaluate", "--model", saved, "--data", new, "--target", "kind"]
    assert "The model's column 'colour' is not a column" in error_line(run(*evaluated))
    new.write_text("größe,colour,when,tall,kind\nlarge,blau,2024-01-01,true,winter\n")
    assert "expected numbers as in training, but got categories" in error_line(run(*arguments))
    assert "expected numbers as in training, but got categories" in error_line(run(*evaluated))
    assert "'tal' is not a column" in error_line(run(*arguments, "--keep", "tal"))
    assert "'tal' is not a column" in error_line(run(*arguments, "--drop", "tal"))


def test_columns_without_names_are_taken_in_their_order(run, tmp_path):
    path, new, out = tmp_path / "model.sapwood", tmp_path / "new.csv", tmp_path / "out.csv"
    X = np.arange(20.0).reshape(10, 2)
    sw.save(sw.DecisionTreeRegressor().fit(X, X[:, 0]), path)
    new.write_text("id,a,b\n1,4,5\n2,8,9\n")
    arguments = ["predict", "--model", path, "--input", new, "--out", out]
    assert "was trained on 2 columns without names" in error_line(run(*arguments))
    result = run(*arguments, "--drop", "id", "--keep", "id")
    assert result.exit_code == 0, result.output
    assert read_table(out).to_pydict() == {"id": [1, 2], "prediction": [4.0, 8.0]}


def test_models_of_several_answers_are_refused(run, tmp_path):
    path, new = tmp_path / "model.sapwood", tmp_path / "new.csv"
    new.write_text("a,b\n1,2\n2,3\n")
    X = np.arange(20.0).reshape(10, 2)
    for model in (
        sw.DecisionTreeRegressor().fit(X, X),
        sw.NewtonBoostingRegressor(n_estimators=2, objective="quantile", quantile_alpha=[0.1, 0.9]).fit(X, X[:, 0]),
    ):
        sw.save(model, path)
        result = run("predict", "--model", path, "--input", new, "--out", tmp_path / "out.csv")
        assert "predicts 2 values for each row" in error_line(result)


def test_a_ranker_predicts_but_is_not_measured(run, tmp_path):
    path, new, out = tmp_path / "model.sapwood", tmp_path / "new.csv", tmp_path / "out.csv"
    X = np.arange(40.0).reshape(20, 2)
    ranker = sw.NewtonBoostingRanker(n_estimators=2, min_child_weight=0.1).fit(X, np.arange(20) % 3)
    sw.save(ranker, path)
    new.write_text("a,b,y\n1,2,0\n30,31,1\n")
    result = run("predict", "--model", path, "--input", new, "--out", out, "--drop", "y")
    assert result.exit_code == 0, result.output
    assert read_table(out)["prediction"].to_pylist() == ranker.predict(np.array([[1.0, 2.0], [30.0, 31.0]])).tolist()
    result = run("evaluate", "--model", path, "--data", new, "--target", "y")
    assert "whose scores only order rows" in error_line(result)
