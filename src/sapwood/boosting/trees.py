"""From a grown tree to a `Tree`: codes become thresholds and levels, sums become leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.boosting.grown import GrownTree
from sapwood.codes.bins import Bins, NumberBins
from sapwood.codes.ranked import Ranks
from sapwood.kernels.decoding import Decoder, decode
from sapwood.kernels.nodes import link_nodes
from sapwood.tree import Tree


def decoder_of(bins: Sequence[Bins | Ranks], n_levels: NDArray[np.int32]) -> Decoder:
    """What the codes of a table stand for; of ranks, whose thresholds depend on the node, infinity."""
    cuts = [np.append(own.cuts, np.inf) if isinstance(own, NumberBins) else np.empty(0) for own in bins]
    starts, joined = _starts(cuts), np.concatenate(cuts)
    if any(isinstance(own, Ranks) for own in bins):
        starts, joined = np.zeros_like(starts), np.full(max(int(own.n_codes) for own in bins) + 1, np.inf)
    levels = [np.arange(1, n + 1) for n in n_levels.tolist()]  # of grouped ones, as each tree groups them
    return Decoder(starts, joined, _starts(levels), np.concatenate(levels).astype(np.uint32), n_levels.astype(np.int64))


def _starts(parts: Sequence[Array]) -> Ints:
    return np.concatenate([[0], np.cumsum([len(part) for part in parts])[:-1]]).astype(np.int64)


def to_tree(
    grown: GrownTree,
    values: Floats,
    hessian_unit: float,
    bins: Sequence[Bins | Ranks],
    decoder: Decoder,
    n_levels: NDArray[np.int32],
) -> Tree:
    """`values` are those of all nodes by growth's numbers. The weight of a node is its hessian."""
    nodes, splits, order = grown.nodes, grown.splits, grown.order
    links = link_nodes(nodes, splits, order)
    found = decode(nodes, splits, order, links.children_right, hessian_unit, decoder)
    threshold, impurity, hessian, subset_start, subsets = found
    if any(isinstance(own, Ranks) for own in bins):
        _set_thresholds(nodes[order], splits[order], bins, threshold)
    return Tree(
        **links._asdict(),
        threshold=threshold,
        value=values[order, None, None],
        impurity=impurity,
        weighted_n_node_samples=hessian,
        subset_start=subset_start,
        subsets=subsets,
        n_levels=n_levels,
    )


def _set_thresholds(nodes: Array, splits: Mask, bins: Sequence[Bins | Ranks], threshold: Floats) -> None:
    """Thresholds between the values that a node has, where every value has a code; OUT threshold."""
    for j in np.unique(nodes["feature"][splits]):
        own = bins[j]
        if isinstance(own, Ranks):
            at = np.flatnonzero(splits & (nodes["feature"] == j))
            threshold[at] = own.thresholds(nodes["code"][at], nodes["next_code"][at])
