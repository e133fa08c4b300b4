"""Kernels of linear leaves against NumPy: regressions, small systems of equations, rows by leaf."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linear_twin import fit_leaf, line_values
from sapwood.kernels.linear_leaves import (
    LINE,
    MOST_COLUMNS,
    LeafRows,
    Scratch,
    add_lines,
    fit_leaves,
    group_rows,
    solve,
)


def fitted(X: Any, g: Any, h: Any, weight: Any = None, ridge: float = 1.0, columns: Any = None) -> Any:
    """Lines of one leaf that has all rows."""
    n = len(X)
    starts, grouped = np.zeros(3, dtype=np.int64), np.empty(n, dtype=np.int64)
    group_rows(None, np.zeros(n, dtype=np.uint16), weight, starts, grouped)
    near = np.full((1, MOST_COLUMNS), -1, dtype=np.int32)
    columns = range(X.shape[1]) if columns is None else columns
    near[0, : len(columns)] = columns
    scratch = Scratch(*np.empty((2, n)), np.empty((MOST_COLUMNS, n)), np.empty((5, 5)), np.empty(5))
    lines, counts = np.zeros((1, MOST_COLUMNS), dtype=LINE), np.zeros(1, dtype=np.int64)
    fit_leaves(X, LeafRows(starts, grouped), near, g, h, weight, ridge, np.array([0]), scratch, (lines, counts))
    return lines[0, : counts[0]]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 120),
    k=st.integers(1, 5),
    ridge=st.sampled_from([0.0, 0.5, 10.0]),
    kind=st.sampled_from(["normal", "few values", "float32", "far from zero"]),
    weighted=st.booleans(),
    seed=st.integers(0, 999),
)
def test_a_leaf_is_a_ridge_regression(n: int, k: int, ridge: float, kind: str, weighted: bool, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, k))
    if kind == "few values":
        X = np.round(X)
    X = X.astype(np.float32) if kind == "float32" else X + 1e6 * (kind == "far from zero")
    X[rng.random(X.shape) < 0.1] = np.nan
    g, h = rng.normal(size=n), rng.uniform(0.1, 1.0, size=n)
    weight = rng.integers(0, 3, size=n).astype(np.float64) if weighted else None
    w, own = (np.ones(n), slice(None)) if weight is None else (weight[weight > 0], weight > 0)
    wanted = fit_leaf(X[own], g[own] * w, h[own] * w, range(k), ridge, w.sum())
    found = fitted(X, g, h, weight, ridge)
    assert [line.column for line in wanted] == found["column"].tolist()
    for name in ("slope", "centre", "low", "high"):
        np.testing.assert_allclose(found[name], [getattr(line, name) for line in wanted], rtol=1e-6, atol=1e-9)
    score = np.zeros(n)
    add_lines(np.array([0, len(found)]), found, np.zeros(n, dtype=np.int64), X, score, 0, n)
    np.testing.assert_allclose(score, line_values(wanted, X), rtol=1e-6, atol=1e-7)


def test_slopes_of_one_column_by_hand() -> None:
    """Cells -1 and 1, gradients 2 and -2 of ten rows each, hessians 1: b = 40 / (20 + 5 * 20 / 20) = 1.6."""
    X, g = np.repeat([[-1.0], [1.0]], 10, axis=0), np.repeat([2.0, -2.0], 10)
    (line,) = fitted(X, g, np.ones(20), ridge=5.0)
    assert (line["slope"], line["centre"], line["low"], line["high"]) == (1.6, 0.0, -1.0, 1.0)


def test_constant_missing_and_infinite_columns_have_no_line() -> None:
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(50), np.full(50, np.nan), rng.normal(size=50), rng.normal(size=50)])
    X[3, 3] = np.inf
    assert fitted(X, X[:, 2], np.ones(50))["column"].tolist() == [2]
    assert len(fitted(X[:, :2], X[:, 2], np.ones(50))) == 0


def test_equal_columns_without_a_penalty_have_no_single_solution() -> None:
    x = np.arange(50.0)
    assert len(fitted(np.column_stack([x, x]), x, np.ones(50), ridge=0.0)) == 0
    both = fitted(np.column_stack([x, x]), x, np.ones(50))["slope"]
    np.testing.assert_allclose(both, [-0.5, -0.5], rtol=0.02)


@pytest.mark.parametrize(("n", "k", "lines"), [(19, 1, 0), (20, 1, 1), (29, 2, 0), (30, 2, 2), (60, 5, 5)])
def test_ten_rows_for_the_value_and_for_each_slope(n: int, k: int, lines: int) -> None:
    X = np.random.default_rng(0).normal(size=(n, k))
    assert len(fitted(X, X[:, 0], np.ones(n))) == lines


@pytest.mark.parametrize("unit", [2.0**-60, 2.0**40])
def test_units_of_columns_do_not_matter(unit: float) -> None:
    rng = np.random.default_rng(0)
    X, g, h = rng.normal(size=(80, 2)), rng.normal(size=80), rng.uniform(size=80)
    plain, other = fitted(X, g, h), fitted(X * unit, g, h)
    np.testing.assert_array_equal(plain["slope"], other["slope"] * unit)


@pytest.mark.parametrize("size", [1e-300, 1e300])
def test_cells_whose_squares_are_no_numbers_leave_the_leaf_constant(size: float) -> None:
    X = np.random.default_rng(0).normal(size=(80, 2)) * size
    assert len(fitted(X, np.arange(80.0), np.ones(80))) == 0


def test_solve_against_numpy() -> None:
    rng = np.random.default_rng(0)
    for n in range(1, 6):
        half, right = rng.normal(size=(n, n)), rng.normal(size=n)
        system = half @ half.T + np.eye(n)
        given_system, given_right = system.copy(), right.copy()
        assert solve(given_system, given_right, n)
        np.testing.assert_allclose(given_right, np.linalg.solve(system, right), rtol=1e-9)
    assert not solve(np.array([[1.0, 2.0], [2.0, 1.0]]), np.ones(2), 2)


@pytest.mark.parametrize("some", [False, True])
def test_rows_are_grouped_by_leaf_in_their_order(some: bool) -> None:
    rng = np.random.default_rng(0)
    leaf_of, weight = rng.integers(0, 6, 200).astype(np.uint16), rng.integers(0, 2, 200).astype(np.float64)
    rows = np.flatnonzero(rng.random(200) < 0.5) if some else None
    starts, grouped = np.zeros(6, dtype=np.int64), np.empty(200, dtype=np.int64)
    group_rows(rows, leaf_of, weight, starts, grouped)  # of leaves 0 … 3; the rows of others are outside of the tree
    for leaf in range(4):
        wanted = [i for i in range(200) if leaf_of[i] == leaf and weight[i] and (rows is None or i in rows)]
        assert grouped[starts[leaf] : starts[leaf + 1]].tolist() == wanted
