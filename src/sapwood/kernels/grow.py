"""Growth of a whole tree in one call.

open the root
while nodes are open:
    take the last one opened (depth first), or the one of largest decrease (best first)
    move its rows; total both children; drop the split if it is not significant
    search each child that may be split, and open it if a split was found
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel, part
from sapwood.kernels.criteria import SQUARED
from sapwood.kernels.draws import mix
from sapwood.kernels.partition import (
    mark_coded,
    mark_sorted,
    mark_subset,
    mark_valued,
    partition_list,
    split_coded,
    split_valued,
)
from sapwood.kernels.records import CENTER, NODE_SUMS
from sapwood.kernels.search import search
from sapwood.kernels.totals import is_significant, total_node, total_rest


@part
def row_of(array, i):
    """Row i, or None of None."""
    if array is None:
        return None
    return array[i]


@part
def may_split(limits, node, depth, constant):
    """Whether the rules let this node be split at all."""
    return (
        not constant
        and depth < limits.max_depth
        and node.n_rows >= limits.min_rows_split
        and node.n_rows >= 2 * limits.min_rows_leaf
        and node.weight >= 2.0 * limits.min_weight_leaf
        and node.mass > limits.impurity_threshold * node.weight
    )


@part
def search_slot(
    columns,
    codes,
    wy,
    tally,
    limits,
    entries,
    slot,
    lo,
    hi,
    node,
    sums,
    root_weight,
    floats,
    ints,
    hist,
    counts,
    occupied,
    summary,
    local,
    tallies,
    gathered,
    allowed,
    features,
    vectors,
    medians,
    values,
    levels,
    at,
):
    """Search the node in a slot; returns whether it has a split worth making."""
    s, center = sums[0], 0.0
    if limits.criterion == SQUARED:  # targets are centred at the node's mean, so their sum is zero
        center, s = s / node.weight, 0.0
    if vectors is not None:
        for d in range(len(sums)):
            vectors.work[CENTER, d] = sums[d] / node.weight if limits.criterion == SQUARED else 0.0
            vectors.work[NODE_SUMS, d] = 0.0 if limits.criterion == SQUARED else sums[d]
    found = search(
        columns,
        codes,
        wy,
        tally,
        limits,
        entries,
        slot,
        lo,
        hi,
        node.n_rows,
        node.weight,
        s,
        node.mass,
        center,
        floats,
        ints,
        hist,
        counts,
        occupied,
        summary,
        local,
        tallies,
        gathered,
        allowed,
        features,
        vectors,
        medians,
        values,
        levels,
        at,
    )
    least = limits.min_decrease * root_weight * (1.0 - 1e-12)
    return found and (limits.min_decrease == 0.0 or slot.decrease >= least)


@part
def comes_before(open_, a, b):
    """Best first: larger decrease, then the older node."""
    if open_[a].decrease != open_[b].decrease:
        return open_[a].decrease > open_[b].decrease
    return open_[a].node < open_[b].node


@part
def push(frontier, size, slot, open_, best_first):
    """Add a slot to the frontier, a stack or a binary heap; OUT frontier."""
    at = size
    if best_first:
        while at > 0 and comes_before(open_, slot, frontier[(at - 1) // 2]):
            frontier[at] = frontier[(at - 1) // 2]
            at = (at - 1) // 2
    frontier[at] = slot


@lean_kernel
def pop(frontier, size, open_, best_first):
    """Take the next slot off the frontier of `size` slots; OUT frontier."""
    if not best_first:
        return frontier[size - 1]
    top, last = frontier[0], frontier[size - 1]
    at, end = 0, size - 1
    while 2 * at + 1 < end:
        child = 2 * at + 1
        if child + 1 < end and comes_before(open_, frontier[child + 1], frontier[child]):
            child += 1
        if not comes_before(open_, frontier[child], last):
            break
        frontier[at] = frontier[child]
        at = child
    frontier[at] = last
    return top


@lean_kernel
def mark_sides(columns, codes, entries, slot, lo, hi, side, values, levels, at):
    """Give every row of the node its side under the slot's split; OUT side."""
    column = columns[slot.feature]
    if values is not None and column.is_valued != 0:
        mark_valued(values[0][slot.feature], entries, lo[0], hi[0], slot.threshold, slot.missing_left, side)
    elif column.code_row < 0:
        mark_sorted(column, entries, lo, hi, slot.n_left, slot.missing_left, side)
    elif column.is_category == 0:
        mark_coded(codes[column.code_row], entries, lo[0], hi[0], slot.at_left, slot.missing_left, side)
    elif levels is not None:
        mark_subset(codes[column.code_row], entries, lo[0], hi[0], levels.subset[at], slot.missing_left, side)


