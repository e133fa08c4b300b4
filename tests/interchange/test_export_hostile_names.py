"""Names that attack: exports run, agree with the model, and hold names only where text belongs."""

import ast
import ctypes
import re
import shutil
import sqlite3
import subprocess
import tokenize
from contextlib import closing
from io import BytesIO, StringIO

import numpy as np
import pandas as pd
import pytest

import hostile_names as hostile
import sapwood as sw
from sapwood import interchange
from sapwood.errors import ParameterError

TEXTS = (*hostile.ATTACKS, *(name for name in hostile.ODD if name != "A_B"))
KINDS = ("tree", "forest", "newton classes", "newton numbers")


def case(kind, names=TEXTS):
    model, X = hostile.models(names)[kind]
    output = model.predict_proba(X) if hasattr(model, "predict_proba") else model.predict(X)[:, None]
    return model, X, output


def codes(model, X):
    return np.ascontiguousarray(model.model_.match(X).block(0, len(X)), dtype=np.float64)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
@pytest.mark.parametrize("standard", ["c99", "gnu17"])
@pytest.mark.parametrize("names", [TEXTS, hostile.BROKEN], ids=["texts", "broken"])
@pytest.mark.parametrize("kind", KINDS)
def test_c(kind, names, standard, tmp_path):
    model, X, output = case(kind, names)
    text = interchange.to_c(model, tmp_path / "model.c", check=False)
    assert (tmp_path / "model.c").read_text("utf-8") == text
    # What remains once comments are gone is what the compiler sees
    command = ["gcc", f"-std={standard}", "-trigraphs", "-fpreprocessed", "-dD", "-E", "-P", str(tmp_path / "model.c")]
    seen = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert seen.isascii()
    assert hostile.MARK not in seen
    assert '"' not in seen
    library = tmp_path / "model.so"
    build = ["gcc", f"-std={standard}", "-Wall", "-Werror", "-Wno-comment", "-Wno-trigraphs", "-shared", "-fPIC"]
    subprocess.run([*build, "-o", library, tmp_path / "model.c", "-lm"], check=True, capture_output=True)
    function = ctypes.CDLL(str(library)).predict
    function.argtypes, function.restype = [ctypes.c_void_p, ctypes.c_void_p], None
    cells, out = codes(model, X), np.empty(output.shape)
    for row, own in zip(cells, out, strict=True):
        function(row.ctypes.data, own.ctypes.data)
    np.testing.assert_allclose(out, output, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sql(kind):
    model, X, output = case(kind)
    query = interchange.to_sql(model, table="rows", keep=["number"])
    outside = re.sub(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"", "?", query)
    assert hostile.MARK not in outside
    assert not re.search(r"--|/\*|DROP", outside)
    assert outside.count(";") == 1
    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("EXP", 1, np.exp, deterministic=True)
        columns = ", ".join('"' + name.replace('"', '""') + '"' for name in [*X.columns, "number"])
        database.execute(f"CREATE TABLE rows ({columns})")
        lines = [[*row, k] for k, row in enumerate(X.astype(object).to_numpy().tolist())]
        database.executemany(f"INSERT INTO rows VALUES ({', '.join('?' * (X.shape[1] + 1))})", lines)
        found = np.array(database.execute(query).fetchall(), dtype=np.float64)
        assert database.execute("SELECT count(*) FROM rows").fetchone() == (len(X),)
    np.testing.assert_allclose(found[np.argsort(found[:, 0]), 1:], output, rtol=1e-12, atol=1e-12)


def test_sql_refuses_what_databases_cannot_hold():
    for kind in KINDS:
        with pytest.raises(ParameterError, match="holds a character that text in SQL cannot hold"):
            interchange.to_sql(hostile.models(hostile.BROKEN)[kind][0])


def test_sql_of_names_that_differ_in_capitals():
    X, y = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]), [0.0, 1.0, 2.0, 3.0]
    model = sw.DecisionTreeRegressor().fit(pd.DataFrame(X, columns=["Été", "été"]), y)
    with pytest.raises(ParameterError, match="'Été' and 'été' differ in capital letters only"):
        interchange.to_sql(model)
    query = interchange.to_sql(model, dialect="postgresql")
    assert '"Été"' in query
    assert '"été"' in query


