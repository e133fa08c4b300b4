"""Proximity: in what share of the trees two rows end in the same leaf."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from sapwood.arrays import Array

BLOCK = 512  # rows whose proximities to all others are in memory at a time


def proximity(mine: Array, theirs: Array, k: int | None = None) -> sparse.csr_matrix:
    """Proximities (rows of mine, rows of theirs) from leaves (rows, trees); with k, the k largest of each row."""
    n_trees = mine.shape[1]
    ours, others = _indicators(mine, theirs)
    parts = []
    for start in range(0, len(mine), BLOCK):
        part = sparse.csr_matrix(ours[start : start + BLOCK] @ others.T, dtype=np.float64)
        part.data /= n_trees
        parts.append(part if k is None else _largest(part, k))
    return sparse.vstack(parts, format="csr")


def _indicators(mine: Array, theirs: Array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """One column for each leaf of each tree; 1 where a row is in it."""
    widths = np.maximum(mine.max(axis=0), theirs.max(axis=0)) + 1
    starts = np.concatenate([[0], np.cumsum(widths)[:-1]])
    return _ones(mine + starts, int(widths.sum())), _ones(theirs + starts, int(widths.sum()))


def _ones(columns: Array, width: int) -> sparse.csr_array:
    n, n_trees = columns.shape
    ends = np.arange(0, n * n_trees + 1, n_trees)
    return sparse.csr_array((np.ones(n * n_trees, dtype=np.float32), columns.ravel(), ends), shape=(n, width))


def _largest(rows: sparse.csr_matrix, k: int) -> sparse.csr_matrix:
    """The k largest of each row; of equals, those of the lower column."""
    data, indices, ends = [], [], [0]
    for first, last in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
        own, columns = rows.data[first:last], rows.indices[first:last]
        best = np.sort(np.lexsort((columns, -own))[:k])
        data.append(own[best])
        indices.append(columns[best])
        ends.append(ends[-1] + len(best))
    return sparse.csr_matrix((np.concatenate(data), np.concatenate(indices), ends), shape=rows.shape)
