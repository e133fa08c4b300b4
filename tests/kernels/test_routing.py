"""Routing of rows against stable partitions and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from histogram_cases import HALF, MOST, blank_nodes, rows_of, stretches
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.branching import write_table
from sapwood.kernels.routing import (
    add_by_leaf,
    count_large,
    join_pieces,
    largest,
    mark_leaves,
    settle_by_code,
    settle_together,
    split_pieces,
    split_records,
    sum_by_leaf,
    write_records,
)
from strategies import examples

Array = NDArray[Any]


@st.composite
def columns(draw: st.DrawFn) -> tuple[Array, Array, Array]:
    """Records in any order with something in their low bits, three columns of codes, and a table."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(0, 60))
    records = rng.permutation(n).astype(np.uint64) << HALF | rng.integers(0, 2**32, n).astype(np.uint64)
    codes = rng.integers(0, 256, size=(3, n)).astype(np.uint8)
    share = draw(st.sampled_from([0.0, 0.1, 0.5, 1.0]))
    return records, codes, (rng.random((8, 256)) < share).astype(np.uint8)


def split_by(tables: Array, features: Array) -> Array:
    """Nodes that split these columns by these tables."""
    nodes = blank_nodes(len(tables))
    nodes["code"], nodes["feature"] = -1, features
    nodes["subset"] = np.packbits(tables, axis=1, bitorder="little").view(np.uint32)
    return nodes


def slow_split(records: Array, column: Array, table: Array) -> tuple[Array, int]:
    """The specification: left records, then right ones, both in order; and how many are left."""
    goes_left = table[column[rows_of(records)]] == 1
    return np.concatenate([records[goes_left], records[~goes_left]]), int(goes_left.sum())


@examples
@given(st.data())
def test_a_split_is_a_stable_partition(data: st.DataObject) -> None:
    records, codes, tables = data.draw(columns())
    first, last = data.draw(stretches(len(records), 1))[0]
    moved, spare = records.copy(), np.zeros_like(records)
    cut = split_records(moved, first, last, codes[0], tables[0], spare)
    expected, n_left = slow_split(records[first:last], codes[0], tables[0])
    assert cut == first + n_left
    np.testing.assert_array_equal(moved[first:last], expected)
    np.testing.assert_array_equal(np.delete(moved, np.s_[first:last]), np.delete(records, np.s_[first:last]))


@examples
@given(st.data())
def test_pieces_are_split_by_their_own_columns_and_tables(data: st.DataObject) -> None:
    records, codes, tables = data.draw(columns())
    ranges = data.draw(stretches(len(records)))
    pieces = np.array([(first, last, k) for k, (first, last) in enumerate(ranges)], dtype=np.int64)
    moved, cuts = records.copy(), np.full(len(pieces), -1, dtype=np.int64)
    nodes, scratch = split_by(tables, np.arange(len(tables)) % 3), np.empty(256, np.uint8)
    split_pieces(pieces, moved, codes, nodes, scratch, np.zeros_like(records), cuts)
    expected = records.copy()
    for k, (first, last, _) in enumerate(pieces):
        expected[first:last], n_left = slow_split(records[first:last], codes[k % 3], tables[k])
        assert cuts[k] == first + n_left
    np.testing.assert_array_equal(moved, expected)


@examples
@given(st.data(), st.integers(2, 6))
def test_joined_pieces_are_the_partition_of_the_whole(data: st.DataObject, n_parts: int) -> None:
    records, codes, tables = data.draw(columns())
    first, last = data.draw(stretches(len(records), 1))[0]
    inner = sorted(data.draw(st.lists(st.integers(first, last), min_size=n_parts - 1, max_size=n_parts - 1)))
    firsts, lasts = np.array([first, *inner], dtype=np.int64), np.array([*inner, last], dtype=np.int64)
    moved, spare, cuts = records.copy(), np.zeros_like(records), np.zeros(n_parts, dtype=np.int64)
    pieces = np.column_stack([firsts, lasts, np.zeros_like(firsts)])
    split_pieces(pieces, moved, codes, split_by(tables[:1], np.zeros(1)), np.empty(256, np.uint8), spare, cuts)
    border = join_pieces(moved, spare, firsts, cuts, lasts)
    expected = records.copy()
    expected[first:last], n_left = slow_split(records[first:last], codes[0], tables[0])
    assert border == first + n_left
    np.testing.assert_array_equal(moved, expected)


