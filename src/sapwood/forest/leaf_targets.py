"""Targets in leaves: which training rows a leaf holds, and the distribution of their targets.

A forest predicts the mean of the targets in the leaves that a row falls into. Their quantiles show how far the target
may be from it (quantile regression forests, Meinshausen 2006).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.forest.bags import Bag
from sapwood.kernels.quantiles import BagRows, leaf_quantiles
from sapwood.threads import blocks, run_all

BLOCK = 256


@dataclass(frozen=True, eq=False)
class LeafRows:
    """Rows of a tree's bag by leaf: those of node i are rows[starts[i]:starts[i + 1]], drawn so often."""

    rows: Array
    counts: Array
    starts: Array

    @classmethod
    def of(cls, bag: Bag, leaves: NDArray[np.int32], n_nodes: int) -> LeafRows:
        """From the leaf of each row of the bag."""
        order = np.argsort(leaves, kind="stable")
        starts = np.concatenate([[0], np.cumsum(np.bincount(leaves, minlength=n_nodes))])
        return cls(bag.rows[order].astype(np.uint32), bag.counts[order].astype(np.float32), starts.astype(np.uint32))


def forest_quantiles(
    held: Sequence[LeafRows], leaves: NDArray[np.int32], target: Floats, quantiles: Floats, n_jobs: int
) -> Floats:
    """Quantiles (rows, quantiles) of a target from the leaves (trees, rows) that new rows fall into.

    Each tree spreads a weight of 1 over the rows of the leaf, as often as they were drawn. A quantile is the least
    target up to which the share is at least q.
    """
    ordered = np.argsort(target, kind="stable")
    rank = np.empty(len(target), dtype=np.int64)
    rank[ordered] = np.arange(len(target))
    out = np.empty((leaves.shape[1], len(quantiles)))
    sums = np.zeros((n_jobs, len(target)))
    spare = list(range(n_jobs))
    bags = BagRows(
        rows=np.concatenate([tree.rows for tree in held]),
        counts=np.concatenate([tree.counts for tree in held]),
        starts=np.concatenate([tree.starts for tree in held]),
        ends=np.cumsum([0, *(len(tree.rows) for tree in held)]),
        node_ends=np.cumsum([0, *(len(tree.starts) for tree in held)]),
    )

    def find(start: int, stop: int) -> None:
        place = spare.pop()
        leaf_quantiles(leaves[:, start:stop], bags, rank, target[ordered], quantiles, sums[place], out[start:stop])
        spare.append(place)

    run_all([partial(find, *block) for block in blocks(leaves.shape[1], BLOCK)], n_jobs)
    return out
