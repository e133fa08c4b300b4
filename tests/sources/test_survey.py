"""What is found batch by batch is what the whole table in memory has."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from source_cases import OTHERS, Chunks, assert_as_in_memory, cut, messy_frame

from sapwood.codes import binned
from sapwood.errors import InputError, ParameterError, TextColumnWarning
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.survey import survey
from sapwood.table.table import Table

pytestmark = pytest.mark.filterwarnings("ignore::sapwood.errors.IdentifierWarning")
ROLES = Roles(target="price", drop=("kind", "weight", "query"))


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_any_cut_of_the_rows_gives_schema_and_bins_of_the_whole(data):
    n = data.draw(st.integers(1, 300))
    frame = messy_frame(n, data.draw(st.integers(0, 99)))
    ends = data.draw(st.lists(st.integers(0, n), max_size=6))
    sample, binned.SAMPLE = binned.SAMPLE, data.draw(st.sampled_from([50, 200_000]))
    try:
        found = survey(open_source(cut(frame, ends)), ROLES)
        assert_as_in_memory(found, Table.from_any(frame.drop(columns=OTHERS)), data.draw(st.sampled_from([8, 255])))
    finally:
        binned.SAMPLE = sample
    assert survey(open_source([frame]), ROLES).digests == found.digests


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_rows_of_weight_zero_are_as_if_they_were_not_there(data):
    n = data.draw(st.integers(1, 200))
    frame = messy_frame(n, data.draw(st.integers(0, 99)))
    used = np.flatnonzero(frame["weight"])
    ends = data.draw(st.lists(st.integers(0, n), max_size=4))
    roles = Roles(target="kind", weight="weight", drop=("price", "query"))
    if not len(used):
        with pytest.raises(InputError, match="weights are zero"):
            survey(open_source(cut(frame, ends)), roles)
        return
    found = survey(open_source(cut(frame, ends)), roles)
    assert found.n_given == n
    assert_as_in_memory(found, Table.from_any(frame.drop(columns=OTHERS)).take(used))
    labels, counts = np.unique(frame["kind"][used].to_numpy(), return_counts=True)
    assert found.target.classes.tolist() == labels.tolist()
    assert found.target.counts.tolist() == counts.tolist()


@pytest.mark.parametrize("convert", [pl.from_pandas, pa.Table.from_pandas], ids=["polars", "pyarrow"])
@pytest.mark.parametrize("size", [1, 7, 100])
def test_frames_of_other_libraries(convert, size):
    frame = messy_frame(100).drop(columns=["many"])
    whole = convert(frame.drop(columns=OTHERS))
    parts = [convert(frame.iloc[k : k + size]) for k in range(0, 100, size)]
    assert_as_in_memory(survey(open_source(parts), ROLES), Table.from_any(whole))


def test_arrays_and_tuples():
    random = np.random.default_rng(0)
    X, y, w = random.normal(size=(90, 3)).astype(np.float32), random.integers(0, 2, 90), random.random(90) + 1
    chunks = Chunks(*((X[k : k + 40], y[k : k + 40], w[k : k + 40]) for k in (0, 40, 80)))
    found = survey(open_source(chunks))
    assert_as_in_memory(found, Table.from_any(X))
    assert found.has_weight
    assert found.target.classes.tolist() == [0, 1]
    assert not found.schema.named


def test_dictionaries_that_differ_in_every_batch():
    words = [["a", "b"], ["c"], ["b", "zz", "a"]]
    parts = [pa.table({"x": pa.array(w).dictionary_encode(), "k": range(len(w))}) for w in words]
    whole = pd.DataFrame({"x": [one for w in words for one in w], "k": [k for w in words for k in range(len(w))]})
    assert_as_in_memory(survey(open_source(parts)), Table.from_any(whole))


def test_batches_without_values_fit_any_kind():
    parts = [
        pd.DataFrame({"a": [None, None], "b": [None, None], "c": [True, None], "d": [None, None]}, dtype=object),
        pd.DataFrame({"a": ["x", "y"], "b": [1.5, 2.5], "c": [None, None], "d": [None, None]}, dtype=object),
    ]
    found = survey(open_source(parts))
    assert_as_in_memory(found, Table.from_any(pd.concat(parts)))
    assert [column.kind for column in found.schema.columns] == ["category", "number", "boolean", "number"]


def test_numbers_and_booleans_are_numbers_of_64_bits():
    parts = [pd.DataFrame({"a": [True, False]}), pd.DataFrame({"a": np.array([0.5, 2.0], dtype=np.float32)})]
    assert_as_in_memory(survey(open_source(parts)), Table.from_any(pd.concat(parts)))


def test_numbers_as_categories_are_one_set_of_levels():
    parts = [pd.DataFrame({"a": [1, 2], "b": [0, 1]}), pd.DataFrame({"a": [2.5, 1.0], "b": [5, 1]})]
    found = survey(open_source(parts), categorical_features=["a"])
    assert_as_in_memory(found, Table.from_any(pd.concat(parts), categorical_features=["a"]))
    assert found.schema.columns[0].levels == (1, 2, 2.5)


def test_a_column_that_changes_its_type_is_named_with_both_places():
    parts = [pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": ["x", "y"]})]
    with pytest.raises(InputError, match="'batch 1': Column 'a' holds text in 'batch 1', but numbers in 'batch 0'"):
        survey(open_source(parts))


def test_a_batch_without_a_column():
    parts = [pd.DataFrame({"a": [1, 2], "b": 1}), pd.DataFrame({"a": [1, 2]})]
    with pytest.raises(InputError, match=r"'batch 1' lacks \['b'\]"):
        survey(open_source(parts))


@pytest.mark.parametrize(
    ("values", "task", "classes"),
    [
        ([0, 1, 1, 0], "auto", [0, 1]),
        ([0.0, 1.0, 1.0, 0.0], "auto", [0, 1]),
        ([0.5, 1.0, 1.0, 0.0], "auto", None),
        (["b", "a", "a", "c"], "auto", ["a", "b", "c"]),
        ([True, True, True, True], "classes", [True]),
        ([3, 1, 7, 9], "auto", None),
        ([3, 1, 7, 9], "classes", [1, 3, 7, 9]),
        ([0, 1, 1, 0], "numbers", None),
    ],
)
def test_targets_are_what_their_values_suggest(values, task, classes):
    frame = pd.DataFrame({"x": range(4), "y": values})
    for ends in ([], [1], [1, 2, 3]):
        found = survey(open_source(cut(frame, ends)), Roles(target="y"), task=task)
        own = found.target.classes
        assert (None if own is None else own.tolist()) == classes
        if classes is None:
            assert (found.target.low, found.target.high) == (min(values), max(values))


def test_queries_are_numbered_and_must_be_contiguous():
    frame = pd.DataFrame({"x": range(6), "q": ["b", "b", "a", "a", "a", "c"], "y": range(6)})
    assert survey(open_source(cut(frame, [1, 3])), Roles(target="y", query="q")).n_queries == 3
    frame["q"] = ["b", "b", "a", "a", "b", "c"]
    with pytest.raises(InputError, match="query 'b' returns in row 1 of 'batch 1'"):
        survey(open_source(cut(frame, [3])), Roles(target="y", query="q"))


def test_text_that_looks_like_numbers_is_named():
    frame = pd.DataFrame({"x": ["$1,000", "$2,500.50"] * 5})
    with pytest.warns(TextColumnWarning, match="'x'"):
        survey(open_source(cut(frame, [3])))


@pytest.mark.parametrize("value", [None, np.inf, -np.inf])
def test_a_bad_target_is_named_with_its_row(value):
    frame = messy_frame(60)
    frame.loc[57, "price"] = value
    said = "missing" if value is None else f"{value}"
    with pytest.raises(InputError, match=f"target 'price' is {said} in row 7 of 'batch 5'"):
        survey(open_source(cut(frame, range(10, 60, 10))), ROLES)


def test_bad_weights_and_names():
    frame = messy_frame(20)
    frame.loc[11, "weight"] = -1
    with pytest.raises(InputError, match=r"weight 'weight' is -1.0 in row 1 of 'batch 1'"):
        survey(open_source(cut(frame, [10])), Roles(weight="weight"))
    with pytest.raises(ParameterError, match=r"target='prise' is not a column of the source. Did you mean 'price'"):
        survey(open_source([frame]), Roles(target="prise"))
    with pytest.raises(InputError, match="no column left"):
        survey(open_source([frame[["price"]]]), Roles(target="price"))
