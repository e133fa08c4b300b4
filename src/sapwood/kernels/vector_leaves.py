"""Leaf values of a tree by derivatives that it was not grown on, for several scores at once.

A tree of all classes is grown on a mixture of their gradients, and a replayed one on other rows. Sums are whole numbers
of units that differ by score, so they are the same in any order.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.newton import leaf_weight
from sapwood.kernels.routing import largest


@lean_kernel
def largest_of_all(gradient, hessian, weight, out):
    """Largest |gradient| and hessian of each score, weights included; OUT out (scores, 2)."""
    for k in range(len(gradient)):
        out[k, 0], out[k, 1] = largest(gradient[k], hessian[k], weight, 0, gradient.shape[1])


@lean_kernel
def sum_all_by_leaf(leaf_of, gradient, hessian, weight, units, first, last, sums):
    """Sums of the leaves in units (scores, 2); rows outside of the tree are in none. OUT sums (scores, nodes, 2)."""
    for k in range(len(gradient)):
        to_g, to_h = 1.0 / units[k, 0], 1.0 / units[k, 1]
        for row in range(np.uint64(first), np.uint64(last)):
            leaf = np.uint64(leaf_of[row])
            if leaf < np.uint64(sums.shape[1]):
                w = 1.0 if weight is None else weight[row]
                sums[k, leaf, 0] += np.int64(np.rint(gradient[k, row] * w * to_g))
                sums[k, leaf, 1] += np.int64(np.rint(hessian[k, row] * w * to_h))


@lean_kernel
def values_of_all(nodes, splits, sums, units, rules, factor, values):
    """Newton's step of each node, of inner ones by the sums of their children; OUT sums, values (nodes, scores)."""
    for i in range(len(nodes)):
        at = len(nodes) - 1 - i  # children come after their parents
        for k in range(len(sums)):
            if splits[at]:
                left, right = nodes[at].left, nodes[at].right
                sums[k, at, 0] = sums[k, left, 0] + sums[k, right, 0]
                sums[k, at, 1] = sums[k, left, 1] + sums[k, right, 1]
            G, H = sums[k, at, 0] * units[k, 0], sums[k, at, 1] * units[k, 1]
            values[at, k] = factor * leaf_weight(G, H, rules, -np.inf, np.inf)


@lean_kernel
def add_all_by_leaf(leaf_of, values, score, first, last):
    """Add its leaf's values to the scores of every row of a block; OUT score (scores, rows)."""
    for k in range(len(score)):
        for row in range(np.uint64(first), np.uint64(last)):
            score[k, row] += values[np.uint64(leaf_of[row]), k]
