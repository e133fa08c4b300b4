"""Formulas of regularised Newton boosting: leaf values, scores of nodes, and the values of all nodes of a grown tree.

For a node with gradient sum G and hessian sum H the leaf w minimises

    G w + 1/2 (H + lambda) w^2 + alpha |w|        ⇒  w = -T(G) / (H + lambda),  T shrinks G by alpha towards zero

and the score of the node is minus twice that minimum, T(G)^2 / (H + lambda). The gain of a split is half of the scores
of its children less that of the node. A largest step and bounds of monotone constraints clip w; then the minimum is
taken at the clipped w.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.rules import narrow

NO_GAIN = -np.inf


@inner_kernel
def shrink(G, alpha):
    """T(G): G moved by alpha towards zero."""
    if alpha < G:
        return G - alpha
    if -alpha > G:
        return G + alpha
    return 0.0


@lean_kernel
def leaf_weight(G, H, rules, lower, upper):
    """The best leaf within the bounds."""
    denominator = H + rules.reg_lambda
    if denominator <= 0.0:
        return min(max(0.0, lower), upper)
    w = -shrink(G, rules.reg_alpha) / denominator
    if rules.max_delta_step > 0.0:
        w = min(max(w, -rules.max_delta_step), rules.max_delta_step)
    return min(max(w, lower), upper)


@inner_kernel
def score_at(G, H, rules, w):
    """Minus twice the objective at leaf w."""
    return -(2.0 * G * w + (H + rules.reg_lambda) * w * w + 2.0 * rules.reg_alpha * abs(w))


@part
def score_of_both(G_left, D_left, G_right, D_right):
    """The scores of two leaves together, G_l^2 / D_l + G_r^2 / D_r, at the price of one division."""
    return (G_left * G_left * D_right + G_right * G_right * D_left) / (D_left * D_right)


@lean_kernel
def score(G, H, rules, lower, upper):
    """Minus twice the objective at the best leaf within the bounds."""
    if rules.is_plain:
        return G * G / (H + rules.reg_lambda) if H + rules.reg_lambda > 0.0 else 0.0
    return score_at(G, H, rules, leaf_weight(G, H, rules, lower, upper))


@lean_kernel
def score_of(node, rules):
    """The score of a node without a split."""
    G, H = node.gradient * rules.gradient_unit, node.hessian * rules.hessian_unit
    return score(G, H, rules, node.lower, node.upper)


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
    """Sums of inner nodes from those of the leaves; children come after their parents; OUT sums."""
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
