from __future__ import annotations

import ast
import datetime
import subprocess
import sys
from importlib import import_module

import numpy as np
import pytest

import sapwood as sw
from export_cases import EXPORTS, HOSTILE, answers, exported, natives, new_cells
from model_cases import foreign, frame
from sapwood.errors import InputTypeError, ModelFileError
from sapwood.interchange.targets.python.to_python import to_python

module = import_module("sapwood.interchange.targets.python.to_python")


def executed(text):
    space = {}
    exec(compile(text, "model", "exec"), space)
    return space


def flat(output):
    return np.hstack(output if isinstance(output, list) else [output])


@pytest.mark.parametrize("kind", EXPORTS)
def test_modules_answer_as_the_model_does(kind):
    model = exported(kind)
    space, cells = executed(to_python(model)), new_cells(model)
    function = space["predict_proba" if hasattr(model, "classes_") else "predict"]
    got = np.array([flat(function(row)) for row in natives(model, cells)])
    np.testing.assert_allclose(got, answers(model, cells), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", ["tree classes", "forest votes", "newton three", "gradient three", "adaboost two"])
def test_modules_choose_the_class_that_predict_one_chooses(kind):
    model = exported(kind)
    space = executed(to_python(model))
    rows = frame(30, seed=3).to_dict("records")
    assert [space["predict"](row) for row in rows] == [model.predict_one(row) for row in rows]


def test_several_outputs_are_lists():
    model = exported("two outputs")
    space = executed(to_python(model))
    row = frame(1, seed=3).to_dict("records")[0]
    assert space["predict"](row) == model.predict_one(row).tolist()
    assert space["predict_proba"](row) == [own.tolist() for own in model.predict_proba_one(row)]


def test_dates_and_durations_are_objects_or_seconds():
    model = exported("tree numbers")
    space = executed(to_python(model))
    day = datetime.datetime(2021, 5, 4, 3, 2, 1, 999_999)
    zone = datetime.timezone(datetime.timedelta(hours=2))
    forms = [
        day,
        day.replace(tzinfo=datetime.UTC),
        day.replace(tzinfo=zone) + datetime.timedelta(hours=2),
        day.replace(tzinfo=datetime.UTC).timestamp(),
    ]
    assert len({space["_seconds"](form) for form in forms}) == 1
    assert space["_seconds"](datetime.date(1970, 1, 3)) == 2 * 86400
    assert space["_seconds"](datetime.timedelta(hours=-1)) == -3600
    row = ["age", 1.5, "red", True, day]
    row[0] = 40
    assert space["predict"](row) == model.predict_one(row)


def test_rows_of_another_length_and_refused_levels_raise():
    space = executed(to_python(exported("refuses unseen")))
    with pytest.raises(ValueError, match="4 values, but the model has 5"):
        space["predict"]([1.0] * 4)
    with pytest.raises(ValueError, match="'colour' holds 'mauve'"):
        space["predict"]([30, 1.0, "mauve", True, 0.0])


def test_modules_import_nothing_but_math():
    for kind in ("newton three", "hostile"):
        tree = ast.parse(to_python(exported(kind)))
        names = [n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names]
        assert names == ["math"]
        assert not any(isinstance(node, ast.ImportFrom) for node in ast.walk(tree))


def test_files_run_in_a_python_that_knows_nothing_of_the_library(tmp_path):
    model = exported("newton two")
    to_python(model, tmp_path / "written.py")
    code = "import sys, written; print(written.predict([30, 2.5, 'red', True, 0.0]), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-S", "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
    row = {"age": 30, "income": 2.5, "colour": "red", "member": True, "since": np.datetime64("1970-01-01")}
    assert done.stdout.split() == [str(model.predict_one(row)), "False"]


def test_hostile_names_and_labels_are_constants():
    text = to_python(exported("hostile"))
    assert text.isascii()
    space = executed(text)
    assert space["NAMES"][:4] == list(HOSTILE[:4])
    assert set(space["CODES"][-1]) == set(HOSTILE)
    assert sorted(space["CLASSES"][0]) == sorted(HOSTILE[3:6])


def test_a_wrong_module_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "model.py"
    path.write_text("before")
    honest = module.python_module
    monkeypatch.setattr(module, "python_module", lambda *given: honest(*given).replace("left = x <=", "left = x <"))
    with pytest.raises(ModelFileError, match=r"does not predict what this"):
        to_python(exported("newton two"), path)
    monkeypatch.setattr(module, "python_module", lambda *given: "def predict(")
    with pytest.raises(ModelFileError, match="not valid"):
        to_python(exported("newton two"), path)
    assert path.read_text() == "before"


def test_classes_that_have_no_literal_are_refused():
    X = np.arange(20.0).reshape(-1, 1)
    y = np.array([datetime.date(2020, 1, 1 + i // 10) for i in range(20)], dtype="M8[D]")
    model = sw.DecisionTreeClassifier().fit(X, y)
    with pytest.raises(InputTypeError, match="cannot be written in Python"):
        to_python(model)


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_estimators_of_other_libraries_are_refused(kind):
    with pytest.raises(InputTypeError, match="another library"):
        to_python(foreign(kind)[0])
