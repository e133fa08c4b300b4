"""Targets: classes and numbers from any container, and every error."""

from __future__ import annotations

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from sklearn.utils.estimator_checks import _NotAnArray

from sapwood.errors import InputError, InputTypeError
from sapwood.table import ClassTarget, NumberTarget

WORDS = ["b", "a", "b", "c"]
STRINGS = {
    "list": WORDS,
    "tuple": tuple(WORDS),
    "numpy": np.array(WORDS),
    "objects": np.array(WORDS, dtype=object),
    "StringDType": np.array(WORDS, dtype=np.dtypes.StringDType()),
    "column": np.array(WORDS)[:, np.newaxis],
    "not an array": _NotAnArray(WORDS),
    "pandas": pd.Series(WORDS, index=[4, 3, 2, 1]),
    "pandas categorical": pd.Series(pd.Categorical(WORDS, categories=["z", "c", "b", "a"])),
    "pandas arrow": pd.Series(WORDS, dtype=pd.ArrowDtype(pa.string())),
    "pandas frame": pd.DataFrame({"y": WORDS}),
    "polars": pl.Series(WORDS),
    "polars enum": pl.Series(WORDS, dtype=pl.Enum(["z", "c", "b", "a"])),
    "polars frame": pl.DataFrame({"y": WORDS}),
    "arrow": pa.array(WORDS),
    "arrow chunks": pa.chunked_array([WORDS[:1], WORDS[1:]]),
    "arrow dictionary": pa.array(WORDS).dictionary_encode(),
}


@pytest.mark.parametrize("case", STRINGS)
def test_strings_of_every_container(case):
    target = ClassTarget.from_any(STRINGS[case], 4)
    assert target.classes[0].tolist() == ["a", "b", "c"]
    assert target.codes.tolist() == [[1], [0], [1], [2]]
    assert target.codes.dtype == np.int32
    assert target.single
    assert target.n_outputs == 1


CLASSES = {
    "integers": ([3, -1, 3], [-1, 3], "int64"),
    "far apart": ([2**62, -(2**62), 0], [-(2**62), 0, 2**62], "int64"),
    "unsigned": (np.array([2**63 + 1, 2**63, 2**63 + 1], np.uint64), [2**63, 2**63 + 1], "uint64"),
    "int8": (np.array([127, -128, 0], np.int8), [-128, 0, 127], "int8"),
    "booleans": ([True, False, True], [False, True], "bool"),
    "whole floats": ([1.0, 0.0, 1.0], [0.0, 1.0], "float64"),
    "object integers": (np.array([2, 1, 2], dtype=object), [1, 2], "int64"),
    "huge integers": (np.array([2**64, -1, 2**64], dtype=object), [-1, 2**64], "object"),
    "object booleans": (np.array([True, False, True], dtype=object), [False, True], "bool"),
    "object floats": (np.array([2.0, 1, 2], dtype=object), [1, 2], "float64"),
    "nullable": (pd.Series([2, 1, 2], dtype="Int64"), [1, 2], "int64"),
    "dates": ([datetime.date(2021, 1, 1), datetime.date(2020, 1, 1)] * 1 + [datetime.date(2021, 1, 1)],
              [datetime.date(2020, 1, 1), datetime.date(2021, 1, 1)], "object"),
    "tuples": (pd.Series([(2, 1), (1, 2), (2, 1)]), [(1, 2), (2, 1)], "object"),
    "one class": (["x", "x", "x"], ["x"], "<U1"),
}  # fmt: skip


@pytest.mark.parametrize("case", CLASSES)
def test_classes_keep_their_type(case):
    y, classes, dtype = CLASSES[case]
    target = ClassTarget.from_any(y, 3)
    assert target.classes[0].tolist() == classes
    assert target.classes[0].dtype == dtype
    assert [target.classes[0][code] for code in target.codes[:, 0]] == list(y)


@given(hnp.arrays("i8", st.integers(1, 30), elements=st.integers(0, 9)), st.sampled_from(["i1", "u8", "?", "f4"]))
def test_codes_agree_with_numpy(y, dtype):
    y = y.astype(dtype)
    classes, codes = np.unique(y, return_inverse=True)
    target = ClassTarget.from_any(y, len(y))
    np.testing.assert_array_equal(target.classes[0], classes)
    np.testing.assert_array_equal(target.codes[:, 0], codes)


def test_several_outputs():
    target = ClassTarget.from_any(pd.DataFrame({"a": ["x", "y", "x"], "b": [3, 3, 1]}), 3)
    assert [classes.tolist() for classes in target.classes] == [["x", "y"], [1, 3]]
    assert target.codes.tolist() == [[0, 1], [1, 1], [0, 0]]
    assert not target.single
    assert target.n_outputs == 2
    assert ClassTarget.from_any([[1, 2], [3, 2]], 2).codes.tolist() == [[0, 0], [1, 0]]


NUMBERS = {
    "list": [1, 2.5, -3],
    "float64": np.array([1, 2.5, -3]),
    "float32": np.array([1, 2.5, -3], np.float32),
    "big-endian": np.array([1, 2.5, -3], ">f8"),
    "strided": np.array([1, 0, 2.5, 0, -3])[::2],
    "column": np.array([[1], [2.5], [-3]]),
    "objects": np.array([1, Decimal("2.5"), -3.0], dtype=object),
    "numerals": ["1", "2.5", "-3"],
    "pandas": pd.Series([1, 2.5, -3]),
    "nullable": pd.Series([1, 2.5, -3], dtype="Float64"),
    "polars": pl.Series([1.0, 2.5, -3.0]),
    "decimals": pl.Series([Decimal("1"), Decimal("2.5"), Decimal("-3")]),
    "arrow": pa.array([1, 2.5, -3]),
    "not an array": _NotAnArray([1, 2.5, -3]),
}


