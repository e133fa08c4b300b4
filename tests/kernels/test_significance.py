"""Tests of splits against SciPy's chi-squared test of a table and its analysis of variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from kernel_cases import Frame, eighths
from numba import njit
from numpy.typing import NDArray
from scipy import stats

from sapwood.growth.rules import critical_values
from sapwood.kernels.criteria import GINI, SQUARED
from sapwood.kernels.significance import f_ratio, is_significant
from sapwood.kernels.statistic import Pairs, PairTallies, Vectors, VectorTallies, chi_squared
from sapwood.kernels.tree_frame import NODE
from strategies import examples

Array = NDArray[Any]
WHOLE, LEFT, RIGHT = 0, 1, 2


@njit
def run(stat: Any) -> Any:
    return chi_squared(stat, WHOLE, LEFT, RIGHT)


def close(value: float) -> Any:
    return pytest.approx(value, rel=1e-9, abs=1e-9)


def table_frame(tables: list[Array], as_pair: bool = False) -> Frame:
    """A node and its children; a table of each target: weights by side and class."""
    sums = np.concatenate(tables, axis=1)
    sums = np.vstack([sums.sum(axis=0), sums])
    nodes = np.zeros(3, dtype=NODE)
    nodes["weight"] = sums[:, : tables[0].shape[1]].sum(axis=1)
    starts = np.cumsum([0, *(table.shape[1] for table in tables)])
    own = np.ascontiguousarray(sums[:, 1:]) if as_pair else sums
    return Frame(criterion=GINI, nodes=nodes, sums=own, output_start=starts, wy=np.zeros((1, 1 + len(tables))))


def tables(n_classes: int) -> st.SearchStrategy[Array]:
    """Weights by side and class; no side is empty."""
    cell = st.sampled_from([0.0, 0.0, 1.0]) | st.integers(0, 40).map(float)
    row = st.lists(cell, min_size=n_classes, max_size=n_classes).filter(any)
    return st.tuples(row, row).map(np.array)


def slow_chi_squared(table: Array) -> tuple[float, int]:
    """The specification: Pearson's test of the classes that occur."""
    occurring = table[:, table.sum(axis=0) > 0]
    if occurring.shape[1] == 1:
        return 0.0, 0
    result = stats.chi2_contingency(occurring, correction=False)
    return float(result.statistic), int(result.dof)


@examples
@given(tables(2), st.sampled_from([Pairs, PairTallies]))
def test_chi_squared_of_two_classes(table: Array, kind: type) -> None:
    assume((table.sum(axis=0) > 0).all())  # a node of one class is not split
    frame = table_frame([table], as_pair=True)
    statistic, freedom = slow_chi_squared(table)
    assert run(kind(frame.record)) == (close(statistic), freedom)


@examples
@given(tables(4), st.sampled_from([Vectors, VectorTallies]))
def test_chi_squared_of_several_classes(table: Array, kind: type) -> None:
    frame = table_frame([table])
    statistic, freedom = slow_chi_squared(table)
    assert run(kind(frame.record)) == (close(statistic), freedom)


def test_classes_that_do_not_occur_have_no_degree_of_freedom() -> None:
    table = np.array([[3.0, 0.0, 1.0, 0.0], [1.0, 0.0, 4.0, 0.0]])
    frame = table_frame([table])
    assert run(Vectors(frame.record)) == (close(slow_chi_squared(table)[0]), 1)


def test_chi_squared_is_summed_over_the_targets() -> None:
    parts = [np.array([[5.0, 1.0], [2.0, 6.0]]), np.array([[3.0, 0.0, 3.0], [4.0, 1.0, 3.0]])]
    frame = table_frame(parts)
    expected = [slow_chi_squared(part) for part in parts]
    assert run(Vectors(frame.record)) == (close(sum(s for s, _ in expected)), sum(f for _, f in expected))


def number_frame(wy: Array, n_left: int) -> Frame:
    """The first rows go left."""
    spans = [(0, len(wy)), (0, n_left), (n_left, len(wy))]
    nodes = np.zeros(3, dtype=NODE)
    nodes["first_row"], nodes["n_rows"] = [a for a, _ in spans], [b - a for a, b in spans]
    nodes["weight"] = [wy[a:b, 0].sum() for a, b in spans]
    sums = np.array([(wy[a:b, :1] * wy[a:b, 1:]).sum(axis=0) for a, b in spans])
    entries = np.arange(len(wy), dtype=np.uint32) << np.uint32(1)
    return Frame(criterion=SQUARED, nodes=nodes, sums=sums, entries=entries, wy=np.ascontiguousarray(wy))


