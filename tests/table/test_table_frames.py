"""Data frames: pandas, polars and pyarrow say the same, and are never changed."""

from __future__ import annotations

import datetime
import subprocess
import sys
from decimal import Decimal

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from sapwood.table import MISSING, Table

TIMES = [
    datetime.datetime(2020, 1, 1, 12, 30, 1, 250000),
    None,
    datetime.datetime(1969, 12, 31),
    datetime.datetime(2000, 1, 1),
]
DATES = [datetime.date(2020, 1, 1), None, datetime.date(1969, 12, 31), datetime.date(2000, 1, 1)]
SPANS = [datetime.timedelta(days=1, microseconds=5), None, datetime.timedelta(0), datetime.timedelta(seconds=-3)]
DECIMALS = [Decimal("1.50"), None, Decimal("-2.25"), Decimal("0.10")]
TEXT = ["pear", None, "apple", "pear"]
ARROW = pa.table(
    {
        "int": pa.array([1, None, -3, 7], pa.int64()),
        "small": pa.array([1, 2, 3, 4], pa.int8()),
        "float": pa.array([1.5, None, np.inf, 7]),
        "half": pa.array([1.5, 2.5, np.inf, 7], pa.float32()),
        "bool": pa.array([True, None, False, True]),
        "date": pa.array(DATES, pa.date32()),
        "time": pa.array(TIMES, pa.timestamp("us")),
        "zone": pa.array(TIMES, pa.timestamp("us", tz="Europe/Berlin")),
        "span": pa.array(SPANS, pa.duration("us")),
        "decimal": pa.array(DECIMALS, pa.decimal128(10, 2)),
        "text": pa.array(TEXT),
        "factor": pa.array(TEXT).dictionary_encode(),
        "null": pa.nulls(4),
    }
)
KINDS = ["number"] * 4 + ["boolean", "date", "date", "date", "duration", "number", "category", "category", "number"]


def seconds(items):
    return [np.nan if item is None else (item - datetime.datetime(1970, 1, 1)).total_seconds() for item in items]


VALUES = {
    "int": [1, np.nan, -3, 7],
    "small": [1, 2, 3, 4],
    "float": [1.5, np.nan, np.inf, 7],
    "half": [1.5, 2.5, np.inf, 7],
    "bool": [1, np.nan, 0, 1],
    "date": seconds(None if d is None else datetime.datetime.combine(d, datetime.time()) for d in DATES),
    "time": seconds(TIMES),
    "zone": seconds(TIMES),
    "span": [np.nan if s is None else s.total_seconds() for s in SPANS],
    "decimal": [1.5, np.nan, -2.25, 0.1],
    "text": [1, MISSING, 0, 1],
    "factor": [1, MISSING, 0, 1],
    "null": [np.nan] * 4,
}


def plain_pandas():
    frame = ARROW.to_pandas()
    return frame.assign(factor=pd.Categorical(TEXT, categories=["unused", "pear", "apple"]))


def polars_frame():
    frame = pl.from_arrow(ARROW)
    return frame.with_columns(pl.Series("factor", TEXT, dtype=pl.Enum(["unused", "pear", "apple"])))


FRAMES = {
    "arrow": lambda: ARROW,
    "arrow in chunks": lambda: pa.concat_tables([ARROW.slice(0, 1), ARROW.slice(1, 3)]),
    "arrow batch": lambda: ARROW.to_batches()[0],
    "pandas": plain_pandas,
    "pandas nullable": lambda: plain_pandas().convert_dtypes(),
    "pandas arrow": lambda: ARROW.to_pandas(types_mapper=pd.ArrowDtype),
    "pandas objects": lambda: plain_pandas().assign(text=pd.Series(TEXT, dtype=object)),
    "polars": polars_frame,
    "polars categorical": lambda: polars_frame().with_columns(pl.col("factor").cast(pl.String).cast(pl.Categorical)),
    "narwhals": lambda: nw.from_native(polars_frame()),
}


@pytest.mark.parametrize("library", FRAMES)
def test_all_libraries_agree(library):
    table = Table.from_any(FRAMES[library]())
    reference = Table.from_any(ARROW)
    assert table.schema == reference.schema
    assert table.schema.named
    assert table.schema.names == tuple(VALUES)
    assert [column.kind for column in table.schema.columns] == KINDS
    for j, expected in enumerate(VALUES.values()):
        np.testing.assert_array_equal(table.values(j), expected)


