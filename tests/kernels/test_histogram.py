"""Histograms against plain sums."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from histogram_cases import MOST, Rows, some_rows, stretches
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.histogram import build
from strategies import examples

Array = NDArray[Any]
RUBBISH = -(10**12)


def build_pieces(
    rows: Rows, pieces: Array, packed: bool, block_rows: int, n_sums: int = 2, mask: Array | None = None
) -> Array:
    """Histograms of pieces into a pool full of rubbish, one slot more than pieces."""
    pool = np.full((len(pieces) + 1, rows.starts[-1], n_sums), RUBBISH, dtype=np.int64)
    shard, arrays = rows.shard(packed, block_rows, n_sums, mask)
    build(pieces, shard[0], 0, pool)
    assert not arrays["packed"].any()  # ready for the next call
    return pool


def numbered(ranges: list[tuple[int, int]]) -> Array:
    """Pieces whose slots are in another order than they are."""
    return np.array([(first, last, len(ranges) - k) for k, (first, last) in enumerate(ranges)], dtype=np.int64)


def check(rows: Rows, pieces: Array, pool: Array, mask: Array | None = None) -> None:
    """Sums of the columns in the mask are right, and nothing else is written to."""
    used = np.repeat(np.ones(rows.n_features, np.bool_) if mask is None else mask, 256)
    own = rows.cells[used]
    for first, last, slot in pieces:
        np.testing.assert_array_equal(pool[slot][own], rows.histogram(first, last)[own, : pool.shape[2]])
        assert (np.delete(pool[slot], own, axis=0) == RUBBISH).all()
    untouched = set(range(len(pool))) - set(pieces[:, 2].tolist())
    assert (pool[sorted(untouched)] == RUBBISH).all()


@examples
@given(st.data(), st.integers(1, 70))
def test_packed_histograms(data: st.DataObject, block_rows: int) -> None:
    rows = data.draw(some_rows())
    pieces = numbered(data.draw(stretches(len(rows.codes))))
    check(rows, pieces, build_pieces(rows, pieces, True, block_rows))


@examples
@given(st.data(), st.sampled_from([2, 3]))
def test_wide_histograms_with_and_without_counts(data: st.DataObject, n_sums: int) -> None:
    rows = data.draw(some_rows(most_gradient=1 << 40))
    pieces = numbered(data.draw(stretches(len(rows.codes))))
    check(rows, pieces, build_pieces(rows, pieces, False, 1, n_sums))


@examples
@given(st.data(), st.sampled_from([(True, 2), (False, 2), (False, 3)]), st.integers(1, 40))
def test_histograms_of_some_columns(data: st.DataObject, kind: tuple[bool, int], n_features: int) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    codes = rng.choice([0, 1, 2, 255], size=(50, n_features)).astype(np.uint8)
    rows = Rows(codes, rng.integers(-MOST, MOST, 50), rng.integers(0, MOST, 50), rng.permutation(50))
    mask = rng.random(n_features) < 0.6
    mask[rng.integers(n_features)] = True
    pieces = numbered(data.draw(stretches(50)))
    check(rows, pieces, build_pieces(rows, pieces, kind[0], 7, kind[1], mask), mask)


@pytest.mark.parametrize("sign", [-1, 1])
def test_packed_sums_of_the_largest_numbers_do_not_overflow(sign: int) -> None:
    n = 2 * (1 << 16) + 5  # blocks of as many rows as a 15-bit number allows, and a rest
    rows = Rows(np.full((n, 1), 7, np.uint8), np.full(n, sign * MOST), np.full(n, MOST), np.arange(n))
    pool = build_pieces(rows, np.array([[0, n, 0]]), True, 1 << 16)
    assert pool[0, 7].tolist() == [sign * n * MOST, n * MOST]
    assert np.count_nonzero(pool[0, :256]) == 2


def test_packed_and_wide_sums_are_equal() -> None:
    rng = np.random.default_rng(0)
    n = 3000
    codes = rng.integers(0, 256, size=(n, 11)).astype(np.uint8)
    rows = Rows(codes, rng.integers(-MOST, MOST + 1, n), rng.integers(0, MOST + 1, n), rng.permutation(n))
    pieces = np.array([[0, 1700, 1], [1700, n, 0]])
    wide = build_pieces(rows, pieces, False, n)
    for block_rows in (1, 64, 1 << 16):
        np.testing.assert_array_equal(build_pieces(rows, pieces, True, block_rows), wide)


@examples
@given(st.data(), st.sampled_from([2, 3]))
def test_the_larger_child_is_parent_minus_smaller(data: st.DataObject, n_sums: int) -> None:
    rows = data.draw(some_rows(most_gradient=1 << 40))
    n = len(rows.codes)
    cut = data.draw(st.integers(0, n))
    pool = build_pieces(rows, np.array([[0, n, 0], [0, cut, 1], [cut, n, 2]]), False, 1, n_sums)
    np.testing.assert_array_equal((pool[0] - pool[1])[rows.cells], pool[2, rows.cells])


@examples
@given(st.data())
def test_pieces_of_one_node_add_up(data: st.DataObject) -> None:
    rows = data.draw(some_rows())
    n = len(rows.codes)
    cut = data.draw(st.integers(0, n))
    pool = build_pieces(rows, np.array([[0, n, 0], [0, cut, 1], [cut, n, 2]]), True, 7)
    np.testing.assert_array_equal((pool[1] + pool[2])[rows.cells], pool[0, rows.cells])
