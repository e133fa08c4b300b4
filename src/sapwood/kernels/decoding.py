"""Decoding: a grown tree of codes becomes the arrays of a `Tree` of thresholds and levels, nodes in preorder."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, kernel
from sapwood.kernels.nodes import UNDEFINED
from sapwood.kernels.routing import goes_left

Array = Any


class Decoder(NamedTuple):
    """What codes stand for, column after column: `cuts` and `code_of_level` of column f begin at its starts."""

    cut_starts: Array  # (columns + 1)
    cuts: Array  # code c ends at cuts[start + c - 1], the last one at infinity
    level_starts: Array  # (columns + 1)
    code_of_level: Array


@inner_kernel
def write_levels(node, decoder, words):
    """Bits of the levels that go left, from those of codes; OUT words."""
    start, end = decoder.level_starts[node.feature], decoder.level_starts[node.feature + 1]
    for level in range(end - start):
        if goes_left(node, np.int64(decoder.code_of_level[start + level])):
            words[level >> 5] |= ONE << np.uint32(level & 31)


@kernel
def decode(nodes, splits, order, right, hessian_unit, decoder):
    """Thresholds, impurities, hessians, and starts and words of the levels that go left, in preorder.

    `order` and `right` are the numbers of the nodes and the places of right children. The impurity of a node is its
    objective per hessian, so that a split lowers the total by its gain.
    """
    n, n_words = len(order), 0
    threshold, subset_start, hessian, impurity = np.empty(n), np.empty(n, np.int32), np.empty(n), np.empty(n)
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
    subsets = np.empty(n_words, np.uint32)  # np.zeros takes a tenth of a second to compile
    for word in range(n_words):
        subsets[word] = 0
    for i in range(n):
        if subset_start[i] >= 0:
            write_levels(nodes[order[i]], decoder, subsets[subset_start[i] :])
    return threshold, impurity, hessian, subset_start, subsets
