from __future__ import annotations

import re

import numpy as np
import pyarrow.parquet as pq
import pytest
from tables import read_table

from sapwood import GradientBoostingClassifier, NewtonBoostingClassifier, cross_validate_boosting
from sapwood.cli.dataset import folds, read_dataset
from sapwood.cli.options import TrainingOptions

MODELS = ["boosting", "gradient-boosting"]


def error_line(result) -> str:
    assert result.exit_code == 1, result.output
    assert result.stderr.startswith("Error: ")
    assert result.stderr.count("\n") == 1
    return result.stderr


@pytest.mark.parametrize("model", MODELS)
def test_strings_and_holes_train(run, flowers, model):
    result = run("train", flowers, "--target", "kind", "--model", model, "--set", "n_estimators=7")
    assert result.exit_code == 0, result.output
    assert "Rows: 90 to train on, 30 to test on. Columns: 4." in result.output
    kind = "NewtonBoosting" if model == "boosting" else "GradientBoosting"
    assert f"Model: {kind}Classifier, 7 rounds, 7 trees, " in result.output
    for word in ("accuracy", "log loss", "Confusion matrix", "Importance of columns", "größe", "colour"):
        assert word in result.stdout
    assert "7/7" in result.stderr
    assert "training" in result.stderr


@pytest.mark.parametrize("model", MODELS)
def test_numbers_train_with_weights(run, houses, model):
    arguments = ["train", houses, "--target", "price", "--model", model, "--weight", "w", "--drop", "id"]
    result = run(*arguments, "--category", "rooms", "--set", "n_estimators=30")
    assert result.exit_code == 0, result.output
    for word in ("Regressor, 30 rounds, 30 trees", "Measures, weighted", "RMSE", "area"):
        assert word in result.output
    error, constant = re.search(r"│ RMSE +│ +\S+ │ +(\S+) │ +(\S+) │", result.output).groups()
    assert float(error) < float(constant) / 3


def test_early_stopping_is_told(run, houses):
    parameters = ["learning_rate=0.9", "early_stopping_rounds=2", "validation_fraction=0.3", "n_estimators=500"]
    settings = [part for setting in parameters for part in ("--set", setting)]
    result = run("train", houses, "--target", "price", "--model", "boosting", *settings)
    assert result.exit_code == 0, result.output
    assert re.search(r"the first \d+ rounds are used", result.output)


@pytest.mark.parametrize("model", MODELS)
def test_predictions_are_those_of_the_estimator(run, flowers, tmp_path, model):
    out = tmp_path / "out.parquet"
    arguments = ["--train", flowers, "--target", "kind", "--input", flowers, "--out", out]
    result = run("predict", *arguments, "--model", model, "--set", "n_estimators=5")
    assert result.exit_code == 0, result.output
    dataset = read_dataset(flowers, TrainingOptions(target="kind"))
    kind = NewtonBoostingClassifier if model == "boosting" else GradientBoostingClassifier
    alone = kind(n_estimators=5, random_state=0).fit(dataset.X, dataset.y)
    table = pq.read_table(out)
    assert table["prediction"].to_pylist() == alone.predict(dataset.X).tolist()
    assert table["probability_été"].to_pylist() == alone.predict_proba(dataset.X)[:, 1].tolist()


@pytest.mark.parametrize("model", MODELS)
def test_models_are_evaluated_by_folds_and_on_files(run, houses, model):
    arguments = ["evaluate", "--train", houses, "--target", "price", "--model", model, "--set", "n_estimators=5"]
    result = run(*arguments, "--cv", 3)
    assert result.exit_code == 0, result.output
    assert re.search(r"│ RMSE +│ +[\d.]+ ± [\d.]+ │", result.output)
    assert "3/3" in result.stderr
    result = run(*arguments, "--test", houses)
    assert result.exit_code == 0, result.output
    assert "Measures on 150 test rows" in result.output


@pytest.mark.parametrize("model", MODELS)
def test_cv_shows_the_best_round_and_every_fold(run, flowers, model):
    arguments = ["cv", flowers, "--target", "kind", "--model", model, "--folds", 3, "--set", "n_estimators=9"]
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    assert "Classifier, 3 folds, 9 rounds in " in result.output
    best = re.search(r"Best: (\d+) rounds \(rule min\), logloss ([\d.]+) ± ([\d.]+) on held-out rows\.", result.output)
    assert best, result.output
    assert f"logloss after {best[1]} rounds" in result.output
    for k in (1, 2, 3):
        assert re.search(rf"│ fold {k} +│ +80 │ +40 │ +[\d.]+ │ +[\d.]+ │", result.output)
    assert re.search(rf"│ mean +│ +│ +│ +[\d.]+ │ +{best[2]} │", result.output)
    assert re.search(rf"│ standard error +│ +│ +│ +[\d.]+ │ +{best[3]} │", result.output)
    for word in ("Measures of all held-out rows", "accuracy", "AUC"):
        assert word in result.output
    assert "9/9" in result.stderr
    assert "test logloss" in result.stderr


