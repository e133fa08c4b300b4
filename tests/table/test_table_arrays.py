"""Numpy arrays, lists and objects with `__array__`: kinds, values, memory, and the caller's data left alone."""

from __future__ import annotations

import datetime
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.utils.estimator_checks import _NotAnArray

from sapwood.table import MISSING, Table

SMALL = ["float32", "float16", "bool", "int8", "int16", "uint8", "uint16"]
LARGE = ["float64", "int32", "uint32", "int64", "uint64", "longdouble"]


def numbers(dtype="float64", shape=(70, 3)):
    return (np.random.default_rng(0).random(shape) * 100).astype(dtype)


@pytest.mark.parametrize(("dtype", "stored"), [(d, "float32") for d in SMALL] + [(d, "float64") for d in LARGE])
@pytest.mark.parametrize("order", ["<", ">"])
def test_every_numeric_dtype_is_read_by_value(dtype, stored, order):
    X = numbers(dtype).astype(np.dtype(dtype).newbyteorder(order))
    table = Table.from_any(X)
    assert table.dtype == stored
    assert table.block(0, 70).dtype == stored
    for j, column in enumerate(table.schema.columns):
        assert column.kind == ("boolean" if dtype == "bool" else "number")
        np.testing.assert_array_equal(table.values(j), X[:, j].astype(stored))
        assert (column.low, column.high) == (float(X[:, j].min()), float(X[:, j].max()))


