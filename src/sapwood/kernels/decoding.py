"""Decoding: a grown tree of codes becomes the arrays of a `Tree` of thresholds and levels, nodes in preorder."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel
from sapwood.kernels.nodes import UNDEFINED
from sapwood.kernels.routing import goes_left


class Decoder(NamedTuple):
    """What codes stand for, column after column: `cuts` and `code_of_level` of column f begin at its starts."""

    cut_starts: np.ndarray  # (columns + 1)
    cuts: np.ndarray  # code c ends at cuts[start + c - 1], the last one at infinity
    level_starts: np.ndarray  # (columns + 1)
    code_of_level: np.ndarray


@kernel
def decode(nodes, splits, order, right, hessian_unit, decoder, numbers, subset_start):
    """Thresholds, impurities and hessians of nodes in preorder, and where the words of levels that go left begin.

    `order` and `right` are the numbers of the nodes and the places of right children. The impurity of a node is its
    objective per hessian, so that a split lowers the total by its gain. Returns the number of all words. OUT numbers
    (3, nodes), subset_start.
    """
    n, n_words = len(order), 0
    threshold, impurity, hessian = numbers[0], numbers[1], numbers[2]
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
