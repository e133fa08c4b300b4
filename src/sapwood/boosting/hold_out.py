"""Rows that validate a training instead of learning: those of the smallest hashes, a share of all or of each class.

A hash is of a row's number among all rows (or of a query's), so parts of the rows find theirs from a threshold.
"""

from __future__ import annotations

import math

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.kernels.draws import mix, mix_into
from sapwood.row_parts.selection import Keyed
from sapwood.row_parts.smallest import smallest, taken

HELD_OUT = 0x484F4C44  # makes the key of these hashes from the seed


def held_out_rows(n: int, share: float, classes: Floats | None, seed: int) -> Ints:
    """Rows to validate on, ascending; there are as many of each class as its share, if classes are given."""
    rows = held_out_keys(seed, 0, n, classes)
    counts = np.array([n]) if classes is None else np.bincount(classes.astype(np.int64))
    (which,) = smallest(lambda question: [question(rows)], held_out_counts(counts, share))
    return taken(which, rows)


def held_out_keys(seed: int, first_row: int, n: int, classes: Floats | None) -> Keyed:
    """Hashes of a part's rows, which begin with this one among all rows, and their classes, if they are to be even."""
    keys = np.empty(n, dtype=np.uint64)
    mix_into(np.uint64(mix(np.uint64(seed), np.int64(HELD_OUT))), first_row, keys)
    return Keyed(keys, None, None if classes is None else classes.astype(np.int64))


def held_out_counts(counts: Ints, share: float) -> Ints:
    """How many rows of each class are held out, by how many there are; a share of all rows, rounded up.

    Each class gives its share rounded down, and those of the largest remainders one more; the last row of a class
    stays.
    """
    total = math.ceil(share * counts.sum())
    exact = total * counts / max(1, counts.sum())
    found: Ints = np.floor(exact).astype(np.int64)
    order: Array = np.argsort(found - exact, kind="stable")
    with_room = order[found[order] + 1 < counts[order]]
    found[with_room[: total - found.sum()]] += 1
    return found
