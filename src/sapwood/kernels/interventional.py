"""Shapley values of a tree whose absent features are taken from another row, one of a background sample.

The row and the other go down together. Where they part, both ways are followed: on one the feature is the row's, on the
other it is the other's, for good. A leaf v that is reached by a features of the row and b of the other counts for the
former v (a - 1)! b! / (a + b)! each, and for the latter the negative of v a! (b - 1)! / (a + b)!. The sums of these
over the leaves below come back up to where the rows parted.

A line of a leaf counts like its value, for the cell of whose the column is. If it is nobody's, the line is that of the
other's cell, and the rest, up to that of the row's, counts for a + 1 features of the row, among them the column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.paths import LEFT

NOBODY, ROW, OTHER = 0, 1, 2  # whose a feature is


class Scratch(NamedTuple):
    """What is known of the way to a node."""

    owner: np.ndarray  # (features), all NOBODY, also afterwards
    parted: np.ndarray  # (depths): the nodes where the rows parted
    gain: np.ndarray  # (width)
    loss: np.ndarray  # (width)
    kept: np.ndarray  # (depths, 2, width): gain and loss of the way of the row


@part
def _add_lines(lines, at, row, other, weights, n_own, n_other, scratch, out):
    """Add the lines of a leaf to its gain and loss, and to the values of columns that are nobody's; OUT all of them."""
    owner, gain, loss = scratch.owner, scratch.gain, scratch.loss
    for i in range(lines.starts[at], lines.starts[at + 1]):
        column = lines.column[i]
        fixed = lines.own[row, i] if owner[column] == ROW else lines.others[other, i]
        rest = lines.own[row, i] - fixed if owner[column] == NOBODY else 0.0
        more = rest * weights[n_own + 1, n_other] if owner[column] == NOBODY else 0.0
        less = rest * weights[n_other, n_own + 1] if owner[column] == NOBODY else 0.0
        gain[0] += fixed * weights[n_own, n_other] + more
        loss[0] += fixed * weights[n_other, n_own] + less
        out[0, column, row] += more


@lean_kernel
def add_interventional(nodes, children, weights, leaf_values, lines, sides, others, scratch, out):
    """Add up a tree's Shapley values of rows against each row of a background.

    `weights[a, b]` is (a - 1)! b! / (a + b)!, `lines` are PairedLines or None, `sides` and `others` are (rows, steps)
    of either; OUT out (width, features, rows).
    """
    owner, parted, gain, loss, kept = scratch
    width = leaf_values.shape[1]
    for row in range(len(sides)):
        for other in range(len(others)):
            at, depth, n_own, n_other = 0, 0, 0, 0
            climbing = False
            while not climbing:
                while nodes[at].is_leaf == 0:
                    ask = nodes[children[at, LEFT]]
                    own_side, other_side = sides[row, ask.step], others[other, ask.step]
                    if own_side == other_side or owner[ask.feature] == ROW:
                        at = children[at, own_side]
                    elif owner[ask.feature] == OTHER:
                        at = children[at, other_side]
                    else:
                        owner[ask.feature], parted[depth] = ROW, at
                        n_own, depth = n_own + 1, depth + 1
                        at = children[at, own_side]
                for w in range(width):
                    value = leaf_values[nodes[at].node, w]
                    gain[w], loss[w] = value * weights[n_own, n_other], value * weights[n_other, n_own]
                if lines is not None:
                    _add_lines(lines, at, row, other, weights, n_own, n_other, scratch, out)
                climbing = True
                while climbing and depth > 0:
                    at = parted[depth - 1]
                    ask = nodes[children[at, LEFT]]
                    if owner[ask.feature] == ROW:  # now the way of the other
                        for w in range(width):
                            kept[depth - 1, 0, w], kept[depth - 1, 1, w] = gain[w], loss[w]
                        owner[ask.feature] = OTHER
                        n_own, n_other = n_own - 1, n_other + 1
                        at = children[at, others[other, ask.step]]
                        climbing = False
                    else:
                        depth, n_other = depth - 1, n_other - 1
                        owner[ask.feature] = NOBODY
                        for w in range(width):
                            out[w, ask.feature, row] += kept[depth, 0, w] - loss[w]
                            gain[w] += kept[depth, 0, w]
                            loss[w] += kept[depth, 1, w]
