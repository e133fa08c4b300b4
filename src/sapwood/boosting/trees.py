"""From a grown tree to a `Tree`: codes become thresholds and levels, sums become leaves."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.boosting.grown import GrownTree
from sapwood.codes.bins import Bins, NumberBins, StatisticBins, origins_of
from sapwood.codes.ranked import Ranks
from sapwood.kernels.decoding import (
    Decoder,
    GrownTrees,
    TreeNodes,
    decode,
    decode_all,
    decode_all_levels,
    decode_levels,
)
from sapwood.kernels.nodes import link_nodes
from sapwood.tree import Tree

AnyBins = Bins | StatisticBins | Ranks


def decoder_of(bins: Sequence[AnyBins], n_levels: NDArray[np.int32]) -> Decoder:
    """The meaning of the codes of a table, except ranks, whose thresholds depend on the node."""
    n_levels = n_levels[origins_of(bins)]
    cuts = [np.append(own.cuts, np.inf) if isinstance(own, NumberBins) else np.empty(0) for own in bins]
    cut_starts, level_starts = (np.cumsum([0, *sizes]) for sizes in (map(len, cuts), n_levels.tolist()))
    levels = [np.arange(1, n + 1) for n in n_levels.tolist()]  # of grouped ones, as each tree groups them
    for j, own in enumerate(bins):
        if isinstance(own, StatisticBins):
            levels[j] = own.code_of_level
    return Decoder(cut_starts, np.concatenate(cuts), level_starts, np.concatenate(levels).astype(np.uint32))


def to_tree(
    grown: GrownTree,
    values: Floats,
    hessian_unit: float,
    bins: Sequence[AnyBins],
    decoder: Decoder,
    n_levels: NDArray[np.int32],
) -> Tree:
    """`values` (nodes,) or (nodes, scores) are by growth's numbers. The weight of a node is its hessian."""
    nodes, splits, order = grown.nodes, grown.splits, grown.order
    links = link_nodes(nodes, splits, order)
    inner = links.feature >= 0
    links.feature[inner] = origins_of(bins)[links.feature[inner]]
    threshold, impurity, hessian = np.empty((3, len(order)))
    subset_start = np.empty(len(order), dtype=np.int32)
    decoded = threshold, impurity, hessian, subset_start
    n_words = decode(nodes, splits, order, links.children_right, hessian_unit, decoder, *decoded)
    subsets = np.zeros(n_words, dtype=np.uint32)
    if n_words:
        decode_levels(nodes, order, subset_start, decoder, subsets)
    if any(isinstance(own, Ranks) for own in bins):
        _set_thresholds(nodes.take(order), splits[order], bins, threshold)
    return Tree(
        **links._asdict(),
        threshold=threshold,
        value=values[order].reshape(len(order), -1, 1),
        impurity=impurity,
        weighted_n_node_samples=hessian,
        subset_start=subset_start,
        subsets=subsets,
        n_levels=n_levels,
        n_classes=(1,) * (values.size // len(values)),
    )


def to_trees(grown: GrownTrees, decoder: Decoder, origins: Ints, n_levels: NDArray[np.int32]) -> list[Tree]:
    """What `to_tree` makes of each of some trees without ranks, all in one pass over their nodes."""
    n_nodes = 2 * np.add.reduceat(grown.splits[: grown.starts[-1]], grown.starts[:-1], dtype=np.int64) + 1
    starts = np.append(0, np.cumsum(n_nodes))
    nodes, n = TreeNodes.empty(int(starts[-1]), grown.values.shape[1]), len(n_nodes)
    word_starts = np.zeros(n + 1, dtype=np.int64)
    order = np.empty(int(starts[-1]), dtype=np.int64)
    decode_all(grown, decoder, origins, starts, order, nodes, word_starts)
    subsets = np.zeros(word_starts[-1], dtype=np.uint32)
    if len(subsets):
        decode_all_levels(grown, decoder, starts, order, nodes.subset_start, word_starts, subsets)
    arrays, trees, n_classes = nodes._asdict(), [], (1,) * grown.values.shape[1]
    for first, last, first_word, last_word in zip(
        *(own.tolist() for own in (starts[:-1], starts[1:], word_starts[:-1], word_starts[1:])), strict=True
    ):
        own = {name: array[first:last] for name, array in arrays.items()}
        words = subsets[first_word:last_word]
        trees.append(Tree(**own, subsets=words, n_levels=n_levels, n_classes=n_classes))
    return trees


def _set_thresholds(nodes: Array, splits: Mask, bins: Sequence[AnyBins], threshold: Floats) -> None:
    """Thresholds between the values that a node has, where every value has a code; OUT threshold."""
    for j in np.unique(nodes["feature"][splits]):
        own = bins[j]
        if isinstance(own, Ranks):
            at = np.flatnonzero(splits & (nodes["feature"] == j))
            threshold[at] = own.thresholds(nodes["code"][at], nodes["next_code"][at])