def gradients(seed: int, n: int, weighted: bool) -> tuple[Array, Array, Array | None]:
    rng = np.random.default_rng(seed)
    weight = rng.integers(0, 5, n) / 2 if weighted else None
    return rng.normal(size=n), rng.random(n), weight


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("chosen", [False, True])
def test_wide_records_hold_rows_and_quanta_the_nearest_whole_numbers(weighted: bool, chosen: bool) -> None:
    n = 50
    g, h, weight = gradients(0, n, weighted)
    w = np.ones(n) if weight is None else weight
    rows = np.arange(1, n, 3) if chosen else None
    members = np.arange(n) if rows is None else rows
    records, quantized = np.zeros(n, np.uint64), np.full((n, 2), -1, dtype=np.int64)
    for first, last in ((0, 10), (10, len(members))):
        write_records(rows, g, h, weight, 1024.0, 512.0, first, last, records, quantized)
    np.testing.assert_array_equal(records[: len(members)], members.astype(np.uint64) << HALF)
    np.testing.assert_array_equal(quantized[members], np.rint(np.column_stack([g * w * 1024, h * w * 512]))[members])
    assert (np.delete(quantized, members, axis=0) == -1).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_packed_records_hold_signed_gradients_and_hessians(weighted: bool) -> None:
    n = 50
    g, h, weight = gradients(1, n, weighted)
    w = np.ones(n) if weight is None else weight
    g[0], h[0] = -MOST / 1024 / max(w[0], 1), MOST / 512 / max(w[0], 1)  # as large as can be
    records = np.zeros(n, np.uint64)
    write_records(None, g, h, weight, 1024.0, 512.0, 0, n, records, None)
    np.testing.assert_array_equal(rows_of(records), np.arange(n))
    low = (records & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    np.testing.assert_array_equal((low >> 16).astype(np.uint16).view(np.int16), np.rint(g * w * 1024))
    np.testing.assert_array_equal(low & 0xFFFF, np.rint(h * w * 512))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_largest_gradient_and_hessian(weighted: bool, dtype: Any) -> None:
    g, h, weight = gradients(2, 40, weighted)
    g, h, w = g.astype(dtype), h.astype(dtype), np.ones(40) if weight is None else weight
    h[20:30], h[30] = -h[20:30] - 1.0, -0.0  # none of them is the largest
    for first, last in ((0, 40), (3, 17), (5, 5), (20, 31)):
        of = slice(first, last)
        expected = np.abs(g * w)[of].max(initial=0.0), (h * w)[of].max(initial=0.0)
        assert largest(g, h, weight, first, last) == expected


@st.composite
def leaves_of_rows(draw: st.DrawFn) -> tuple[Array, int]:
    """The leaf of each row; rows outside of the tree are numbered as if there were one leaf more."""
    n_leaves = draw(st.integers(1, 5))
    dtype = draw(st.sampled_from([np.uint16, np.uint32]))
    return np.array(draw(st.lists(st.integers(0, n_leaves), max_size=40)), dtype=dtype), n_leaves


@examples
@given(leaves_of_rows(), st.booleans(), st.data())
def test_sums_of_leaves(case: tuple[Array, int], weighted: bool, data: st.DataObject) -> None:
    leaf_of, n_leaves = case
    g, h, weight = gradients(3, len(leaf_of), weighted)
    w = np.ones(len(g)) if weight is None else weight
    whole = np.rint(np.column_stack([g * w * 2.0**30, h * w * 2.0**31])).astype(np.int64)
    first, last = data.draw(stretches(len(leaf_of), 1))[0]
    sums = np.full((n_leaves, 2), 5, dtype=np.int64)  # added to what is there
    sum_by_leaf(leaf_of, g, h, weight, 2.0**30, 2.0**31, first, last, sums)
    for leaf, found in enumerate(sums):
        np.testing.assert_array_equal(found - 5, whole[first:last][leaf_of[first:last] == leaf].sum(axis=0))


@examples
@given(leaves_of_rows(), st.data())
def test_leaves_are_added_to_scores(case: tuple[Array, int], data: st.DataObject) -> None:
    leaf_of, n_leaves = case
    first, last = data.draw(stretches(len(leaf_of), 1))[0]
    values, score = np.arange(1.0, n_leaves + 2), np.full(len(leaf_of), 0.25)
    add_by_leaf(leaf_of, values, score, first, last)
    expected = np.full(len(leaf_of), 0.25)
    expected[first:last] += values[leaf_of[first:last]]
    np.testing.assert_array_equal(score, expected)


@examples
@given(st.data(), st.sampled_from([np.uint16, np.uint32]))
def test_leaves_of_records_are_marked(data: st.DataObject, dtype: type) -> None:
    records, _, _ = data.draw(columns())
    ranges = data.draw(stretches(len(records)))
    pieces = np.array([(first, last, 40 + k) for k, (first, last) in enumerate(ranges)], dtype=np.int64)
    leaf_of = np.full(len(records), 999, dtype=dtype)
    mark_leaves(pieces, records, leaf_of)
    expected = np.full(len(records), 999)
    for first, last, leaf in pieces:
        expected[rows_of(records[first:last])] = leaf
    np.testing.assert_array_equal(leaf_of, expected)


def test_rows_outside_find_their_leaves_by_code() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 256, size=(2, 300)).astype(np.uint8)
    feature = np.array([0, 1, -1, -1, 0, -1, -1])
    left, right = np.array([1, 2, -1, -1, 5, -1, -1]), np.array([4, 3, -1, -1, 6, -1, -1])
    tables = rng.integers(0, 2, size=(7, 256)).astype(np.uint8)
    nodes, outside = split_by(tables, feature), 2**16 - 1
    nodes["left"], nodes["right"] = left, right
    found = np.full(300, outside, dtype=np.uint16)
    found[::3] = 3  # these are settled
    settle_by_code(codes, nodes, feature >= 0, 10, 290, found)
    assert (found[::3] == 3).all()
    for row in range(10, 290):
        if row % 3 == 0:
            continue
        node = 0
        while feature[node] >= 0:
            node = (left if tables[node, codes[feature[node], row]] else right)[node]
        assert found[row] == node
    untouched = np.delete(found, np.s_[10:290])
    assert set(untouched.tolist()) == {outside, 3}


