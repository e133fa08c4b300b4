"""Paths: the nodes of a tree with all that Shapley values need to know of the way to them, and the sides rows take.

Nodes are in preorder. A node where rows with unseen levels stop has a third child, a leaf that says what the node says
and that no training row went to.

Shapley values ask every row at every inner node, whether it comes there or not. Once its sides are known, numbers,
levels and missing values, cells of either type, are one thing to them.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import ONE, lean_kernel, part

LEFT, RIGHT, STOP = 0, 1, 2  # a row with an unseen level may stop at the node

PATH_NODE = np.dtype(
    [
        ("parent", np.int32),
        ("feature", np.int32),  # that the parent splits, -1 for the root
        ("step", np.int32),  # number of the parent among the inner nodes of the tree
        ("own_step", np.int32),  # its own number among them, meaningless for leaves
        ("side", np.int32),  # of the parent
        ("depth", np.int32),
        ("before", np.int32),  # depth of the node that the path came to by the same feature before, or 0
        ("n_features", np.int32),  # distinct ones on the path
        ("node", np.int32),  # of the tree, whose words are said
        ("is_leaf", np.int32),
        ("is_last", np.int32),  # of its parent's children
        ("ratio", np.float64),  # share of the parent's training rows that came here
        ("share", np.float64),  # product of these ratios over the path's edges of the same feature
        ("share_before", np.float64),  # the same without the edge to this node
        ("reach", np.float64),  # product of these ratios over the path
    ],
    align=True,
)
NOWHERE = -1


@part
def _enter(nodes, at, parent, feature, step, side, ratio):
    """Write down what follows from the path to the parent; OUT nodes."""
    nodes[at].parent, nodes[at].feature, nodes[at].step, nodes[at].side = parent, feature, step, side
    nodes[at].is_last = 1 if side == RIGHT else 0
    nodes[at].depth = nodes[parent].depth + 1
    nodes[at].ratio, nodes[at].reach = ratio, ratio * nodes[parent].reach
    same = parent
    while same > 0 and nodes[same].feature != feature:
        same = nodes[same].parent
    nodes[at].before = nodes[same].depth
    nodes[at].share_before = nodes[same].share
    nodes[at].share = ratio * nodes[same].share
    nodes[at].n_features = nodes[parent].n_features + (1 if same == 0 else 0)


@part
def _enter_root(nodes):
    """The root's share is 1, like that of a feature the path has not asked for; OUT nodes."""
    nodes[0].parent, nodes[0].feature, nodes[0].step, nodes[0].side = NOWHERE, NOWHERE, NOWHERE, NOWHERE
    nodes[0].depth, nodes[0].before, nodes[0].n_features, nodes[0].is_last = 0, 0, 0, 0
    nodes[0].ratio, nodes[0].share, nodes[0].share_before, nodes[0].reach = 1.0, 1.0, 1.0, 1.0


@part
def _close(nodes, children, at, node, is_leaf):
    """A node that says what a node of the tree says, and has no children yet; OUT nodes, children."""
    nodes[at].node, nodes[at].is_leaf = node, is_leaf
    children[at, LEFT] = children[at, RIGHT] = children[at, STOP] = NOWHERE


@lean_kernel
def lay_paths(left, right, feature, ratio, stops, parent, nodes, children):
    """The nodes of a tree, with a third child for each of its nodes in `stops`; `ratio` is theirs by node.

    SCRATCH parent (n nodes of the tree); OUT nodes, children (n nodes, 3).
    """
    _enter_root(nodes)
    place, n_steps = 0, 0
    for node in range(len(left)):
        at = place
        place += 1
        if node > 0:
            up = parent[node]
            side = LEFT if children[up, LEFT] == NOWHERE else RIGHT
            _enter(nodes, at, up, feature[nodes[up].node], nodes[up].own_step, side, ratio[node])
            children[up, side] = at
        is_leaf = left[node] < 0
        _close(nodes, children, at, node, is_leaf)
        if is_leaf:
            continue
        nodes[at].own_step = n_steps
        parent[left[node]] = parent[right[node]] = at
        if stops[node]:
            _enter(nodes, place, at, feature[node], n_steps, STOP, 0.0)
            _close(nodes, children, place, node, True)
            children[at, STOP] = place
            place += 1
        n_steps += 1


@part
def _side_of_level(step, start, n_levels, subsets, x, stop_at_unseen):
    """Where a category goes: cells are level numbers, all others are unseen levels."""
    if x >= 0.0 and x < n_levels:
        level = np.uint32(x)
        word = subsets[np.uint32(start) + (level >> np.uint32(5))]
        return LEFT if (word >> (level & np.uint32(31))) & ONE != 0 else RIGHT
    if x == x and stop_at_unseen:  # noqa: PLR0124 - not NaN
        return STOP
    return LEFT if step.test & ONE != 0 else RIGHT


@lean_kernel
def find_sides(steps, levels, cells, stop_at_unseen, out):
    """Side of every row (n) at every step; `cells` are (columns, rows), so that rows lie side by side; OUT out.

    `levels` is None for trees that split numbers only.
    """
    n_rows = cells.shape[1]
    for at in range(len(steps)):
        step = steps[at]
        column = cells[step.test >> ONE]
        if levels is None or levels.start[at] < 0:
            threshold, missing_left = step.threshold, (step.test & ONE) != 0
            for row in range(n_rows):
                x = column[row]
                goes_left = (x <= threshold) | ((x != x) & missing_left)  # noqa: PLR0124 - NaN
                out[at, row] = LEFT if goes_left else RIGHT
        else:
            start, n_levels = levels.start[at], levels.n_levels[step.test >> ONE]
            for row in range(n_rows):
                out[at, row] = _side_of_level(step, start, n_levels, levels.subsets, column[row], stop_at_unseen)
