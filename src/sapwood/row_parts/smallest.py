"""The rows of the smallest keys, a given number of each group, of rows that are spread over parts.

Of rows with the same key, the first ones are taken.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from sapwood.arrays import Ints
from sapwood.row_parts.selection import Ask, Keyed, Keys, select


class Smallest(NamedTuple):
    """Which rows of a part are taken, by group: all of lower keys, and the first so many of this key."""

    key: Keys
    n_equal: Ints


def smallest(ask: Ask, counts: Ints) -> list[Smallest]:
    """For each part, which of its rows are among the `counts` smallest of each group; no group has fewer rows."""
    found = select(ask, len(counts), lambda units: np.clip(counts, 1, np.maximum(units, 1))[:, None])
    keys, rest, answers = found.keys[:, 0], counts - found.below[:, 0], []
    for equal in ask(partial(count_equal, keys)):
        answers.append(Smallest(keys, np.minimum(equal, rest)))
        rest = rest - answers[-1].n_equal
    return answers


def count_equal(keys: Keys, rows: Keyed) -> Ints:
    """How many rows of a part have their group's key."""
    group = np.zeros(len(rows.keys), dtype=np.int64) if rows.group is None else rows.group
    inside = group < len(keys)
    equal = group[inside][rows.keys[inside] == keys[group[inside]]]
    return np.bincount(equal, minlength=len(keys)).astype(np.int64)


def taken(which: Smallest, rows: Keyed) -> Ints:
    """The rows of a part that are taken, ascending."""
    is_taken = np.zeros(len(rows.keys), dtype=np.bool_)
    for g, (key, n_equal) in enumerate(zip(which.key, which.n_equal.tolist(), strict=True)):
        own = np.arange(len(rows.keys)) if rows.group is None else np.flatnonzero(rows.group == g)
        is_taken[own[rows.keys[own] < key]] = True
        is_taken[own[rows.keys[own] == key][:n_equal]] = True
    return np.flatnonzero(is_taken)