@lean_kernel
def split_rows(columns, codes, entries, slot, lo, hi, side, moved, values, levels, at):
    """Move the rows of a node whose columns have no lists that would have to follow; OUT entries; returns the cut."""
    column = columns[slot.feature]
    first, last, missing_left = lo[0], hi[0], slot.missing_left
    if values is not None and column.is_valued != 0:
        return split_valued(values[0][slot.feature], entries, first, last, slot.threshold, missing_left, moved)
    if column.is_category == 0:
        return split_coded(codes[column.code_row], entries, first, last, slot.at_left, missing_left, moved)
    mark_sides(columns, codes, entries, slot, lo, hi, side, values, levels, at)
    return partition_list(entries, first, last, side, moved)


@part
def new_leaf(node):
    """Make a node a leaf; it may be split later."""
    node.left, node.right, node.feature, node.subset_start = -1, -1, -2, -1
    node.threshold, node.missing_left = np.nan, 0


@part
def node_value(nodes, sums, node, middle):
    """What monotonic constraints compare: the mean, the median, or the share of class 1."""
    if middle is None:
        return sums[node, 0] / nodes[node].weight
    return middle[node, 0]


@part
def narrow(sign, nodes, sums, left, middle, left_slot, right_slot, bounds):
    """Bounds of the children of a split on a constrained column: neither may cross the middle of their values."""
    if bounds is not None:
        border = 0.5 * (node_value(nodes, sums, left, middle) + node_value(nodes, sums, left + 1, middle))
        if sign > 0:
            left_slot.upper, right_slot.lower = border, border
        elif sign < 0:
            left_slot.lower, right_slot.upper = border, border
        bounds[left, 0], bounds[left, 1] = left_slot.lower, left_slot.upper
        bounds[left + 1, 0], bounds[left + 1, 1] = right_slot.lower, right_slot.upper


@part
def write_split(slot, node, left):
    """Turn a node into an inner node with children left and left + 1."""
    node.left, node.right, node.feature = left, left + 1, slot.feature
    node.missing_left, node.threshold = slot.missing_left, slot.threshold
    node.at_left, node.at_right = slot.at_left, slot.at_right


@part
def append_subset(levels, at, size, subsets, n_words):
    """Add the words of a subset to the pool of all subsets; OUT subsets; returns how much of the pool is used."""
    if levels is not None:
        for i in range(size):
            subsets[n_words + i] = levels.subset[at, i]
        n_words += size
    return n_words


@lean_kernel
def split_lists(entries, first, last, lo, hi, parent, left, right, side, moved):
    """Partition lists first…last-1 of a node between its children's slots; OUT entries, lo, hi."""
    for member in range(first, last):
        start, end = lo[parent, member], hi[parent, member]
        cut = partition_list(entries, start, end, side, moved) if end > start else start
        lo[left, member], hi[left, member] = start, cut
        lo[right, member], hi[right, member] = cut, end


@part
def inherit_marks(first, lo, hi, parent, left, right):
    """Marks of coded columns (alive or constant) pass to both children."""
    for mark in range(first, lo.shape[1]):
        for child in (left, right):
            lo[child, mark], hi[child, mark] = lo[parent, mark], hi[parent, mark]