@pytest.mark.parametrize("names", [TEXTS, hostile.BROKEN], ids=["texts", "broken"])
@pytest.mark.parametrize("kind", KINDS)
def test_python(kind, names, tmp_path):
    model, X, output = case(kind, names)
    text = interchange.to_python(model, tmp_path / "model.py")
    assert text.isascii()
    tokens = list(tokenize.tokenize(BytesIO(text.encode()).readline))
    assert not [token for token in tokens if token.type == tokenize.NAME and hostile.MARK in token.string]
    kinds = {type(node) for node in ast.parse(text).body}
    assert kinds <= {ast.Import, ast.Assign, ast.FunctionDef}
    module = {}
    exec(compile(text, "model", "exec"), module)
    assert hostile.MARK not in module
    function = module["predict_proba" if hasattr(model, "predict_proba") else "predict"]
    rows = X.astype(object).to_numpy().tolist()
    found = np.array([np.atleast_1d(function(dict(zip(X.columns, row, strict=True)))) for row in rows])
    np.testing.assert_allclose(found, output, rtol=1e-12, atol=1e-12)
    if hasattr(model, "predict_proba"):
        assert [module["predict"](row) for row in rows] == model.predict(X).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_onnx(kind, tmp_path):
    runtime = pytest.importorskip("onnxruntime")
    model, X, output = case(kind)
    interchange.to_onnx(model, tmp_path / "model.onnx")
    session = runtime.InferenceSession(str(tmp_path / "model.onnx"), providers=["CPUExecutionProvider"])
    found = session.run(None, {"X": codes(model, X)})
    np.testing.assert_allclose(found[-1], output, rtol=1e-9, atol=1e-12)
    if len(found) > 1:
        assert found[0].tolist() == model.predict(X).tolist()


@pytest.mark.parametrize("kind", KINDS)
def test_onnx_of_broken_text(kind):
    pytest.importorskip("onnxruntime")
    model = hostile.models(hostile.BROKEN)[kind][0]
    if hasattr(model, "classes_"):
        with pytest.raises(ParameterError, match=r"not valid Unicode, which ONNX needs\. Rename it"):
            interchange.to_onnx(model)
    else:
        interchange.to_onnx(model).SerializeToString()


@pytest.mark.parametrize("names", [TEXTS, hostile.BROKEN], ids=["texts", "broken"])
@pytest.mark.parametrize("kind", ["newton classes", "newton numbers"])
def test_xgboost(kind, names):
    interchange.to_xgboost(hostile.models(names)[kind][0]).decode("ascii")


@pytest.mark.parametrize("kind", KINDS)
def test_model_files_keep_every_name(kind, tmp_path):
    model, X, output = case(kind, hostile.NAMES)
    sw.save(model, tmp_path / "model.sapwood")
    again = sw.load(tmp_path / "model.sapwood")
    assert again.schema_ == model.schema_
    assert sw.fingerprint(again) == sw.fingerprint(model)
    assert np.asarray(again.predict(X)).tolist() == model.predict(X).tolist()
    assert len(output) == len(X)


def test_the_names_are_hostile():
    """The attacks work where nobody takes care: pasted in, they change what a program sees."""
    broken = 0
    for name in hostile.ATTACKS:
        try:
            tokens = list(tokenize.generate_tokens(StringIO(f"# {name}\nx = '{name}'\n").readline))
            broken += any(t.type == tokenize.NAME and hostile.MARK in t.string for t in tokens)
        except (tokenize.TokenError, SyntaxError):
            broken += 1
    assert broken >= 4
