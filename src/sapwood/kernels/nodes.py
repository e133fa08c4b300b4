"""Kernels on finished nodes: their order and links, medians, weakest links.

In preorder, which nodes are leaves tells everything about the links. Read from the end, a leaf is a finished branch,
and an inner node joins the two branches finished last: the left one, then the right one. Where the nodes of many trees
stand one behind the other, `starts[t]` is where tree t begins.
"""

from __future__ import annotations

from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import ONE, kernel, lean_kernel

LEAF, UNDEFINED = -1, -2  # as in `sapwood.tree`


@kernel
def preorder(left, right, n_nodes):
    """Those of n_nodes nodes that hang on the root, in preorder, left before right."""
    order, stack = np.empty(n_nodes, np.int64), np.empty(n_nodes, np.int64)
    stack[0], size, n = 0, 1, 0
    while size > 0:
        size -= 1
        node = stack[size]
        order[n] = node
        n += 1
        if left[node] >= 0:
            stack[size], stack[size + 1] = right[node], left[node]
            size += 2
    return order[:n]


@lean_kernel
def write_order(nodes, splits, stack, order):
    """The same of records of nodes, all of which hang on the root if their parents are split; OUT order, stack."""
    stack[0], size, n = 0, 1, 0
    while size > 0:
        size -= 1
        at = stack[size]
        order[n] = at
        n += 1
        if splits[at]:
            stack[size], stack[size + 1] = nodes[at].right, nodes[at].left
            size += 2


class Links(NamedTuple):
    """What a `Tree` knows of its nodes whichever way they were grown, by the names it has for it."""

    children_left: np.ndarray
    children_right: np.ndarray
    feature: np.ndarray
    missing_go_to_left: np.ndarray
    n_node_samples: np.ndarray


@lean_kernel
def write_links(nodes, splits, order, position, links):
    """Links of the nodes in preorder; OUT links, position (nodes): scratch."""
    for i in range(len(order)):
        position[order[i]] = i
    for i in range(len(order)):
        node, left, right, feature, missing_left = nodes[order[i]], LEAF, LEAF, UNDEFINED, False
        if splits[order[i]]:
            left, right = position[node.left], position[node.right]
            feature, missing_left = node.feature, node.missing_left != 0
        links.children_left[i], links.children_right[i], links.feature[i] = left, right, feature
        links.missing_go_to_left[i], links.n_node_samples[i] = missing_left, node.n_rows


def link_nodes(nodes: np.ndarray, splits: np.ndarray, order: np.ndarray) -> Links:
    """Links of the nodes in preorder, from records of nodes and a mask of those that are split, as growth numbered."""
    n = len(order)
    left, right, feature = (np.empty(n, np.int32) for _ in range(3))
    links = Links(left, right, feature, np.empty(n, np.bool_), np.empty(n, np.int64))
    write_links(nodes, splits, order, np.empty(len(nodes), np.int32), links)
    return links


class Fields(NamedTuple):
    """What else growth notes of a node, by the names in its records."""

    at_left: np.ndarray
    at_right: np.ndarray
    threshold: np.ndarray
    subset_start: np.ndarray
    weight: np.ndarray
    mass: np.ndarray


@lean_kernel
def write_fields(nodes, order, fields):
    """Fields of the nodes in preorder; OUT fields."""
    for i in range(len(order)):
        own = nodes[order[i]]
        fields.at_left[i], fields.at_right[i], fields.threshold[i] = own.at_left, own.at_right, own.threshold
        fields.subset_start[i], fields.weight[i], fields.mass[i] = own.subset_start, own.weight, own.mass


def node_fields(nodes: np.ndarray, order: np.ndarray) -> Fields:
    """Fields of the nodes in preorder, from their records."""
    fields = Fields(*(np.empty(len(order), nodes.dtype[name]) for name in Fields._fields))
    write_fields(nodes, order, fields)
    return fields


@lean_kernel
def link_right(is_leaf, starts, finished, right):
    """Right child of every inner node, counted within its tree, -1 for leaves; OUT right, scratch finished.

    Returns the first tree whose nodes do not form one, or -1.
    """
    for t in range(len(starts) - 1):
        first = starts[t]
        n = 0
        for i in range(starts[t + 1] - 1, first - 1, -1):
            right[i] = -1
            if not is_leaf[i]:
                if n < 2:
                    return t
                n -= 2
                right[i] = finished[n]
            finished[n] = i - first
            n += 1
        if n != 1:
            return t
    return -1