@pytest.mark.parametrize("library", FRAMES)
def test_frames_are_not_changed(library):
    frame, copy = FRAMES[library](), FRAMES[library]()
    table = Table.from_any(frame)
    table.schema.match(frame).block(0, 4)
    assert type(frame) is type(copy)
    same = frame.equals(copy) if not isinstance(frame, nw.DataFrame) else frame.to_native().equals(copy.to_native())
    assert same


@pytest.mark.parametrize("library", FRAMES)
def test_block_holds_codes_as_floats(library):
    block = Table.from_any(FRAMES[library]()).block(1, 3)
    expected = np.array([VALUES[name] for name in VALUES], dtype=float).T[1:3]
    expected[0, 10:12] = np.nan
    np.testing.assert_array_equal(block, expected)
    assert block.flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_pandas_frame_of_one_type_equals_its_matrix(dtype):
    X = np.array([[1, 0], [0, 1], [1, 1]], dtype=dtype)
    frame = pd.DataFrame(X, columns=["a", "b"])
    table = Table.from_any(frame)
    np.testing.assert_array_equal(table.block(0, 3), X)
    assert table.schema.columns[0].kind == Table.from_any(X).schema.columns[0].kind
    if dtype.startswith("float"):
        assert np.shares_memory(table.values(0), frame.to_numpy())


def test_float32_frames_stay_float32():
    data = {
        "a": np.array([1, 2], np.float32),
        "b": np.array([True, False]),
        "c": ["x", "y"],
        "d": np.array([1, 2], np.uint8),
    }
    for frame in (pd.DataFrame(data), pl.DataFrame(data), pa.table(data)):
        assert Table.from_any(frame).dtype == np.float32
    assert Table.from_any(pd.DataFrame(data | {"e": [1, 2]})).dtype == np.float64


def test_pandas_specials():
    frame = pd.DataFrame(
        {
            "sparse": pd.arrays.SparseArray([0.0, 2.0, np.nan]),
            "interval": pd.cut([1.0, 2.0, 3.0], 2),
            "numbers": pd.Categorical([3, 10, None]),
            "nullable": pd.array(["b", None, "a"], dtype="string"),
        }
    )
    table = Table.from_any(frame)
    np.testing.assert_array_equal(table.values(0), [0, 2, np.nan])
    assert table.schema.columns[1].levels == ("(0.998, 2.0]", "(2.0, 3.0]")
    assert table.schema.columns[2].levels == (3, 10)
    assert table.schema.columns[3].levels == ("a", "b")


def test_large_polars_integers():
    frame = pl.DataFrame({"a": pl.Series([2**100, None], dtype=pl.Int128), "b": pl.Series([b"x", None])})
    table = Table.from_any(frame)
    np.testing.assert_array_equal(table.values(0), [2.0**100, np.nan])
    assert table.schema.columns[1].levels == ("x",)


def test_strings_that_are_all_missing_have_no_levels():
    for frame in (
        pd.DataFrame({"a": pd.array([None, None], dtype="str")}),
        pl.DataFrame({"a": [None, None]}, schema={"a": pl.String}),
        pa.table({"a": pa.array([None, None], pa.string())}),
    ):
        table = Table.from_any(frame)
        assert table.schema.columns[0].kind == "category"
        assert table.schema.columns[0].levels == ()
        assert table.values(0).tolist() == [MISSING, MISSING]


@pytest.mark.parametrize("columns", [range(2), [3.0, 4.0], pd.MultiIndex.from_tuples([("a", 1), ("b", 2)])])
def test_columns_without_string_names_are_numbered(columns):
    schema = Table.from_any(pd.DataFrame([[1, "a"], [2, "b"]], columns=columns)).schema
    assert not schema.named
    assert schema.names == ("x0", "x1")


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_any_column_can_be_a_category(make):
    data = {"n": [3, 1, 3], "b": [True, False, True], "d": DATES[::3] + DATES[:1], "s": ["u", "v", "u"]}
    table = Table.from_any(make(data), categorical_features=["n", "b", "d"])
    assert [c.kind for c in table.schema.columns] == ["category"] * 4
    assert [table.values(j).tolist() for j in range(4)] == [[1, 0, 1], [1, 0, 1], [1, 0, 1], [0, 1, 0]]
    assert table.schema.columns[0].levels == (1, 3)
    assert list(map(repr, table.schema.columns[1].levels)) == ["False", "True"]


def test_works_where_no_frame_library_is_installed():
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['pandas', 'polars', 'pyarrow']));"  # importing them fails now
        "import numpy as np; from sapwood.table import ClassTarget, Table, check_weight;"
        "Table.from_any(np.ones((3, 2))).schema.match([[1, 2]]); Table.from_any([['a', None]]);"
        "ClassTarget.from_any(['a'], 1); check_weight([1], 1)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
