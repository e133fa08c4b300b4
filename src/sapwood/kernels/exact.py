"""The exact method: all nodes of a level are searched along the sorted rows of a column, without histograms.

Each node keeps its own running sums; whenever a node meets a new value, the cut below that value is a candidate.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.newton import NO_GAIN, worth_of
from sapwood.kernels.scan import gain_beyond, keep, scan_levels

HALF = np.uint64(32)
ONE = np.uint64(1)


@lean_kernel
def mark_places(records, firsts, lasts, place):
    """Number of its node for each row, in the order of the nodes; OUT place."""
    for k in range(len(firsts)):
        for i in range(firsts[k], lasts[k]):
            place[records[i] >> HALF] = k


@lean_kernel
def clear(node):
    """Forget the best split; OUT node."""
    node.gain, node.feature, node.next_code = NO_GAIN, -1, 0


@lean_kernel
def try_cut(node, left_g, left_h, left_n, missing_g, missing_h, missing_n, rules, sign, parent, feature, code, ahead):
    """Consider the cut after `code`, missing rows on the right and, if there are any, on the left; OUT node."""
    counts = rules.min_child_rows > 1
    gain = gain_beyond(left_g, left_h, left_n, rules, counts, sign, parent, node)
    if gain > NO_GAIN:
        keep(node, gain, feature, code, ahead, False, left_g, left_h)
    if missing_n > 0 and ahead > 0:
        with_g, with_h = left_g + missing_g, left_h + missing_h
        gain = gain_beyond(with_g, with_h, left_n + missing_n, rules, counts, sign, parent, node)
        if gain > NO_GAIN:
            keep(node, gain, feature, code, ahead, True, with_g, with_h)


@lean_kernel
def scan_order(order, column, place, quanta, rules, sign, feature, usable, present, running, last_code, nodes):
    """Best cut of one column for every node; `nodes` are copies, one for each place. OUT nodes, and scratch."""
    for k in range(len(nodes)):
        clear(nodes[k])
        last_code[k] = 0
        for d in range(3):
            present[k, d], running[k, d] = 0, 0
    for i in range(len(order)):
        row = order[i]
        k = place[row]
        if k >= 0:
            present[k, 0] += quanta[row, 0]
            present[k, 1] += quanta[row, 1]
            present[k, 2] += 1
    for i in range(len(order)):
        row = order[i]
        k = place[row]
        if k < 0 or not usable[k if len(usable) > 1 else 0, feature]:
            continue
        code = np.int64(column[row])
        if code != last_code[k]:
            if last_code[k] > 0:
                offer(nodes[k], running[k], present[k], rules, sign, feature, last_code[k], code)
            last_code[k] = code
        running[k, 0] += quanta[row, 0]
        running[k, 1] += quanta[row, 1]
        running[k, 2] += 1
    for k in range(len(nodes)):
        if last_code[k] > 0 and present[k, 2] < nodes[k].n_rows:
            offer(nodes[k], running[k], present[k], rules, sign, feature, last_code[k], 0)
        if nodes[k].feature >= 0 and present[k, 2] == nodes[k].n_rows:
            nodes[k].missing_left = 2 * nodes[k].left_hessian > nodes[k].hessian


@lean_kernel
def offer(node, running, present, rules, sign, feature, code, ahead):
    """Try the cut between two neighbouring values of a node; OUT node."""
    g, h = node.gradient, node.hessian
    parent = worth_of(node, rules)
    missing_g, missing_h, missing_n = g - present[0], h - present[1], node.n_rows - present[2]
    try_cut(
        node,
        running[0],
        running[1],
        running[2],
        missing_g,
        missing_h,
        missing_n,
        rules,
        sign,
        parent,
        feature,
        code,
        ahead,
    )


@lean_kernel
def scan_category(records, firsts, lasts, column, n_codes, quanta, rules, feature, usable, hist, keys, order, nodes):
    """Best subset of one category column for every node; OUT nodes, and scratch."""
    for k in range(len(nodes)):
        node = nodes[k]
        clear(node)
        if not usable[k if len(usable) > 1 else 0, feature]:
            continue
        hist[:] = 0
        for i in range(firsts[k], lasts[k]):
            row = records[i] >> HALF
            code = column[row]
            hist[code, 0] += quanta[row, 0]
            hist[code, 1] += quanta[row, 1]
            if hist.shape[1] > 2:
                hist[code, 2] += 1
        parent = worth_of(node, rules)
        scan_levels(hist, n_codes, rules, parent, feature, keys, order, node)


@lean_kernel
def goes_left(node, code):
    """Whether a code goes left."""
    if node.code < 0:
        return (node.subset[code >> 5] >> np.uint32(code & 31)) & np.uint32(1) == 1
    return node.missing_left if code == 0 else code <= node.code


@lean_kernel
def split_by_node(records, first, last, column, node, spare):
    """Records that go left come first, both sides in order; OUT records, spare; returns where the right begins."""
    left, right = np.uint64(first), np.uint64(first)
    for i in range(np.uint64(first), np.uint64(last)):
        record = records[i]
        side = np.uint64(goes_left(node, np.int64(column[record >> HALF])))
        records[left] = record
        spare[right] = record
        left += side
        right += ONE - side
    for i in range(right - np.uint64(first)):
        records[left + i] = spare[np.uint64(first) + i]
    return np.int64(left)


@lean_kernel
def split_ranks(pieces, records, columns, nodes, spare, cuts):
    """Split pieces (first, last, node) of records by the splits of their nodes; OUT records, spare, cuts."""
    for p in range(len(pieces)):
        node = nodes[pieces[p, 2]]
        cuts[p] = split_by_node(records, pieces[p, 0], pieces[p, 1], columns[node.feature], node, spare)


@lean_kernel
def settle_by_rank(columns, nodes, splits, first, last, leaf_of):
    """Find the leaf of those of the rows first…last-1 that are in none; OUT leaf_of."""
    for row in range(first, last):
        if leaf_of[row] >= len(splits):
            at = 0
            while splits[at]:
                node = nodes[at]
                at = node.left if goes_left(node, np.int64(columns[node.feature, row])) else node.right
            leaf_of[row] = at
