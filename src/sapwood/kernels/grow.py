"""Growth of a whole tree in one call.

open the root
while nodes are open:
    take the last one opened (depth first), or the one of largest decrease (best first)
    move its rows; total both children; drop the split if it is not significant
    search each child that may be split, and open it if a split was found
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part
from sapwood.kernels.draws import mix
from sapwood.kernels.frontier import pop, push
from sapwood.kernels.partition import move_rows, split_lists
from sapwood.kernels.rules import is_worth_it, may_split, narrow
from sapwood.kernels.search import search
from sapwood.kernels.significance import is_significant
from sapwood.kernels.statistic import node_value, subtract_sibling, total_node


@part
def new_leaf(node):
    """Make a node a leaf; it may be split later."""
    node.left, node.right, node.feature, node.subset_start = -1, -1, -2, -1
    node.threshold, node.missing_left = np.nan, 0


@part
def release(frame, at):
    """A slot is free again; OUT free."""
    frame.free[frame.n_free] = at
    frame.n_free += 1


@part
def is_splittable(frame, node, depth, constant):
    """Whether a node may be split: the rules let it, and its targets differ enough."""
    own = frame.nodes[node]
    is_pure = constant or own.mass <= frame.impurity_threshold * own.weight
    return not is_pure and may_split(frame, depth, own.n_rows, own.weight)


@part
def set_least_gain(frame):
    """The least gain of a split, once the weight of the root is known; OUT frame."""
    root_weight = frame.nodes[0].weight * (1.0 - 1e-12)  # a gain of the least size may have lost its last bits
    frame.least_gain = frame.min_decrease * root_weight if frame.min_decrease > 0.0 else -np.inf


@inner_kernel
def open_root(stat):
    """Make the root, in slot 0; OUT frame."""
    frame = stat.frame
    slot, n_slots = frame.slots[0], len(frame.slots)
    for i in range(n_slots):
        frame.free[i] = n_slots - 1 - i
    frame.n_open, frame.n_free, frame.n_made, frame.n_leaves, frame.n_words_used = 0, n_slots - 1, 1, 1, 0
    new_leaf(frame.nodes[0])
    constant = total_node(stat, np.int64(0), np.int64(0))
    slot.node, slot.depth, slot.key = 0, 0, mix(frame.seed, np.int64(0))
    slot.lower, slot.upper = -np.inf, np.inf
    if frame.is_bounded:
        frame.bounds[0, 0], frame.bounds[0, 1] = -np.inf, np.inf
    set_least_gain(frame)
    frame.children[0], frame.wanted[0] = 0, is_splittable(frame, 0, 0, constant)


@part
def open_child(stat, codes, values, subsets, c):
    """Search one of the nodes just made, if it may be split, and open it if there is a split; OUT frame."""
    frame = stat.frame
    at = frame.children[c]
    if frame.wanted[c] and search(stat, codes, values, subsets, at) and is_worth_it(frame, frame.slots[at].gain):
        if frame.max_leaves > 0:
            push(frame.slots, frame.frontier, frame.n_open, at)
        else:
            frame.frontier[frame.n_open] = at
        frame.n_open += 1
    else:
        release(frame, at)


@part
def take_next(frame):
    """The slot of the node to split next: the best of the heap, or the last one opened; OUT frame."""
    frame.n_open -= 1
    if frame.max_leaves > 0:
        return pop(frame.slots, frame.frontier, frame.n_open + 1)
    return frame.frontier[frame.n_open]


@part
def total_children(stat, at, left):
    """Totals of both children, the smaller one first: the other is what remains, where sums are exact; OUT frame."""
    frame = stat.frame
    slot, children = frame.slots[at], frame.children
    size = frame.hi[children[0], 0] - frame.lo[children[0], 0]
    small = np.int64(2 * size > frame.hi[at, 0] - frame.lo[at, 0])
    large = 1 - small
    new_leaf(frame.nodes[left])
    new_leaf(frame.nodes[left + 1])
    constant = total_node(stat, children[small], left + small)
    frame.wanted[small] = is_splittable(frame, left + small, slot.depth + 1, constant)
    pure = subtract_sibling(stat, slot.node, left + small, left + large)
    constant = total_node(stat, children[large], left + large) if pure < 0 else pure == 1
    frame.wanted[large] = is_splittable(frame, left + large, slot.depth + 1, constant)


@part
def write_split(frame, at, left):
    """Turn a node into an inner node with children left and left + 1; OUT nodes."""
    slot = frame.slots[at]
    node = frame.nodes[slot.node]
    node.left, node.right, node.feature = left, left + 1, slot.feature
    node.missing_left, node.threshold = slot.missing_left, slot.threshold
    node.at_left, node.at_right = slot.at_left, slot.at_right


@part
def append_subset(frame, subsets, at):
    """Add the best subset of a node to the pool of all subsets; OUT nodes, subsets."""
    slot = frame.slots[at]
    column = frame.columns[slot.feature]
    if subsets is not None and column.is_category != 0:
        start = frame.n_words_used
        frame.nodes[slot.node].subset_start = start
        for i in range((column.n_codes + 31) // 32):
            frame.subsets[start + i] = subsets[at, i]
        frame.n_words_used += (column.n_codes + 31) // 32


@part
def fill_slots(stat, at, left):
    """Slots of both children: depth, key and bounds; OUT slots, bounds."""
    frame = stat.frame
    slot = frame.slots[at]
    for c in range(2):
        child = frame.slots[frame.children[c]]
        child.node, child.depth, child.key = left + c, slot.depth + 1, mix(slot.key, c + 1)
        child.lower, child.upper = slot.lower, slot.upper
    if frame.is_bounded:
        first, second = frame.slots[frame.children[0]], frame.slots[frame.children[1]]
        border = 0.5 * (node_value(stat, left) + node_value(stat, left + 1))
        narrow(frame.columns[slot.feature].monotonic, border, first, second)
        frame.bounds[left, 0], frame.bounds[left, 1] = first.lower, first.upper
        frame.bounds[left + 1, 0], frame.bounds[left + 1, 1] = second.lower, second.upper


@inner_kernel
def split_node(stat, codes, values, subsets, critical, at):
    """Move the rows of the node in a slot to two new nodes; returns whether its split is kept. OUT frame."""
    frame = stat.frame
    slot, left, children = frame.slots[at], frame.n_made, frame.children
    frame.n_free -= 2
    children[0], children[1] = frame.free[frame.n_free], frame.free[frame.n_free + 1]
    move_rows(frame, codes, values, subsets, at)
    total_children(stat, at, left)
    if critical is not None and not is_significant(stat, critical, slot.node, left, left + 1):
        frame.n_free += 2
        release(frame, at)
        return False
    write_split(frame, at, left)
    append_subset(frame, subsets, at)
    frame.n_made += 2
    frame.n_leaves += 1
    if frame.wanted[0] or frame.wanted[1]:
        split_lists(frame, frame.n_always, frame.n_lists, at)
        inherit_marks(frame, at)
    fill_slots(stat, at, left)
    release(frame, at)
    return True


@part
def inherit_marks(frame, at):
    """Marks of coded columns (constant in the node or not) pass to both children; OUT lo, hi."""
    lo, hi = frame.lo, frame.hi
    for mark in range(frame.n_lists, lo.shape[1]):
        for c in range(2):
            child = frame.children[c]
            lo[child, mark], hi[child, mark] = lo[at, mark], hi[at, mark]


@lean_kernel
def grow(stat, codes, values, subsets, critical):
    """Grow a tree; returns (how many nodes, how many words of subsets). OUT frame.

    List 0 of the frame holds the rows, and row 0 of lo and hi has the root's part of each list. Depth first, the
    smaller child is taken first, so that few slots are enough.
    """
    frame = stat.frame
    open_root(stat)
    open_child(stat, codes, values, subsets, np.int64(0))
    while frame.n_open > 0 and (frame.max_leaves == 0 or frame.n_leaves < frame.max_leaves):
        at = take_next(frame)
        left = frame.n_made
        if split_node(stat, codes, values, subsets, critical, at):
            larger = np.int64(frame.nodes[left].n_rows <= frame.nodes[left + 1].n_rows)
            open_child(stat, codes, values, subsets, larger)
            open_child(stat, codes, values, subsets, 1 - larger)
    return frame.n_made, frame.n_words_used
