"""The order of candidate splits. It is total: however columns are divided among threads, the same candidate wins.

The larger gain comes first, rounded to some 30 bits, so that the last bits of equal sums do not decide. Of equal gains,
the lower column wins (in trees, the one looked at first); within a column, the lower code, then missing rows on the
right: candidates of a column are offered in that order, and an equal one does not replace an earlier one. As rounding
is monotone, the best of the best of any blocks of candidates is the best of all.

Trees and forests compare decreases of impurity, on a grid of their node; boosting compares scores of both children
together, of 30 significant bits.
"""

from __future__ import annotations

import math

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.draws import mix, normal
from sapwood.kernels.float_bits import to_30_bits
from sapwood.kernels.newton import NO_GAIN, score_of

BY_COLUMN = np.int64(4)  # keeps the draws of noise apart
LEAST_GAIN = 1e-9  # of the score or the mass of the node: smaller gains are rounding


@part
def rounded(totals, decrease):
    """A decrease of impurity on the grid of its node, about 2^-30 of the node's mass apart."""
    return (decrease + totals.grid) - totals.grid


@part
def least_decrease(totals):
    """What a decrease must exceed: a split without any is taken, it may prepare a good one."""
    return -LEAST_GAIN * totals.mass - 1e-300


@inner_kernel
def begin_search(node, rules):
    """Forget the best split: the next one must score truly more than the node itself, whose score is returned."""
    parent = score_of(node, rules)
    node.gain, node.feature, node.next_code = NO_GAIN, -1, 0
    node.least = parent + LEAST_GAIN * abs(parent)
    node.score, node.bump = node.least if rules.noise == 0.0 else NO_GAIN, 0.0
    return parent


@inner_kernel
def begin_column(node, feature, rules):
    """Draw the noise of a column's scores in a node, if there is any; OUT node."""
    if rules.noise > 0.0:
        node.bump = rules.noise * normal(mix(mix(node.key, BY_COLUMN), np.int64(feature)))


@inner_kernel
def order_of(both, node):
    """What candidates are ordered by: scores of both children, rounded, their root moved by noise if there is any.

    One that does not truly score more than the node itself comes last.
    """
    score = to_30_bits(both)
    if node.bump != 0.0:
        if score <= node.least:
            return NO_GAIN
        root = max(math.sqrt(score) + node.bump, 0.0)
        return to_30_bits(root * root)
    return score


@part
def comes_first(score, feature, node):
    """Whether a candidate of this (rounded) score and column comes before the node's best so far."""
    return score > node.score or (score == node.score and feature < node.feature)


@lean_kernel
def take_over(found, node):
    """Keep a split found among some columns if it comes before the best so far; OUT node."""
    if found.gain > NO_GAIN and comes_first(found.score, found.feature, node):
        node.gain, node.score, node.feature, node.code = found.gain, found.score, found.feature, found.code
        node.next_code, node.missing_left = found.next_code, found.missing_left
        node.left_gradient, node.left_hessian = found.left_gradient, found.left_hessian
        for word in range(8):
            node.subset[word] = found.subset[word]


@lean_kernel
def take_over_all(found, ids, nodes):
    """The same for some nodes; OUT nodes."""
    for k in range(len(ids)):
        take_over(found[k], nodes[ids[k]])
