"""Weights of rows: what is accepted, and every error."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils.estimator_checks import _NotAnArray

from sapwood.errors import InputError, InputTypeError
from sapwood.table import check_weight


def test_none_stays_none():
    assert check_weight(None, 3) is None


GOOD = {
    "list": [1, 0, 2.5],
    "float32": np.array([1, 0, 2.5], np.float32),
    "read-only big-endian": np.array([1, 0, 2.5], ">f8"),
    "strided": np.array([1, 9, 0, 9, 2.5])[::2],
    "objects": np.array([1, 0, 2.5], dtype=object),
    "pandas": pd.Series([1, 0, 2.5], index=[3, 1, 2]),
    "nullable": pd.Series([1, 0, 2.5], dtype="Float64"),
    "polars": pl.Series([1.0, 0.0, 2.5]),
    "arrow": pa.array([1, 0, 2.5]),
    "not an array": _NotAnArray([1, 0, 2.5]),
}


@pytest.mark.parametrize("case", GOOD)
def test_every_container(case):
    weight = check_weight(GOOD[case], 3)
    assert weight.dtype == np.float64
    assert weight.flags.c_contiguous
    assert weight.tolist() == [1, 0, 2.5]


@pytest.mark.parametrize("scalar", [2, 2.0, np.float32(2), np.array(2)])
def test_scalar_is_for_every_row(scalar):
    assert check_weight(scalar, 3).tolist() == [2, 2, 2]


BAD = {
    "too short": ([1, 2], InputError, r"sample_weight.shape == \(2,\), expected \(3,\)"),
    "2-d": (np.ones((3, 1)), InputError, "Sample weights must be 1D array or scalar"),
    "NaN": ([1, np.nan, 1], InputError, "sample_weight contains NaN.*row 1"),
    "None": ([1, None, 1], InputError, "sample_weight contains NaN.*row 1"),
    "NA": (pd.Series([1, 1, None], dtype="Int64"), InputError, "sample_weight contains NaN.*row 2"),
    "infinity": ([1, 1, np.inf], InputError, "sample_weight contains infinity.*row 2"),
    "negative": ([1, -0.5, -1], InputError, "negative weights: -0.5 in row 1"),
    "negative scalar": (-1, InputError, "negative weights"),
    "all zero": ([0, 0, 0], InputError, "weight.*zero"),
    "sum too large": ([1e308, 1e308, 1e308], InputError, "sum of sample_weight"),
    "complex": ([1j, 1, 1], InputTypeError, "sample_weight"),
    "words": (["a", "b", "c"], InputTypeError, "sample_weight"),
    "numerals": (["1", "2", "3"], InputTypeError, "sample_weight"),
    "dates": (np.array([1, 2, 3], "m8[s]"), InputTypeError, "sample_weight"),
    "objects": ([{}, 1, 2], InputTypeError, "sample_weight"),
    "ragged": ([[1], [1, 2], [3]], InputTypeError, "sample_weight"),
}


@pytest.mark.parametrize("case", BAD)
def test_weights_that_cannot_be_used(case):
    weight, error, pattern = BAD[case]
    with pytest.raises(error, match=pattern):
        check_weight(weight, 3)
