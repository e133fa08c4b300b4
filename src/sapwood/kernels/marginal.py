"""Marginals: the mean prediction of a tree if only some of its columns are known.

A row that is known in these columns descends as usual there; at every other split it goes both ways, by the shares of
the training rows that did.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel, part
from sapwood.kernels.linear_leaves import line_value


class KnownLines(NamedTuple):
    """Lines of linear leaves, those of node i from starts[i] to starts[i + 1]; of known columns, or else -1."""

    starts: np.ndarray
    lines: np.ndarray
    known: np.ndarray


class Splits(NamedTuple):
    """The nodes of a tree in preorder."""

    left: np.ndarray  # -1 for a leaf
    right: np.ndarray
    threshold: np.ndarray
    missing_left: np.ndarray
    subset_start: np.ndarray
    subsets: np.ndarray
    n_levels: np.ndarray  # of the column of each split
    known: np.ndarray  # for each split, its column among the known ones, or -1
    share_left: np.ndarray  # share of the training rows that went left


@part
def _goes_left(splits, node, x):
    """Whether a known value goes left; unknown levels go where missing values go."""
    start = splits.subset_start[node]
    if start < 0:
        return x <= splits.threshold[node] or (x != x and splits.missing_left[node])  # noqa: PLR0124 - NaN
    if x >= 0.0 and x < splits.n_levels[node]:
        level = np.uint32(x)
        word = splits.subsets[np.uint32(start) + (level >> np.uint32(5))]
        return (word >> (level & np.uint32(31))) & ONE != 0
    return splits.missing_left[node]


@part
def _known_part(lines, node, point):
    """What the lines of known columns add."""
    total = 0.0
    for i in range(lines.starts[node], lines.starts[node + 1]):
        if lines.known[i] >= 0:
            total += line_value(lines.lines[i], point[lines.known[i]])
    return total


@kernel
def add_marginals(splits, values, lines, points, reach, out):
    """Add the mean values of the tree at points (points, known columns); OUT reach (nodes), out (points, values).

    `lines` is None for leaves of one value.
    """
    for p in range(len(points)):
        reach[0] = 1.0
        for node in range(len(splits.left)):
            share, left = reach[node], splits.left[node]
            if left < 0:
                if share > 0.0:
                    for k in range(values.shape[1]):
                        out[p, k] += share * values[node, k]
                    if lines is not None:
                        out[p, 0] += share * _known_part(lines, node, points[p])
                continue
            known = splits.known[node]
            if known < 0:
                to_left = share * splits.share_left[node]
            else:
                to_left = share if _goes_left(splits, node, points[p, known]) else 0.0
            reach[left] = to_left
            reach[splits.right[node]] = share - to_left
