"""Draws against splitmix64 in Python's whole numbers."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sapwood.kernels.draws import mix, uniform
from strategies import examples

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15

keys = st.integers(0, MASK)
items = st.integers(-(2**63), 2**63 - 1)


def slow_mix(key: int, item: int) -> int:
    z = key ^ (((item & MASK) * GOLDEN + GOLDEN) & MASK)
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def mixed(key: int, item: int) -> np.uint64:
    """The kernel's key, in its own type: outside of kernels it comes back as a plain integer."""
    return np.uint64(mix(np.uint64(key), item))


@examples
@given(keys, items)
def test_mix_is_splitmix64(key: int, item: int) -> None:
    assert mixed(key, item) == slow_mix(key, item)


def test_mix_of_key_zero_is_the_published_sequence() -> None:
    assert mixed(0, 0) == 0xE220A8397B1DCDAF
    assert mixed(0, 1) == 0x6E789E6AA1B965F4


@examples
@given(keys)
def test_uniform_is_the_top_53_bits(key: int) -> None:
    assert uniform(np.uint64(key)) == (key >> 11) / 2**53


def test_uniform_never_reaches_one() -> None:
    assert uniform(np.uint64(0)) == 0.0
    assert uniform(np.uint64(MASK)) < 1.0


def test_draws_are_roughly_uniform() -> None:
    for draws in (
        [uniform(mixed(42, item)) for item in range(4000)],
        [uniform(mixed(mixed(seed, 0), 0)) for seed in range(4000)],
    ):
        counts = np.histogram(draws, bins=10, range=(0, 1))[0]
        assert ((counts - 400) ** 2 / 400).sum() < 30  # chi squared of 9 degrees: one in 2000


def test_different_keys_and_items_differ() -> None:
    drawn = {mixed(key, item) for key in range(60) for item in range(60)}
    assert len(drawn) == 3600


def test_paths_that_end_alike_differ() -> None:
    left_right = mixed(mixed(7, 1), 2)
    right_left = mixed(mixed(7, 2), 1)
    assert left_right != right_left
