"""Counts of rows between bounds, from which the k-th smallest number of many parts is found.

Numbers are compared by keys: uint64 in the order of the numbers. Rows may belong to groups; each group is looked at
between bounds of its own, its *brackets*. Weights count in whole units of the group, at least one if above 0.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.float_bits import bits_of

SIGN, SIGN_PLACE = np.uint64(1 << 63), np.uint64(63)


@lean_kernel
def write_keys(values, keys):
    """Keys in the order of float64 numbers; both zeros have the same. OUT keys."""
    for i in range(len(values)):
        bits = bits_of(values[i] + 0.0)
        keys[i] = ~bits if bits >> SIGN_PLACE != 0 else bits | SIGN


@part
def group_of(group, i):
    """A row's group; 0 where there is but one."""
    return np.int64(0) if group is None else np.int64(group[i])


@part
def units_of(weight, inverse_unit, g, i):
    """A row's weight in whole units."""
    return np.int64(1) if weight is None else max(np.int64(1), np.int64(np.rint(weight[i] * inverse_unit[g])))


@lean_kernel
def write_facts(keys, weight, group, rows, least, most, largest):
    """How many rows of weight above 0 each group has, their least and largest key and weight; OUT all four."""
    for i in range(len(keys)):
        g = group_of(group, i)
        if 0 <= g < len(rows) and (weight is None or weight[i] > 0.0):
            rows[g] += 1
            least[g], most[g] = min(least[g], keys[i]), max(most[g], keys[i])
            if weight is not None:
                largest[g] = max(largest[g], weight[i])


@lean_kernel
def count_buckets(keys, weight, group, inverse_unit, starts, low, high, shift, units, rows):
    """Count each bracket's buckets of 2^shift keys; OUT units, rows (brackets, buckets).

    The brackets of group g are those from starts[g] on, and have keys low … high.
    """
    for i in range(len(keys)):
        g = group_of(group, i)
        if 0 <= g < len(starts) - 1 and (weight is None or weight[i] > 0.0):
            for b in range(starts[g], starts[g + 1]):
                if low[b] <= keys[i] <= high[b]:
                    bucket = (keys[i] - low[b]) >> shift[b]
                    units[b, bucket] += units_of(weight, inverse_unit, g, i)
                    rows[b, bucket] += 1


@lean_kernel
def write_inside(keys, weight, group, inverse_unit, starts, low, high, found_bracket, found_key, found_units):
    """The rows inside of brackets; where they are not None, OUT found_bracket, found_key, found_units.

    Returns how many there are.
    """
    n = 0
    for i in range(len(keys)):
        g = group_of(group, i)
        if 0 <= g < len(starts) - 1 and (weight is None or weight[i] > 0.0):
            for b in range(starts[g], starts[g + 1]):
                if low[b] <= keys[i] <= high[b]:
                    if found_key is not None:
                        found_bracket[n], found_key[n] = b, keys[i]
                        found_units[n] = units_of(weight, inverse_unit, g, i)
                    n += 1
    return n


@part
def exchange(keys, units, a, b):
    """Two rows change places; OUT keys, units."""
    keys[a], keys[b] = keys[b], keys[a]
    units[a], units[b] = units[b], units[a]


@part
def middle_of(a, b, c):
    """The middle one of three keys."""
    return max(min(a, b), min(max(a, b), c))


@inner_kernel
def select_one(keys, units, first, last, rank):
    """The least key up to which the units of rows first … last - 1 add up to the rank, and the units below it.

    Quickselect: rows are put into those below, at and above one of the keys. OUT keys and units, in another order.
    """
    below = np.int64(0)
    while True:
        pivot = middle_of(keys[first], keys[(first + last) >> 1], keys[last - 1])
        at, end, stop, less, equal = first, first, last, np.int64(0), np.int64(0)
        while end < stop:  # first … at - 1 are below, at … end - 1 equal, stop … last - 1 above
            if keys[end] < pivot:
                less += units[end]
                exchange(keys, units, at, end)
                at, end = at + 1, end + 1
            elif keys[end] > pivot:
                stop -= 1
                exchange(keys, units, end, stop)
            else:
                equal += units[end]
                end += 1
        if rank <= below + less:
            last = at
        elif rank <= below + less + equal:
            return pivot, below + less
        else:
            below += less + equal
            first = stop


@lean_kernel
def select_ranks(keys, units, starts, bracket, ranks, found, below):
    """Select among the rows starts[b] … starts[b + 1] - 1 of each target's bracket b; OUT found, below, keys, units."""
    for t in range(len(bracket)):
        first, last = starts[bracket[t]], starts[bracket[t] + 1]
        found[t], below[t] = select_one(keys, units, first, last, ranks[t])


@part
def whole_size(size, inverse_unit):
    """A size above 0 in units, at least 1."""
    return max(np.int64(1), np.int64(np.rint(size * inverse_unit)))


@lean_kernel
def write_whole_sizes(sizes, inverse_unit, out):
    """The sizes above 0 in units; OUT out; returns how many."""
    n = 0
    for i in range(len(sizes)):
        if sizes[i] > 0.0:
            out[n] = whole_size(sizes[i], inverse_unit)
            n += 1
    return n


@lean_kernel
def count_sizes(sizes, inverse_unit, low, shift, counts, sums):
    """Number and sum of the sizes above 0 in units, by buckets of 2^shift from `low` on; OUT counts, sums."""
    for i in range(len(sizes)):
        if sizes[i] > 0.0:
            size = whole_size(sizes[i], inverse_unit)
            if size >= low:
                bucket = (size - low) >> shift
                if bucket < len(counts):
                    counts[bucket] += 1
                    sums[bucket] += size
