"""GradientUnits: units are powers of two, and no sum can overflow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sapwood.shard.gradient_units import PACKED_BITS, PACKED_ROWS, WIDE_BITS, GradientUnits, unit
from strategies import EXAMPLES, examples

many = settings(examples, max_examples=15 * EXAMPLES)
near_powers = st.builds(
    lambda power, neighbour: float(np.nextafter(2.0**power, neighbour)),
    st.integers(-300, 300),
    st.sampled_from([0.0, 1e308]),
)
sizes = st.one_of(st.floats(1e-280, 1e300), near_powers, st.sampled_from([1.0, 0.25, 2.0**-16, 1 - 2.0**-30]))
row_counts = st.one_of(st.integers(1, 2**31), st.sampled_from([1, 2, PACKED_ROWS, 2**20, 2**20 + 1, 2**31]))


def whole(largest: float, found: float) -> int:
    return round(largest / found)


@many
@given(sizes, st.integers(1, 40))
def test_a_unit_is_the_least_power_of_two_that_fits(largest: float, bits: int) -> None:
    found = unit(largest, bits)
    assert math.frexp(found)[0] == 0.5
    assert whole(largest, found) <= 2**bits - 1
    assert whole(largest, found / 2) > 2**bits - 1  # half of it would be too small


@many
@given(sizes, sizes, row_counts)
def test_packed_sums_cannot_overflow(gradient: float, hessian: float, n_rows: int) -> None:
    units = GradientUnits.of(gradient, hessian, n_rows, packed=True)
    assert units.packed
    for largest, found in ((gradient, units.gradient_unit), (hessian, units.hessian_unit)):
        most = whole(largest, found)
        assert 2 ** (PACKED_BITS - 1) <= most < 2**PACKED_BITS
        assert most * units.block_rows < 2**31


@many
@given(sizes, sizes, row_counts, st.booleans())
def test_wide_and_fine_sums_cannot_overflow(gradient: float, hessian: float, n_rows: int, packed: bool) -> None:
    units = GradientUnits.of(gradient, hessian, n_rows, packed)
    pairs = [(gradient, units.fine_gradient_unit), (hessian, units.fine_hessian_unit)]
    if not packed:
        pairs += [(gradient, units.gradient_unit), (hessian, units.hessian_unit)]
    for largest, found in pairs:
        assert whole(largest, found) * n_rows < 2**63
        assert whole(largest, found) >= 2**30


@examples
@given(sizes, sizes, st.integers(1, 2**20))
def test_up_to_a_million_rows_have_forty_bits(gradient: float, hessian: float, n_rows: int) -> None:
    units = GradientUnits.of(gradient, hessian, n_rows, packed=False)
    assert whole(gradient, units.gradient_unit) >= 2 ** (WIDE_BITS - 1)
    assert whole(hessian, units.hessian_unit) >= 2 ** (WIDE_BITS - 1)
    assert (units.fine_gradient_unit, units.fine_hessian_unit) == (units.gradient_unit, units.hessian_unit)


@pytest.mark.parametrize("packed", [False, True])
def test_no_gradients_at_all(packed: bool) -> None:
    units = GradientUnits.of(0.0, 0.0, 10, packed)
    assert (units.gradient_unit, units.hessian_unit) == (1.0, 1.0)


@pytest.mark.parametrize("largest", [1e-300, 1e-310, 5e-324])
def test_units_of_the_smallest_numbers_have_an_inverse(largest: float) -> None:
    found = unit(largest, WIDE_BITS)
    assert math.isfinite(1.0 / found)
