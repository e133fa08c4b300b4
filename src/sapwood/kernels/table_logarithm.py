"""A logarithm without a division, for entropies, which need one after the other.

x = 2^k m as in `logarithm`. The range of m is cut into 128 parts with a point c in each, and with r = (m - c) / c
log x = k log 2 + log c + log(1 + r), the last of which is a short polynomial. One of the points is 1.
"""

from __future__ import annotations

from decimal import Context, Decimal

import numpy as np

from sapwood.kernels._jit import part
from sapwood.kernels.exponential import LN2_HIGH, LN2_LOW, MANTISSA
from sapwood.kernels.float_bits import bits_of, float_of
from sapwood.kernels.logarithm import COUNTED, COUNTED_BIAS, FRACTION, SQRT_HALF, TO_ONE

PARTS = 128
EXACT = Context(prec=40, traps=[])  # not that of the caller
TO_PART = np.uint64(52 - 7)


def _points() -> np.ndarray:
    """The points c, 1 / c and log c; Python's decimal logarithm is the same everywhere."""
    first, width = int(SQRT_HALF), 1 << int(TO_PART)
    c = (first + width * np.arange(PARTS, dtype=np.uint64) + np.uint64(width // 2)).view(np.float64)
    c[(int(np.float64(1.0).view(np.uint64)) - first) // width] = 1.0
    return np.stack([c, 1.0 / c, [float(Decimal(float(one)).ln(EXACT)) for one in c]], axis=1)


POINTS = _points()


@part
def quick_log(x):
    """log(x) of a normal number above 0, to within 2^-53 or 1.5 units of the last place; exactly 0 of 1."""
    bits = bits_of(x) + TO_ONE
    k = float_of((bits >> MANTISSA) | COUNTED) - COUNTED_BIAS
    fraction = bits & FRACTION
    place = fraction >> TO_PART
    r = (float_of(fraction + SQRT_HALF) - POINTS[place, 0]) * POINTS[place, 1]
    z = r * r
    rest = z * ((-1 / 2 + r * (1 / 3)) + z * ((-1 / 4 + r * (1 / 5)) + z * (-1 / 6 + r * (1 / 7))))
    return (k * LN2_HIGH + POINTS[place, 2]) + (r + (rest + k * LN2_LOW))
