"""The form each column takes, and that its codes and lists say what its values say."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from sapwood.codes.coded import FEW_VALUES, CodedTable, code_table
from sapwood.kernels.tree_frame import MISSING, NOTHING, VALUE
from sapwood.table.table import Table
from strategies import examples

Array = NDArray[Any]
NAN = np.nan


def code_columns(*columns: Any, **options: Any) -> CodedTable:
    return code_table(Table.from_any(np.column_stack(columns).astype(float)), **options)


def lists(coded: CodedTable, j: int = 0) -> list[list[int]]:
    """Entries of the rows below, above and missing."""
    return [coded.entries[first:last].tolist() for first, last in coded.ranges[j]]


def slow_list(rows: Array, values: Array) -> list[int]:
    """The specification: rows in stable order of value, `row << 1 | tied`."""
    order = rows[np.argsort(values[rows], kind="stable")]
    return [int(r) << 1 | int(i > 0 and values[r] == values[order[i - 1]]) for i, r in enumerate(order)]


def slow_lists(values: Array, implicit: int, implicit_value: float) -> list[list[int]]:
    missing = [int(r) << 1 for r in np.flatnonzero(np.isnan(values))]
    if implicit == VALUE:
        below, above = np.flatnonzero(values < implicit_value), np.flatnonzero(values > implicit_value)
        return [slow_list(below, values), slow_list(above, values), missing]
    return [slow_list(np.flatnonzero(~np.isnan(values)), values), [], [] if implicit == MISSING else missing]


def ramp(n: int) -> Array:
    """Distinct values in no order."""
    return np.random.default_rng(0).permutation(n).astype(float) - n // 2


@pytest.mark.parametrize(
    ("n_distinct", "is_coded"), [(1, True), (2, True), (FEW_VALUES, True), (FEW_VALUES + 1, False)]
)
def test_few_values_are_coded_and_many_are_sorted(n_distinct: int, is_coded: bool) -> None:
    values = np.concatenate([ramp(n_distinct), ramp(n_distinct)[:3], [NAN]])
    coded = code_columns(values) if n_distinct > 1 else code_columns([1.0, NAN])
    assert coded.is_coded.tolist() == [is_coded]
    assert coded.n_codes.tolist() == [n_distinct if is_coded else 0]
    assert coded.implicit.tolist() == [NOTHING]


def test_a_sorted_column_lists_every_row() -> None:
    values = np.concatenate([ramp(300), ramp(300)[:20], [NAN, np.inf, -np.inf, NAN, -0.0]])
    coded = code_columns(values)
    assert not coded.is_coded[0]
    assert lists(coded) == slow_lists(values, NOTHING, NAN)
    assert coded.look_up[0](np.array([3, 301])).tolist() == values[[3, 301]].tolist()


@pytest.mark.parametrize(("n_mode", "implicit"), [(80, NOTHING), (81, VALUE)])
@pytest.mark.parametrize("mode", [0.0, 7.5, -np.inf])
def test_a_value_of_more_than_80_percent_is_implicit(mode: float, n_mode: int, implicit: int) -> None:
    values = np.concatenate([np.full(n_mode, mode), ramp(100 - n_mode) + 0.25])
    coded = code_columns(values)
    assert coded.implicit[0] == implicit
    assert coded.is_coded[0] == (implicit == NOTHING)
    if implicit == VALUE:
        assert coded.implicit_value[0] == mode
        assert lists(coded) == slow_lists(values, VALUE, mode)


@pytest.mark.parametrize(("n_missing", "implicit"), [(80, NOTHING), (81, MISSING), (100, MISSING)])
def test_missing_values_of_more_than_80_percent_are_implicit(n_missing: int, implicit: int) -> None:
    values = np.concatenate([np.full(n_missing, NAN), ramp(100 - n_missing)])
    coded = code_columns(values)
    assert coded.implicit[0] == implicit
    if implicit == MISSING:
        assert lists(coded) == slow_lists(values, MISSING, NAN)


def mostly_zero() -> st.SearchStrategy[Array]:
    """Columns around the border of 80 percent zeros."""
    other = st.sampled_from([-2.0, -1.0, 1.0, 1.0, 3.5, np.inf, -np.inf, NAN])
    return st.tuples(st.integers(12, 60), st.lists(other, min_size=1, max_size=8), st.randoms()).map(shuffled)


def shuffled(case: tuple[int, list[float], Any]) -> Array:
    n_zero, cells, random = case
    values = [0.0] * n_zero + cells
    random.shuffle(values)
    return np.array(values)


@examples
@given(mostly_zero(), st.sampled_from([np.float32, np.float64]), st.booleans())
def test_sparse_and_dense_columns_are_coded_alike(values: Array, dtype: type, list_all: bool) -> None:
    column = values.astype(dtype)[:, None]
    dense = code_table(Table.from_any(column), list_all=list_all)
    thin = code_table(Table.from_any(sparse.csc_array(column)), list_all=list_all)
    assert thin.is_coded.tolist() == dense.is_coded.tolist()
    assert thin.implicit.tolist() == dense.implicit.tolist()
    assert thin.ranges.tolist() == dense.ranges.tolist()
    assert lists(thin) == lists(dense)
    if dense.is_coded[0]:
        assert thin.codes.tolist() == dense.codes.tolist()
        assert thin.high[0][1:].tolist() == dense.high[0][1:].tolist()
    else:
        assert thin.implicit_value[0] == dense.implicit_value[0] == 0.0
        listed = np.concatenate([*lists(dense)[:2]]).astype(int) >> 1
        assert thin.look_up[0](listed).tolist() == dense.look_up[0](listed).tolist() == column[listed, 0].tolist()


def check_decoding(values: Array, coded: CodedTable, j: int = 0) -> None:
    """Codes count up from 1 in the order of the values, 0 is missing; low and high are their least and largest."""
    codes, low, high = coded.codes[j], coded.low[j], coded.high[j]
    assert ((codes == 0) == np.isnan(values)).all()
    assert sorted(set(codes[codes > 0].tolist())) == list(range(1, coded.n_codes[j] + 1))
    for code in range(1, coded.n_codes[j] + 1):
        members = values[codes == code]
        assert (low[code], high[code]) == (members.min(), members.max())
    assert (high[1:-1] < low[2:]).all()


@examples
@given(st.lists(st.sampled_from([-np.inf, -1.5, -0.0, 0.0, 2.0, 1e300, np.inf, NAN]), min_size=1, max_size=30))
def test_codes_decode_to_their_values(cells: list[float]) -> None:
    values = np.array(cells)
    coded = code_columns(values, list_all=True)  # nothing is implicit
    assert coded.is_coded[0]
    check_decoding(values, coded)
    present = ~np.isnan(values)
    assert (coded.low[0][coded.codes[0][present]] == values[present]).all()


@pytest.mark.parametrize("n_distinct", [5, 64, 65, 1000])
def test_max_bins_codes_every_column(n_distinct: int) -> None:
    values = np.append(ramp(n_distinct), [NAN, NAN])
    coded = code_columns(values, max_bins=64)
    assert coded.is_coded[0]
    assert coded.n_codes[0] == min(n_distinct, 64)
    check_decoding(values, coded)


def test_list_all_makes_nothing_implicit() -> None:
    many_zeros = np.concatenate([np.zeros(1700), ramp(300) + 0.5])
    many_missing = np.concatenate([np.full(1700, NAN), ramp(300)])
    coded = code_columns(many_zeros, many_missing, list_all=True)
    assert coded.implicit.tolist() == [NOTHING, NOTHING]
    assert lists(coded, 0) == slow_lists(many_zeros, NOTHING, NAN)
    assert lists(coded, 1) == slow_lists(many_missing, NOTHING, NAN)


def test_a_category_code_is_its_level_plus_one() -> None:
    frame = pd.DataFrame({"x": [1.0, 2.0, 1.0, 3.0], "c": ["red", None, "blue", "red"]})
    table = Table.from_any(frame)
    coded = code_table(table)
    assert coded.is_category.tolist() == [False, True]
    assert coded.is_coded.tolist() == [True, True]
    assert coded.n_codes[1] == 2
    levels = table.schema.columns[1].levels
    names = [None if code == 0 else levels[code - 1] for code in coded.codes[1]]
    assert names == ["red", None, "blue", "red"]


def test_many_levels_stay_coded() -> None:
    frame = pd.DataFrame({"c": [f"level {i}" for i in range(70_000)]})
    coded = code_table(Table.from_any(frame))
    assert coded.n_codes.tolist() == [70_000]
    assert sorted(coded.codes[0].tolist()) == list(range(1, 70_001))


def test_stretches_lie_behind_the_reserved_ones() -> None:
    columns = [ramp(300), np.append(np.zeros(290), ramp(10) + 0.5)]
    for n_reserved in (1, 3):
        coded = code_columns(*columns, n_reserved=n_reserved)
        assert len(coded.entries) == (n_reserved + 2) * 300
        assert coded.ranges[:, 0, 0].tolist() == [300 * n_reserved, 300 * (n_reserved + 1)]


def test_many_threads_give_the_same_table() -> None:
    columns = [ramp(300), np.append(np.zeros(290), ramp(10) + 0.5), np.arange(300) % 7]
    one, two = code_columns(*columns), code_columns(*columns, n_jobs=2)
    assert [lists(one, j) for j in range(3)] == [lists(two, j) for j in range(3)]
    assert one.codes[2].tolist() == two.codes[2].tolist()
