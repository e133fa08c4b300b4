"""From a grown tree to a `Tree`: codes become thresholds and levels, sums become leaves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.boosting.grown import GrownTree
from sapwood.codes.bins import Bins, LevelBins
from sapwood.codes.ranked import Ranks
from sapwood.shard.quanta import Quanta
from sapwood.tree import LEAF, UNDEFINED, Tree

Floats = NDArray[np.float64]


def preorder(grown: GrownTree) -> list[int]:
    """Nodes from the root, left children first."""
    order, waiting = [], [0]
    left, right = grown.nodes["left"], grown.nodes["right"]
    while waiting:
        node = waiting.pop()
        order.append(node)
        if grown.splits[node]:
            waiting += [int(right[node]), int(left[node])]
    return order


def to_tree(
    grown: GrownTree, values: Floats, quanta: Quanta, bins: Sequence[Bins | Ranks], n_levels: NDArray[np.int32]
) -> Tree:
    """`values` are those of all nodes by growth's numbers.

    The impurity of a node is its objective per hessian, and its weight the hessian, so that a split lowers the total
    by its gain.
    """
    order = np.array(preorder(grown))
    nodes, splits = grown.nodes[order], grown.splits[order]
    position = np.full(len(grown.nodes), LEAF, dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    threshold = np.full(len(order), float(UNDEFINED))
    subset_start = np.full(len(order), -1, dtype=np.int32)
    words: list[NDArray[np.uint32]] = []
    for at in np.flatnonzero(splits):
        own = bins[nodes["feature"][at]]
        if isinstance(own, LevelBins):
            threshold[at], subset_start[at] = np.nan, sum(map(len, words))
            words.append(_level_words(nodes["subset"][at], own))
        else:
            threshold[at] = own.threshold(int(nodes["code"][at]), int(nodes["next_code"][at]))
    hessian = nodes["hessian"] * quanta.hessian_unit
    return Tree(
        children_left=np.where(splits, position[nodes["left"]], LEAF).astype(np.int32),
        children_right=np.where(splits, position[nodes["right"]], LEAF).astype(np.int32),
        feature=np.where(splits, nodes["feature"], UNDEFINED).astype(np.int32),
        threshold=threshold,
        missing_go_to_left=nodes["missing_left"] & splits,
        value=np.ascontiguousarray(values[order])[:, None, None],
        impurity=_objective(nodes, splits, order, position, hessian),
        n_node_samples=nodes["n_rows"].copy(),
        weighted_n_node_samples=hessian,
        subset_start=subset_start,
        subsets=np.concatenate(words) if words else np.empty(0, dtype=np.uint32),
        n_levels=n_levels,
    )


def _objective(nodes: NDArray[Any], splits: Any, order: Any, position: Any, hessian: Floats) -> Floats:  # noqa: ARG001
    """Minus the gain of all splits above, per hessian, with zero at the root."""
    total = np.zeros(len(nodes))
    for at in np.flatnonzero(splits):  # parents come first
        left, right = position[nodes["left"][at]], position[nodes["right"][at]]
        share = hessian[left] / hessian[at] if hessian[at] > 0 else 0.5
        rest = total[at] - nodes["gain"][at]
        total[left], total[right] = rest * share, rest * (1 - share)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(hessian > 0, total / hessian, 0.0)


def _level_words(subset: NDArray[np.uint32], bins: LevelBins) -> NDArray[np.uint32]:
    """Bits of levels from bits of codes."""
    codes = np.unpackbits(subset.view(np.uint8), bitorder="little")
    bits = np.zeros(-(-len(bins.code_of) // 32) * 32, dtype=np.uint8)
    bits[: len(bins.code_of)] = codes[bins.code_of]
    return np.packbits(bits, bitorder="little").view(np.uint32)