@st.composite
def two_sides(draw: st.DrawFn) -> tuple[Array, int]:
    """Targets of at least three rows, and how many go left."""
    y = draw(st.lists(eighths(-4, 4), min_size=3, max_size=12))
    return np.column_stack([np.ones(len(y)), y]), draw(st.integers(1, len(y) - 1))


@examples
@given(two_sides())
def test_f_is_that_of_an_analysis_of_variance(case: tuple[Array, int]) -> None:
    wy, n_left = case
    left, right = wy[:n_left, 1], wy[n_left:, 1]
    assume(len(set(left)) > 1 or len(set(right)) > 1)
    frame = number_frame(wy, n_left)
    assert f_ratio(frame.record, WHOLE, LEFT, RIGHT) == (close(stats.f_oneway(left, right).statistic), len(wy) - 2)


@examples
@given(two_sides(), st.lists(st.integers(1, 4), min_size=12, max_size=12))
def test_a_weight_is_so_many_rows(case: tuple[Array, int], copies: list[int]) -> None:
    wy, n_left = case
    repeats = copies[: len(wy)]
    weighted = wy.copy()
    weighted[:, 0] = repeats
    once, often = number_frame(weighted, n_left), number_frame(np.repeat(wy, repeats, axis=0), sum(repeats[:n_left]))
    ratio, freedom = f_ratio(often.record, WHOLE, LEFT, RIGHT)
    assume(ratio < 1e9)  # sides of one value: what is left of their variance is rounding
    assert f_ratio(once.record, WHOLE, LEFT, RIGHT) == (close(ratio), freedom)


def test_sides_of_one_value_each_differ_for_certain() -> None:
    frame = number_frame(np.array([[1.0, 0.0], [1.0, 0.0], [1.0, 2.0]]), 2)
    assert f_ratio(frame.record, WHOLE, LEFT, RIGHT) == (np.inf, 1.0)


def test_two_rows_prove_nothing() -> None:
    frame = number_frame(np.array([[1.0, 0.0], [1.0, 2.0]]), 1)
    critical = critical_values(0.5, (), 1, 2.0)
    assert f_ratio(frame.record, WHOLE, LEFT, RIGHT)[1] == 0.0
    assert not is_significant(Pairs(frame.record), critical, WHOLE, LEFT, RIGHT)


@examples
@given(tables(3), st.sampled_from([0.01, 0.0503, 0.2057]))
def test_classes_are_significant_where_scipy_says_so(table: Array, level: float) -> None:
    statistic, freedom = slow_chi_squared(table)
    p = stats.chi2.sf(statistic, freedom) if freedom else 1.0
    assume(abs(p - level) > 1e-9)
    frame, critical = table_frame([table]), critical_values(level, (3,), 1, table.sum())
    assert is_significant(Vectors(frame.record), critical, WHOLE, LEFT, RIGHT) == (p < level)


@examples
@given(two_sides(), st.sampled_from([0.75, 1.0, 1.37]), st.sampled_from([0.01, 0.0503, 0.2057]))
def test_numbers_are_significant_where_scipy_says_so(case: tuple[Array, int], weight: float, level: float) -> None:
    wy, n_left = case
    wy[:, 0] = weight
    frame = number_frame(wy, n_left)
    freedom = weight * len(wy) - 2.0
    within = sum(float(((side - side.mean()) ** 2).sum()) for side in (wy[:n_left, 1], wy[n_left:, 1]))
    between = float(((wy[:, 1] - wy[:, 1].mean()) ** 2).sum()) - within
    assume(within > 1e-9)
    p = float(stats.f.sf(between / within * freedom, 1, freedom))
    assume(abs(p - level) > 1e-9)
    critical = critical_values(level, (), 1, float(wy[:, 0].sum()))
    assert is_significant(Pairs(frame.record), critical, WHOLE, LEFT, RIGHT) == (p < level)
