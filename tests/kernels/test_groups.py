"""Groups of a node's rows, from lists and from codes, against grouping by value."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Node, arrange, eighths, implicits, nodes, scratch
from numpy.typing import NDArray

from sapwood.kernels.criteria import GINI, SQUARED
from sapwood.kernels.groups import (
    NOTHING,
    coded_pairs,
    coded_rows,
    coded_vectors,
    drawn_pairs,
    fill_local,
    fill_tallies,
    gather_present,
    gather_values,
    sorted_pairs,
    sorted_rows,
    sorted_vectors,
    tallied_pairs,
    tallied_vectors,
)
from sapwood.kernels.records import CENTER, CODE, CUM_N, CUM_S, CUM_W, MISS, NODE_SUMS, Medians, Vectors
from strategies import examples

Array = NDArray[Any]
N_CLASSES = 3


def cumulated(parts: list[Array]) -> list[Any]:
    """The specification: totals over all groups up to each one."""
    return np.cumsum(np.array(parts), axis=0).tolist() if parts else []


def weight(node: Node, rows: Array) -> float:
    return float(node.wy[rows, 0].sum())


def pair_sum(node: Node, rows: Array, center: float) -> float:
    return float((node.wy[rows, 0] * (node.wy[rows, 1] - center)).sum())


def vector_sum(node: Node, rows: Array, criterion: int, centers: Array) -> Array:
    """Weight of each class of each output, or the weighted sum of each output."""
    w, targets = node.wy[rows, 0], node.wy[rows, 1:]
    if criterion == GINI:
        return np.array([w[y == k].sum() for y in targets.T for k in range(N_CLASSES)])
    return ((targets - centers) * w[:, None]).sum(axis=0)


def check_rows_and_weights(node: Node, found: tuple[Any, ...], floats: Array, ints: Array) -> None:
    groups = node.groups()
    assert found[:3] == (len(groups), len(node.missing), weight(node, node.missing))
    assert ints[CUM_N, : len(groups)].tolist() == cumulated([len(rows) for rows in groups])
    assert floats[CUM_W, : len(groups)].tolist() == cumulated([weight(node, rows) for rows in groups])


def check_pairs(node: Node, center: float, found: tuple[Any, ...], floats: Array, ints: Array) -> None:
    check_rows_and_weights(node, found, floats, ints)
    groups = node.groups()
    assert floats[CUM_S, : len(groups)].tolist() == cumulated([pair_sum(node, rows, center) for rows in groups])
    assert found[3] == pair_sum(node, node.missing, center)


@examples
@given(nodes(), implicits, st.booleans(), eighths(-2, 2))
def test_sorted_pairs(node: Node, implicit: int, keep_empty: bool, center: float) -> None:
    lists, (floats, ints) = arrange(node, implicit, keep_empty), scratch(len(node.rows))
    totals = (len(node.rows), weight(node, node.rows), pair_sum(node, node.rows, center))
    args = (lists.column, lists.entries, lists.lo, lists.hi, node.wy, None, center, *totals)
    check_pairs(node, center, sorted_pairs(*args, floats, ints), floats, ints)


@st.composite
def codings(draw: st.DrawFn, node: Node) -> tuple[Array, int]:
    """Codes in the order of the values, with gaps, and the largest code there may be; 0 is missing."""
    levels = np.unique(node.values[~np.isnan(node.values)])
    n_codes = draw(st.sampled_from([10, 63, 64, 130, 5000, 9000]))
    used = sorted(draw(st.sets(st.integers(1, n_codes), min_size=len(levels), max_size=len(levels))))
    position = np.searchsorted(levels, node.values)
    codes = [0 if np.isnan(value) else used[at] for value, at in zip(node.values, position, strict=True)]
    return np.array(codes, dtype=np.uint16), n_codes


def check_codes(node: Node, codes: Array, ints: Array) -> None:
    groups = node.groups()
    assert ints[CODE, : len(groups)].tolist() == [codes[rows[0]] for rows in groups]


def bitmap(n_codes: int, deep: bool) -> tuple[Array, Array | None]:
    """Words of a bitmap, and its summary if it has two levels."""
    n_words = (n_codes + 1) // 64 + 1
    return np.zeros(n_words, dtype=np.uint64), np.zeros(n_words // 64 + 1, dtype=np.uint64) if deep else None


def is_clean(*arrays: Array | None) -> bool:
    """Left as it was for the next column."""
    return not any(array.any() for array in arrays if array is not None)


@examples
@given(st.data(), nodes(), eighths(-2, 2), st.booleans())
def test_coded_pairs(data: Any, node: Node, center: float, deep: bool) -> None:
    codes, n_codes = data.draw(codings(node))
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows) + 1)
    hist, bits = np.zeros((n_codes + 1, 3)), bitmap(n_codes, deep)
    local = np.empty((len(node.rows), 2))
    fill_local(node.wy, lists.entries, lists.lo[0], lists.hi[0], center, local)
    found = coded_pairs(codes, lists.entries, lists.lo[0], lists.hi[0], local, floats, ints, hist, *bits)
    check_pairs(node, center, found, floats, ints)
    check_codes(node, codes, ints)
    assert is_clean(hist, *bits)


def tallies_of(data: Any, node: Node, n_classes: int) -> tuple[Node, Array]:
    """The node with whole-number weights and classes, and the same as tallies."""
    n = len(node.wy)
    weights = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    classes = data.draw(st.lists(st.integers(0, n_classes - 1), min_size=n, max_size=n))
    wy = np.column_stack([weights, classes]).astype(np.float64).reshape(n, 2)
    return replace(node, wy=wy), (wy[:, 0] * 256 + wy[:, 1]).astype(np.uint32)


@examples
@given(st.data(), nodes(), st.booleans())
def test_tallied_pairs(data: Any, node: Node, deep: bool) -> None:
    codes, n_codes = data.draw(codings(node))
    node, tally = tallies_of(data, node, 2)
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows) + 1)
    counts, bits = np.zeros(2 * (n_codes + 1), dtype=np.uint64), bitmap(n_codes, deep)
    tallies = np.empty(len(node.rows), dtype=np.uint32)
    fill_tallies(tally, lists.entries, lists.lo[0], lists.hi[0], tallies)
    found = tallied_pairs(codes, lists.entries, lists.lo[0], lists.hi[0], tallies, floats, ints, counts, *bits)
    check_pairs(node, 0.0, found, floats, ints)
    check_codes(node, codes, ints)
    assert is_clean(counts, *bits)


@examples
@given(st.data(), nodes(), st.booleans())
def test_sorted_pairs_of_tallies(data: Any, node: Node, keep_empty: bool) -> None:
    node, tally = tallies_of(data, node, 2)
    lists, (floats, ints) = arrange(node, NOTHING, keep_empty), scratch(len(node.rows))
    totals = (len(node.rows), weight(node, node.rows), pair_sum(node, node.rows, 0.0))
    args = (lists.column, lists.entries, lists.lo, lists.hi, node.wy, tally, 0.0, *totals)
    check_pairs(node, 0.0, sorted_pairs(*args, floats, ints), floats, ints)


@examples
@given(st.data(), nodes(), st.booleans())
def test_tallied_vectors(data: Any, node: Node, deep: bool) -> None:
    codes, n_codes = data.draw(codings(node))
    node, tally = tallies_of(data, node, N_CLASSES)
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows) + 1)
    vectors = vectors_for(node, GINI, np.zeros(1))
    counts, bits = np.zeros(N_CLASSES * (n_codes + 1), dtype=np.uint64), bitmap(n_codes, deep)
    tallies = np.empty(len(node.rows), dtype=np.uint32)
    fill_tallies(tally, lists.entries, lists.lo[0], lists.hi[0], tallies)
    args = (codes, lists.entries, lists.lo[0], lists.hi[0], tallies)
    found = tallied_vectors(*args, floats, ints, counts, *bits, vectors)
    check_rows_and_weights(node, found, floats, ints)
    check_vectors(node, GINI, np.zeros(1), found[0], vectors)
    check_codes(node, codes, ints)
    assert is_clean(counts, *bits)


@examples
@given(st.data(), nodes(), eighths(-2, 2), st.booleans())
def test_two_sides_of_a_threshold(data: Any, node: Node, center: float, tallied: bool) -> None:
    tally = None
    if tallied:
        (node, tally), center = tallies_of(data, node, 2), 0.0
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(4)
    first, last, own = lists.lo[0], lists.hi[0], np.empty(len(node.rows))
    low, high, n_missing = gather_present(node.values, lists.entries, first, last, own)
    present = node.values[node.rows][~np.isnan(node.values[node.rows])]
    assert n_missing == len(node.missing)
    assert (low, high) == ((present.min(), present.max()) if len(present) else (np.inf, -np.inf))
    if n_missing == 0:
        assert gather_values(node.values, lists.entries, first, last, own) == (low, high)
    threshold = data.draw(st.sampled_from([*present.tolist(), 0.5]))
    local = tallies = None
    if tally is None:
        local = np.empty((len(node.rows), 2))
        fill_local(node.wy, lists.entries, first, last, center, local)
    else:
        tallies = np.empty(len(node.rows), dtype=np.uint32)
        fill_tallies(tally, lists.entries, first, last, tallies)
    totals = weight(node, node.rows), pair_sum(node, node.rows, center)
    missing = drawn_pairs(own, len(own), local, tallies, threshold, n_missing, *totals, floats, ints)
    sides = [node.rows[node.values[node.rows] <= threshold], node.rows[~np.isnan(node.values[node.rows])]]
    assert ints[CUM_N, :2].tolist() == [len(rows) for rows in sides]
    assert floats[CUM_W, :2].tolist() == [weight(node, rows) for rows in sides]
    assert floats[CUM_S, :2].tolist() == [pair_sum(node, rows, center) for rows in sides]
    assert missing == (weight(node, node.missing), pair_sum(node, node.missing, center))


def vectors_for(node: Node, criterion: int, centers: Array) -> Vectors:
    n_outputs = node.wy.shape[1] - 1
    width = N_CLASSES if criterion == GINI else 1
    work = np.full((5, width * n_outputs), np.nan)
    if criterion == SQUARED:
        work[CENTER] = centers
    work[NODE_SUMS] = vector_sum(node, node.rows, criterion, centers)
    starts = width * np.arange(n_outputs + 1, dtype=np.int64)
    return Vectors(starts, np.full((len(node.rows) + 2, work.shape[1]), np.nan), work)


def check_vectors(node: Node, criterion: int, centers: Array, n_groups: int, vectors: Vectors) -> None:
    sums = [vector_sum(node, rows, criterion, centers) for rows in node.groups()]
    assert vectors.cum[:n_groups].tolist() == cumulated(sums)
    assert vectors.work[MISS].tolist() == vector_sum(node, node.missing, criterion, centers).tolist()


@st.composite
def vector_nodes(draw: st.DrawFn) -> tuple[Node, int, Array]:
    """Two outputs: classes, or centred numbers."""
    criterion = draw(st.sampled_from([GINI, SQUARED]))
    node = draw(nodes(n_outputs=2, n_classes=N_CLASSES if criterion == GINI else 0))
    return node, criterion, np.array([draw(eighths(-2, 2)), draw(eighths(-2, 2))])


@examples
@given(vector_nodes(), implicits, st.booleans())
def test_sorted_vectors(case: tuple[Node, int, Array], implicit: int, keep_empty: bool) -> None:
    node, criterion, centers = case
    lists, (floats, ints) = arrange(node, implicit, keep_empty), scratch(len(node.rows))
    vectors = vectors_for(node, criterion, centers)
    args = (lists.column, lists.entries, lists.lo, lists.hi, node.wy, None, criterion)
    found = sorted_vectors(*args, len(node.rows), weight(node, node.rows), floats, ints, vectors)
    check_rows_and_weights(node, found, floats, ints)
    check_vectors(node, criterion, centers, found[0], vectors)


@examples
@given(st.data(), vector_nodes(), st.booleans())
def test_coded_vectors(data: Any, case: tuple[Node, int, Array], deep: bool) -> None:
    node, criterion, centers = case
    codes, n_codes = data.draw(codings(node))
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows) + 1)
    vectors = vectors_for(node, criterion, centers)
    hist, bits = np.zeros((n_codes + 1, 2 + vectors.work.shape[1])), bitmap(n_codes, deep)
    args = (codes, lists.entries, lists.lo[0], lists.hi[0], node.wy, criterion)
    found = coded_vectors(*args, floats, ints, hist, *bits, vectors)
    check_rows_and_weights(node, found, floats, ints)
    check_vectors(node, criterion, centers, found[0], vectors)
    check_codes(node, codes, ints)
    assert is_clean(hist, *bits)


def empty_medians(node: Node) -> Medians:
    n = len(node.values)
    return Medians(np.zeros((1, n), dtype=np.int64), np.zeros((1, n)), np.zeros((2, n), dtype=np.uint32))


def check_rows(node: Node, medians: Medians) -> None:
    in_order = [row for rows in node.groups() for row in rows]
    assert medians.rows[0, : len(in_order)].tolist() == in_order
    assert medians.rows[1, : len(node.missing)].tolist() == node.missing.tolist()


@examples
@given(nodes(), st.booleans())
def test_sorted_rows(node: Node, keep_empty: bool) -> None:
    lists, (floats, ints) = arrange(node, NOTHING, keep_empty), scratch(len(node.rows))
    medians = empty_medians(node)
    found = sorted_rows(lists.column, lists.entries, lists.lo, lists.hi, node.wy, floats, ints, medians)
    check_rows_and_weights(node, found, floats, ints)
    check_rows(node, medians)


@examples
@given(st.data(), nodes())
def test_coded_rows(data: Any, node: Node) -> None:
    codes, n_codes = data.draw(codings(node))
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows))
    medians, hist = empty_medians(node), np.zeros((n_codes + 1, 3))
    args = (codes, n_codes, lists.entries, lists.lo[0], lists.hi[0], node.wy)
    found = coded_rows(*args, floats, ints, hist, medians)
    check_rows_and_weights(node, found, floats, ints)
    check_rows(node, medians)
    check_codes(node, codes, ints)
    assert not hist.any()
