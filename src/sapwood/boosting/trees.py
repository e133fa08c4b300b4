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


def to_tree(
    grown: GrownTree, values: Floats, quanta: Quanta, bins: Sequence[Bins | Ranks], n_levels: NDArray[np.int32]
) -> Tree:
    """`values` are those of all nodes by growth's numbers.

    The impurity of a node is its objective per hessian, and its weight the hessian, so that a split lowers the total
    by its gain.
    """
    order = np.array(grown.preorder)
    nodes, splits = grown.nodes[order], grown.splits[order]
    position = np.full(len(grown.nodes), LEAF, dtype=np.int32)
    position[order] = np.arange(len(order), dtype=np.int32)
    subset_start, subsets = _subsets(nodes, splits, bins)
    hessian = nodes["hessian"] * quanta.hessian_unit
    return Tree(
        children_left=np.where(splits, position[nodes["left"]], LEAF).astype(np.int32),
        children_right=np.where(splits, position[nodes["right"]], LEAF).astype(np.int32),
        feature=np.where(splits, nodes["feature"], UNDEFINED).astype(np.int32),
        threshold=_thresholds(nodes, splits, bins),
        missing_go_to_left=nodes["missing_left"] & splits,
        value=np.ascontiguousarray(values[order])[:, None, None],
        impurity=_objective(nodes, splits, position, hessian),
        n_node_samples=nodes["n_rows"].copy(),
        weighted_n_node_samples=hessian,
        subset_start=subset_start,
        subsets=subsets,
        n_levels=n_levels,
    )


def _thresholds(nodes: NDArray[Any], splits: NDArray[np.bool_], bins: Sequence[Bins | Ranks]) -> Floats:
    """Of every node: NaN at category splits, -2 at leaves."""
    found = np.full(len(nodes), float(UNDEFINED))
    for j in np.unique(nodes["feature"][splits]):
        at = np.flatnonzero(splits & (nodes["feature"] == j))
        own = bins[j]
        found[at] = np.nan if isinstance(own, LevelBins) else own.thresholds(nodes["code"][at], nodes["next_code"][at])
    return found


def _subsets(
    nodes: NDArray[Any], splits: NDArray[np.bool_], bins: Sequence[Bins | Ranks]
) -> tuple[NDArray[np.int32], NDArray[np.uint32]]:
    """Where the words of each category split begin, -1 for others; and all words."""
    start = np.full(len(nodes), -1, dtype=np.int32)
    words: list[NDArray[np.uint32]] = []
    for at in np.flatnonzero(splits & (nodes["code"] < 0)):
        own = bins[nodes["feature"][at]]
        assert isinstance(own, LevelBins)
        start[at] = sum(map(len, words))
        words.append(_level_words(nodes["subset"][at], own))
    return start, np.concatenate(words) if words else np.empty(0, dtype=np.uint32)


def _objective(nodes: NDArray[Any], splits: NDArray[np.bool_], position: NDArray[np.int32], hessian: Floats) -> Floats:
    """Minus the gain of all splits above, per hessian, with zero at the root; level by level."""
    total = np.zeros(len(nodes))
    for depth in range(int(nodes["depth"].max())):
        at = np.flatnonzero(splits & (nodes["depth"] == depth))
        left, right = position[nodes["left"][at]], position[nodes["right"][at]]
        rest = total[at] - nodes["gain"][at]
        share = np.divide(hessian[left], hessian[at], out=np.full(len(at), 0.5), where=hessian[at] > 0)
        total[left], total[right] = rest * share, rest * (1 - share)
    return np.divide(total, hessian, out=np.zeros(len(nodes)), where=hessian > 0)


def _level_words(subset: NDArray[np.uint32], bins: LevelBins) -> NDArray[np.uint32]:
    """Bits of levels from bits of codes."""
    codes = np.unpackbits(subset.view(np.uint8), bitorder="little")
    bits = np.zeros(-(-len(bins.code_of) // 32) * 32, dtype=np.uint8)
    bits[: len(bins.code_of)] = codes[bins.code_of]
    return np.packbits(bits, bitorder="little").view(np.uint32)