@lean_kernel
def grow(
    columns,
    codes,
    wy,
    tally,
    limits,
    entries,
    n_always,
    n_lists,
    open_,
    lo,
    hi,
    nodes,
    sums,
    floats,
    ints,
    hist,
    counts,
    occupied,
    summary,
    local,
    tallies,
    gathered,
    moved,
    side,
    allowed,
    features,
    frontier,
    free,
    own,
    wanted,
    vectors,
    medians,
    middle,
    values,
    levels,
    subsets,
    critical,
    bounds,
):
    """Grow a tree; returns (how many nodes, how many words of subsets).

    IN/OUT entries: list 0 holds the rows, lists up to n_always follow every split, the others only where a child is
    searched; lists from n_lists on are the marks of coded columns. Row 0 of lo and hi has the root's part of each list.
    OUT nodes, sums, middle, subsets, bounds (least and largest value of a node under monotonic constraints, or None).
    Depth first, the smaller child is taken first, so that few slots are enough.
    """
    best_first = limits.max_leaves > 0
    n_words, n_free, n_open, n_leaves = 0, len(open_) - 1, 0, 1
    for i in range(len(open_)):
        free[i] = len(open_) - 1 - i
    own[0] = 0

    new_leaf(nodes[0])
    constant = total_node(
        wy, tally, limits.criterion, entries, lo[0], hi[0], nodes[0], sums[0], vectors, row_of(middle, 0)
    )
    open_[0].node, open_[0].depth, open_[0].key = 0, 0, mix(limits.seed, np.int64(0))
    open_[0].lower, open_[0].upper = -np.inf, np.inf
    if bounds is not None:
        bounds[0, 0], bounds[0, 1] = -np.inf, np.inf
    wanted[0] = may_split(limits, nodes[0], 0, constant)
    first, n_nodes, c, last = 0, np.int64(1), 0, 1  # an int64 at once, so that what takes it is compiled once
    while True:
        while c != last:  # the nodes just made: one root, or two children, the larger one first
            at = own[c]
            node = nodes[first + c]
            if wanted[c] and search_slot(
                columns,
                codes,
                wy,
                tally,
                limits,
                entries,
                open_[at],
                lo[at],
                hi[at],
                node,
                sums[first + c],
                nodes[0].weight,
                floats,
                ints,
                hist,
                counts,
                occupied,
                summary,
                local,
                tallies,
                gathered,
                allowed,
                features,
                vectors,
                medians,
                values,
                levels,
                at,
            ):
                push(frontier, n_open, at, open_, best_first)
                n_open += 1
            else:
                free[n_free] = at
                n_free += 1
            c += -1 if last < 0 else 1
        if n_open == 0 or (best_first and n_leaves >= limits.max_leaves):
            break
        at = pop(frontier, n_open, open_, best_first)
        n_open -= 1
        slot, left = open_[at], n_nodes
        n_free -= 2
        own[0], own[1] = free[n_free], free[n_free + 1]
        if n_lists == 1:
            cut = split_rows(columns, codes, entries, slot, lo[at], hi[at], side, moved, values, levels, at)
            lo[own[0], 0], hi[own[0], 0], lo[own[1], 0], hi[own[1], 0] = lo[at, 0], cut, cut, hi[at, 0]
        else:
            mark_sides(columns, codes, entries, slot, lo[at], hi[at], side, values, levels, at)
            split_lists(entries, np.int64(0), n_always, lo, hi, at, own[0], own[1], side, moved)
        size = hi[own[0], 0] - lo[own[0], 0]
        small = np.int64(2 * size > hi[at, 0] - lo[at, 0])  # the other one is what remains, where sums are exact
        for turn in range(2):
            c = small if turn == 0 else 1 - small
            child = nodes[left + c]
            new_leaf(child)
            if tally is not None and turn == 1:
                constant = total_rest(
                    limits.criterion,
                    nodes[slot.node],
                    sums[slot.node],
                    nodes[left + small],
                    sums[left + small],
                    child,
                    sums[left + c],
                    vectors,
                )
            else:
                constant = total_node(
                    wy,
                    tally,
                    limits.criterion,
                    entries,
                    lo[own[c]],
                    hi[own[c]],
                    child,
                    sums[left + c],
                    vectors,
                    row_of(middle, left + c),
                )
            wanted[c] = may_split(limits, child, slot.depth + 1, constant)
        if not is_significant(wy, limits.criterion, entries, nodes, sums, slot.node, left, left + 1, vectors, critical):
            free[n_free + 2] = at
            n_free += 3
            c = last = 0
            continue
        write_split(slot, nodes[slot.node], left)
        if columns[slot.feature].is_category != 0:
            nodes[slot.node].subset_start = n_words
            n_words = append_subset(levels, at, (columns[slot.feature].n_codes + 31) // 32, subsets, n_words)
        n_nodes += 2
        n_leaves += 1
        if wanted[0] or wanted[1]:
            split_lists(entries, n_always, n_lists, lo, hi, at, own[0], own[1], side, moved)
            inherit_marks(n_lists, lo, hi, at, own[0], own[1])
        for c in range(2):
            new = open_[own[c]]
            new.node, new.depth, new.key = left + c, slot.depth + 1, mix(slot.key, c + 1)
            new.lower, new.upper = slot.lower, slot.upper
        narrow(columns[slot.feature].monotonic, nodes, sums, left, middle, open_[own[0]], open_[own[1]], bounds)
        free[n_free] = at
        n_free += 1
        first = left
        c, last = (0, 2) if nodes[left].n_rows > nodes[left + 1].n_rows else (1, -1)
    return n_nodes, n_words
