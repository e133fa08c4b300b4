"""Values of the nodes of a grown tree; children come after their parents."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.newton import leaf_weight
from sapwood.kernels.rules import narrow


@lean_kernel
def newton_values(nodes, splits, sums, fine_gradient_unit, fine_hessian_unit, rules, factor, values):
    """Newton's step of each node, for leaves from their fine sums, for inner nodes too; OUT values."""
    for at in range(len(nodes)):
        node = nodes[at]
        if splits[at]:
            G, H = node.gradient * rules.gradient_unit, node.hessian * rules.hessian_unit
        else:
            G, H = sums[at, 0] * fine_gradient_unit, sums[at, 1] * fine_hessian_unit
        values[at] = factor * leaf_weight(G, H, rules, node.lower, node.upper)


@lean_kernel
def add_up(nodes, splits, sums):
    """Sums of inner nodes from those of the leaves; OUT sums."""
    for k in range(len(nodes)):
        at = len(nodes) - 1 - k
        if splits[at]:
            sums[at] = sums[nodes[at].left] + sums[nodes[at].right]


@lean_kernel
def keep_order(nodes, splits, signs, values):
    """Clip values that were set after growth to bounds of monotone constraints; OUT values, bounds of nodes.

    Below a split on a constrained column, neither side may cross the middle of the values of the two children.
    """
    nodes[0].lower, nodes[0].upper = -np.inf, np.inf
    for at in range(len(nodes)):
        node = nodes[at]
        if splits[at]:
            left, right = nodes[node.left], nodes[node.right]
            left.lower, left.upper, right.lower, right.upper = node.lower, node.upper, node.lower, node.upper
            low = min(max(values[node.left], node.lower), node.upper)
            high = min(max(values[node.right], node.lower), node.upper)
            narrow(signs[node.feature], 0.5 * low + 0.5 * high, left, right)
        values[at] = min(max(values[at], node.lower), node.upper)
