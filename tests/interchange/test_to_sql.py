from __future__ import annotations

import math
import sqlite3
from contextlib import closing
from importlib import import_module

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sapwood as sw
from export_cases import EXPORTS, HOSTILE, answers, exported, natives, new_cells
from model_cases import foreign
from sapwood.errors import InputTypeError, ModelFileError, ParameterError
from sapwood.interchange.targets.sql.to_sql import to_sql
from sapwood.interchange.targets.sql.tree import sql_name, sql_number, sql_text

module = import_module("sapwood.interchange.targets.sql.to_sql")


def asked(query, model, rows, table="rows"):
    """What SQLite returns, and the names of the columns."""
    with closing(sqlite3.connect(":memory:")) as database:
        database.create_function("EXP", 1, math.exp)
        names = ", ".join(map(sql_name, model.schema_.names))
        database.execute(f"CREATE TABLE {sql_name(table)} ({names})")
        marks = ", ".join("?" * len(rows[0]))
        database.executemany(f"INSERT INTO {sql_name(table)} VALUES ({marks})", rows)
        cursor = database.execute(query)
        return np.array(cursor.fetchall(), dtype=np.float64), [column[0] for column in cursor.description]


@pytest.mark.parametrize("kind", EXPORTS)
def test_queries_answer_as_the_model_does(kind):
    model = exported(kind)
    cells = new_cells(model)
    got, _ = asked(to_sql(model), model, natives(model, cells))
    np.testing.assert_allclose(got, answers(model, cells), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("kind", ["tree numbers", "forest classes", "newton numbers", "quantiles", "adaboost numbers"])
def test_sums_are_the_same_bits(kind):
    model = exported(kind)
    cells = new_cells(model)
    got, _ = asked(to_sql(model), model, natives(model, cells))
    np.testing.assert_array_equal(got, answers(model, cells))


def test_many_and_deep_trees_do_not_exceed_the_depth_of_expressions():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    many = sw.NewtonBoostingRegressor(n_estimators=230, max_depth=2).fit(X, X[:, 0] * X[:, 1])
    line = np.sort(rng.normal(size=(60, 2)), axis=0)
    deep = sw.DecisionTreeRegressor().fit(line, 3.0 ** np.arange(60))
    assert deep.get_depth() > 40
    for model, cells in ((many, X), (deep, line)):
        got, _ = asked(to_sql(model), model, cells.tolist())
        np.testing.assert_array_equal(got, answers(model, cells))


def test_columns_are_named_for_what_they_hold():
    assert asked(to_sql(exported("newton two")), exported("newton two"), [[None] * 5])[1] == [
        "probability of no",
        "probability of yes",
    ]
    assert asked(to_sql(exported("tree numbers")), exported("tree numbers"), [[None] * 5])[1] == ["prediction"]
    assert asked(to_sql(exported("two numbers")), exported("two numbers"), [[None] * 5])[1] == ["output 0", "output 1"]


def test_other_columns_and_tables_can_be_named():
    model = exported("newton numbers")
    rows = [[30, 20.5, "red", True, 1.6e9], [None] * 5]
    query = to_sql(model, table='my "table"', keep=["income", "age"])
    got, names = asked(query, model, rows, 'my "table"')
    assert names == ["income", "age", "prediction"]
    assert got[0, :2].tolist() == [20.5, 30.0]


def test_unknown_levels_are_refused_with_null():
    model = exported("refuses unseen")
    rows = [[30, 20.5, level, True, 1.6e9] for level in ("red", "mauve", None)]
    got, _ = asked(to_sql(model), model, rows)
    assert np.isnan(got[:, 0]).tolist() == [False, True, False]


def test_dates_are_read_as_each_database_has_them():
    model = exported("newton two")
    assert "EXTRACT" not in to_sql(model)
    assert to_sql(model) == to_sql(model, dialect="sqlite")
    for dialect in ("postgresql", "duckdb"):
        assert 'CAST(EXTRACT(EPOCH FROM "since") AS DOUBLE PRECISION) AS c4' in to_sql(model, dialect=dialect)
    with pytest.raises(ParameterError, match="dialect='oracle'"):
        to_sql(model, dialect="oracle")


@given(st.floats(allow_nan=False, allow_infinity=False).filter(lambda x: x == 0.0 or abs(x) > 1e-280))
@example(0.1)
@example(1.0 / 3.0)
@example(9007199254740993.0)
def test_numbers_read_back_exactly(x):
    text = sql_number(x)
    assert float(text) == x
    assert "e" in text
    with closing(sqlite3.connect(":memory:")) as database:
        assert database.execute(f"SELECT {text}").fetchone()[0] == x


@given(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"])))
def test_texts_and_names_read_back_exactly(text):
    with closing(sqlite3.connect(":memory:")) as database:
        cursor = database.execute(f"SELECT {sql_text(text)} AS {sql_name('n' + text)}")
        assert cursor.fetchone()[0] == text
        assert cursor.description[0][0] == "n" + text


def test_hostile_names_and_levels_do_no_harm():
    model = exported("hostile")
    text = to_sql(model, table=HOSTILE[1])
    cells = new_cells(model)
    got, names = asked(text, model, natives(model, cells), HOSTILE[1])
    np.testing.assert_allclose(got, answers(model, cells), rtol=1e-12, atol=1e-14)
    assert names == [f"probability of {label}" for label in model.classes_]


@pytest.mark.parametrize("text", ["a\0b", "\ud800"])
def test_text_that_no_database_holds_is_refused(text):
    with pytest.raises(ParameterError, match="cannot hold"):
        to_sql(exported("tree numbers"), table=text)


def test_a_wrong_query_is_not_written(tmp_path, monkeypatch):
    path = tmp_path / "model.sql"
    path.write_text("before")
    honest = module.sql_query
    monkeypatch.setattr(module, "sql_query", lambda *given: honest(*given).replace("<=", "<"))
    with pytest.raises(ModelFileError, match=r"does not predict what this"):
        to_sql(exported("newton two"), path=path)
    monkeypatch.setattr(module, "sql_query", lambda *given: "SELECT FROM")
    with pytest.raises(ModelFileError, match="SQLite refuses"):
        to_sql(exported("newton two"), path=path)
    assert path.read_text() == "before"


def test_models_that_databases_would_not_read_in_time_are_refused(monkeypatch):
    monkeypatch.setattr(module, "MOST_NUMBERS", 20)
    with pytest.raises(ParameterError, match=r"numbers.*max_depth"):
        to_sql(exported("newton three"))
    with pytest.raises(ParameterError, match=r"numbers.*linear_tree=False"):
        to_sql(exported("linear three"))


def test_files_are_written_as_returned(tmp_path):
    text = to_sql(exported("hostile"), tmp_path / "model.sql")
    assert (tmp_path / "model.sql").read_bytes() == text.encode()


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "gradient"])
def test_estimators_of_other_libraries_are_refused(kind):
    with pytest.raises(InputTypeError, match="another library"):
        to_sql(foreign(kind)[0])
