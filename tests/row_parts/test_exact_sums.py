"""Exact sums against `math.fsum`, whole and in parts."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from part_cases import Array, cuts

from sapwood.row_parts.exact_sum import ExactSum
from strategies import EXAMPLES, examples, settings

many = settings(examples, max_examples=10 * EXAMPLES)
FINITE = st.floats(allow_nan=False, allow_infinity=False)
SMALL = st.integers(-(2**60), 2**60).map(lambda i: i * 5e-324)
TERMS = st.lists(st.one_of(FINITE, SMALL, st.floats(-1, 1)), max_size=12)


def added(terms: list[float]) -> float:
    """The specification; where the sum of a few terms overflows on the way, that of fractions."""
    try:
        return math.fsum(terms)
    except OverflowError:
        total = sum(map(Fraction, terms), Fraction(0))
        try:
            return float(total)
        except OverflowError:
            return math.inf if total > 0 else -math.inf


@many
@given(TERMS, st.data())
def test_sums_are_those_of_fsum(terms: list[float], data: st.DataObject) -> None:
    terms = [*terms, *data.draw(st.sampled_from([[], [-x for x in terms[:-1]]]))]  # which cancel
    values = np.array(terms, dtype=np.float64)
    whole = ExactSum.of(values)
    assert float(whole).hex() == added(terms).hex()
    parts = [ExactSum.of(values[of]) for of in data.draw(cuts(len(values)))]
    np.testing.assert_array_equal(ExactSum.merged(parts).limbs, whole.limbs)


@pytest.mark.parametrize(
    ("terms", "expected"),
    [
        ([1e308, 1e308], math.inf),
        ([-1e308, -1e308], -math.inf),
        ([1e308, 1e308, -1e308], 1e308),
        ([math.inf, 1.0], math.inf),
        ([-math.inf, 1e308, 1e308], -math.inf),
        ([math.inf, -math.inf], math.nan),
        ([math.nan, math.inf], math.nan),
        ([1.0, 2.0**-53], 1.0),  # a tie goes to the even one
        ([1.0, 2.0**-53, 5e-324], 1.0 + 2.0**-52),
        ([1.0 + 2.0**-52, 2.0**-53], 1.0 + 2.0**-51),
        ([2.0**-1022, -5e-324], 2.0**-1022 - 5e-324),
        ([-0.0], 0.0),
        ([], 0.0),
    ],
)
def test_sums_worked_by_hand(terms: list[float], expected: float) -> None:
    np.testing.assert_array_equal(float(ExactSum.of(np.array(terms))), expected)


@examples
@given(st.data())
def test_sums_of_groups_are_those_of_their_rows(data: st.DataObject) -> None:
    values = np.array(data.draw(TERMS), dtype=np.float64)
    rng = np.random.default_rng(len(values))
    group, weight = rng.integers(0, 4, len(values)).astype(np.uint16), rng.random(len(values))
    found = ExactSum.by_group(values, weight, group, 3)  # group 3 is none of them
    expected = [added((weight * values)[group == g].tolist()) for g in range(3)]
    np.testing.assert_array_equal(found.rounded(), expected)
    parts = [ExactSum.by_group(values[of], weight[of], group[of], 3) for of in data.draw(cuts(len(values)))]
    np.testing.assert_array_equal(ExactSum.merged(parts).limbs, found.limbs)


@examples
@given(st.lists(FINITE, min_size=1, max_size=8), st.sampled_from([0.5, 1.0, 9.0]))
def test_clipped_terms_are_those_around_each_centre(values: list[float], limit: float) -> None:
    centres, own = np.array([[0.0, 1.5]]), np.array(values)
    found = ExactSum.of_clipped(own, None, None, centres, limit).rounded()
    expected = [added(np.clip(own - c, -limit, limit).tolist()) for c in centres[0]]
    np.testing.assert_array_equal(found, expected)


@examples
@given(FINITE, st.integers(1, 50))
def test_the_mean_of_equal_numbers_is_the_number(value: float, n: int) -> None:
    assert ExactSum.of(np.full(n, value)).over(ExactSum.count(n)) == value


@examples
@given(TERMS.filter(bool))
def test_quotients_are_rounded_once(terms: list[float]) -> None:
    total = sum(map(Fraction, terms), Fraction(0))
    assert ExactSum.of(np.array(terms)).over(ExactSum.count(len(terms))) == float(total / len(terms))
    assert math.isnan(ExactSum.of(np.array(terms)).over(ExactSum.count(0)))


def test_many_terms_carry() -> None:
    values: Array = np.full(100_000, -(2.0**53 - 1))
    assert float(ExactSum.of(values)) == -(2.0**53 - 1) * 100_000
