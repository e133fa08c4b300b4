"""Decoding: a grown tree of codes becomes the arrays of a `Tree` of thresholds and levels, nodes in preorder."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel
from sapwood.kernels.exact import goes_left

Array = Any
LEAF, UNDEFINED = -1, -2  # as in `sapwood.tree`


class Decoder(NamedTuple):
    """What codes stand for, column after column: `cuts` and `code_of_level` of column f begin at its starts."""

    cut_starts: Array  # (columns,)
    cuts: Array  # code c ends at cuts[start + c - 1], the last one at infinity
    level_starts: Array  # (columns,)
    code_of_level: Array
    n_levels: Array  # (columns,)


@lean_kernel
def count_level_words(nodes, splits, order, decoder):
    """How many words the category splits of a tree need."""
    count = 0
    for i in range(len(order)):
        node = nodes[order[i]]
        if splits[order[i]] and decoder.n_levels[node.feature] > 0:
            count += (decoder.n_levels[node.feature] + 31) // 32
    return count


@lean_kernel
def write_levels(node, decoder, words):
    """Bits of the levels that go left, from those of codes; OUT words."""
    start = decoder.level_starts[node.feature]
    for level in range(decoder.n_levels[node.feature]):
        if goes_left(node, np.int64(decoder.code_of_level[start + level])):
            words[level >> 5] |= ONE << np.uint32(level & 31)


class TreeArrays(NamedTuple):
    """Arrays of a `Tree`, nodes in preorder."""

    links: Array  # (4, nodes): left, right, column, start of levels
    threshold: Array
    missing_left: Array
    floats: Array  # (3, nodes): value; impurity, the objective per hessian; hessian
    n_rows: Array
    subsets: Array  # zero before


@lean_kernel
def write_tree(nodes, splits, values, order, position, hessian_unit, decoder, out):
    """Write the arrays of a tree; OUT out. A split lowers the total impurity by its gain."""
    links, threshold, missing_left, floats, n_rows = out.links, out.threshold, out.missing_left, out.floats, out.n_rows
    floats[1, 0] = 0.0
    n_words = 0
    for i in range(len(order)):
        node = nodes[order[i]]
        hessian = node.hessian * hessian_unit
        floats[0, i], floats[2, i], n_rows[i] = values[order[i]], hessian, node.n_rows
        objective = floats[1, i]
        floats[1, i] = objective / hessian if hessian > 0.0 else 0.0
        links[0, i] = links[1, i] = LEAF
        links[2, i], links[3, i], threshold[i], missing_left[i] = UNDEFINED, -1, UNDEFINED, False
        if splits[order[i]]:
            left, right = position[node.left], position[node.right]
            rest = objective - node.gain
            share = nodes[node.left].hessian * hessian_unit / hessian if hessian > 0.0 else 0.5
            floats[1, left], floats[1, right] = rest * share, rest * (1.0 - share)
            links[0, i], links[1, i], links[2, i], missing_left[i] = left, right, node.feature, node.missing_left
            if decoder.n_levels[node.feature] > 0:
                links[3, i], threshold[i] = n_words, np.nan
                write_levels(node, decoder, out.subsets[n_words:])
                n_words += (decoder.n_levels[node.feature] + 31) // 32
            else:
                threshold[i] = decoder.cuts[decoder.cut_starts[node.feature] + node.code - 1]
