"""The numbers of `numpy.random.Generator(numpy.random.Philox(seed)).random`, for draws inside of kernels.

NumPy makes a key of 128 bits from the seed (O'Neill's `seed_seq`), and Philox4x64-10 (Salmon et al., 2011) a block of
four numbers from the key and a counter: ten rounds, each of which multiplies two of the four words by constants, to 128
bits, and exchanges them.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.draws import uniform

M_0, M_1 = np.uint64(0xD2E7470EE14C6C93), np.uint64(0xCA5A826395121157)
W_0, W_1 = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xBB67AE8584CAA73B)
LOW, HALF = np.uint64(0xFFFFFFFF), np.uint64(32)
ROUNDS, BLOCK = 10, 4

# Of NumPy's SeedSequence, all numbers of 32 bits:
WORDS = 4
BEGIN_IN, STEP_IN = np.uint32(0x43B0D7E5), np.uint32(0x931E8875)
BEGIN_OUT, STEP_OUT = np.uint32(0x8B51F9DD), np.uint32(0x58F38DED)
MIX_LEFT, MIX_RIGHT, SIXTEEN = np.uint32(0xCA01F9DD), np.uint32(0x4973F715), np.uint32(16)


@part
def scrambled(word, before, after):
    """A word, exclusive-or the constant before, times the one after."""
    product = np.uint32((word ^ before) * after)
    return product ^ (product >> SIXTEEN)


@part
def mixed(left, right):
    """Two words as one."""
    product = np.uint32(MIX_LEFT * left - MIX_RIGHT * right)
    return product ^ (product >> SIXTEEN)


@lean_kernel
def key_of_seed(seed, pool):
    """The key's two words of 64 bits; OUT pool, four words of 32 bits."""
    constant = BEGIN_IN
    for i in range(WORDS):
        word = np.uint32(seed & LOW) if i == 0 else np.uint32(seed >> HALF) if i == 1 else np.uint32(0)
        after = np.uint32(constant * STEP_IN)
        pool[i] = scrambled(word, constant, after)
        constant = after
    for source in range(WORDS):
        for target in range(WORDS):
            if source != target:
                after = np.uint32(constant * STEP_IN)
                pool[target] = mixed(pool[target], scrambled(pool[source], constant, after))
                constant = after
    constant = BEGIN_OUT
    for i in range(WORDS):
        after = np.uint32(constant * STEP_OUT)
        pool[i] = scrambled(pool[i], constant, after)
        constant = after
    return np.uint64(pool[0]) | np.uint64(pool[1]) << HALF, np.uint64(pool[2]) | np.uint64(pool[3]) << HALF


@part
def high_product(a, b):
    """The upper 64 of the 128 bits of a product."""
    a_low, a_high, b_low, b_high = a & LOW, a >> HALF, b & LOW, b >> HALF
    middle = a_high * b_low + (a_low * b_low >> HALF)
    return a_high * b_high + (middle >> HALF) + ((a_low * b_high + (middle & LOW)) >> HALF)


@lean_kernel
def write_uniforms(seed, pool, out):
    """Numbers in [0, 1); OUT pool (four words of 32 bits), out."""
    key_0, key_1 = key_of_seed(np.uint64(seed), pool)
    for first in range(0, len(out), BLOCK):
        a, b, c, d = np.uint64(first // BLOCK + 1), np.uint64(0), np.uint64(0), np.uint64(0)
        k_0, k_1 = key_0, key_1
        for _ in range(ROUNDS):
            high_a, high_c = high_product(M_0, a), high_product(M_1, c)
            a, b, c, d = high_c ^ b ^ k_0, M_1 * c, high_a ^ d ^ k_1, M_0 * a
            k_0, k_1 = k_0 + W_0, k_1 + W_1
        for place in range(first, min(first + BLOCK, len(out))):
            out[place] = uniform(a)
            a, b, c = b, c, d
