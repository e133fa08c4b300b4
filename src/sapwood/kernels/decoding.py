"""Decoding: a grown tree of codes becomes the arrays of a `Tree` of thresholds and levels, nodes in preorder."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel
from sapwood.kernels.nodes import UNDEFINED, Links, write_links, write_order
from sapwood.kernels.routing import goes_left


class Decoder(NamedTuple):
    """What codes stand for, column after column: `cuts` and `code_of_level` of column f begin at its starts."""

    cut_starts: np.ndarray  # (columns + 1)
    cuts: np.ndarray  # code c ends at cuts[start + c - 1], the last one at infinity
    level_starts: np.ndarray  # (columns + 1)
    code_of_level: np.ndarray


class GrownTrees(NamedTuple):
    """Trees as they grew, the nodes of one behind those of another: where each begins, and where the last one ends."""

    starts: np.ndarray
    nodes: np.ndarray
    splits: np.ndarray
    values: np.ndarray  # (nodes, scores)
    hessian_units: np.ndarray  # (trees,)


class TreeNodes(NamedTuple):
    """Arrays of `Tree` that have an element for each node."""

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    missing_go_to_left: np.ndarray
    n_node_samples: np.ndarray
    threshold: np.ndarray
    impurity: np.ndarray
    weighted_n_node_samples: np.ndarray
    subset_start: np.ndarray
    value: np.ndarray  # (nodes, scores, 1)

    @classmethod
    def empty(cls, n: int, n_scores: int) -> TreeNodes:
        """Room for so many nodes."""
        kinds = (*[np.int32] * 3, np.bool_, np.int64, *[np.float64] * 3, np.int32)
        return cls._make([*(np.empty(n, kind) for kind in kinds), np.empty((n, n_scores, 1))])


@kernel
def decode(nodes, splits, order, right, hessian_unit, decoder, threshold, impurity, hessian, subset_start):
    """Thresholds, impurities and hessians of nodes in preorder, and where the words of levels that go left begin.

    `order` and `right` are the numbers of the nodes and the places of right children. The impurity of a node is its
    objective per hessian, so that a split lowers the total by its gain. Returns the number of all words. OUT threshold,
    impurity, hessian, subset_start.
    """
    n, n_words = len(order), 0
    impurity[0] = 0.0
    for i in range(n):
        hessian[i] = nodes[order[i]].hessian * hessian_unit
    for i in range(n):
        node, objective = nodes[order[i]], impurity[i]
        threshold[i], subset_start[i] = UNDEFINED, -1
        impurity[i] = objective / hessian[i] if hessian[i] > 0.0 else 0.0
        if splits[order[i]]:
            rest = objective - node.gain
            share = hessian[i + 1] / hessian[i] if hessian[i] > 0.0 else 0.5
            impurity[i + 1], impurity[right[i]] = rest * share, rest * (1.0 - share)
            n_levels = decoder.level_starts[node.feature + 1] - decoder.level_starts[node.feature]
            cut = decoder.cut_starts[node.feature] + node.code - 1
            if n_levels > 0:
                subset_start[i], threshold[i] = n_words, np.nan
                n_words += (n_levels + 31) // 32
            elif cut < decoder.cut_starts[node.feature + 1]:  # no rank
                threshold[i] = decoder.cuts[cut]
    return n_words


@kernel
def decode_levels(nodes, order, subset_start, decoder, words):
    """Bits of the levels that go left, from those of codes, for all splits of categories; OUT words."""
    for i in range(len(order)):
        if subset_start[i] >= 0:
            node = nodes[order[i]]
            first = decoder.level_starts[node.feature]
            for level in range(decoder.level_starts[node.feature + 1] - first):
                if goes_left(node, np.int64(decoder.code_of_level[first + level])):
                    words[subset_start[i] + (level >> 5)] |= ONE << np.uint32(level & 31)


@kernel
def decode_all(grown, decoder, origins, starts, order, out, word_starts):
    """What `decode` and `write_links` tell of each tree, whose nodes begin at `starts`, and its values.

    Columns are those that others are derived from. OUT order (in preorder, by growth's numbers), out, word_starts.
    """
    scratch = np.empty(grown.starts[-1], np.int32)  # a tree may have nodes that do not hang on its root
    for t in range(len(starts) - 1):
        first, last = starts[t], starts[t + 1]
        nodes, splits = grown.nodes[grown.starts[t] :], grown.splits[grown.starts[t] : grown.starts[t + 1]]
        own, feature, missing_left = order[first:last], out.feature[first:last], out.missing_go_to_left[first:last]
        left, right = out.children_left[first:last], out.children_right[first:last]
        write_order(nodes, splits, scratch, own)
        links = Links(left, right, feature, missing_left, out.n_node_samples[first:last])
        write_links(nodes, splits, own, scratch, links)
        numbers = out.threshold[first:last], out.impurity[first:last], out.weighted_n_node_samples[first:last]
        unit, subset_start = grown.hessian_units[t], out.subset_start[first:last]
        n_words = decode(nodes, splits, own, right, unit, decoder, *numbers, subset_start)
        word_starts[t + 1] = word_starts[t] + n_words
        for i in range(len(own)):
            feature[i] = origins[feature[i]] if feature[i] >= 0 else feature[i]
            for k in range(out.value.shape[1]):
                out.value[first + i, k, 0] = grown.values[grown.starts[t] + own[i], k]


@kernel
def decode_all_levels(grown, decoder, starts, order, subset_start, word_starts, words):
    """What `decode_levels` tells of each tree; OUT words."""
    for t in range(len(starts) - 1):
        own, of = words[word_starts[t] : word_starts[t + 1]], subset_start[starts[t] : starts[t + 1]]
        decode_levels(grown.nodes[grown.starts[t] :], order[starts[t] : starts[t + 1]], of, decoder, own)
