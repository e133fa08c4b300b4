from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from export_cases import EXPORTS, LINEAR, SUMS, answers, exported, new_cells
from model_cases import foreign, frame, signal
from sapwood.errors import InputTypeError, ModelFileError, ParameterError
from sapwood.interchange.targets.xgboost import replay as xgboost_replay
from sapwood.interchange.targets.xgboost.to_xgboost import to_xgboost
from sapwood.interchange.targets.xgboost.tree import float32_above

module = import_module("sapwood.interchange.targets.xgboost.to_xgboost")


def float32_cells(model):
    return new_cells(model).astype(np.float32).astype(np.float64)


def predicted(data, model, cells):
    xgboost = pytest.importorskip("xgboost")
    booster = xgboost.Booster()
    booster.load_model(bytearray(data))
    types = json.loads(data)["learner"]["feature_types"]
    rows = xgboost.DMatrix(
        cells, feature_names=booster.feature_names, feature_types=types, enable_categorical=True, nthread=1
    )
    output = booster.predict(rows).reshape(len(cells), -1)
    two = len(getattr(model, "classes_", ())) == 2
    return np.hstack([1.0 - output, output]) if two else output


@pytest.mark.parametrize("kind", SUMS)
def test_xgboost_predicts_as_the_model_does(kind):
    model = exported(kind)
    cells = float32_cells(model)
    np.testing.assert_allclose(predicted(to_xgboost(model), model, cells), answers(model, cells), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", SUMS)
def test_without_xgboost_its_format_is_read_step_by_step(kind, monkeypatch):
    monkeypatch.setattr("sapwood.interchange.optional.find_spec", lambda name: None)
    model = exported(kind)
    cells = float32_cells(model)
    output = xgboost_replay.xgboost_outputs(to_xgboost(model), [])(cells).numbers
    np.testing.assert_allclose(output, answers(model, cells), rtol=1e-5, atol=1e-6)


@given(st.floats(allow_nan=False), st.floats(allow_nan=False, width=32))
def test_thresholds_divide_all_numbers_of_float32_as_before(threshold, x):
    above = float32_above(np.array([threshold]))[0]
    if threshold < np.inf:
        assert (np.float32(x) < above) == (x <= threshold)
        with np.errstate(over="ignore", under="ignore"):
            near = np.nextafter(above, np.float32(-np.inf))
        assert float(near) <= threshold


def test_deep_trees_are_numbered_as_xgboost_expects():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)).astype(np.float32)
    model = sw.NewtonBoostingRegressor(n_estimators=5, max_depth=0, max_leaves=40, grow_policy="lossguide")
    model.fit(X, np.sin(3.0 * X[:, 0]) * X[:, 1])
    data = to_xgboost(model)
    np.testing.assert_allclose(predicted(data, model, X), answers(model, X), rtol=1e-5, atol=1e-6)
    for tree in json.loads(data)["learner"]["gradient_booster"]["model"]["trees"]:
        pairs = zip(tree["left_children"], tree["right_children"], strict=True)
        assert all(right == left + 1 for left, right in pairs if left >= 0)


def test_names_and_types_of_columns_are_kept():
    learner = json.loads(to_xgboost(exported("newton two")))["learner"]
    assert learner["feature_names"] == ["age", "income", "colour", "member", "since"]
    assert learner["feature_types"] == ["float", "float", "c", "i", "float"]
    unnamed = json.loads(to_xgboost(exported("float32")))["learner"]
    assert unnamed["feature_names"] == []


def test_names_that_xgboost_refuses_are_left_out():
    X = np.random.default_rng(0).normal(size=(50, 2))
    model = sw.DecisionTreeRegressor(max_depth=2).fit(pd.DataFrame(X, columns=["a[0]", "b"]), X[:, 0])
    assert json.loads(to_xgboost(model))["learner"]["feature_names"] == []


def test_nodes_keep_what_xgboost_shows_of_them():
    model = exported("newton numbers")
    tree = json.loads(to_xgboost(model))["learner"]["gradient_booster"]["model"]["trees"][0]
    own = next(iter(model.model_.trees)).tree
    assert tree["sum_hessian"][0] == own.weighted_n_node_samples[0]
    assert sum(gain > 0 for gain in tree["loss_changes"]) == np.count_nonzero(~own.is_leaf)
    assert tree["base_weights"][0] == pytest.approx(own.value[0, 0, 0], rel=1e-6)


@pytest.mark.parametrize("kind", LINEAR)
def test_linear_leaves_are_refused_with_what_takes_them(kind):
    with pytest.raises(ParameterError, match=r"format of XGBoost has no place\. Train with linear_tree=False, or use"):
        to_xgboost(exported(kind))


@pytest.mark.parametrize("kind", sorted(set(EXPORTS) - set(SUMS) - set(LINEAR)))
def test_what_xgboost_cannot_say_is_refused_with_what_can_be(kind):
    with pytest.raises(ParameterError, match=r"boosting, regression trees and forests, and AdaBoost.*to_onnx"):
        to_xgboost(exported(kind))


def test_trees_of_numbers_that_stop_at_unseen_levels_are_refused():
    X = frame()
    model = sw.DecisionTreeRegressor(unseen="node", max_depth=3).fit(X, signal(X))
    with pytest.raises(ParameterError, match="unseen='node'"):
        to_xgboost(model)


@pytest.mark.parametrize("name", ["model.ubj", "model.bin", "model"])
def test_only_json_is_written(name, tmp_path):
    with pytest.raises(ParameterError, match=r"must end in \.json"):
        to_xgboost(exported("newton two"), tmp_path / name)


def test_files_are_written_as_returned_and_read_by_xgboost(tmp_path):
    xgboost = pytest.importorskip("xgboost")
    path = tmp_path / "model.json"
    data = to_xgboost(exported("newton three"), path)
    assert path.read_bytes() == data
    assert xgboost.Booster(model_file=str(path)).num_boosted_rounds() == 4


def test_a_wrong_model_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "model.json"
    path.write_text("before")
    honest = module.xgboost_tree

    def broken(*given):
        made = honest(*given)
        return made | {"default_left": [1 - way for way in made["default_left"]]}

    monkeypatch.setattr(module, "xgboost_tree", broken)
    with pytest.raises(ModelFileError, match="does not predict what this NewtonBoostingClassifier"):
        to_xgboost(exported("newton two"), path)
    assert path.read_text() == "before"


def test_a_model_that_xgboost_cannot_read_is_not_written(tmp_path, monkeypatch):
    pytest.importorskip("xgboost")
    monkeypatch.setattr(module, "xgboost_json", lambda *given: {"learner": {"objective": {"name": "x"}}})
    with pytest.raises(ModelFileError, match="XGBoost refuses"):
        to_xgboost(exported("newton two"), tmp_path / "model.json")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_estimators_of_other_libraries_are_refused(kind):
    with pytest.raises(InputTypeError, match="another library"):
        to_xgboost(foreign(kind)[0])
