"""The exponential function, and derivatives of losses made of it.

e^x = 2^k e^r with k whole and |r| <= ln(2) / 2. With P = r coth(r / 2), which is a polynomial in r^2 to the last bit,
e^r = (P + r) / (P - r).

Only additions, multiplications, divisions and shifts of bits, each of them rounded: the results are the same on every
processor, which those of the system's functions are not, and the compiler can compute many at a time.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.float_bits import bits_of, float_of

LOG2_E = 1.4426950408889634
LN2 = 0.6931471805599453
LN2_HIGH, LN2_LOW = 6.93147180369123816490e-01, 1.90821492927058770002e-10  # their sum is ln(2) to 100 bits
TO_WHOLE = 6755399441055744.0  # 1.5 * 2^52: a number added to it is rounded to a whole one, found in its lowest bits
TO_WHOLE_BITS = np.uint64(0x4338000000000000)
BIAS, MANTISSA, ONE = np.uint64(1023), np.uint64(52), np.uint64(1)
LEAST, MOST = -746.0, 710.0  # beyond, e^x is 0 or infinite
LEAST_NORMAL, MOST_NORMAL = -708.0, 709.0  # beyond, e^x is no ordinary float64

# (P - 2) / r^2 at the points of Chebyshev; its error is a hundredth of the last bit of e^r
P1, P2, P3 = 0.1666666666666666, -0.0027777777777564404, 6.613756471622828e-05
P4, P5 = -1.6534060033836456e-06, 4.1437662804024295e-08


@part
def parted(x):
    """The whole number k nearest to x / ln(2), as the lowest bits of a float64, and what is left of x."""
    whole = x * LOG2_E + TO_WHOLE
    k = whole - TO_WHOLE
    return bits_of(whole) - TO_WHOLE_BITS, (x - k * LN2_HIGH) - k * LN2_LOW


@part
def beyond_two(r):
    """P - 2."""
    z = r * r
    return z * (P1 + z * (P2 + z * (P3 + z * (P4 + z * P5))))


@part
def joined(k, r):
    """The product 2^k e^r in two steps, because 2^k alone may be too large or too small for a float64."""
    c = r - beyond_two(r)
    both = k + (BIAS + BIAS)
    half = both >> ONE
    return (1.0 + (r + r * c / (2.0 - c))) * float_of(half << MANTISSA) * float_of((both - half) << MANTISSA)


@part
def exponential(x):
    """e^x to within one unit of the last place; inf above 709.78, 0 below -745.13, subnormal before; NaN of NaN."""
    x = LEAST if x < LEAST else x
    k, r = parted(MOST if x > MOST else x)
    return joined(k, r)


@part
def power_of_two(x):
    """2^x; exact for whole x. Zero, infinity and NaN as above."""
    x = LEAST / LN2 if x < LEAST / LN2 else x
    x = MOST / LN2 if x > MOST / LN2 else x
    whole = x + TO_WHOLE
    return joined(bits_of(whole) - TO_WHOLE_BITS, (x - (whole - TO_WHOLE)) * LN2)


@part
def logistic(x):
    """1 / (1 + e^-x) to within three units of the last place; x is brought within [-709, 708]; NaN of NaN.

    With D = P - r it is D / (D + 2^k (P + r)), one division.
    """
    x = LEAST_NORMAL if -x < LEAST_NORMAL else -x
    k, r = parted(MOST_NORMAL if x > MOST_NORMAL else x)
    p = 2.0 + beyond_two(r)
    below = p - r
    return below / (below + float_of((k + BIAS) << MANTISSA) * (p + r))


@lean_kernel
def logistic_derivatives(y, score, least, gradient, hessian):
    """The differences p - y and products p (1 - p), from the share of the wrong class; OUT gradient, hessian."""
    for i in range(len(y)):
        side = 1.0 - 2.0 * y[i]
        wrong = logistic(side * score[i])
        gradient[i] = side * wrong
        hessian[i] = max(wrong * (1.0 - wrong), least)


@lean_kernel
def add_exponential(score, most, out, total):
    """e^(F - most) of each row; OUT out; total grows by it."""
    for i in range(len(score)):
        out[i] = exponential(score[i] - most[i])
        total[i] += out[i]


@lean_kernel
def class_derivatives(y, k, total, least, gradient, hessian):
    """The same for class k of many; the gradient holds e^F_k before. OUT gradient, hessian."""
    for i in range(len(y)):
        share = gradient[i] / total[i]
        gradient[i] = share - 1.0 if y[i] == k else share
        hessian[i] = max(share * (1.0 - share), least)
