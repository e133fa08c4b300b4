from __future__ import annotations

import json
from importlib import import_module

import numpy as np
import pytest

import sapwood as sw
from export_cases import EXPORTS, HOSTILE, answers, exported, new_cells
from model_cases import foreign, frame, signal
from sapwood.errors import InputTypeError, MissingExtraError, ModelFileError, ParameterError
from sapwood.interchange.targets.onnx.to_onnx import to_onnx
from sapwood.table.storage import MatrixStorage
from sapwood.table.table import Table

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")

module = import_module("sapwood.interchange.targets.onnx.to_onnx")


def session_of(proto):
    return onnxruntime.InferenceSession(proto.SerializeToString(), providers=["CPUExecutionProvider"])


@pytest.mark.parametrize("kind", EXPORTS)
def test_the_runtime_answers_as_the_model_does(kind):
    model = exported(kind)
    proto, cells = to_onnx(model), new_cells(model)
    onnx.checker.check_model(proto, full_check=True)
    session = session_of(proto)
    names = [output.name for output in session.get_outputs()]
    wanted = [name for name in names if not name.startswith("label")]
    got = np.concatenate(session.run(wanted, {"X": cells}), axis=1)
    np.testing.assert_allclose(got, answers(model, cells), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("kind", ["tree classes", "forest votes", "newton three", "newton two", "gradient three"])
def test_labels_are_those_that_the_model_chooses(kind):
    model = exported(kind)
    cells = new_cells(model)
    output = session_of(to_onnx(model)).run(["label"], {"X": cells})[0]
    assert output.tolist() == model.predict(Table(model.schema_, MatrixStorage(cells))).tolist()


def test_several_outputs_have_labels_and_probabilities_of_their_own():
    model = exported("two outputs")
    session, cells = session_of(to_onnx(model)), new_cells(model)
    names = [output.name for output in session.get_outputs()]
    assert names == ["label_0", "probabilities_0", "label_1", "probabilities_1"]
    wanted = model.predict(Table(model.schema_, MatrixStorage(cells)))
    for o in (0, 1):
        assert session.run([f"label_{o}"], {"X": cells})[0].tolist() == wanted[:, o].tolist()


def test_rows_of_doubles_are_divided_exactly():
    X = np.array([[0.1], [np.nextafter(0.1, 1.0)], [0.3], [0.5]] * 10)
    model = sw.DecisionTreeRegressor().fit(X, X[:, 0] > 0.1)
    output = session_of(to_onnx(model)).run(None, {"X": X})[0]
    np.testing.assert_array_equal(output[:, 0], model.predict(X))


@pytest.mark.parametrize(("labels", "kind"), [([3, 5], "int64"), ([False, True], "bool"), ([1.0, 2.0], "double")])
def test_labels_keep_their_type(labels, kind):
    X = np.arange(20.0).reshape(-1, 1)
    model = sw.DecisionTreeClassifier().fit(X, np.array(labels)[np.arange(20) // 10])
    session = session_of(to_onnx(model))
    assert session.get_outputs()[0].type == f"tensor({kind})"
    assert session.run(["label"], {"X": X})[0].tolist() == model.predict(X).tolist()


def test_columns_and_levels_are_in_the_metadata():
    properties = {entry.key: entry.value for entry in to_onnx(exported("hostile")).metadata_props}
    columns = json.loads(properties["columns"])
    assert [column["name"] for column in columns][:4] == list(HOSTILE[:4])
    assert columns[-1]["levels"] == list(exported("hostile").schema_.columns[-1].levels)


def test_files_are_written_as_returned(tmp_path):
    path = tmp_path / "model.onnx"
    proto = to_onnx(exported("newton three"), path)
    assert onnx.load(path) == proto


def test_a_wrong_model_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "model.onnx"
    path.write_text("before")
    honest = module.tree_attributes

    def broken(formula):
        made = honest(formula)
        return made | {"nodes_missing_value_tracks_true": 1 - made["nodes_missing_value_tracks_true"]}

    monkeypatch.setattr(module, "tree_attributes", broken)
    with pytest.raises(ModelFileError, match="does not predict what this NewtonBoostingClassifier"):
        to_onnx(exported("newton two"), path)
    monkeypatch.setattr(module, "tree_attributes", lambda formula: {})
    with pytest.raises(ModelFileError, match="ONNX Runtime refuses"):
        to_onnx(exported("newton two"), path)
    assert path.read_text() == "before"


def test_classes_of_a_type_that_onnx_lacks_are_refused():
    X = np.arange(20.0).reshape(-1, 1)
    model = sw.DecisionTreeClassifier().fit(X, np.array(["2020-01-01", "2020-01-02"], dtype="M8[D]")[np.arange(20) % 2])
    with pytest.raises(ParameterError, match="all strings or all numbers"):
        to_onnx(model)


def test_what_to_install_is_reported(monkeypatch):
    monkeypatch.setattr("sapwood.interchange.optional.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"sapwood\[onnx\]"):
        to_onnx(exported("tree numbers"))


def test_a_lone_unseen_level_stops_at_the_root():
    X = frame()[["colour"]]
    model = sw.DecisionTreeRegressor(unseen="node").fit(X, signal(frame()))
    output = session_of(to_onnx(model)).run(None, {"X": np.array([[-2.0]])})[0]
    assert output[0, 0] == pytest.approx(signal(frame()).mean())


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_estimators_of_other_libraries_are_refused(kind):
    with pytest.raises(InputTypeError, match="another library"):
        to_onnx(foreign(kind)[0])
