"""Every input that cannot be used is refused in one clear sentence."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from sapwood.errors import InputError, InputTypeError, ParameterError, ParameterTypeError
from sapwood.table import Table


def cell(value):
    X = np.full((3, 2), 1.0, dtype=object)
    X[1, 1] = value
    return X


def frame(value):
    return pd.DataFrame({"good": [1, 2], "bad": pd.Series([None, value], dtype=object)})


def object_sparse():
    matrix = sparse.csr_array(np.eye(2))
    matrix.data = matrix.data.astype(object)
    return matrix


CASES = {
    "None": (lambda: None, InputTypeError, r"X is None"),
    "str": (lambda: "data.csv", InputTypeError, r"'data.csv' \(a str\)"),
    "bytes": (lambda: b"data", InputTypeError, r"not a table"),
    "dict": (lambda: {"a": [1]}, InputTypeError, r"\(a dict\).*data frame"),
    "set": (lambda: {1}, InputTypeError, r"not a table"),
    "generator": (lambda: (row for row in [[1]]), InputTypeError, r"generator.*list of rows"),
    "object": (object, InputTypeError, r"not a table"),
    "scalar": (lambda: 3.5, InputError, r"got scalar array instead.*Reshape your data"),
    "0-d": (lambda: np.array(3), InputError, r"got scalar array instead.*Reshape your data"),
    "1-d": (lambda: np.ones(3), InputError, r"Expected 2D array, got 1D array instead.*Reshape your data"),
    "list": (lambda: [1, 2], InputError, r"got 1D array.*Reshape your data"),
    "strings": (lambda: ["a", "b"], InputError, r"got 1D array.*Reshape your data"),
    "empty list": (list, InputError, r"got 1D array.*Reshape your data"),
    "pandas series": (lambda: pd.Series([1, 2]), InputError, r"got 1D array.*Reshape your data"),
    "polars series": (lambda: pl.Series([1, 2]), InputError, r"got 1D array.*Reshape your data"),
    "arrow array": (lambda: pa.array([1, 2]), InputError, r"got 1D array.*Reshape your data"),
    "sparse vector": (lambda: sparse.coo_array([1, 2]), InputError, r"got 1D array.*Reshape your data"),
    "3-d": (lambda: np.ones((2, 2, 2)), InputError, r"got 3D array.*Reshape your data"),
    "no rows": (
        lambda: np.empty((0, 3)),
        InputError,
        r"Found array with 0 sample\(s\) \(shape=\(0, 3\)\) while a minimum of 1 is required\.",
    ),
    "no rows, pandas": (lambda: pd.DataFrame({"a": []}), InputError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    "no rows, polars": (lambda: pl.DataFrame({"a": []}), InputError, r"0 sample\(s\) \(shape=\(0, 1\)\)"),
    "no rows, sparse": (lambda: sparse.csr_array((0, 2)), InputError, r"0 sample\(s\) \(shape=\(0, 2\)\)"),
    "no columns": (
        lambda: np.empty((12, 0)),
        InputError,
        r"0 feature\(s\) \(shape=\(\d*, 0\)\) while a minimum of \d* is required.",
    ),
    "no columns, list": (lambda: [[], []], InputError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    "no columns, pandas": (lambda: pd.DataFrame(index=[1, 2]), InputError, r"0 feature\(s\) \(shape=\(2, 0\)\)"),
    "too many rows": (
        lambda: np.broadcast_to(np.float32(1), (2**31 - 1, 1)),
        InputError,
        r"2147483647 rows.*at most 2147483646",
    ),
    "complex": (lambda: np.ones((2, 2)) * 1j, InputError, "Complex data not supported"),
    "complex list": (lambda: [[1, 1j]], InputError, "Complex data not supported"),
    "complex cell": (lambda: cell(1j), InputError, "Complex data not supported.*'x1', row 1"),
    "complex frame": (lambda: pd.DataFrame({"a": [1j], "b": "x"}), InputError, "Complex data not supported"),
    "complex sparse": (lambda: sparse.csr_array(np.eye(2) * 1j), InputError, "Complex data not supported"),
    "records": (lambda: np.zeros(3, dtype=[("a", "f4"), ("b", "i4")]), InputTypeError, "pandas.DataFrame"),
    "ragged": (lambda: [[1, 2], [3]], InputError, "different lengths"),
    "dict cell": (lambda: cell({"foo": "bar"}), InputTypeError, r"'x1'.*row 1: argument must be a string or a number"),
    "list cell": (lambda: frame([1]), InputTypeError, r"'bad'.*row 1: argument must be a string or a number"),
    "object cell": (lambda: frame(object()), InputTypeError, r"'bad'.*row 1: argument must be a string or a number"),
    "period": (lambda: pd.DataFrame({"p": pd.period_range("2020", periods=2)}), InputTypeError, r"'p'.*Period"),
    "huge integer": (lambda: cell(10**400), InputError, r"'x1'.*row 1.*too large"),
    "repeated names": (
        lambda: pd.DataFrame([[1, 2, 3, 4]], columns=["a", "b", "a", "b"]),
        InputError,
        r"\['a', 'b'\]",
    ),
    "repeated names, arrow": (lambda: pa.table([[1], [2]], names=["a", "a"]), InputError, r"\['a'\]"),
    "mixed names": (lambda: pd.DataFrame([[1, 2]], columns=["a", 0]), InputTypeError, r"0 \(a int\).*astype\(str\)"),
    "list column": (lambda: pl.DataFrame({"l": [[1], [2]]}), InputTypeError, r"'l'.*List"),
    "struct column": (lambda: pa.table({"s": [{"a": 1}]}), InputTypeError, r"'s'.*Struct"),
    "time column": (lambda: pl.DataFrame({"t": [datetime.time(1)]}), InputTypeError, r"'t'.*Time"),
    "arrow list column": (
        lambda: pd.DataFrame({"l": pd.array([[1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))}),
        InputTypeError,
        r"'l'.*List",
    ),
    "lazy": (lambda: pl.LazyFrame({"a": [1]}), InputTypeError, r"collect\(\)"),
    "sparse objects": (object_sparse, InputTypeError, r"astype\(float\)"),
}


@pytest.mark.parametrize("case", CASES)
def test_refused_when_training_and_predicting(case):
    make, error, pattern = CASES[case]
    with pytest.raises(error, match=f"(?s){pattern}"):
        Table.from_any(make())
    schema = Table.from_any(np.ones((2, 1))).schema
    with pytest.raises((InputError, InputTypeError)):
        schema.match(make())


PARAMETERS = {
    "typing error": ("from_dtypes", ParameterError, "Did you mean 'from_dtype'"),
    "bare name": ("colour", ParameterError, r"pass \['colour'\]"),
    "unknown name": (["color"], ParameterError, "'color'.*Did you mean 'colour'"),
    "index too large": ([2], ParameterError, "index 2.*0 to 1"),
    "index negative": ([-1], ParameterError, "index -1.*0 to 1"),
    "mask of wrong length": ([True], ParameterError, "1 booleans.*2 columns"),
    "mixture": (["colour", 1], ParameterTypeError, "mixture"),
    "floats": ([1.0], ParameterTypeError, "categorical_features"),
    "number": (1, ParameterTypeError, "categorical_features=1"),
    "matrix": ([[True, False]], ParameterTypeError, "categorical_features"),
}


@pytest.mark.parametrize("case", PARAMETERS)
def test_categorical_features_that_do_not_exist(case):
    value, error, pattern = PARAMETERS[case]
    with pytest.raises(error, match=pattern):
        Table.from_any(pd.DataFrame({"size": [1, 2], "colour": ["a", "b"]}), categorical_features=value)
