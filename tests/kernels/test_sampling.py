"""Draws of rows: the share that is asked for, whoever holds the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.bagging import draw_rows
from sapwood.kernels.draws import mix, uniform
from strategies import examples

Array = NDArray[Any]
keys = st.integers(0, 2**64 - 1)


def draw(key: int, n: int, share: Any, candidates: Array | None = None) -> Array:
    """Rows drawn of n, or of the candidates among them; `share` is one for all or one for each."""
    rows = np.full(n if candidates is None else len(candidates), -1, dtype=np.int64)
    each = np.ndim(share) > 0
    count = draw_rows(np.uint64(key), share if each else None, 0.0 if each else share, candidates, 0, rows)
    return rows[:count]


@examples
@given(keys, st.integers(0, 40), st.floats(0, 1))
def test_a_row_is_drawn_by_the_hash_of_its_number(key: int, n: int, share: float) -> None:
    expected = [i for i in range(n) if uniform(np.uint64(mix(np.uint64(key), i))) < share]
    assert draw(key, n, share).tolist() == expected


@examples
@given(keys, st.integers(1, 200), st.floats(0, 1), st.data())
def test_draws_do_not_depend_on_the_division_of_rows(key: int, n: int, share: float, data: st.DataObject) -> None:
    cut = data.draw(st.integers(0, n))
    parts = [draw(key, cut, share), draw(key, n, share, candidates=np.arange(cut, n))]
    np.testing.assert_array_equal(np.concatenate(parts), draw(key, n, share))


@examples
@given(keys, st.integers(1, 200), st.floats(0, 1), st.data())
def test_draws_do_not_depend_on_the_other_candidates(key: int, n: int, share: float, data: st.DataObject) -> None:
    members = np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n)))
    drawn = draw(key, n, share)
    np.testing.assert_array_equal(draw(key, n, share, candidates=np.flatnonzero(members)), drawn[members[drawn]])


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.9, 1.0])
def test_the_share_of_drawn_rows(share: float) -> None:
    n = 40_000
    deviation = np.sqrt(n * share * (1 - share))
    for key in range(5):
        assert abs(len(draw(key, n, share)) - share * n) <= 4 * deviation


def test_rows_have_their_own_shares() -> None:
    shares = np.repeat([0.0, 0.2, 0.7, 1.0], 10_000)
    counts = np.bincount(draw(3, len(shares), shares) // 10_000, minlength=4)
    assert (counts[0], counts[3]) == (0, 10_000)
    assert abs(counts[1] - 2000) < 160
    assert abs(counts[2] - 7000) < 180


def test_draws_of_different_keys_are_independent() -> None:
    n = 40_000
    first, second = (np.isin(np.arange(n), draw(key, n, 0.3)) for key in (1, 2))
    assert abs((first & second).sum() - 0.09 * n) < 4 * np.sqrt(n * 0.09)
    neighbours = first[1:] & first[:-1]
    assert abs(neighbours.sum() - 0.09 * n) < 4 * np.sqrt(n * 0.09)
