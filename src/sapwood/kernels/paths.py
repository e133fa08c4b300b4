"""Paths: the nodes of a tree with all that Shapley values need of the paths to them, and the sides rows take.

Nodes are in preorder. A node where rows with unseen levels stop has a third child, a leaf with the value of the node
that no training row went to.

Shapley values need the side of every row at every inner node, whether it comes there or not. Once the sides are known,
numbers, levels and missing values, and cells of either type, are treated alike.
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
        ("node", np.int32),  # of the tree, whose value counts
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
def _enter(nodes, children, at, parent, side, feature, ratio):
    """Write down what follows from the path to the parent; OUT nodes, children."""
    node, asked = nodes[at], feature[nodes[parent].node]
    node.parent, node.feature, node.step, node.side = parent, asked, nodes[parent].own_step, side
    node.is_last = 1 if side == RIGHT else 0
    node.depth = nodes[parent].depth + 1
    node.ratio, node.reach = ratio, ratio * nodes[parent].reach
    same = parent
    while same > 0 and nodes[same].feature != asked:
        same = nodes[same].parent
    node.before, node.share_before, node.share = nodes[same].depth, nodes[same].share, ratio * nodes[same].share
    node.n_features = nodes[parent].n_features + (1 if same == 0 else 0)
    children[parent, side] = at


@lean_kernel
def lay_paths(left, right, feature, ratio, stops, parent, nodes, children):
    """The nodes of a tree, with a third child for each of its nodes in `stops`; `ratio` is theirs by node.

    SCRATCH parent (n nodes of the tree); OUT nodes, zero before, and children (n nodes, 3), NOWHERE before.
    """
    root = nodes[0]
    root.parent, root.feature, root.step, root.side = NOWHERE, NOWHERE, NOWHERE, NOWHERE
    root.ratio, root.reach = 1.0, 1.0
    root.share, root.share_before = 1.0, 1.0  # as that of a feature the path has not used
    place, n_steps = 0, 0
    for node in range(len(left)):
        at = place
        place += 1
        if node > 0:
            up = parent[node]
            _enter(nodes, children, at, up, LEFT if children[up, LEFT] == NOWHERE else RIGHT, feature, ratio[node])
        nodes[at].node, nodes[at].is_leaf = node, left[node] < 0
        if left[node] < 0:
            continue
        nodes[at].own_step = n_steps
        n_steps += 1
        parent[left[node]] = parent[right[node]] = at
        if stops[node]:
            _enter(nodes, children, place, at, STOP, feature, 0.0)
            nodes[place].node, nodes[place].is_leaf = node, True
            place += 1


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
