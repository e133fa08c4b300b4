from __future__ import annotations

import ctypes
import shutil
import subprocess
from importlib import import_module

import numpy as np
import pytest

import sapwood as sw
from export_cases import EXPORTS, HOSTILE, answers, exported, new_cells
from model_cases import foreign
from sapwood.errors import InputTypeError, MissingExtraError, ModelFileError, NotFittedError, ParameterError
from sapwood.interchange.targets.c.to_c import to_c

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler")
EXACT = ("tree numbers", "forest classes", "forest votes", "adaboost numbers", "newton numbers", "quantiles", "float32")

module = import_module("sapwood.interchange.targets.c.to_c")


def compiled(text, folder, name="predict"):
    (folder / "model.c").write_text(text, encoding="utf-8")
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O2"]
    command = ["cc", *strict, "-shared", "-fPIC", "-o", str(folder / "model.so"), str(folder / "model.c"), "-lm"]
    subprocess.run(command, check=True, capture_output=True)
    return getattr(ctypes.CDLL(str(folder / "model.so")), name)


def asked(function, cells, width):
    out = np.empty((len(cells), width))
    for row, output in zip(np.ascontiguousarray(cells), out, strict=True):
        function(ctypes.c_void_p(row.ctypes.data), ctypes.c_void_p(output.ctypes.data))
    return out


@pytest.mark.parametrize("kind", EXPORTS)
def test_compiled_models_answer_as_the_model_does(kind, tmp_path):
    model = exported(kind)
    cells = new_cells(model)
    wanted = answers(model, cells)
    got = asked(compiled(to_c(model), tmp_path), cells, wanted.shape[1])
    if kind in EXACT:
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_allclose(got, wanted, rtol=1e-12, atol=1e-14)


def test_unknown_levels_are_refused_with_nan(tmp_path):
    model = exported("refuses unseen")
    cells = new_cells(model, 3)
    cells[1, 2] = -2.0
    cells[2, 2] = 17.0
    got = asked(compiled(to_c(model), tmp_path), cells, 1)
    assert np.isnan(got[:, 0]).tolist() == [False, True, True]


def test_a_function_has_the_name_it_is_given(tmp_path):
    model = exported("newton numbers")
    cells = new_cells(model)
    function = compiled(to_c(model, name="score_of_2"), tmp_path, "score_of_2")
    np.testing.assert_array_equal(asked(function, cells, 1), answers(model, cells))


@pytest.mark.parametrize("name", ["while", "2nd", "a b", "f(", "", "x;int y", "é", "a\n"])
def test_names_that_are_no_names_in_c_are_refused(name):
    with pytest.raises(ParameterError, match="name="):
        to_c(exported("newton numbers"), name=name)


def test_hostile_names_stay_in_the_comment():
    text = to_c(exported("hostile"))
    comment, code = text.split("*/", 1)
    assert comment.count("/*") == 1
    assert "DROP" not in code
    assert "*/" not in code
    assert "\u202e" not in text
    assert max(map(len, HOSTILE)) > max(map(len, comment.splitlines()))


def test_the_comment_describes_inputs_and_outputs():
    text = to_c(exported("newton two"))
    for line in ("row[1]  income: number", "1 = 'green'", "row[4]  since: seconds since", "out[1]  probability of yes"):
        assert line in text


def test_files_are_written_as_returned(tmp_path):
    path = tmp_path / "model.c"
    text = to_c(exported("tree classes"), path)
    assert path.read_text(encoding="utf-8") == text


def test_a_wrong_file_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "model.c"
    path.write_text("before")
    honest = module.c_text
    monkeypatch.setattr(module, "c_text", lambda *given: honest(*given).replace("x <= ", "x < "))
    with pytest.raises(ModelFileError, match=r"does not predict what this DecisionTreeRegressor.*'age': 46\.5"):
        to_c(exported("tree numbers"), path)
    assert path.read_text() == "before"
    assert [file.name for file in tmp_path.iterdir()] == ["model.c"]


def test_text_that_is_no_c_is_not_written(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "c_text", lambda *given: "int predict(;")
    with pytest.raises(ModelFileError, match="compiler refuses"):
        to_c(exported("tree numbers"), tmp_path / "model.c")
    assert not list(tmp_path.iterdir())


def test_without_a_compiler_files_are_only_written_unchecked(monkeypatch, tmp_path):
    monkeypatch.setattr(module.shutil, "which", lambda name: None)
    with pytest.raises(MissingExtraError, match="check=False"):
        to_c(exported("tree numbers"), tmp_path / "model.c")
    assert not list(tmp_path.iterdir())
    assert "void predict" in to_c(exported("tree numbers"), check=False)


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_estimators_of_other_libraries_are_refused(kind):
    with pytest.raises(InputTypeError, match="another library"):
        to_c(foreign(kind)[0])


def test_what_is_no_fitted_model_is_refused():
    with pytest.raises(NotFittedError):
        to_c(sw.DecisionTreeRegressor())
    with pytest.raises(InputTypeError, match="is a dict"):
        to_c({})
