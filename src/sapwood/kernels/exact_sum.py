"""Exact sums of float64 numbers, which do not depend on the order of the numbers or on how they are cut into parts.

Every finite float64 is a whole number of 2^-1074 with a sign. A sum is such a whole number, in limbs of 32 bits:

    sum = 2^-1074 (limb_0 + limb_1 2^32 + … + limb_66 2^2112) + (+inf terms) inf - (-inf terms) inf + (NaN terms) NaN

A term touches three limbs. Limbs are int64, so that the carries of 2^29 terms wait for the end; sums are merged by
adding their arrays. The last limb has the sign.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.float_bits import bits_of, float_of

TOP = 66  # the last limb
PLUS_INF, MINUS_INF, NANS = 67, 68, 69  # how many terms are so
LENGTH = 70
MOST_TERMS = 1 << 29  # between two carries

BITS_OF_LIMB, LIMB_SHIFT = np.uint64(32), np.uint64(5)
LOW, PLACE_IN_LIMB = np.uint64(0xFFFFFFFF), np.uint64(31)
LOW_SIGNED, BITS_SIGNED = np.int64(0xFFFFFFFF), np.int64(32)
MANTISSA_BITS, MANTISSA = np.uint64(52), np.uint64((1 << 52) - 1)
HIDDEN, SPECIAL = np.uint64(1 << 52), np.uint64(0x7FF)
UNIT, TWO, SIGN_PLACE, WORD = np.uint64(1), np.uint64(2), np.uint64(63), np.uint64(64)


@part
def add_special(sums, mantissa, sign):
    """Count an infinity or a NaN; OUT sums."""
    if mantissa != 0:
        sums[NANS] += 1
    elif sign > 0:
        sums[PLUS_INF] += 1
    else:
        sums[MINUS_INF] += 1


@part
def add_term(sums, x):
    """Add a number to a sum; OUT sums."""
    bits = bits_of(x)
    exponent, mantissa = (bits >> MANTISSA_BITS) & SPECIAL, bits & MANTISSA
    sign = np.int64(1) - np.int64((bits >> SIGN_PLACE) << UNIT)
    if exponent == SPECIAL:
        add_special(sums, mantissa, sign)
    else:
        if exponent > 0:
            mantissa |= HIDDEN
            exponent -= UNIT
        limb, shift = exponent >> LIMB_SHIFT, exponent & PLACE_IN_LIMB
        low, high = (mantissa & LOW) << shift, (mantissa >> BITS_OF_LIMB) << shift
        sums[limb] += sign * np.int64(low & LOW)
        sums[limb + UNIT] += sign * np.int64((low >> BITS_OF_LIMB) + (high & LOW))
        sums[limb + TWO] += sign * np.int64(high >> BITS_OF_LIMB)


@inner_kernel
def carry(sums):
    """Bring every limb but the last into 0 … 2^32 - 1; OUT sums."""
    for i in range(TOP):
        sums[i + 1] += sums[i] >> BITS_SIGNED
        sums[i] &= LOW_SIGNED


@lean_kernel
def add_terms(values, weight, sums):
    """Add values, or with weights their products (rounded as floats are), to a sum; OUT sums."""
    for start in range(0, len(values), MOST_TERMS):
        for i in range(start, min(start + MOST_TERMS, len(values))):
            add_term(sums, values[i] if weight is None else weight[i] * values[i])
        carry(sums)


@lean_kernel
def add_terms_by_group(values, weight, group, sums):
    """The same for the sum of each row's group, (groups, LENGTH); rows of a higher group belong to none. OUT sums."""
    n_groups = len(sums)
    for start in range(0, len(values), MOST_TERMS):
        for i in range(start, min(start + MOST_TERMS, len(values))):
            if 0 <= group[i] < n_groups:
                add_term(sums[group[i]], values[i] if weight is None else weight[i] * values[i])
        for g in range(n_groups):
            carry(sums[g])


@lean_kernel
def add_clipped_by_group(values, weight, group, centres, limit, sums):
    """Add clip(v - c, -limit, limit) for each of its group's centres (groups, centres), but NaN.

    OUT sums (groups, centres, LENGTH); group None is group 0.
    """
    n_groups, n_centres = centres.shape
    for start in range(0, len(values), MOST_TERMS):
        for i in range(start, min(start + MOST_TERMS, len(values))):
            g = np.int64(0) if group is None else np.int64(group[i])
            if 0 <= g < n_groups and centres[g, 0] == centres[g, 0]:
                for j in range(n_centres):
                    term = min(max(values[i] - centres[g, j], -limit), limit)
                    add_term(sums[g, j], term if weight is None else weight[i] * term)
        for g in range(n_groups):
            for j in range(n_centres):
                carry(sums[g, j])


@lean_kernel
def carry_all(sums):
    """Bring the limbs of sums that were merged into their ranges; OUT sums."""
    for g in range(len(sums)):
        carry(sums[g])


@part
def limb_bits(sums, limb):
    """A limb's bits; those beyond the last are 0."""
    return np.uint64(sums[limb]) if limb <= TOP else np.uint64(0)


@part
def leading_place(sums):
    """The place of the highest bit of a number of at least 0; 0 if there is none."""
    limb = TOP
    while limb > 0 and sums[limb] == 0:
        limb -= 1
    place, rest = 32 * limb, sums[limb] >> 1
    while rest > 0:
        place, rest = place + 1, rest >> 1
    return place


@inner_kernel
def round_one(sums):
    """The float64 nearest to a sum of at least 0, ties to even."""
    last = leading_place(sums)
    if last <= 52:
        return float_of(limb_bits(sums, 0) | limb_bits(sums, 1) << BITS_OF_LIMB)
    first = last - 52  # the place of the lowest bit that is kept
    if first > 2045:
        return np.inf
    limb, shift = first >> 5, np.uint64(first & 31)
    kept = limb_bits(sums, limb) >> shift | limb_bits(sums, limb + 1) << (BITS_OF_LIMB - shift)
    if shift > 0:
        kept |= limb_bits(sums, limb + 2) << (WORD - shift)
    half, half_place = (first - 1) >> 5, np.uint64((first - 1) & 31)
    if limb_bits(sums, half) >> half_place & UNIT != 0:
        rest = limb_bits(sums, half) & ((UNIT << half_place) - UNIT)
        for i in range(half):
            rest |= limb_bits(sums, i)
        if rest != 0 or kept & UNIT != 0:
            kept += UNIT  # may carry into the exponent, as it should
    return float_of((np.uint64(first) << MANTISSA_BITS) + kept)


@lean_kernel
def round_sums(sums, out):
    """The float64 nearest to each sum; OUT out, and sums, which become their sizes without signs."""
    for g in range(len(sums)):
        own = sums[g]
        if own[NANS] > 0 or (own[PLUS_INF] > 0 and own[MINUS_INF] > 0):
            out[g] = np.nan
        elif own[PLUS_INF] > 0:
            out[g] = np.inf
        elif own[MINUS_INF] > 0:
            out[g] = -np.inf
        else:
            sign = 1.0
            if own[TOP] < 0:
                sign = -1.0
                for i in range(TOP + 1):
                    own[i] = -own[i]
                carry(own)
            out[g] = sign * round_one(own) + 0.0
