"""Values as JSON and arrays, and back."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest
from file_cases import same
from hypothesis import given
from hypothesis import strategies as st

from sapwood.errors import ModelFileError, ParameterError
from sapwood.files.lost import Lost
from sapwood.files.values import Reader, RecordKind, Writer

KINDS: dict[str, RecordKind] = {}


def there_and_back(value: Any) -> Any:
    writer = Writer(KINDS)
    told = json.loads(json.dumps(writer.write(value, "place")))
    reader = Reader(KINDS, dict(writer.arrays))
    found = reader.read(told, "place")
    assert not reader.arrays
    return found


def read(told: Any, **arrays: Any) -> Any:
    return Reader(KINDS, arrays).read(told, "place")


plain = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**64) + 1, 2**64 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=()), max_size=5),
)
keys = st.one_of(st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False), st.text(max_size=5))
values = st.recursive(
    plain,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.dictionaries(st.text(max_size=5), inner, max_size=4),
        st.dictionaries(keys, inner, max_size=4),
    ),
    max_leaves=12,
)


@given(values)
def test_plain_values_come_back(value: Any) -> None:
    assert same(value, there_and_back(value))


ARRAYS = [
    np.array([[1, 2], [3, 4]], dtype=np.int8),
    np.array(3.5),
    np.array([], dtype=np.float32),
    np.array([True, False]),
    np.array([[1.5, np.nan, -0.0]]).T,
    np.array(["2020-01-01", "NaT"], dtype="M8[s]"),
    np.array([[1, 2]], dtype="m8[ns]"),
    np.array(["2020-01-01"], dtype=">M8[D]").astype("M8[D]"),
    np.array(["a", "bcd", ""]),
    np.array([], dtype="<U1"),
    np.array(["a", 1, None, 2.5, True, math.nan], dtype=object),
    np.array([], dtype=object),
]


@pytest.mark.parametrize("array", ARRAYS, ids=lambda array: f"{array.dtype} {array.shape}")
def test_arrays_come_back(array: np.ndarray) -> None:
    assert same(array, there_and_back(array))


def test_texts_of_very_different_length_become_objects() -> None:
    texts = np.array(["a"] * 200 + ["b" * 2000])
    found = there_and_back(texts)
    assert found.dtype == object
    assert found.tolist() == texts.tolist()


def test_arrays_do_not_take_each_others_place() -> None:
    odd = {"a.b": np.array([1, 2]), "a": {"b": np.array([3.5])}, "a.b#1": np.array([True])}
    assert same(odd, there_and_back(odd))


@pytest.mark.parametrize(
    "value",
    [
        1j,
        b"bytes",
        {1, 2},
        2**70,
        object(),
        {("a", 1): 2},
        np.array([1j]),
        np.array([b"bytes"]),
        np.array([("a", 1), None], dtype=object),
        np.array([["a"]]),
        np.array([object()]),
        np.array([1], dtype="m8"),
        np.array([1], dtype="M8[25s]"),
        np.datetime64("2020-01-01"),
        dict,
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_file_cannot_hold_is_refused_by_its_place(value: Any) -> None:
    with pytest.raises(ModelFileError, match=r"^place.*pickle or joblib"):
        there_and_back(value)


def my_function() -> None:
    pass


@pytest.mark.parametrize(
    ("value", "told"),
    [
        (my_function, "the function my_function"),
        (len, "the function len"),
        (np.random.RandomState(0), "a RandomState"),
        (np.random.default_rng(0), "a Generator"),
    ],
)
def test_functions_are_lost_but_not_forgotten(value: Any, told: str) -> None:
    found = there_and_back([value])[0]
    assert found == Lost(told)
    assert told in repr(found)
    assert there_and_back(found) == found
    with pytest.raises(ParameterError, match="set_params"):
        found(1, 2)


BAD = [
    {},
    {"dict": []},
    {"dict": {}, "more": 1},
    {"tuple": 3},
    {"map": [[1, 2, 3]]},
    {"map": [[[1], 2]]},
    {"map": [[{"tuple": [1]}, 2]]},
    {"map": {"a": 1}},
    {"float": "Infinity"},
    {"float": ["nan"]},
    {"float": 1.5},
    {"lost": 3},
    {"array": "absent"},
    {"array": ["x"]},
    {"times": "x", "unit": "M8"},
    {"times": "x", "unit": ["M8[s]"]},
    {"times": "x"},
    {"times": "y", "unit": "M8[s]"},
    {"texts": ["a", 1]},
    {"texts": "abc"},
    {"texts": [*["a"] * 1000, "b" * 1000]},
    {"objects": [["a"]]},
    {"objects": [{"tuple": []}]},
    {"object": "os.system"},
    {"py/reduce": []},
    {"__class__": "x"},
    2**64,
    -(2**64),
    math.nan,
    math.inf,
]


@pytest.mark.parametrize("told", BAD, ids=lambda told: repr(told)[:40])
def test_what_no_writer_writes_is_refused_by_its_place(told: Any) -> None:
    with pytest.raises(ModelFileError, match=r"cannot be used: place\S* "):
        read([told], x=np.array([1]), y=np.array([1.0]))


def test_values_that_are_nested_too_deeply_are_refused() -> None:
    deep: Any = 1
    for _ in range(45):
        deep = [deep]
    with pytest.raises(ModelFileError, match="nested too deeply"):
        read(deep)


def test_an_array_belongs_to_one_value_only() -> None:
    with pytest.raises(ModelFileError, match="needs an array 'x', which is missing"):
        read([{"array": "x"}, {"array": "x"}], x=np.array([1]))


def test_a_record_that_has_a_place_is_refused_elsewhere() -> None:
    kinds = {"Here": RecordKind(int, lambda *_: None, lambda *_: 7, "here")}
    assert Reader(kinds, {}).read({"Here": 1}, "here") == 7
    with pytest.raises(ModelFileError, match="there must not hold a Here"):
        Reader(kinds, {}).read({"Here": 1}, "there")
