"""Randomness that is counted, not consumed: a draw is a hash of what it is for.

Two draws with the same key are equal whoever asks first, so a model does not depend on the order of its growth.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
S_30, S_27, S_31, S_11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)
S_16, LOW_16 = np.uint64(16), np.uint64(0xFFFF)


@lean_kernel
def mix(key, item):
    """A new 64-bit key from a key and an item (splitmix64)."""
    z = key ^ (np.uint64(item) * GOLDEN + GOLDEN)
    z = (z ^ (z >> S_30)) * MIX_1
    z = (z ^ (z >> S_27)) * MIX_2
    return z ^ (z >> S_31)


@lean_kernel
def uniform(key):
    """A float in [0, 1) from the top 53 bits of a key."""
    return np.float64(key >> S_11) * (1.0 / 9007199254740992.0)


@lean_kernel
def normal(key):
    """A number of mean 0 and variance 1, nearly normal: the sum of twelve uniform ones of 16 bits."""
    total = 0.0
    for i in range(3):
        bits = mix(key, np.int64(i))
        for _ in range(4):
            total += np.float64(bits & LOW_16)
            bits >>= S_16
    return (total + 6.0) * (1.0 / 65536.0) - 6.0


@lean_kernel
def mix_into(key, first, out):
    """New keys from a key and the numbers first, first + 1, first + 2, …; OUT out."""
    for i in range(len(out)):
        out[i] = mix(key, np.int64(first + i))
