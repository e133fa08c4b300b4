"""The grown tree: nodes as growth numbered them, before they become a `Tree`."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Array, Ints, Mask
from sapwood.cached_property import cached_property
from sapwood.kernels.nodes import leaves_above, preorder


@dataclass(frozen=True, eq=False)
class GrownTree:
    """Nodes (kernels.boosting_records.NODE), children after their parents; `splits` marks those that are split."""

    nodes: Array
    splits: Mask

    @cached_property
    def order(self) -> Ints:
        """Nodes reachable from the root in preorder: parents first, left before right."""
        left = np.where(self.splits, self.nodes["left"], -1)
        found: Ints = preorder(left, self.nodes["right"], len(self.nodes))
        return found

    @cached_property
    def position(self) -> Ints:
        """Place of each node in that order, if it is reachable from the root."""
        position = np.empty(len(self.nodes), dtype=np.int64)
        position[self.order] = np.arange(len(self.order))
        return position

    @cached_property
    def leaves(self) -> list[int]:
        """Leaves reachable from the root, in order of number."""
        return sorted(self.order[~self.splits[self.order]].tolist())

    @cached_property
    def leaf_above(self) -> Ints:
        """The leaf that each node was merged into by pruning, or the node itself."""
        found: Ints = leaves_above(self.nodes["left"], self.nodes["right"], self.splits)
        return found

    def levels(self) -> list[Ints]:
        """For each depth of inner nodes: the inner node there that each node is below, itself included, or no node.

        No node is the number behind the last, which is also that of rows outside of the tree.
        """
        n = len(self.nodes)
        parent, depth, place = np.full(n + 1, n), np.zeros(n + 1, dtype=np.int64), np.arange(n + 1)
        for node in self.order[self.splits[self.order]].tolist():
            children = self.nodes[["left", "right"]][node].tolist()
            parent[list(children)], depth[list(children)] = node, depth[node] + 1
        found = []
        for level in range(int(depth[self.order].max()) - 1, -1, -1):
            place = np.where(depth[place] > level, parent[place], place)
            found.append(np.where(np.append(self.splits, False)[place] & (depth[place] == level), place, n))
        return found


def prune_by_gain(grown: GrownTree, gamma: float) -> None:
    """Undo splits of less gain from the leaves upwards; one with a good split below it stays. OUT splits."""
    nodes, splits = grown.nodes, grown.splits
    for node in np.flatnonzero(splits)[::-1]:
        has_split_below = splits[nodes["left"][node]] or splits[nodes["right"][node]]
        splits[node] = has_split_below or nodes["gain"][node] >= gamma


def prune_by_cost(grown: GrownTree, alpha: float, weight: float) -> None:
    """Minimal cost-complexity pruning: a branch stays if its splits together gain more than they cost. OUT splits.

    Looking at the best of each branch from the leaves upwards finds the same tree as cutting the weakest links.
    """
    nodes, splits = grown.nodes, grown.splits
    saved = np.zeros(len(nodes))
    for node in np.flatnonzero(splits)[::-1]:
        below = saved[nodes["left"][node]] + saved[nodes["right"][node]]
        saved[node] = max(0.0, 2.0 * nodes["gain"][node] / weight - alpha + below)
        splits[node] = saved[node] > 0.0
