"""The natural logarithm, the same on every processor: additions, multiplications, divisions and shifts of bits only.

x = 2^k m with k whole and m between sqrt(1/2) and sqrt(2). With f = m - 1 and s = f / (2 + f),
log m = 2 artanh s = 2 s + s^3 R(s^2), R a polynomial, and 2 s = f - s f, of which f is exact.

Entropies need one logarithm after the other, so for them there is one without a division: the range of m is cut into
128 parts with a point c in each, one of which is 1, and with r = (m - c) / c
log x = k log 2 + log c + log(1 + r), the last of which is a short polynomial.
"""

from __future__ import annotations

import math
from decimal import Context, Decimal

import numpy as np

from sapwood.kernels._jit import part
from sapwood.kernels.exponential import LN2_HIGH, LN2_LOW, LOG2_E, MANTISSA, exponential
from sapwood.kernels.float_bits import bits_of, float_of

SQRT_HALF = np.uint64(0x3FE6A09E667F3BCD)  # bits of sqrt(1/2)
TO_ONE = np.uint64(0x3FF0000000000000) - SQRT_HALF  # makes the exponent of a number that of its m
FRACTION = np.uint64((1 << 52) - 1)
COUNTED = np.uint64(0x4330000000000000)  # bits of 2^52; a whole number in its lowest bits is added to it
COUNTED_BIAS = 4503599627370496.0 + 1023.0
LEAST_NORMAL, RAISED, RAISED_BY = 2.2250738585072014e-308, 18014398509481984.0, 54.0  # 2^54

# R at the points of Chebyshev; its error is a hundredth of the last bit of log m
R0, R1, R2, R3 = 0.666666666666667, 0.39999999999899444, 0.2857142862600327, 0.22222211130259878
R4, R5, R6 = 0.18182889455674947, 0.15331710618210773, 0.14616585424888623

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
def parts_of(x):
    """The numbers k and m of a normal number above 0."""
    bits = bits_of(x) + TO_ONE
    return float_of((bits >> MANTISSA) | COUNTED) - COUNTED_BIAS, float_of((bits & FRACTION) + SQRT_HALF)


@part
def joined(k, m):
    """The sum of k log 2 and log m."""
    f = m - 1.0
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    rest = z * (R0 + w * (R2 + w * (R4 + w * R6))) + w * (R1 + w * (R3 + w * R5))
    half = 0.5 * f * f
    return k * LN2_HIGH + (f + ((s * (half + rest) + k * LN2_LOW) - half))


@part
def log_of_normal(x):
    """log(x) to within one unit of the last place; x is a normal number above 0, and finite."""
    k, m = parts_of(x)
    return joined(k, m)


@part
def quick_log(x):
    """The same by the points, to within 2^-53 or 1.5 units of the last place; exactly 0 of 1."""
    k, m = parts_of(x)
    place = (bits_of(m) - SQRT_HALF) >> TO_PART
    r = (m - POINTS[place, 0]) * POINTS[place, 1]
    z = r * r
    rest = z * ((-1 / 2 + r * (1 / 3)) + z * ((-1 / 4 + r * (1 / 5)) + z * (-1 / 6 + r * (1 / 7))))
    return (k * LN2_HIGH + POINTS[place, 2]) + (r + (rest + k * LN2_LOW))


@part
def logarithm(x):
    """log(x) of any number: -inf of 0, NaN below, inf of inf, NaN of NaN; subnormal numbers like all others."""
    is_small = x < LEAST_NORMAL
    k, m = parts_of(x * RAISED if is_small else x)
    found = joined(k - RAISED_BY if is_small else k, m)
    found = -math.inf if x == 0.0 else found
    found = math.nan if x < 0.0 else found
    return found if x < math.inf else x


@part
def binary_logarithm(x):
    """log2(x) of a normal number above 0; exact for powers of 2."""
    k, m = parts_of(x)
    return k + joined(0.0, m) * LOG2_E


@part
def log_one_plus(x):
    """log(1 + x) for x above -1 and less than infinity, exact to the last places for the smallest x, too."""
    whole = 1.0 + x
    lost = x - (whole - 1.0)
    return log_of_normal(whole) + lost / whole


@part
def log_one_plus_exp(x):
    """log(1 + e^x), without overflow; NaN of NaN."""
    return (x if x > 0.0 else 0.0) + log_one_plus(exponential(x if x < 0.0 else -x))
