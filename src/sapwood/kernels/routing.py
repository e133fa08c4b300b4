"""Routing: rows move to the children of their nodes, and from leaves to scores.

A split is a table of 256 bytes, 1 for each code that goes left: thresholds, subsets and missing values are all one.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.branching import write_table
from sapwood.kernels.float_bits import bits_of, float_of
from sapwood.kernels.histogram import HALF, LOW, ONE, SIXTEEN, numbers_of

SIDES = np.array([0, 1], dtype=np.uint8)  # a table for codes that are sides


@lean_kernel
def write_records(rows, gradient, hessian, weight, gradient_scale, hessian_scale, first, last, records, quantized):
    """Turn gradients into whole numbers, rounded to nearest; OUT records[first:last], quantized of their rows.

    `rows` are the rows that take part, or None for all. Without quantized, the numbers are packed into the records.
    """
    for i in range(np.uint64(first), np.uint64(last)):
        row = i if rows is None else np.uint64(rows[i])
        w = 1.0 if weight is None else weight[row]
        g = np.int64(np.rint(gradient[row] * w * gradient_scale))
        h = np.int64(np.rint(hessian[row] * w * hessian_scale))
        record = row << HALF
        if quantized is None:
            record |= (np.uint64(g) & LOW) << SIXTEEN | np.uint64(h)
        else:
            quantized[row, 0], quantized[row, 1] = g, h
        records[i] = record


@lean_kernel
def sum_records(records, first, last, quantized):
    """Sums of gradient and hessian of some records."""
    g, h = np.int64(0), np.int64(0)
    for i in range(first, last):
        own_g, own_h = numbers_of(records[i], quantized)
        g += own_g
        h += own_h
    return g, h


@lean_kernel
def largest(gradient, hessian, weight, first, last):
    """Largest |gradient| and hessian of a block, weights included.

    Bits are compared instead of floats, because the compiler then compares many at once.
    """
    g, h = np.int64(0), np.int64(0)
    for i in range(np.uint64(first), np.uint64(last)):
        w = 1.0 if weight is None else weight[i]
        g = max(g, np.int64(bits_of(abs(gradient[i]) * w)))
        h = max(h, np.int64(bits_of(hessian[i] * w)))
    return float_of(np.uint64(g)), float_of(np.uint64(h))


@lean_kernel
def count_large(gradient, hessian, weight, least_gradient, least_hessian, first, last, step, enough):
    """How many of every step-th row have a gradient, how many a hessian, of at least so much.

    Once both are enough, the other rows are not looked at.
    """
    n_g, n_h = 0, 0
    for i in range(first, last, step):
        w = 1.0 if weight is None else weight[i]
        n_g += np.int64(abs(gradient[i]) * w >= least_gradient)
        n_h += np.int64(hessian[i] * w >= least_hessian)
        if min(n_g, n_h) >= enough:
            break
    return n_g, n_h


@inner_kernel
def split_records(records, first, last, column, table, spare):
    """Records that go left come first, both sides in order; OUT records, spare; returns where the right begins."""
    left, right = np.uint64(first), np.uint64(first)
    for i in range(np.uint64(first), np.uint64(last)):
        record = records[i]
        goes_left = np.uint64(table[column[record >> HALF]])
        records[left] = record
        spare[right] = record
        left += goes_left
        right += ONE - goes_left
    for i in range(right - np.uint64(first)):
        records[left + i] = spare[np.uint64(first) + i]
    return np.int64(left)


@lean_kernel
def goes_left(node, code):
    """Whether a code goes left."""
    if node.code < 0:
        return (node.subset[code >> 5] >> np.uint32(code & 31)) & np.uint32(1) == 1
    return node.missing_left if code == 0 else code <= node.code


@lean_kernel
def split_pieces(pieces, records, columns, nodes, table, spare, cuts):
    """Split pieces (first, last, node) by the splits of their nodes; OUT records, cuts; table: scratch."""
    for p in range(len(pieces)):
        node = nodes[pieces[p, 2]]
        write_table(node, table)
        cuts[p] = split_records(records, pieces[p, 0], pieces[p, 1], columns[node.feature], table, spare)


@lean_kernel
def join_pieces(records, spare, firsts, cuts, lasts):
    """Join pieces of one node, each split by itself; OUT records; returns where the right begins."""
    left = cuts[0]
    for p in range(1, len(firsts)):
        for i in range(firsts[p], cuts[p]):  # moves down: what it overwrites lies in spare too
            records[left] = records[i]
            left += 1
    at = left
    for p in range(len(firsts)):
        for i in range(lasts[p] - cuts[p]):
            records[at] = spare[firsts[p] + i]
            at += 1
    return left


@lean_kernel
def mark_leaves(pieces, records, leaf_of):
    """Write the leaf of every row, piece (first, last, leaf) by piece; OUT leaf_of."""
    for p in range(len(pieces)):
        for i in range(pieces[p, 0], pieces[p, 1]):
            leaf_of[records[i] >> HALF] = pieces[p, 2]


@lean_kernel
def sum_by_leaf(leaf_of, gradient, hessian, weight, gradient_scale, hessian_scale, first, last, sums):
    """Sums of each leaf in fine whole numbers; rows outside of the tree have a number beyond all nodes. OUT sums."""
    for row in range(np.uint64(first), np.uint64(last)):
        leaf = np.uint64(leaf_of[row])
        if leaf < np.uint64(len(sums)):
            w = 1.0 if weight is None else weight[row]
            sums[leaf, 0] += np.int64(np.rint(gradient[row] * w * gradient_scale))
            sums[leaf, 1] += np.int64(np.rint(hessian[row] * w * hessian_scale))


@lean_kernel
def add_by_leaf(leaf_of, values, score, first, last):
    """Add its leaf's value to the score of every row of a block; OUT score."""
    for row in range(np.uint64(first), np.uint64(last)):
        score[row] += values[np.uint64(leaf_of[row])]


