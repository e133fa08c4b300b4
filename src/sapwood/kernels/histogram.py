"""Histograms: for every column and code, the sums of gradients and hessians of a node's rows.

Gradients are whole numbers, so sums do not depend on the order of the rows, and a sibling is parent minus child to
the last bit. Two forms of a row's numbers:

packed  a record is row << 32 | gradient << 16 | hessian; both are added at once as (gradient << 32) + hessian into
        one int64 per code, which is widened into two before it can overflow: after `block_rows` rows
wide    a record is row << 32, and `quanta` holds two int64 per row (some 40 bits), for data small enough to be exact
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part, prefetch

BYTE = np.uint64(255)
EIGHT = np.uint64(8)
CODES = np.uint64(256)
HALF = np.uint64(32)
LOW = np.uint64(0xFFFF)
SIXTEEN = np.uint64(16)
NONE = np.uint64(0)
ONE = np.uint64(1)
AHEAD = np.uint64(24)  # rows to fetch in advance: about the time that memory takes to answer
LOW_HALF = np.int64(0xFFFFFFFF)


@part
def add_words(word, other_word, n, at, value, other_value, packed):
    """Add the values of two rows for `n` columns, whose codes are the bytes of their words; OUT packed."""
    for _ in range(n):
        packed[at + (word & BYTE)] += value
        packed[at + (other_word & BYTE)] += other_value
        word >>= EIGHT
        other_word >>= EIGHT
        at += CODES
    return at


@part
def packed_value(record):
    """(gradient << 32) + hessian."""
    return (np.int64(np.int16(record >> SIXTEEN)) << 32) + np.int64(record & LOW)


@lean_kernel
def add_packed(records, first, last, words, n_words, n_features, packed):
    """Add the rows of a block, two at a time, so that one's memory is awaited while the other is added; OUT packed."""
    full = n_features >> np.uint64(3)
    rest = n_features & np.uint64(7)
    for i in range(first, last, np.uint64(2)):
        pair = i + ONE < last
        record, other = records[i], records[i + ONE if pair else i]
        prefetch(words, (records[min(i + AHEAD, last - ONE)] >> HALF) * n_words)
        prefetch(words, (records[min(i + AHEAD + ONE, last - ONE)] >> HALF) * n_words)
        value, other_value = packed_value(record), packed_value(other) if pair else np.int64(0)
        start, other_start = (record >> HALF) * n_words, (other >> HALF) * n_words
        at = NONE
        for j in range(full):
            at = add_words(words[start + j], words[other_start + j], EIGHT, at, value, other_value, packed)
        if rest > NONE:
            add_words(words[start + full], words[other_start + full], rest, at, value, other_value, packed)


@lean_kernel
def widen(packed, out):
    """Move packed sums to wide ones; OUT packed becomes zero."""
    for i in range(len(packed)):
        out[i, 0] += packed[i] >> 32
        out[i, 1] += packed[i] & LOW_HALF
        packed[i] = 0


@lean_kernel
def add_wide(records, first, last, words, n_words, n_features, quanta, out):
    """Add the rows of a block; out[:, 2] counts rows where it exists. OUT out."""
    counts = out.shape[1] > 2
    for i in range(first, last):
        row = records[i] >> HALF
        gradient, hessian = quanta[row, 0], quanta[row, 1]
        word, at = NONE, NONE
        for j in range(n_features):
            if j & np.uint64(7) == NONE:
                word = words[row * n_words + (j >> np.uint64(3))]
            cell = at + (word & BYTE)
            out[cell, 0] += gradient
            out[cell, 1] += hessian
            if counts:
                out[cell, 2] += 1
            word >>= EIGHT
            at += CODES


@lean_kernel
def build_one(first, last, records, words, n_words, n_features, block_rows, quanta, packed, out):
    """Histogram of consecutive records; OUT out."""
    out[:] = 0
    first, last = np.uint64(first), np.uint64(last)
    if quanta is not None:
        add_wide(records, first, last, words, n_words, n_features, quanta, out)
    else:
        while first < last:
            end = min(first + block_rows, last)
            add_packed(records, first, end, words, n_words, n_features, packed)
            widen(packed, out)
            first = end


@lean_kernel
def build(pieces, records, words, n_words, n_features, block_rows, quanta, packed, pool):
    """Histograms of pieces (first record, last record, slot of the pool), one after the other; OUT pool."""
    for p in range(len(pieces)):
        out = pool[pieces[p, 2]]
        build_one(pieces[p, 0], pieces[p, 1], records, words, n_words, n_features, block_rows, quanta, packed, out)


@lean_kernel
def add_to(pool, target, source):
    """Add one slot to another; OUT pool[target]."""
    into, other = pool[target], pool[source]
    for i in range(into.shape[0]):
        for d in range(into.shape[1]):
            into[i, d] += other[i, d]


@lean_kernel
def subtract_one(parent, smaller):
    """The parent's histogram becomes the larger child's; OUT parent."""
    for i in range(parent.shape[0]):
        for d in range(parent.shape[1]):
            parent[i, d] -= smaller[i, d]


@lean_kernel
def subtract(pool, parents, smaller):
    """The parents' slots become the larger children's; OUT pool."""
    for k in range(len(parents)):
        subtract_one(pool[parents[k]], pool[smaller[k]])
