"""Categories of more levels than a byte holds: each tree sees them as up to 255 groups of levels, in order.

Before a tree is grown, levels are ordered by their effect on its gradients and cut into groups of about equal hessian;
a split is a cut of that order. While the tree grows, a row's group comes from the rows of the other half (see
`kernels/level_groups.py`). Afterwards all rows take the groups that new rows will have, and leaves are settled by them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.grown import GrownTree
from sapwood.codes.bins import MOST_BINS, GroupedLevels
from sapwood.kernels.level_groups import code_effects, mean_gradient, recount, shrinkage, write_effects
from sapwood.kernels.planting import Soil
from sapwood.shard.shard import Shard

Codes = NDArray[np.uint8]


class LevelGroups:
    """The groups of one tree after the other."""

    def __init__(self, shards: Sequence[Shard], soil: Soil) -> None:
        bins = shards[0].table.bins
        self._shards = shards
        self._soil = soil
        self._features = [j for j, own in enumerate(bins) if isinstance(own, GroupedLevels)]
        self._n_levels = [bins[j].n_levels for j in self._features]
        self._final: list[Codes] = []

    def begin(self, key: int) -> None:
        """Group the levels by the gradients that the shards have begun with, and code the rows; OUT shards, soil."""
        odd = np.uint64(key) | np.uint64(1)
        self._final = []
        for place, (j, n_levels) in enumerate(zip(self._features, self._n_levels, strict=True)):
            sums = sum(shard.level_sums(place, n_levels, odd) for shard in self._shards)
            codes = group_levels(np.asarray(sums))
            for shard in self._shards:
                shard.begin_groups(place, j, codes[:2], odd)
            start = self._soil.level_starts[j]
            self._soil.code_of_level[start : start + n_levels] = codes[2, 1:]
            self._final.append(codes[2])

    def settle(self, grown: GrownTree, rules: Any) -> GrownTree:
        """Rows take the groups of their levels and move to the leaves they have then; returns the tree of these sums.

        Splits whose children are too small with these rows are undone.
        """
        if not self._features:
            return grown
        used = grown.splits & np.isin(grown.nodes["feature"], self._features)
        if not used.any():
            return grown
        above, on_left = _changed_above(grown, used)
        for shard in self._shards:
            for place, codes in enumerate(self._final):
                shard.end_groups(place, self._features[place], codes)
            shard.reroute(grown.nodes, grown.splits, above, on_left)
        before = np.count_nonzero(grown.splits)
        nodes, splits = grown.nodes.copy(), grown.splits.copy()
        recount(nodes, splits, self._leaf_sums(len(nodes)), rules)
        settled = GrownTree(nodes, splits)
        if np.count_nonzero(splits) < before:
            for shard in self._shards:
                shard.merge_leaves(settled.home)
        return settled

    def _leaf_sums(self, n_nodes: int) -> NDArray[np.int64]:
        """Gradient and hessian of the leaves, by node, in units of the tree, and their rows."""
        units = self._shards[0].quanta
        scale = units.fine_gradient_unit / units.gradient_unit, units.fine_hessian_unit / units.hessian_unit
        fine = np.sum([shard.leaf_sums(n_nodes) for shard in self._shards], axis=0)
        rows = np.sum([shard.leaf_rows(n_nodes) for shard in self._shards], axis=0)
        return np.column_stack([np.rint(fine * scale).astype(np.int64), rows])


def group_levels(sums: NDArray[np.int64]) -> Codes:
    """Codes (3, levels + 1) of levels from their sums (halves, levels + 1, 2): for rows of each half, and for new rows.

    Level 0 is missing and has code 0. One group holds all levels if the halves do not agree on any effect.
    """
    codes = np.ones((3, sums.shape[1]), dtype=np.uint8)
    codes[:, 0] = 0
    mean = mean_gradient(sums)
    shrink = shrinkage(sums, mean)
    if shrink == np.inf:
        return codes
    effects = np.empty(codes.shape)
    write_effects(sums, mean, shrink, effects)
    code_effects(effects, _cuts_of_equal_weight(effects[2, 1:], sums[0, 1:, 1] + sums[1, 1:, 1]), codes)
    return codes


def _cuts_of_equal_weight(effects: NDArray[np.float64], weight: NDArray[np.int64]) -> NDArray[np.float64]:
    """Largest effects of all groups but the last, then infinity; equal effects are in one group."""
    order = np.argsort(effects, kind="stable")
    ends = np.cumsum(weight[order])
    middles = ends - 0.5 * weight[order]
    group = np.minimum((middles * (MOST_BINS / ends[-1])).astype(np.int64), MOST_BINS - 1)
    found = np.unique(effects[order][:-1][np.diff(group) > 0])
    cuts = np.full(MOST_BINS, np.inf)
    cuts[: len(found)] = found
    return cuts


def _changed_above(grown: GrownTree, used: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """Of each node, the nearest of the nodes used above it, or -1, and whether it is on its left side."""
    nodes = grown.nodes
    above, on_left = np.full(len(nodes), -1), np.zeros(len(nodes), dtype=np.bool_)
    for at in grown.order[grown.splits[grown.order]].tolist():
        for side, name in ((True, "left"), (False, "right")):
            child = nodes[name][at]
            above[child], on_left[child] = (at, side) if used[at] else (above[at], on_left[at])
    return above, on_left
