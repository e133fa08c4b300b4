"""Sorting of one column: rows in order of value, ties in order of row.

A radix sort on the bits of the values: a float's bits, with the sign bit turned for positive numbers and all bits
turned for negative ones, order as unsigned integers like the floats themselves. It is stable and does the same work
on every machine.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, kernel

DIGIT = 11
BUCKETS = 1 << DIGIT


@kernel
def order_keys(bits, sign, keys):
    """Turn float bits into keys that order as unsigned integers; OUT keys."""
    for i in range(len(bits)):
        keys[i] = ~bits[i] if bits[i] & sign else bits[i] | sign


@kernel
def radix_sort(keys, rows, n_bits, spare_keys, spare_rows, count):
    """Sort rows by keys; returns the sorted (keys, rows), which are either pair of arrays. OUT count: scratch."""
    n = len(keys)
    mask = np.uint64(BUCKETS - 1)
    shift = 0
    while shift < n_bits:
        move = np.uint64(shift)
        count[:] = 0
        for i in range(n):
            count[(np.uint64(keys[i]) >> move) & mask] += 1
        shift += DIGIT
        if count[(np.uint64(keys[0]) >> move) & mask] == n:
            continue  # every key has the same digit
        total = 0
        for b in range(BUCKETS):
            total, count[b] = total + count[b], total
        for i in range(n):
            digit = (np.uint64(keys[i]) >> move) & mask
            at = count[digit]
            count[digit] = at + 1
            spare_keys[at] = keys[i]
            spare_rows[at] = rows[i]
        keys, spare_keys = spare_keys, keys
        rows, spare_rows = spare_rows, rows
    return keys, rows


@kernel
def count_runs(keys):
    """(number of distinct keys, length of the longest run, where it starts) of sorted keys."""
    n_distinct, best, best_start, start = 0, 0, 0, 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1]:
            n_distinct += 1
            start = i
        if i - start + 1 > best:
            best, best_start = i - start + 1, start
    return n_distinct, best, best_start


@kernel
def write_entries(keys, rows, first, last, entries):
    """Write sorted rows as `row << 1 | tied`; OUT entries."""
    for i in range(first, last):
        tied = i > first and keys[i] == keys[i - 1]
        entries[i - first] = (np.uint32(rows[i]) << ONE) | np.uint32(tied)


@kernel
def write_codes(rows, cuts, codes):
    """Write code b + 1 for the sorted rows in [cuts[b], cuts[b + 1]); OUT codes."""
    for b in range(len(cuts) - 1):
        for i in range(cuts[b], cuts[b + 1]):
            codes[rows[i]] = b + 1