@pytest.mark.parametrize("case", NUMBERS)
def test_numbers_of_every_container(case):
    target = NumberTarget.from_any(NUMBERS[case], 3)
    assert target.values.tolist() == [[1], [2.5], [-3]]
    assert target.values.dtype == np.float64
    assert target.values.flags.c_contiguous
    assert not target.values.flags.writeable
    assert target.single


def test_numbers_of_several_outputs_and_booleans():
    target = NumberTarget.from_any(np.asfortranarray([[1, 2], [3, 4], [5, 6]]), 3)
    assert target.values.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert target.values.flags.c_contiguous
    assert (target.single, target.n_outputs) == (False, 2)
    assert NumberTarget.from_any([True, False], 2).values.tolist() == [[1], [0]]


BOTH = {
    "None": (None, InputError, "requires y to be passed, but the target y is None"),
    "str": ("abc", InputTypeError, "y is a str"),
    "dict": ({"y": [1]}, InputTypeError, "y is a dict"),
    "scalar": (3, InputError, "y should be a 1d array"),
    "3-d": (np.ones((3, 1, 1)), InputError, r"shape \(3, 1, 1\)"),
    "no column": (np.ones((3, 0)), InputError, r"shape \(3, 0\)"),
    "empty": ([], InputError, r"0 sample\(s\)"),
    "too short": ([1, 2], InputError, r"Found input variables with inconsistent numbers of samples: \[3, 2\]"),
    "too short, pandas": (pd.Series([1, 2]), InputError, r"inconsistent numbers of samples: \[3, 2\]"),
    "complex": ([1j, 2, 3], InputError, "Complex data not supported"),
    "NaN": ([1, np.nan, 3], InputError, "Input y contains NaN.*row 1"),
    "None inside": ([1, None, 3], InputError, "Input y contains NaN.*row 1"),
    "NaN in second output": ([[1, 1], [1, 1], [1, np.nan]], InputError, "Input y contains NaN.*row 2"),
    "infinity": (
        [1, 2, np.inf],
        InputError,
        r"Input y contains infinity or a value too large for dtype\('float64'\).*row 2",
    ),
    "object infinity": (np.array([1.0, -np.inf, 2], object), InputError, "Input y contains infinity.*row 1"),
    "NA": (pd.Series([1, None, 2], dtype="Int64"), InputError, "Input y contains NaN.*row 1"),
    "null": (pl.Series([1, 2, None]), InputError, "Input y contains NaN.*row 2"),
    "arrow null": (pa.array(["a", None, "b"]).dictionary_encode(), InputError, "Input y contains NaN.*row 1"),
    "string with None": (["a", None, "b"], InputError, "Input y contains NaN.*row 1"),
    "string with NaN": (["a", "b", np.nan], InputError, "Input y contains NaN.*row 2"),
    "pandas string": (pd.Series(["a", None, "b"]), InputError, "Input y contains NaN.*row 1"),
    "masked": (np.ma.masked_array([1, 2, 3], mask=[0, 1, 0]), InputError, "Input y contains NaN.*row 1"),
    "not a time": (np.array(["2020", "NaT", "2021"], "M8[D]"), InputError, "Input y contains NaN.*row 1"),
    "ragged": ([[1], [1, 2], [3]], InputError, "different lengths"),
    "sparse": (sparse.csr_array(np.ones((3, 1))), InputTypeError, r"toarray\(\)"),
    "lazy": (pl.LazyFrame({"y": [1, 2, 3]}), InputTypeError, r"collect\(\)"),
    "records": (np.zeros(3, dtype=[("a", "f4")]), InputTypeError, "dtype"),
}


@pytest.mark.parametrize("case", BOTH)
@pytest.mark.parametrize("kind", [ClassTarget, NumberTarget])
def test_what_no_target_can_be(kind, case):
    y, error, pattern = BOTH[case]
    with pytest.raises(error, match=pattern):
        kind.from_any(y, 3)


ONLY_CLASSES = {
    "fractions": ([0.0, 1.0, 1.5], "Unknown label type: continuous.*1.5 in row 2.*regressor"),
    "decimals": ([Decimal("0.5"), Decimal(1), Decimal(2)], "Unknown label type: continuous"),
    "mixture": (np.array(["a", 1, 2], dtype=object), r"Unknown label type.*\['int', 'str'\]"),
    "mixture in a list": (["a", 1, 2], r"Unknown label type.*\['int', 'str'\]"),
    "unsortable": (np.array([object(), object(), object()]), "Unknown label type.*cannot be sorted"),
}


@pytest.mark.parametrize("case", ONLY_CLASSES)
def test_what_classes_cannot_be(case):
    y, pattern = ONLY_CLASSES[case]
    with pytest.raises(InputError, match=pattern):
        ClassTarget.from_any(y, 3)


ONLY_NUMBERS = {
    "words": (["1", "2", "x"], "'x' in row 2.*not a number.*classifier"),
    "objects": (np.array([1, {}, 2], dtype=object), "{} in row 1"),
    "dates": (np.array(["2020", "2021", "2022"], "M8[D]"), "datetime64"),
    "too large": ([1, 2, 10**400], "row 2"),
}


@pytest.mark.parametrize("case", ONLY_NUMBERS)
def test_what_numbers_cannot_be(case):
    y, pattern = ONLY_NUMBERS[case]
    with pytest.raises(InputError, match=pattern):
        NumberTarget.from_any(y, 3)


def test_target_is_not_changed():
    y = np.array([3.0, 1.0, 2.0])
    y.flags.writeable = False
    ClassTarget.from_any(y, 3)
    NumberTarget.from_any(y, 3)
    assert y.tolist() == [3, 1, 2]
