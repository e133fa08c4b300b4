"""The codes of a column that occur in a node, in order: a bitmap that is written row by row and read off once."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, lowest_bit, part

FLAT = 4096  # codes whose bitmap is read word by word; that of more has a summary
SIX = np.uint64(6)
TWELVE = np.uint64(12)
LOW_6 = np.uint64(63)
BIT = np.uint64(1)


@part
def note_code(c, top, occupied, summary):
    """Note in a bitmap that a code occurs; OUT occupied, summary; returns the last word of the upper level.

    A column of many codes has a bitmap of two levels: a bit of the summary for each word of `occupied` that is not 0.
    """
    occupied[c >> SIX] |= BIT << (c & LOW_6)
    if summary is None:
        return max(top, c >> SIX)
    summary[c >> TWELVE] |= BIT << ((c >> SIX) & LOW_6)
    return max(top, c >> TWELVE)


@part
def list_word(word, g, occupied, code):
    """Append the codes of a word of the bitmap, code 0 aside; OUT code, occupied becomes zero."""
    bits = occupied[word]
    occupied[word] = 0
    while bits != 0:
        c = (word << SIX) + lowest_bit(bits)
        bits &= bits - BIT
        code[g] = c
        g += np.int64(c > 0)
    return g


@lean_kernel
def list_codes(top, occupied, summary, code):
    """Codes that occur, ascending, without code 0; OUT code; the bitmap becomes zero; returns how many."""
    g = np.int64(0)
    for upper in range(top + BIT):
        if summary is None:
            g = list_word(upper, g, occupied, code)
        else:
            words = summary[upper]
            summary[upper] = 0
            while words != 0:
                word = (upper << SIX) + lowest_bit(words)
                words &= words - BIT
                g = list_word(word, g, occupied, code)
    return g
