"""Draws of kernels, next to those of NumPy's generator."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sapwood.kernels.philox import write_uniforms


@given(seed=st.integers(0, 2**64 - 1), n=st.integers(0, 20))
def test_numbers_are_those_of_numpy(seed: int, n: int) -> None:
    out = np.empty(n)
    write_uniforms(np.uint64(seed), np.empty(4, dtype=np.uint32), out)
    np.testing.assert_array_equal(out, np.random.Generator(np.random.Philox(seed)).random(n))


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**32, 2**64 - 1])
def test_seeds_of_one_word_and_of_two(seed: int) -> None:
    out = np.empty(5)
    write_uniforms(np.uint64(seed), np.empty(4, dtype=np.uint32), out)
    np.testing.assert_array_equal(out, np.random.Generator(np.random.Philox(seed)).random(5))
