"""Dealing: every record to exactly one part, and parts of equal size."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapwood.shard.pieces import deal
from strategies import EXAMPLES, examples

many = settings(examples, max_examples=10 * EXAMPLES)
ranges = st.lists(st.tuples(st.integers(0, 99), st.integers(0, 20)).map(lambda pair: (pair[0], sum(pair))), max_size=9)
parts = st.integers(1, 9)


@many
@given(ranges, parts)
def test_every_record_is_dealt_once_and_in_order(given_ranges: list[tuple[int, int]], n_parts: int) -> None:
    pieces = [piece for part in deal(given_ranges, n_parts) for piece in part]
    for node, (first, last) in enumerate(given_ranges):
        own = [(start, stop) for number, start, stop in pieces if number == node]
        assert own  # an empty node has an empty piece
        assert [record for start, stop in own for record in range(start, stop)] == list(range(first, last))
    assert [piece[0] for piece in pieces] == sorted(piece[0] for piece in pieces)


@many
@given(ranges, parts)
def test_parts_are_of_equal_size_but_for_the_last(given_ranges: list[tuple[int, int]], n_parts: int) -> None:
    dealt = deal(given_ranges, n_parts)
    sizes = [sum(stop - start for _, start, stop in part) for part in dealt]
    share = -(-sum(last - first for first, last in given_ranges) // n_parts)
    assert len(dealt) <= n_parts
    assert all(dealt)
    assert all(size == share for size in sizes[:-1])
    assert all(size <= share for size in sizes)


@many
@given(ranges, parts)
def test_only_the_first_piece_of_a_part_continues_a_node(given_ranges: list[tuple[int, int]], n_parts: int) -> None:
    for part in deal(given_ranges, n_parts):
        for node, start, _ in part[1:]:
            assert start == given_ranges[node][0]


def test_one_part_holds_whole_nodes() -> None:
    assert deal([(5, 9), (2, 2), (9, 12)], 1) == [[(0, 5, 9), (1, 2, 2), (2, 9, 12)]]


@pytest.mark.parametrize("n_parts", [1, 2, 5])
def test_nothing_is_dealt_from_nothing(n_parts: int) -> None:
    assert deal([], n_parts) == []
