"""Exact search: every distinct value of every column is a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.boosting.columns import ColumnChoice
from sapwood.kernels.split_order import take_over_all
from sapwood.shard.ranked_shard import RankedShard

Ids = list[int]
Nodes = Array  # of the layout NODE


class ExactSearch:
    """Best splits from the sorted rows of one shard."""

    def __init__(self, shard: RankedShard, signs: NDArray[np.int8]) -> None:
        self._shard = shard
        self._signs = signs

    def open_root(self, nodes: Nodes) -> None:
        """Sums of the root; OUT nodes[0]."""
        nodes["gradient"][0], nodes["hessian"][0] = self._shard.root_sums()

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: Any) -> None:
        """Best split of nodes, which have none yet: the first of the best ones of all columns; OUT nodes."""
        usable = columns.usable(nodes, ids)
        array = np.array(ids, dtype=np.int64)
        for found in self._shard.search(nodes, ids, usable, rules, self._signs):
            take_over_all(found, array, nodes)

    def branch(self, nodes: Nodes, parents: Ids, wanted: set[int]) -> None:
        """Nothing to prepare."""

    def end(self, nodes: Nodes) -> None:
        """Nothing to give back."""
