"""Groups of a node's rows, from lists and from codes, against grouping by value."""

from __future__ import annotations

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
    sorted_pairs,
    sorted_rows,
    sorted_vectors,
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
    args = (lists.column, lists.entries, lists.lo, lists.hi, node.wy, center, *totals)
    check_pairs(node, center, sorted_pairs(*args, floats, ints), floats, ints)


@st.composite
def codings(draw: st.DrawFn, node: Node) -> tuple[Array, int]:
    """Codes in the order of the values, with gaps, and the largest code there may be; 0 is missing."""
    levels = np.unique(node.values[~np.isnan(node.values)])
    n_codes = draw(st.sampled_from([10, 63, 64, 130]))
    used = sorted(draw(st.sets(st.integers(1, n_codes), min_size=len(levels), max_size=len(levels))))
    position = np.searchsorted(levels, node.values)
    codes = [0 if np.isnan(value) else used[at] for value, at in zip(node.values, position, strict=True)]
    return np.array(codes, dtype=np.uint16), n_codes


def check_codes(node: Node, codes: Array, ints: Array) -> None:
    groups = node.groups()
    assert ints[CODE, : len(groups)].tolist() == [codes[rows[0]] for rows in groups]


def histogram(n_codes: int, n_sums: int) -> tuple[Array, Array]:
    return np.zeros((n_codes + 1, 2 + n_sums)), np.zeros((n_codes + 1) // 64 + 1, dtype=np.uint64)


@examples
@given(st.data(), nodes(), eighths(-2, 2))
def test_coded_pairs(data: Any, node: Node, center: float) -> None:
    codes, n_codes = data.draw(codings(node))
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows))
    hist, occupied = histogram(n_codes, 1)
    found = coded_pairs(codes, lists.entries, lists.lo[0], lists.hi[0], node.wy, center, floats, ints, hist, occupied)
    check_pairs(node, center, found, floats, ints)
    check_codes(node, codes, ints)
    assert not hist.any()  # left clean for the next column
    assert not occupied.any()


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
    args = (lists.column, lists.entries, lists.lo, lists.hi, node.wy, criterion)
    found = sorted_vectors(*args, len(node.rows), weight(node, node.rows), floats, ints, vectors)
    check_rows_and_weights(node, found, floats, ints)
    check_vectors(node, criterion, centers, found[0], vectors)


@examples
@given(st.data(), vector_nodes())
def test_coded_vectors(data: Any, case: tuple[Node, int, Array]) -> None:
    node, criterion, centers = case
    codes, n_codes = data.draw(codings(node))
    lists, (floats, ints) = arrange(node, NOTHING, True), scratch(len(node.rows))
    vectors = vectors_for(node, criterion, centers)
    hist, occupied = histogram(n_codes, vectors.work.shape[1])
    args = (codes, lists.entries, lists.lo[0], lists.hi[0], node.wy, criterion)
    found = coded_vectors(*args, floats, ints, hist, occupied, vectors)
    check_rows_and_weights(node, found, floats, ints)
    check_vectors(node, criterion, centers, found[0], vectors)
    check_codes(node, codes, ints)
    assert not hist.any()
    assert not occupied.any()


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
    medians, (hist, _) = empty_medians(node), histogram(n_codes, 1)
    args = (codes, n_codes, lists.entries, lists.lo[0], lists.hi[0], node.wy)
    found = coded_rows(*args, floats, ints, hist, medians)
    check_rows_and_weights(node, found, floats, ints)
    check_rows(node, medians)
    check_codes(node, codes, ints)
    assert not hist.any()
