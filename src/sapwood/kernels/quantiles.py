"""Quantiles of the targets in the leaves that rows fall into."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import kernel

SLACK = 1e-12  # of the whole weight: a share that is a quantile but for rounding


class BagRows(NamedTuple):
    """Rows of the bags of all trees, by tree and leaf.

    Those of node i of tree t are rows[first + starts[node] : first + starts[node + 1]], where first = ends[t] and
    node = node_ends[t] + i.
    """

    rows: np.ndarray
    counts: np.ndarray  # how often each was drawn
    starts: np.ndarray
    ends: np.ndarray
    node_ends: np.ndarray


@kernel
def leaf_quantiles(leaves, bags, rank, ordered, quantiles, sums, out):
    """Quantiles for new rows whose leaves (trees, rows) are given; OUT out; sums are zero before and after.

    `rank` of a training row is its place in `ordered`, the targets.
    """
    rows, counts, starts, ends, node_ends = bags
    n_trees, found = leaves.shape[0], np.empty(len(ordered), dtype=np.int64)
    for i in range(leaves.shape[1]):
        n = 0
        for t in range(n_trees):
            node = node_ends[t] + leaves[t, i]
            first, last = ends[t] + starts[node], ends[t] + starts[node + 1]
            total = 0.0
            for k in range(first, last):
                total += counts[k]
            for k in range(first, last):
                place = rank[rows[k]]
                if sums[place] == 0.0:
                    found[n] = place
                    n += 1
                sums[place] += counts[k] / total
        places = np.sort(found[:n])
        for q in range(len(quantiles)):
            below, k = 0.0, 0
            while k < n:
                below += sums[places[k]]
                if below >= (quantiles[q] - SLACK) * n_trees:
                    break
                k += 1
            out[i, q] = ordered[places[min(k, n - 1)]]
        for k in range(n):
            sums[places[k]] = 0.0
