"""New rows are matched to the training columns by name, kind and level."""

from __future__ import annotations

import datetime
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sapwood.errors import ParameterError, SchemaError
from sapwood.table import MISSING, UNSEEN, ColumnSchema, Table

TRAINING = pd.DataFrame(
    {
        "age": [31.0, 40.0, np.nan],
        "member": [True, False, True],
        "since": pd.to_datetime(["2020-01-01", "2021-01-01", None]),
        "colour": ["red", "blue", None],
    }
)
SCHEMA = Table.from_any(TRAINING).schema


def rows(**changes):
    return TRAINING.assign(**changes)


def message(X, **options):
    with pytest.raises(SchemaError) as caught:
        SCHEMA.match(X, **options)
    return str(caught.value)


def test_training_rows_match_themselves():
    table, trained = SCHEMA.match(TRAINING), Table.from_any(TRAINING)
    assert table.schema is SCHEMA
    np.testing.assert_array_equal(table.block(0, 3), trained.block(0, 3))


@pytest.mark.parametrize("make", [lambda X: X, pl.from_pandas, pa.Table.from_pandas])
def test_order_and_extra_columns_do_not_matter(make):
    shuffled = TRAINING.assign(extra=[[1], {}, "x"] if make(TRAINING) is TRAINING else 0)[
        ["colour", "extra", "since", "age", "member"]
    ]
    np.testing.assert_array_equal(SCHEMA.match(make(shuffled)).block(0, 3), SCHEMA.match(TRAINING).block(0, 3))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_numbers_of_one_type_are_reordered(dtype):
    X = pd.DataFrame(np.arange(6).reshape(2, 3), columns=list("abc"), dtype=dtype)
    matched = Table.from_any(X).schema.match(X[["c", "a", "b"]])
    np.testing.assert_array_equal(matched.block(0, 2), X.to_numpy())
    fewer = Table.from_any(X[["b"]]).schema.match(X)
    np.testing.assert_array_equal(fewer.values(0), X["b"])


def test_missing_column_is_named_with_the_likely_typing_error():
    text = message(TRAINING.rename(columns={"colour": "color"}), owner="Model")
    for part in ("'colour'", "Did you mean 'color'?", "Model", "'age'"):
        assert part in text


def test_repeated_column_is_named():
    repeated = pd.concat([TRAINING, TRAINING[["age"]]], axis=1)
    assert "'age'" in message(repeated)
    extra = pd.concat([TRAINING, rows(x=1)[["x"]], rows(x=1)[["x"]]], axis=1)
    assert SCHEMA.match(extra).n_rows == 3


@pytest.mark.parametrize("X", [np.ones((2, 3)), [[1, 2, 3]], pd.DataFrame(np.ones((2, 3)))])
def test_wrong_count_in_scikit_learns_words(X):
    expected = "X has 3 features, but Model is expecting 4 features as input"
    assert expected in message(X, owner="Model")
    plain = Table.from_any(np.ones((2, 4))).schema
    with pytest.raises(SchemaError, match=re.escape(expected)):
        plain.match(X, owner="Model")


def test_named_rows_for_an_unnamed_schema_go_by_place():
    schema = Table.from_any(np.ones((2, 2))).schema
    assert schema.match(pd.DataFrame({"b": [1], "a": [2]})).block(0, 1).tolist() == [[1, 2]]
    with pytest.raises(SchemaError, match="X has 3 features"):
        schema.match(pd.DataFrame({"b": [1], "a": [2], "c": [3]}))


def test_unnamed_rows_for_a_named_schema_go_by_place():
    table = SCHEMA.match([[1.5, False, datetime.date(1970, 1, 2), "red"]])
    assert table.block(0, 1).tolist() == [[1.5, 0, 86400, 1]]


KIND_CHANGES = {
    "number to string": (rows(age=["31", None, "x"]), "'age'", "expected numbers", "got categories", "'31'", "row 0"),
    "number to late string": (rows(age=np.array([None, 3, "x"], object)), "'age'", "expected numbers", "'x' in row 2"),
    "number to date": (rows(age=TRAINING["since"]), "'age'", "expected numbers", "got dates"),
    "boolean to date": (rows(member=TRAINING["since"]), "'member'", "expected booleans", "got dates"),
    "date to number": (rows(since=[np.nan, 1, 2]), "'since'", "expected dates", "got numbers", "1.0 in row 1"),
    "date to duration": (rows(since=pd.to_timedelta([1, 2, 3])), "'since'", "got durations"),
    "date to string": (rows(since=["2020", "2021", "2022"]), "'since'", "got categories", "'2020' in row 0"),
    "string to number": (
        rows(colour=[np.nan, 1, 2]),
        "'colour'",
        "categories that are strings",
        "got numbers",
        "row 1",
    ),
}


