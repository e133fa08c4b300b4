"""Partition and marking of rows against plain lists."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import Frame, Lists, Node, arrange, implicits, node_frame, nodes, with_tie_bits
from numpy.typing import NDArray

from sapwood.kernels.partition import mark_sorted, partition_list, split_rows
from sapwood.kernels.tree_frame import OPEN, VALUE
from strategies import examples

Array = NDArray[Any]
UNMARKED = 7


def slow_partition(rows: list[int], values: Array, side: Array) -> tuple[list[int], int]:
    """The specification: left rows, then right rows, in order; ties anew within each child."""
    left, right = [r for r in rows if side[r] == 1], [r for r in rows if side[r] == 0]
    entries = [*with_tie_bits(np.array(left, int), values), *with_tie_bits(np.array(right, int), values)]
    return [int(entry) for entry in entries], len(left)


@st.composite
def stretches(draw: st.DrawFn) -> tuple[list[int], Array, Array]:
    """Rows in order of their values with many ties, the values, and the side of each row."""
    n = draw(st.integers(0, 30))
    values = np.array(draw(st.lists(st.integers(0, 5), min_size=n, max_size=n)), dtype=float)
    side = np.array(draw(st.lists(st.integers(0, 1), min_size=n, max_size=n)), dtype=np.uint8)
    return np.argsort(values, kind="stable").tolist(), values, side


@examples
@given(stretches(), st.integers(0, 3))
def test_partition_is_stable_and_ties_hold_in_each_child(case: tuple[list[int], Array, Array], pad: int) -> None:
    rows, values, side = case
    around = np.full(pad, 999, dtype=np.uint32)
    entries = np.concatenate([around, with_tie_bits(np.array(rows, int), values), around])
    moved = np.zeros(len(rows) + 1, dtype=np.uint32)
    cut = partition_list(entries, pad, pad + len(rows), side, moved)
    expected, n_left = slow_partition(rows, values, side)
    assert cut == pad + n_left
    assert entries.tolist() == [*around, *expected, *around]


@examples
@given(stretches(), st.data())
def test_a_partition_can_be_partitioned_again(case: tuple[list[int], Array, Array], data: Any) -> None:
    rows, values, side = case
    entries = with_tie_bits(np.array(rows, int), values)
    moved = np.zeros(len(rows) + 1, dtype=np.uint32)
    cut = partition_list(entries, 0, len(rows), side, moved)
    child = [r for r in rows if side[r] == 1]
    again = np.array(data.draw(st.lists(st.integers(0, 1), min_size=len(rows), max_size=len(rows))), dtype=np.uint8)
    partition_list(entries, 0, cut, again, moved)
    assert entries[:cut].tolist() == slow_partition(child, values, again)[0]


@pytest.mark.parametrize("sides", [[1, 1, 1], [0, 0, 0], [0, 1, 0]])
def test_one_group_on_either_side(sides: list[int]) -> None:
    entries = np.array([0, 3, 5], dtype=np.uint32)
    partition_list(entries, 0, 3, np.array(sides, dtype=np.uint8), np.zeros(4, dtype=np.uint32))
    opening = [i for i, entry in enumerate(entries) if not entry & 1]
    assert opening == sorted({0, sum(sides)} - {3})  # exactly the first entry of each child


def sorted_sides(node: Node, lists: Lists, n_left: int, missing_left: int) -> list[int]:
    side = np.full(len(node.values), UNMARKED, dtype=np.uint8)
    frame = node_frame(node, lists, side=side)
    mark_sorted(frame.record, lists.column, n_left, missing_left, 0)
    return side.tolist()


def slow_sides(node: Node, left: set[int], missing_left: int) -> list[int]:
    """The specification: rows of the node get their side, all others none."""
    side = [UNMARKED] * len(node.values)
    for row in node.rows:
        side[row] = missing_left if row in node.missing else int(row in left)
    return side


@examples
@given(nodes(), implicits, st.booleans(), st.integers(0, 1), st.data())
def test_mark_sorted(node: Node, implicit: int, keep_empty: bool, missing_left: int, data: Any) -> None:
    groups = node.groups()
    left = [row for rows in groups[: data.draw(st.integers(0, len(groups)))] for row in rows]
    lists = arrange(node, implicit, keep_empty)
    assert sorted_sides(node, lists, len(left), missing_left) == slow_sides(node, set(left), missing_left)


def test_mark_sorted_without_implicit_rows_left_in_the_node() -> None:
    node = Node(np.arange(4), np.array([-1.0, 2.0, 3.0, np.nan]), np.ones((4, 2)))
    assert sorted_sides(node, arrange(node, VALUE, True), 2, 0) == [1, 1, 0, 0]


@st.composite
def coded_nodes(draw: st.DrawFn) -> tuple[Array, list[int]]:
    """Codes up to 70 of some rows, and which rows are in the node."""
    codes = draw(st.lists(st.integers(0, 70), min_size=1, max_size=20))
    rows = draw(st.sets(st.integers(0, len(codes) - 1)))
    return np.array(codes, dtype=np.uint16), sorted(rows)


def slow_coded_sides(codes: Array, rows: list[int], left: set[int], missing_left: int) -> list[int]:
    side = [UNMARKED] * len(codes)
    for row in rows:
        side[row] = missing_left if codes[row] == 0 else int(codes[row] in left)
    return side


def check_split(rows: list[int], expected: list[int], missing_left: int, **question: Any) -> None:
    """Rows move, and those of the node are marked if there are other lists to follow."""
    for n_lists in (1, 2):
        side = np.full(len(expected), UNMARKED, dtype=np.uint8)
        entries = np.array([row << 1 for row in rows], dtype=np.uint32)
        slots = np.zeros(3, dtype=OPEN)
        slots["missing_left"] = missing_left
        own = {"lo": np.zeros((3, 1), dtype=np.int64), "hi": np.full((3, 1), len(rows)), "children": np.array([1, 2])}
        moved = np.zeros(len(rows) + 1, dtype=np.uint32)
        frame = Frame(entries=entries, side=side, slots=slots, moved=moved, n_lists=n_lists, **own)
        split_rows(frame.record, *(question.get(name) for name in ("values", "codes", "subset", "limit")), 0)
        left, right = ([row for row in rows if expected[row] == way] for way in (1, 0))
        assert (entries >> 1).tolist() == left + right
        assert [*frame.lo[1:, 0], *frame.hi[1:, 0]] == [0, len(left), len(left), len(rows)]
        assert side.tolist() == (expected if n_lists > 1 else [UNMARKED] * len(side))


@examples
@given(coded_nodes(), st.integers(0, 71), st.integers(0, 1))
def test_split_by_code(case: tuple[Array, list[int]], top_left: int, missing_left: int) -> None:
    codes, rows = case
    expected = slow_coded_sides(codes, rows, set(range(1, top_left + 1)), missing_left)
    check_split(rows, expected, missing_left, codes=codes, limit=top_left)


@examples
@given(coded_nodes(), st.sets(st.integers(1, 70)), st.integers(0, 1))
def test_split_by_subset(case: tuple[Array, list[int]], left: set[int], missing_left: int) -> None:
    codes, rows = case
    bits = sum(1 << code - 1 for code in left)
    subset = np.array([bits >> shift & 0xFFFFFFFF for shift in (0, 32, 64)], dtype=np.uint32)
    check_split(
        rows, slow_coded_sides(codes, rows, left, missing_left), missing_left, codes=codes, subset=subset, limit=0
    )


@examples
@given(nodes(), st.sampled_from([-np.inf, -2.0, 0.0, 0.5, np.inf]), st.integers(0, 1))
def test_split_by_value(node: Node, threshold: float, missing_left: int) -> None:
    expected = slow_sides(node, set(np.flatnonzero(node.values <= threshold)), missing_left)
    check_split(node.rows.tolist(), expected, missing_left, values=node.values, limit=threshold)