@pytest.mark.parametrize("extension", ["csv", "parquet"])
def test_cv_writes_predictions_of_held_out_rows(run, flowers, tmp_path, extension):
    out = tmp_path / f"out.{extension}"
    arguments = ["cv", flowers, "--target", "kind", "--folds", 4, "--set", "n_estimators=6", "--drop", "when"]
    result = run(*arguments, "--out", out, "--keep", "when", "--keep", "kind", "--seed", 3, "--rule", "1se")
    assert result.exit_code == 0, result.output
    assert "rule 1se" in result.output
    assert f"Predictions of 120 held-out rows: {out}" in result.output
    table = read_table(out)
    assert table.column_names == ["when", "kind", "fold", "prediction", "probability_winter", "probability_été"]
    dataset = read_dataset(flowers, TrainingOptions(target="kind", drop=["when"]))
    splits = folds(dataset, 4, 3)
    alone = cross_validate_boosting(
        NewtonBoostingClassifier(n_estimators=6, random_state=3), dataset.X, dataset.y, cv=splits, rule="1se"
    )
    assert table["prediction"].to_pylist() == alone.oof_prediction.tolist()
    assert table["probability_été"].to_pylist() == pytest.approx(alone.oof_probability[:, 1].tolist())
    fold = np.array(table["fold"].to_pylist())
    assert all((fold[test] == k + 1).all() for k, (_, test) in enumerate(splits))
    assert table["kind"].to_pylist() == dataset.y.tolist()


def test_cv_of_numbers_with_weights_metric_picture_and_early_stopping(run, houses, tmp_path):
    picture, out = tmp_path / "curve.svg", tmp_path / "out.csv"
    arguments = ["cv", houses, "--target", "price", "--weight", "w", "--metric", "mae", "--early-stopping", 2]
    more = ["--set", "learning_rate=0.9", "--set", "n_estimators=300", "--picture", picture, "--out", out]
    result = run(*arguments, *more, "--keep", "id")
    assert result.exit_code == 0, result.output
    assert "Stopped: no better round for early_stopping_rounds=2." in result.output
    assert "mae after" in result.output
    assert "RMSE" in result.output
    assert picture.stat().st_size > 1000
    assert read_table(out).column_names == ["id", "fold", "prediction"]


def test_rows_without_target_are_left_out_of_cv(run, tmp_path):
    file, out = tmp_path / "data.csv", tmp_path / "out.csv"
    file.write_text("id,x,y\n" + "".join(f"{i},{i % 9},{'' if i < 3 else i % 2}\n" for i in range(43)))
    arguments = ["cv", file, "--target", "y", "--folds", 2, "--set", "n_estimators=2", "--out", out, "--keep", "id"]
    assert "missing in 3 of the 43 rows" in error_line(run(*arguments))
    assert run(*arguments, "--drop-missing-target").exit_code == 0
    assert read_table(out)["id"].to_pylist() == list(range(3, 43))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--model", "tree"], "--model tree has no rounds to choose from"),
        (["--model", "boostin"], "Did you mean 'boosting'?"),
        (["--folds", 151], "--folds 151 is more than the 150 rows"),
        (["--set", "max_dept=3"], "Did you mean 'max_depth'?"),
        (["--set", "max_depth=-3"], "max_depth=-3 is not allowed"),
        (["--metric", "rsme"], "rsme"),
        (["--metric", "auc"], "Fold 1 of the cross-validation"),
        (["--out", "out.xlsx"], "unknown extension '.xlsx'"),
        (["--picture", "curve.doc"], "unknown extension '.doc'"),
        (["--keep", "idd"], "Did you mean 'id'?"),
    ],
)
def test_what_cv_cannot_use(run, houses, arguments, message):
    assert message in error_line(run("cv", houses, "--target", "price", *arguments))


def test_bad_usage_of_cv(run, houses):
    assert run("cv", houses, "--target", "price", "--rule", "best").exit_code == 2
    assert run("cv", houses, "--target", "price", "--folds", 1).exit_code == 2
    assert run("cv", houses).exit_code == 2


def test_a_class_too_rare_for_the_folds_is_named(run, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("x,y\n" + "".join(f"{i},{'rare' if i == 5 else 'ab'[i % 2]}\n" for i in range(40)))
    assert "has no row of the class 'rare' to train on" in error_line(run("cv", file, "--target", "y"))


def test_outputs_of_cv_may_not_clash(run, houses, tmp_path):
    file = tmp_path / "data.csv"
    file.write_text("fold,y\n" + "".join(f"{i},{i % 7}.5\n" for i in range(40)))
    out = tmp_path / "out.csv"
    arguments = ["cv", file, "--target", "y", "--set", "n_estimators=2", "--out", out]
    result = run(*arguments, "--keep", "fold")
    assert result.exit_code == 1
    assert "--keep 'fold' has the name of a column of predictions" in result.stderr
    assert "is one of the input files" in error_line(run(*arguments[:-1], file))


@pytest.mark.parametrize("arguments", [["--show-tree"], ["--picture", "tree.png"]])
def test_many_trees_are_not_shown_as_one(run, flowers, arguments):
    result = run("train", flowers, "--target", "kind", "--model", "boosting", *arguments)
    assert "--model boosting makes many trees" in error_line(result)
    assert run("train", flowers, "--target", "kind", "--model", "boosting", "--no-show-tree").exit_code == 0


def test_several_quantiles_are_refused(run, houses):
    settings = ["--set", "objective=quantile", "--set", "quantile_alpha=[0.1, 0.9]", "--set", "n_estimators=2"]
    for command in ("train", "cv"):
        result = run(command, houses, "--target", "price", "--model", "boosting", *settings)
        assert result.exit_code == 1
        assert "one quantile" in result.stderr


def test_errors_of_training_stand_alone(run, houses):
    arguments = ["train", houses, "--target", "price", "--model", "boosting"]
    assert "objective='logistic'" in error_line(run(*arguments, "--set", "objective=logistic"))
    assert "early_stopping_rounds=5 needs a validation set" in error_line(
        run(*arguments, "--set", "early_stopping_rounds=5")
    )