@pytest.mark.parametrize("case", KIND_CHANGES)
def test_changed_kind_is_an_error_that_says_what_came(case):
    X, *parts = KIND_CHANGES[case]
    text = message(X)
    for part in (*parts, "Convert"):
        assert part in text


def test_booleans_and_numbers_stand_for_each_other():
    matched = SCHEMA.match(rows(age=[True, False, True], member=[1, 0, 0.5]))
    assert matched.block(0, 3)[:, :2].tolist() == [[1, 1], [0, 0], [1, 0.5]]


@pytest.mark.parametrize("column", TRAINING.columns)
@pytest.mark.parametrize("empty", [[None] * 3, [np.nan] * 3, pd.array([None] * 3, "str"), pd.to_datetime([None] * 3)])
def test_column_without_values_fits_every_kind(column, empty):
    matched = SCHEMA.match(rows(**{column: empty}))
    assert np.isnan(matched.block(0, 3)[:, SCHEMA.names.index(column)]).all()


UNSEEN_ROWS = {
    "strings": ["green", "red", None],
    "categorical": pd.Categorical(["green", "red", None], categories=["red", "green"]),
    "other order": pd.Categorical(["green", "red", None], categories=["green", "red"]),
    "arrow": pd.array(["green", "red", None], dtype=pd.ArrowDtype(pa.string())),
}


@pytest.mark.parametrize("case", UNSEEN_ROWS)
@pytest.mark.parametrize("unseen", ["missing", "node"])
def test_unseen_levels_and_codes_of_training(case, unseen):
    table = SCHEMA.match(rows(colour=UNSEEN_ROWS[case]), unseen=unseen)
    assert table.values(3).tolist() == [UNSEEN, 1, MISSING]
    np.testing.assert_array_equal(table.block(0, 3)[:, 3], [-2, 1, np.nan])


def test_unseen_level_can_be_an_error():
    text = message(rows(colour=["red", "green", "violet"]), unseen="error")
    for part in ("'colour'", "'green'", "'violet'", "row 1", "'blue'"):
        assert part in text
    assert SCHEMA.match(rows(colour=["red", None, "blue"]), unseen="error").n_rows == 3


def test_unknown_policy():
    with pytest.raises(ParameterError, match="unseen='maybe'"):
        SCHEMA.match(TRAINING, unseen="maybe")


def test_levels_that_are_numbers_are_found_whatever_type_holds_them():
    schema = Table.from_any(np.array([[3], [5]]), categorical_features=[0]).schema
    for X in (np.array([[5.0], [3.0]]), [[5], [3]], np.array([[5], [3]], dtype=object), pd.DataFrame({"a": ["5", 3]})):
        assert schema.match(X).values(0).tolist()[1] == 0
    assert schema.match(np.array([[5], [4]], dtype=np.uint8)).values(0).tolist() == [1, UNSEEN]


def test_same_row_in_different_frames_gets_the_same_code():
    alone = SCHEMA.match(rows(colour="red").iloc[:1])
    among = SCHEMA.match(rows(colour=["red", "zebra", "aardvark"]))
    assert alone.values(3)[0] == among.values(3)[0] == 1


@pytest.mark.parametrize("X", [np.empty((0, 4)), TRAINING.iloc[:0], []])
def test_no_rows(X):
    with pytest.raises(ValueError, match=r"0 sample\(s\)|Expected 2D array"):
        SCHEMA.match(X)


def test_schema_survives_pickling_and_is_equal_to_itself():
    assert pickle.loads(pickle.dumps(SCHEMA)) == SCHEMA
    assert hash(pickle.loads(pickle.dumps(SCHEMA))) == hash(SCHEMA)
    assert Table.from_any(TRAINING.iloc[:2]).schema != SCHEMA
    assert SCHEMA.columns[3] == ColumnSchema("colour", "category", ("blue", "red"), has_missing=True)


def test_float_matrix_of_other_dtypes_and_layouts():
    X = np.arange(12.0).reshape(4, 3)
    schema = Table.from_any(X).schema
    for other in (X.astype(">f4"), X.astype(int), np.asfortranarray(X), X[::-1][::-1], X.tolist()):
        np.testing.assert_array_equal(schema.match(other).block(0, 4), X)