@examples
@given(st.integers(0, 2**32), st.integers(0, 23), st.sampled_from([0.0, 0.3, 1.0]))
def test_four_rows_at_a_time_find_the_same_leaves(seed: int, n_rows: int, share_settled: float) -> None:
    """Trees of random shape, by the plain twin `settle_by_code`; any number of rows is left over."""
    rng = np.random.default_rng(seed)
    nodes, splits, n_nodes = blank_nodes(15), np.zeros(15, dtype=np.bool_), 1
    for at in range(7):
        if at < n_nodes and (rng.random() < 0.8):
            nodes["left"][at], nodes["right"][at], splits[at] = n_nodes, n_nodes + 1, True
            nodes["depth"][n_nodes : n_nodes + 2] = nodes["depth"][at] + 1
            n_nodes += 2
    own = split_by(rng.integers(0, 2, size=(15, 256)).astype(np.uint8), rng.integers(0, 3, 15))
    for name in ("left", "right", "depth"):
        own[name] = nodes[name]
    codes = rng.integers(0, 256, size=(3, n_rows)).astype(np.uint8)
    found = np.where(rng.random(n_rows) < share_settled, 1, 2**16 - 1).astype(np.uint16)
    expected = found.copy()
    settle_by_code(codes, own, splits, 0, n_rows, expected)
    routes = np.zeros(15, np.uint64), np.zeros(15, np.uint64), np.zeros((15, 256), np.uint8)
    settle_together(codes, own, splits, routes, np.zeros(n_rows + 4, np.uint64), found)
    np.testing.assert_array_equal(found, expected)


@examples
@given(st.integers(1, 255), st.booleans(), st.sets(st.integers(0, 255), max_size=40))
def test_tables_of_thresholds_and_subsets(code: int, missing_left: bool, subset: set[int]) -> None:
    nodes = blank_nodes(4)
    nodes["code"][2], nodes["missing_left"][2] = code, missing_left
    bits = np.zeros(256, dtype=np.uint8)
    bits[sorted(subset)] = 1
    nodes["code"][1], nodes["subset"][1] = -1, np.packbits(bits, bitorder="little").view(np.uint32)
    tables = np.full((2, 256), 9, dtype=np.uint8)
    for table, at in zip(tables, (2, 1), strict=True):
        write_table(nodes[at], table)
    assert tables[0].tolist() == [int(missing_left)] + [int(c <= code) for c in range(1, 256)]
    np.testing.assert_array_equal(tables[1], bits)


@examples
@given(st.integers(0, 2**32), st.integers(1, 4), st.booleans(), st.floats(0.5, 12.0))
def test_large_numbers_are_counted_until_there_are_enough(seed: int, step: int, weighted: bool, enough: float) -> None:
    """Parts of the rows that stop early decide as all rows would."""
    rng = np.random.default_rng(seed)
    n, cut = (step * rng.integers(0, [30, 15])).tolist()
    g, h, weight = rng.normal(size=n), rng.random(n), rng.random(n) if weighted else None
    w = np.ones(n) if weight is None else weight
    full = [int((np.abs(g) * w >= 0.5)[::step].sum()), int((h * w >= 0.3)[::step].sum())]
    of, parts = (g, h, weight, 0.5, 0.3), ((0, min(cut, n)), (min(cut, n), n))
    assert np.sum([count_large(*of, *part, step, np.inf) for part in parts], axis=0).tolist() == full
    found = [count_large(*of, *part, step, enough) for part in parts]
    assert (np.sum(found, axis=0).min() >= enough) == (min(full) >= enough)
    assert all(min(own) <= np.ceil(enough) for own in found)