@lean_kernel
def add_up(is_leaf, starts, right, sums):
    """Inner nodes become the sums of their children, column by column; OUT sums (nodes, columns)."""
    for t in range(len(starts) - 1):
        first = starts[t]
        for i in range(starts[t + 1] - 1, first - 1, -1):
            if not is_leaf[i]:
                for k in range(sums.shape[1]):
                    sums[i, k] = sums[i + 1, k] + sums[first + right[i], k]


@kernel
def node_medians(rows, first_row, n_rows, wy, output, out):
    """Weighted median of a target in each node, whose rows are rows[first_row:][:n_rows]; OUT out."""
    for node in range(len(out)):
        first, n = first_row[node], n_rows[node]
        y, w = np.empty(n), np.empty(n)
        for i in range(n):
            r = rows[first + i] >> ONE
            y[i], w[i] = wy[r, 1 + output], wy[r, 0]
        order = np.argsort(y, kind="mergesort")
        half, below = 0.5 * w.sum(), 0.0
        for i in range(n):
            below += w[order[i]]
            if below >= half:
                out[node] = y[order[i]]
                if below == half and i + 1 < n:
                    out[node] = 0.5 * y[order[i]] + 0.5 * y[order[i + 1]]
                break


@kernel
def weakest_links(left, right, parent, cost, effective_alpha, cut_order, cost_after):
    """Minimal cost-complexity pruning (Breiman et al. 1984, chapter 3).

    IN cost[node]: error of the node as a leaf, R(t). For an inner node t with branch T_t of |T_t| leaves the link
    strength is
        g(t) = (R(t) - R(T_t)) / (|T_t| - 1);
    the weakest link is cut again and again, of equal ones that of the node nearest to the root, which takes the others
    along. OUT effective_alpha[node]: alpha at which the inner node t became a leaf (never decreasing; inf for leaves).
    OUT cut_order, cost_after: the inner nodes in the order they were cut, and the error of the tree after each cut.
    Returns how many were cut.
    """
    n = len(left)
    branch_cost, n_leaves, strength = cost.copy(), np.ones(n, np.int64), np.full(n, np.inf)
    end, alive = np.arange(1, n + 1), np.zeros(n, np.bool_)
    for t in range(n - 1, -1, -1):  # preorder: children come after their parents
        effective_alpha[t] = np.inf
        if left[t] >= 0:
            branch_cost[t] = branch_cost[left[t]] + branch_cost[right[t]]
            n_leaves[t] = n_leaves[left[t]] + n_leaves[right[t]]
            strength[t] = (cost[t] - branch_cost[t]) / (n_leaves[t] - 1)
            end[t], alive[t] = end[right[t]], True
    links = [(strength[t], t) for t in range(n) if alive[t]]
    heapify(links)
    n_cut, alpha, tree_cost = 0, -np.inf, branch_cost[0]
    while len(links) > 0:
        known, t = heappop(links)
        if not alive[t]:
            continue
        if known < strength[t]:  # it has become stronger since
            heappush(links, (strength[t], t))
            continue
        alpha = max(alpha, strength[t])
        effective_alpha[t] = alpha
        gained_cost, lost_leaves = cost[t] - branch_cost[t], n_leaves[t] - 1
        tree_cost += gained_cost
        cut_order[n_cut], cost_after[n_cut] = t, tree_cost
        n_cut += 1
        alive[t : end[t]] = False
        u = np.int64(parent[t])
        while u >= 0:
            branch_cost[u] += gained_cost
            n_leaves[u] -= lost_leaves
            before, strength[u] = strength[u], (cost[u] - branch_cost[u]) / (n_leaves[u] - 1)
            if strength[u] < before:
                heappush(links, (strength[u], u))
            u = np.int64(parent[u])
    return n_cut


@kernel
def leaves_above(left, right, splits):
    """For every node itself, or the leaf it is merged into where only `splits` remain; parents come before children."""
    above = np.arange(len(left))
    for node in range(len(left)):
        if left[node] >= 0 and (not splits[node] or above[node] != node):
            above[left[node]] = above[right[node]] = above[node]
    return above
