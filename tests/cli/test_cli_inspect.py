"""What `sapwood inspect` shows of a model file."""

from __future__ import annotations

import json
import math
import re

import numpy as np
import pytest
from outcomes import error_line

import sapwood as sw
from model_cases import KINDS, fitted
from sapwood.cli.inspect import Curve, curves, sketch
from sapwood.counted import counted
from sapwood.estimators.model_file import write_model


def facts_of(run, path, *options) -> dict:
    result = run("inspect", path, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


@pytest.fixture
def watched(run, flowers, tmp_path):
    """A boosting model that was watched while it was trained."""
    path = tmp_path / "model.sapwood"
    settings = ["n_estimators=40", "validation_fraction=0.3", "early_stopping_rounds=3", "eval_metric=['auc', 'error']"]
    arguments = ["train", flowers, "--target", "kind", "--model", "boosting", "--out", path]
    result = run(*arguments, *(part for setting in settings for part in ("--set", setting)))
    assert result.exit_code == 0, result.output
    return path


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_is_shown(run, tmp_path, kind):
    path, model = tmp_path / "model.sapwood", fitted(kind)
    sw.save(model, path)
    result = run("inspect", path)
    assert result.exit_code == 0, result.output
    facts = facts_of(run, path)
    trees = [member.tree for member in model.model_.trees]
    size = {
        "n_trees": len(trees),
        "max_depth": max(tree.max_depth for tree in trees),
        "n_leaves": sum(tree.n_leaves for tree in trees),
    }
    assert facts["trees"] == size
    words = f"{counted(size['n_trees'], 'tree')}, {counted(size['n_leaves'], 'leaf')}, depth {size['max_depth']}."
    assert f"Model: {type(model).__name__}, {facts['task']}, {words}" in result.output
    assert f"Fingerprint: {sw.fingerprint(model)}" in result.output
    assert re.search(r"│ colour +│ category +│ 3: \{blue, green, red\} +│ +│ yes +│", result.output)
    assert re.search(r"│ age +│ number +│ +│ 18 … \d+ +│ no +│", result.output)
    assert re.search(r"│ since +│ date +│ +│ 20\d\d-\d\d-\d\d … 20\d\d-\d\d-\d\d +│ no +│", result.output)
    assert "|---" in result.output


def test_the_file_is_described(run, watched):
    result = run("inspect", watched)
    assert result.exit_code == 0, result.output
    size = f"{watched.stat().st_size / 1000:,.1f} kB"
    assert f"File: {watched}, {size}, format version 1, written by Sapwood {sw.__version__}." in result.output
    facts = facts_of(run, watched)
    assert f"SHA-256: {facts['sha256']}" in result.output
    assert facts["sha256"].encode() in watched.read_bytes()
    assert "Classes: {winter, été}" in result.output
    assert facts["classes"] == [["winter", "été"]]
    assert "checkpoint" not in result.output


def test_json_holds_all_facts(run, watched):
    model, facts = sw.load(watched), facts_of(run, watched)
    assert facts["file"] == str(watched)
    assert facts["bytes"] == watched.stat().st_size
    assert (facts["format_version"], facts["library_version"]) == (1, sw.__version__)
    assert (facts["estimator"], facts["task"]) == ("NewtonBoostingClassifier", "classification")
    assert facts["fingerprint"] == sw.fingerprint(model)
    assert facts["rounds"] == model.best_n_rounds_
    assert facts["parameters"]["n_estimators"] == 40
    assert set(facts["changed_parameters"]) == {
        *("n_estimators", "validation_fraction", "early_stopping_rounds", "eval_metric", "random_state")
    }
    first = facts["columns"][0]
    assert (first["name"], first["kind"], first["low"], first["high"]) == ("größe", "number", 1.5, 7.0)
    assert first["has_missing"] is True
    levels = {column["name"]: column for column in facts["columns"]}["colour"]
    assert levels["low"] is None
    assert "жёлтый" in levels["levels"]
    assert sum(facts["importance"]["gain"]) == pytest.approx(1.0)
    assert set(facts["importance"]["names"]) == {"größe", "colour", "when", "tall"}
    assert facts["history"][-1]["values"] == model.evals_result()["validation"]["error"]
    assert facts["history"][-1]["best_round"] == model.best_iteration_ + 1


def test_the_history_names_the_best_round_of_every_measure(run, watched):
    result, model = run("inspect", watched), sw.load(watched)
    curve = model.evals_result()["validation"]
    best = {"auc": int(np.argmax(curve["auc"])) + 1, "error": model.best_iteration_ + 1}
    for measure, round_ in best.items():
        row = rf"│ validation {measure} +│ +{len(curve[measure])} │ +\S+ │ +\S+ │ +\S+ │ +{round_} │"
        assert re.search(row, result.output), result.output
        assert f"validation {measure}: {sketch(curve[measure])}" in result.output
    used = f"Prediction uses {model.best_n_rounds_} of {model.ensemble_.n_rounds} rounds."
    assert f"Training stopped: no better round for early_stopping_rounds=3. {used}" in result.output


def test_parameters_that_were_changed_are_shown_and_all_if_asked(run, watched):
    changed = run("inspect", watched).output
    assert re.search(r"│ n_estimators +│ 40 +│ yes", changed)
    assert "│ learning_rate" not in changed
    every = run("inspect", watched, "--parameters", "all").output
    assert re.search(r"│ n_estimators +│ 40 +│ yes", every)
    assert re.search(r"│ learning_rate +│ 0\.\d+ +│ +│", every)
    assert run("inspect", watched, "--parameters", "some").exit_code == 2


def test_no_parameter_may_be_changed(run, tmp_path):
    path = tmp_path / "model.sapwood"
    sw.save(sw.DecisionTreeRegressor().fit([[0.0], [1.0]], [0.0, 1.0]), path)
    assert "All parameters are the defaults." in run("inspect", path, "--parameters", "changed").output


def test_another_tree_and_more_of_it(run, tmp_path):
    path, model = tmp_path / "model.sapwood", fitted("newton three")
    sw.save(model, path)
    first = run("inspect", path, "--max-depth", 0)
    assert "Tree: round 0 (of 0 to 3), low" in first.output
    assert "truncated branch of depth" in first.output
    last = run("inspect", path, "--tree", 11, "--max-depth", 9)
    assert "Tree: round 3 (of 0 to 3), top" in last.output
    assert "truncated" not in last.output
    told = facts_of(run, path, "--tree", 11, "--max-depth", 9)["tree"]
    assert told["number"] == 11
    assert told["text"] in last.output
    assert "tree=12 is not allowed" in error_line(run("inspect", path, "--tree", 12))
    sw.save(fitted("tree numbers"), path)
    assert "the model has 1 tree" in error_line(run("inspect", path, "--tree", 1))
    assert run("inspect", path, "--tree", 0).exit_code == 0
    assert run("inspect", path, "--tree", -1).exit_code == 2
    assert run("inspect", path, "--max-depth", -1).exit_code == 2


def test_files_that_are_no_models(run, flowers, watched):
    message = error_line(run("inspect", watched.with_name("mode.sapwood")))
    assert "There is no file" in message
    assert "Did you mean 'model.sapwood'?" in message
    assert "is a folder. Give a model file." in error_line(run("inspect", watched.parent))
    assert "This is not a model file" in error_line(run("inspect", flowers))
    whole = watched.read_bytes()
    watched.write_bytes(whole[: len(whole) // 2])
    error_line(run("inspect", watched))
    watched.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
    assert "The checksum is wrong" in error_line(run("inspect", watched, "--json"))
    assert run("inspect").exit_code == 2


def test_a_checkpoint_on_the_way_is_called_one(run, tmp_path):
    path = tmp_path / "model.sapwood"
    write_model(path, fitted("newton two"), {"checkpoint": {"data": {}, "finished": False}}, "binary")
    assert "This is a checkpoint: training had not ended." in run("inspect", path).output
    assert facts_of(run, path)["is_finished"] is False
    write_model(path, fitted("newton two"), {"checkpoint": {"data": {}, "finished": True}}, "binary")
    assert "This is a checkpoint" not in run("inspect", path).output


def test_names_cannot_steer_the_terminal(run, tmp_path):
    pd = pytest.importorskip("pandas")
    path = tmp_path / "model.sapwood"
    X = pd.DataFrame({"[red]x\x1b[31m": np.arange(20.0)})
    sw.save(sw.DecisionTreeClassifier().fit(X, np.array(["[b]a", "b\n\x07"])[np.arange(20) % 2]), path)
    result = run("inspect", path)
    assert result.exit_code == 0, result.output
    assert "[red]x" in result.output
    assert "[b]a" in result.output
    assert "\x1b" not in result.output
    assert "\x07" not in result.output
    assert facts_of(run, path)["columns"][0]["name"] == "[red]x\x1b[31m"


def test_many_columns_are_not_all_shown(run, tmp_path):
    path = tmp_path / "model.sapwood"
    X = np.random.default_rng(0).normal(size=(20, 50))
    sw.save(sw.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 0]), path)
    result = run("inspect", path)
    assert "Columns: 50" in result.output
    assert "… and 10 more columns; --json lists all." in result.output
    assert len(facts_of(run, path)["columns"]) == 50


def test_numbers_that_json_lacks(run, tmp_path):
    path = tmp_path / "model.sapwood"
    X = np.array([[-math.inf], [0.0], [1.0], [math.nan]])
    sw.save(sw.DecisionTreeRegressor().fit(X, [0.0, 1.0, 2.0, 3.0]), path)
    column = facts_of(run, path)["columns"][0]
    assert (column["low"], column["high"]) == ("-inf", 1.0)


def test_curves_of_all_models():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    forest = sw.RandomForestClassifier(30, oob_score=True, random_state=0).fit(X, y)
    (curve,) = curves(forest)
    assert (curve.rows, curve.measure, len(curve.values)) == ("out of bag", "error", 30)
    assert curve.best == min(forest.oob_curve_)
    (curve,) = curves(sw.AdaBoostClassifier(n_estimators=3).fit(X, y))
    assert curve.best_round is None
    staged = sw.GradientBoostingRegressor(n_estimators=4, subsample=0.5, random_state=0).fit(X, y)
    assert [curve.rows for curve in curves(staged)] == ["train", "out of bag"]
    assert curves(sw.DecisionTreeRegressor().fit(X, y)) == []


def test_rounds_of_a_continued_model_are_counted_from_its_first():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2
    first = sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=3).fit(X, y)
    more = sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=4).fit(X, y, init_model=first, eval_set=[(X, y)])
    (curve,) = curves(more)
    assert len(curve.values) == 4
    assert curve.first == 4
    assert curve.best_round == 7


def test_a_measure_of_unknown_direction_has_no_best_round():
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 2

    def surprise(truth, predicted):
        return float(np.mean(truth))

    model = sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=3, eval_metric=[surprise, "auc"]).fit(
        X, y, eval_set=[(X, y)]
    )
    unknown, known = curves(model)
    assert unknown.best_round is None
    assert math.isnan(unknown.best)
    assert known.best_round == model.best_iteration_ + 1


@pytest.mark.parametrize(
    ("values", "picture"),
    [([3, 2, 1], "█▅▁"), ([1.0, math.nan, 8.0], "▁ █"), ([5, 5], "▁▁"), ([], ""), ([math.nan], "")],
)
def test_curves_in_a_line(values, picture):
    assert sketch(values) == picture


def test_long_curves_keep_their_ends():
    picture = sketch(range(1000))
    assert len(picture) == 40
    assert (picture[0], picture[-1]) == ("▁", "█")
    assert Curve("rows", "loss", (1.0,)).best_round is None