@lean_kernel
def settle_by_code(columns, nodes, splits, first, last, leaf_of):
    """Find the leaf of those of the rows first…last-1 that are in none; OUT leaf_of."""
    for row in range(first, last):
        if leaf_of[row] >= len(splits):
            at = 0
            while splits[at]:
                node = nodes[at]
                at = node.left if goes_left(node, np.int64(columns[node.feature, row])) else node.right
            leaf_of[row] = at


@inner_kernel
def write_routes(nodes, splits, feature, after, tables):
    """For each node its column, the number after that of its left child, and where codes go; OUT all three.

    With the table's 1 for codes that go left, the next node is `after` less the entry. A leaf leads to itself. Returns
    the depth of the deepest split.
    """
    depth = np.int64(-1)
    for at in range(len(nodes)):
        if splits[at]:
            feature[at], after[at] = nodes[at].feature, nodes[at].left + 1
            write_table(nodes[at], tables[at])
            depth = max(depth, nodes[at].depth)
        else:
            feature[at], after[at] = 0, at
            for code in range(256):
                tables[at, code] = 0
    return depth


@lean_kernel
def settle_together(columns, nodes, splits, routes, rows, leaf_of):
    """What `settle_by_code` does for all rows, four at a time: the processor follows them side by side.

    `routes` are scratch for `write_routes`, `rows` for one number more than there are rows. OUT leaf_of.
    """
    feature, after, tables = routes
    steps, n_nodes, count = write_routes(nodes, splits, feature, after, tables) + 1, len(nodes), 0
    for row in range(np.uint64(columns.shape[1])):
        rows[count] = row
        count += np.int64(leaf_of[row] >= n_nodes)
    for i in range(count, min((count + 3) & ~3, len(rows))):
        rows[i] = rows[0]
    for i in range(0, count, 4):
        row_0, row_1, row_2, row_3 = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        at_0 = at_1 = at_2 = at_3 = np.uint64(0)
        for _ in range(steps):
            at_0 = after[at_0] - np.uint64(tables[at_0, columns[feature[at_0], row_0]])
            at_1 = after[at_1] - np.uint64(tables[at_1, columns[feature[at_1], row_1]])
            at_2 = after[at_2] - np.uint64(tables[at_2, columns[feature[at_2], row_2]])
            at_3 = after[at_3] - np.uint64(tables[at_3, columns[feature[at_3], row_3]])
        leaf_of[row_0], leaf_of[row_1], leaf_of[row_2], leaf_of[row_3] = at_0, at_1, at_2, at_3
