"""Exact search: every distinct value of every column is a candidate."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.columns import ColumnChoice
from sapwood.kernels.newton import NO_GAIN
from sapwood.kernels.scan import LEAST_GAIN
from sapwood.shard.ranked_shard import RankedShard

Ids = list[int]
Nodes = NDArray[Any]
SPLIT = ("gain", "feature", "code", "next_code", "missing_left", "left_gradient", "left_hessian", "subset")


class ExactSearch:
    """Best splits from the sorted rows of one shard."""

    def __init__(self, shard: RankedShard, signs: NDArray[np.int8]) -> None:
        self._shard = shard
        self._signs = signs

    def open_root(self, nodes: Nodes) -> None:
        """Sums of the root; OUT nodes[0]."""
        nodes["gradient"][0], nodes["hessian"][0] = self._shard.root_sums()

    def find(self, nodes: Nodes, ids: Ids, columns: ColumnChoice, rules: Any) -> None:
        """Best split of nodes: of the best ones of all columns, the first that no later one truly beats; OUT nodes."""
        usable = columns.usable(nodes, ids)
        best = nodes[ids]
        best["gain"], best["feature"] = NO_GAIN, -1
        for found in self._shard.search(nodes, ids, usable, rules, self._signs):
            margin = LEAST_GAIN * np.abs(np.where(np.isfinite(found["gain"]), found["gain"], 0.0))
            better = found["gain"] > best["gain"] + margin
            best[better] = found[better]
        for name in SPLIT:
            nodes[name][ids] = best[name]

    def branch(self, nodes: Nodes, parents: Ids, wanted: set[int]) -> None:
        """Nothing to prepare."""

    def end(self, nodes: Nodes) -> None:
        """Nothing to give back."""