LAYOUTS = {
    "C": np.ascontiguousarray,
    "F": np.asfortranarray,
    "strided": lambda X: np.repeat(np.repeat(X, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda X: X[::-1, ::-1].copy()[::-1, ::-1],
    "matrix": np.asmatrix,
    "list": lambda X: X.tolist(),
    "tuples": lambda X: tuple(map(tuple, X)),
    "rows": list,
    "objects": lambda X: X.astype(object),
    "not an array": _NotAnArray,
}


@pytest.mark.filterwarnings("ignore:the matrix subclass:PendingDeprecationWarning")
@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_does_not_matter(layout):
    X = numbers()
    X[3, 1] = np.nan
    table = Table.from_any(LAYOUTS[layout](X))
    assert table.schema == Table.from_any(X).schema
    np.testing.assert_array_equal(table.block(0, 70), X)
    assert table.block(5, 9).flags.c_contiguous
    assert table.values(1).flags.c_contiguous


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_float_matrix_is_not_copied(dtype):
    X = numbers(dtype)
    table = Table.from_any(X)
    assert np.shares_memory(table.block(10, 20), X)
    assert np.shares_memory(table.schema.match(X).block(10, 20), X)
    assert np.shares_memory(Table.from_any(np.asfortranarray(X)).storage.matrix, X) is False
    fortran = np.asfortranarray(X)
    assert np.shares_memory(Table.from_any(fortran).values(0), fortran)


def test_arrays_handed_out_cannot_be_written_and_the_callers_stays_writable():
    X = numbers()
    table = Table.from_any(X)
    for array in (table.values(0), table.block(0, 3), table.schema.n_levels):
        assert not array.flags.writeable
    assert X.flags.writeable


def test_read_only_and_memmap(tmp_path):
    X = numbers()
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    X.flags.writeable = False
    for given_x in (X, mapped):
        table = Table.from_any(given_x)
        assert type(table.block(0, 3)) is np.ndarray
        np.testing.assert_array_equal(table.block(0, 70), X)
        np.testing.assert_array_equal(table.schema.match(given_x).block(0, 70), X)


def test_masked_cells_are_missing():
    X = np.ma.masked_array([[1, 2], [3, 4]], mask=[[False, True], [False, False]])
    table = Table.from_any(X)
    np.testing.assert_array_equal(table.block(0, 2), [[1, np.nan], [3, 4]])
    text = Table.from_any(np.ma.masked_array([["a"], ["b"]], mask=[[False], [True]]))
    assert text.schema.columns[0].levels == ("a",)


def test_infinities_are_values_and_nan_is_missing():
    table = Table.from_any(np.array([[np.inf, np.nan], [-np.inf, np.nan], [np.nan, np.nan]]))
    first, second = table.schema.columns
    assert (first.low, first.high, first.has_missing) == (-np.inf, np.inf, True)
    assert np.isnan(second.low)
    assert np.isnan(second.high)
    assert second.has_missing


@given(
    hnp.arrays(
        st.sampled_from(["f4", "f8"]),
        hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=200),
        elements=st.sampled_from([0.0, -1.5, 2.0, np.nan, np.inf, -np.inf]),
        fill=st.just(1.0),
    )
)
def test_ranges_agree_with_a_plain_loop(X):
    for j, column in enumerate(Table.from_any(X).schema.columns):
        present = [value for value in X[:, j].tolist() if value == value]  # noqa: PLR0124 - NaN differs from itself
        assert column.has_missing == (len(present) < len(X))
        np.testing.assert_equal(column.low, min(present, default=np.nan))
        np.testing.assert_equal(column.high, max(present, default=np.nan))


DAY = 86400.0
UTC = datetime.UTC
OBJECTS = {
    "numbers": ([1, None, 2.5, float("nan"), True], "number", [1, np.nan, 2.5, np.nan, 1]),
    "decimals": ([Decimal("1.5"), None, Decimal("sNaN"), Fraction(1, 4), np.int8(3)], "number",
                 [1.5, np.nan, np.nan, 0.25, 3]),
    "booleans": ([True, None, False, np.True_, np.nan], "boolean", [1, np.nan, 0, 1, np.nan]),
    "nothing": ([None, np.nan, None, np.nan, None], "number", [np.nan] * 5),
    "dates": (
        [datetime.date(1970, 1, 2), None, datetime.datetime(1970, 1, 1, 1), np.datetime64("1970-01-03"),
         np.datetime64("NaT")],
        "date",
        [DAY, np.nan, 3600, 2 * DAY, np.nan],
    ),
    "zones": (
        [datetime.datetime(1970, 1, 1, 2, tzinfo=datetime.timezone(datetime.timedelta(hours=2)))] * 4
        + [datetime.datetime(1970, 1, 2, tzinfo=UTC)],
        "date",
        [0, 0, 0, 0, DAY],
    ),
    "durations": ([datetime.timedelta(days=1), None, np.timedelta64(3, "s"), np.nan, datetime.timedelta(0)], "duration",
                  [DAY, np.nan, 3, np.nan, 0]),
}  # fmt: skip


@pytest.mark.parametrize("case", OBJECTS)
def test_types_of_objects_decide_the_kind(case):
    values, kind, expected = OBJECTS[case]
    X = np.empty((5, 1), dtype=object)
    X[:, 0] = values
    table = Table.from_any(X)
    assert table.schema.columns[0].kind == kind
    np.testing.assert_array_equal(table.values(0), expected)


CATEGORIES = {
    "strings": (["b", "a", None, "b", float("nan")], ("a", "b"), [1, 0, MISSING, 1, MISSING]),
    "bytes": ([b"b", b"a", None, b"b", None], ("a", "b"), [1, 0, MISSING, 1, MISSING]),
    "mixed": (["b", 2, 10, None, "a"], (10, 2, "a", "b"), [3, 1, 0, MISSING, 2]),
    "true is one": (["x", True, 1, 1.0, 0], (0, 1, "x"), [2, 1, 1, 1, 0]),
}


@pytest.mark.parametrize("case", CATEGORIES)
def test_objects_that_are_categories(case):
    values, levels, codes = CATEGORIES[case]
    X = np.array(values, dtype=object)[:, np.newaxis]
    table = Table.from_any(X)
    assert table.schema.columns[0].kind == "category"
    assert table.schema.columns[0].levels == levels
    assert table.values(0).dtype == np.int32
    assert table.values(0).tolist() == codes


@pytest.mark.parametrize("dtype", ["U3", "S3", np.dtypes.StringDType(), object])
def test_numpy_strings_are_categories(dtype):
    table = Table.from_any(np.array([["b", "y"], ["a", "y"], ["é", "y"]][: 2 if dtype == "S3" else 3]).astype(dtype))
    assert [c.kind for c in table.schema.columns] == ["category", "category"]
    assert table.values(0).tolist()[:2] == [1, 0]
    assert table.schema.columns[1].levels == ("y",)


def test_numbers_in_a_list_with_strings_stay_numbers():
    table = Table.from_any([[1, "a"], [2.5, "b"], [None, None]])
    assert [c.kind for c in table.schema.columns] == ["number", "category"]
    np.testing.assert_array_equal(table.values(0), [1, 2.5, np.nan])
    np.testing.assert_array_equal(table.block(0, 3), [[1, 0], [2.5, 1], [np.nan, np.nan]])


@pytest.mark.parametrize("unit", ["D", "h", "m", "s", "ms", "us", "ns", "25us"])
def test_times_do_not_depend_on_their_unit(unit):
    days = np.array([["2020-02-29"], ["1969-12-31"], ["NaT"]], dtype="M8[D]")
    expected = [18321 * DAY, -DAY, np.nan]
    for order in "<>":
        table = Table.from_any(days.astype(np.dtype(f"M8[{unit}]").newbyteorder(order)))
        np.testing.assert_array_equal(table.values(0), expected)
        assert table.schema.columns[0].kind == "date"
    durations = Table.from_any((days - np.datetime64("1970-01-01")).astype(f"m8[{unit}]"))
    np.testing.assert_array_equal(durations.values(0), expected)
    assert durations.schema.columns[0].kind == "duration"


def test_fractions_of_seconds_do_not_depend_on_the_unit():
    ticks = np.array([[1_700_000_000_123_457], [-1]], dtype="M8[us]")
    np.testing.assert_array_equal(Table.from_any(ticks).values(0), Table.from_any(ticks.astype("M8[ns]")).values(0))


@pytest.mark.parametrize("chosen", [[1], np.array([1]), ["x1"], [False, True], np.array([False, True])])
def test_numbers_can_be_categories(chosen):
    X = np.array([[1.5, 3], [2.5, np.nan], [1.5, -1], [0, 3]])
    table = Table.from_any(X, categorical_features=chosen)
    assert [c.kind for c in table.schema.columns] == ["number", "category"]
    assert table.schema.columns[1].levels == (-1, 3)
    assert table.values(1).tolist() == [1, MISSING, 0, 1]
    assert table.schema.n_levels.tolist() == [0, 2]
    assert table.schema.n_levels.dtype == np.int32


def test_large_integers_stay_apart_as_categories():
    X = np.array([[2**60], [2**60 + 1]])
    assert Table.from_any(X, categorical_features=[0]).schema.columns[0].levels == (2**60, 2**60 + 1)
    assert Table.from_any(X).values(0).dtype == np.float64


@pytest.mark.parametrize("nothing", [None, "from_dtype", [], np.array([])])
def test_no_further_categories(nothing):
    assert Table.from_any([[1.0, "a"]], categorical_features=nothing).schema.n_levels.tolist() == [0, 1]
