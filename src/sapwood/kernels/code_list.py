"""The codes of a column that occur in a node, in order: a bitmap that is written row by row and read off once.

A column of many codes is *deep*: its bitmap has two levels, a bit of the summary for each word that is not 0.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lowest_bit, part

FLAT = 4096  # codes whose bitmap is read word by word; a column of more is deep
SIX = np.uint64(6)
TWELVE = np.uint64(12)
LOW_6 = np.uint64(63)
BIT = np.uint64(1)


@part
def note_code(c, is_deep, occupied, summary):
    """Note that a code occurs; OUT occupied, summary."""
    occupied[c >> SIX] |= BIT << (c & LOW_6)
    if is_deep:
        summary[c >> TWELVE] |= BIT << ((c >> SIX) & LOW_6)


@inner_kernel
def list_codes(frame, top, is_deep):
    """Codes that occur, ascending, without code 0; `top` is the largest. Returns how many.

    OUT code; occupied and summary become zero.
    """
    occupied, summary, code, g = frame.occupied, frame.summary, frame.code, np.int64(0)
    for upper in range((top >> (TWELVE if is_deep else SIX)) + BIT):
        words, first = (summary[upper], upper << SIX) if is_deep else (BIT, upper)
        if is_deep:
            summary[upper] = 0
        while words != 0:
            word = first + lowest_bit(words)
            words &= words - BIT
            bits = occupied[word]
            occupied[word] = 0
            while bits != 0:
                c = (word << SIX) + lowest_bit(bits)
                bits &= bits - BIT
                code[g] = c
                g += np.int64(c > 0)
    return g
