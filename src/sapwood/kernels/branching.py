"""Nodes of a boosted tree: which may be split, their children, and the tables that their rows are routed by."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, inner_kernel, lean_kernel
from sapwood.kernels.draws import mix
from sapwood.kernels.newton import NO_GAIN, leaf_weight
from sapwood.kernels.rules import is_worth_it, may_split, narrow


@lean_kernel
def write_table(node, table):
    """1 for every code that goes left; OUT table."""
    if node.code >= 0:
        table[0] = node.missing_left
        for code in range(1, 256):
            table[code] = code <= node.code
    else:
        for code in range(256):
            table[code] = (node.subset[code >> 5] >> np.uint32(code & 31)) & ONE


@lean_kernel
def new_node(nodes, at, depth, key, gradient, hessian, lower, upper):
    """A node that is not split; OUT nodes[at]."""
    node = nodes[at]
    node.left, node.right, node.depth, node.key, node.slot = -1, -1, depth, key, -1
    node.gradient, node.hessian, node.lower, node.upper = gradient, hessian, lower, upper
    node.gain, node.score, node.feature, node.n_rows = NO_GAIN, NO_GAIN, -1, 0


@inner_kernel
def value_of(child, node, rules):
    """The value that a child would have as a leaf, within the bounds of its parent."""
    G, H = child.gradient * rules.gradient_unit, child.hessian * rules.hessian_unit
    return leaf_weight(G, H, rules, node.lower, node.upper)


@inner_kernel
def branch_one(nodes, at, left, signs, rules):
    """Give a node children, numbered left and left + 1; OUT nodes."""
    node = nodes[at]
    node.left, node.right = left, left + 1
    g, h = node.left_gradient, node.left_hessian
    depth = node.depth + 1
    new_node(nodes, left, depth, mix(node.key, np.int64(1)), g, h, node.lower, node.upper)
    g, h = node.gradient - g, node.hessian - h
    new_node(nodes, left + 1, depth, mix(node.key, np.int64(2)), g, h, node.lower, node.upper)
    if signs[node.feature] != 0:
        border = 0.5 * (value_of(nodes[left], node, rules) + value_of(nodes[left + 1], node, rules))
        narrow(signs[node.feature], border, nodes[left], nodes[left + 1])


@lean_kernel
def branch(ids, n_nodes, signs, rules, nodes):
    """Give each node its two children, numbered from n_nodes on; OUT nodes."""
    for k in range(len(ids)):
        branch_one(nodes, ids[k], n_nodes + 2 * k, signs, rules)


@lean_kernel
def limit_by_root(root, rules):
    """Set the limits that are shares of the root's hessian; OUT rules."""
    hessian = root.hessian * rules.hessian_unit
    rules.min_child_weight = max(rules.min_child_weight, rules.min_child_share * hessian)
    rules.least_gain = 0.5 * rules.min_decrease * hessian


@inner_kernel
def is_splittable(node, rules):
    """Whether the rules let a node be split at all."""
    return may_split(rules, node.depth, node.n_rows, node.hessian * rules.hessian_unit)


@lean_kernel
def mark_splittable(nodes, first, last, rules, out):
    """Which of the nodes first…last-1 may be split; OUT out."""
    for i in range(first, last):
        out[i - first] = is_splittable(nodes[i], rules)


@inner_kernel
def end_in_leaves(nodes, at, rules):
    """Whether the children of a node cannot be split, however its rows part."""
    node = nodes[at]
    least = 2.0 * rules.min_child_weight
    left, right = nodes[node.left].hessian * rules.hessian_unit, nodes[node.right].hessian * rules.hessian_unit
    return node.depth + 1 >= rules.max_depth or (left < least and right < least)


@inner_kernel
def drop_weak(node, rules):
    """Forget a split that gains too little; OUT node."""
    if not is_worth_it(rules, node.gain):
        node.gain = NO_GAIN


@lean_kernel
def drop_weak_splits(nodes, ids, rules):
    """The same for some nodes; OUT nodes."""
    for i in ids:
        drop_weak(nodes[i], rules)
