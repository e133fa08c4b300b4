"""Kernels on finished nodes: preorder numbering, medians of nodes, weakest links."""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, kernel


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
    the weakest link is cut again and again. OUT effective_alpha[node]: alpha at which the inner node t became a leaf
    (never decreasing; inf for leaves). OUT cut_order, cost_after: the inner nodes in the order they were cut, and the
    error of the tree after each cut. Returns how many were cut.
    """
    n = len(left)
    branch_cost, n_leaves, alive = cost.copy(), np.ones(n, np.int64), np.zeros(n, np.bool_)
    for t in range(n - 1, -1, -1):  # preorder: children come after their parents
        effective_alpha[t] = np.inf
        if left[t] >= 0:
            alive[t] = True
            branch_cost[t] = branch_cost[left[t]] + branch_cost[right[t]]
            n_leaves[t] = n_leaves[left[t]] + n_leaves[right[t]]
    heap, place = np.empty(n, np.int64), np.full(n, -1, np.int64)
    strength = np.full(n, np.inf)
    size = 0
    for t in range(n):
        if alive[t]:
            strength[t] = (cost[t] - branch_cost[t]) / (n_leaves[t] - 1)
            sift_up(heap, place, size, t, strength)
            size += 1
    n_cut, alpha, tree_cost = 0, -np.inf, branch_cost[0]
    stack = np.empty(n, np.int64)
    while size > 0:
        t = heap[0]
        alpha = max(alpha, strength[t])
        effective_alpha[t] = alpha
        gained_cost, lost_leaves = cost[t] - branch_cost[t], n_leaves[t] - 1
        tree_cost += gained_cost
        cut_order[n_cut], cost_after[n_cut] = t, tree_cost
        n_cut += 1
        stack[0], depth = t, 1
        while depth > 0:  # the whole branch leaves the heap
            depth -= 1
            u = stack[depth]
            if alive[u]:
                alive[u] = False
                size = remove(heap, place, size, u, strength)
                stack[depth], stack[depth + 1] = left[u], right[u]
                depth += 2
        u = parent[t]
        while u >= 0:
            branch_cost[u] += gained_cost
            n_leaves[u] -= lost_leaves
            strength[u] = (cost[u] - branch_cost[u]) / (n_leaves[u] - 1)
            at = place[u]
            sift_up(heap, place, at, u, strength)
            sift_down(heap, place, size, place[u], u, strength)
            u = parent[u]
    return n_cut


@kernel
def read_nodes(nodes, order, position, ints, floats, missing_left):
    """Fields of the nodes in preorder; links become numbers in preorder. `position` is the inverse of `order`.

    OUT ints: left, right, feature, at_left, at_right, subset_start, n_rows, first_row; floats: threshold, weight, mass.
    """
    for i in range(len(order)):
        node = nodes[order[i]]
        ints[0, i] = position[node.left] if node.left >= 0 else -1
        ints[1, i] = position[node.right] if node.right >= 0 else -1
        ints[2, i], ints[3, i], ints[4, i] = node.feature, node.at_left, node.at_right
        ints[5, i], ints[6, i], ints[7, i] = node.subset_start, node.n_rows, node.first_row
        floats[0, i], floats[1, i], floats[2, i] = node.threshold, node.weight, node.mass
        missing_left[i] = node.missing_left != 0


@kernel
def weaker(a, b, strength):
    """Order of the heap: smaller strength first, then the node nearer to the root (which takes the other along)."""
    return strength[a] < strength[b] or (strength[a] == strength[b] and a < b)


@kernel
def sift_up(heap, place, at, item, strength):
    """Move an item from position `at` towards the top; OUT heap, place."""
    while at > 0 and weaker(item, heap[(at - 1) // 2], strength):
        heap[at] = heap[(at - 1) // 2]
        place[heap[at]] = at
        at = (at - 1) // 2
    heap[at], place[item] = item, at


@kernel
def sift_down(heap, place, size, at, item, strength):
    """Move an item from position `at` towards the bottom; OUT heap, place."""
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and weaker(heap[child + 1], heap[child], strength):
            child += 1
        if not weaker(heap[child], item, strength):
            break
        heap[at] = heap[child]
        place[heap[at]] = at
        at = child
    heap[at], place[item] = item, at


@kernel
def remove(heap, place, size, item, strength):
    """Take an item out of the heap; returns the new size; OUT heap, place."""
    at, last = place[item], heap[size - 1]
    place[item] = -1
    if last != item:
        sift_up(heap, place, at, last, strength)
        sift_down(heap, place, size - 1, place[last], last, strength)
    return size - 1


@kernel
def kept_ancestors(parent, effective_alpha, alpha, kept):
    """OUT kept[node]: the node itself, or the ancestor it collapses into once the tree is pruned at alpha."""
    for t in range(len(parent)):
        above = kept[parent[t]] if t > 0 else 0
        inside = t > 0 and (above != parent[t] or effective_alpha[above] <= alpha)
        kept[t] = above if inside else t
