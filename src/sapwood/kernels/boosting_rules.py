"""Rules of boosted trees: which nodes may be split, how large children must be, and which is split next."""

from __future__ import annotations

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.newton import NO_GAIN


@lean_kernel
def limit_by_root(root, rules):
    """Set the limits that are shares of the root's hessian; OUT rules."""
    hessian = root.hessian * rules.hessian_unit
    rules.min_child_weight = max(rules.min_child_weight, rules.min_child_share * hessian)
    rules.weak = 0.5 * rules.min_decrease * hessian


@lean_kernel
def may_split(node, rules):
    """Whether the rules let a node be split at all."""
    heavy = node.hessian * rules.hessian_unit >= 2.0 * rules.min_child_weight
    return node.depth < rules.max_depth and heavy and node.n_rows >= rules.min_split_rows


@lean_kernel
def mark_splittable(nodes, first, last, rules, out):
    """Which of the nodes first…last-1 may be split; OUT out."""
    for i in range(first, last):
        out[i - first] = may_split(nodes[i], rules)


@lean_kernel
def end_in_leaves(nodes, at, rules):
    """Whether the children of a node cannot be split, however its rows part."""
    node = nodes[at]
    least = 2.0 * rules.min_child_weight
    left, right = nodes[node.left].hessian * rules.hessian_unit, nodes[node.right].hessian * rules.hessian_unit
    return node.depth + 1 >= rules.max_depth or (left < least and right < least)


@part
def is_large_enough(h, n, rules, counts):
    """Whether a child has the hessian and the rows it needs."""
    return h > 0 and h * rules.hessian_unit >= rules.min_child_weight and (not counts or n >= rules.min_child_rows)


@lean_kernel
def drop_weak(node, rules):
    """A gain below the least one is none; OUT node."""
    if node.gain < rules.weak:
        node.gain = NO_GAIN


@lean_kernel
def drop_weak_splits(nodes, ids, rules):
    """The same for some nodes; OUT nodes."""
    for i in ids:
        drop_weak(nodes[i], rules)


@lean_kernel
def comes_before(nodes, a, b):
    """Best first: larger gain, then the higher node, then the smaller key, whatever the numbers of nodes are."""
    if nodes[a].gain != nodes[b].gain:
        return nodes[a].gain > nodes[b].gain
    if nodes[a].depth != nodes[b].depth:
        return nodes[a].depth < nodes[b].depth
    return nodes[a].key < nodes[b].key


@lean_kernel
def best_of(nodes, ids, n, only_new):
    """Place of the node that is split next among the first n ids, or of the next one without children; -1: none."""
    best = -1
    for i in range(n):
        if (not only_new or nodes[ids[i]].left < 0) and (best < 0 or comes_before(nodes, ids[i], ids[best])):
            best = i
    return best
