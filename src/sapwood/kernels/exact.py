"""The exact method: all nodes of a level are searched along the sorted rows of a column, without histograms.

Each node keeps its own running sums; whenever a node meets a new value, the cut below that value is a candidate.
"""

from __future__ import annotations

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.histogram import HALF, add_code
from sapwood.kernels.routing import SIDES, goes_left, split_records
from sapwood.kernels.scan import draw_cut, scan_one_by_one, try_split
from sapwood.kernels.split_order import begin_column, begin_search

CURSOR = np.dtype(  # of a node on its way along a sorted column
    [
        ("parent", np.float64),  # score of the node
        ("present_g", np.int64),  # sums of all rows with a value
        ("present_h", np.int64),
        ("present_n", np.int64),
        ("left_g", np.int64),  # sums of the rows so far
        ("left_h", np.int64),
        ("left_n", np.int64),
        ("code", np.int64),  # of the last row; 0: none yet
        ("n_codes", np.int64),  # of the node's rows, and of the rows so far
        ("n_left", np.int64),
    ]
)


@lean_kernel
def offer(node, cursor, rules, sign, feature, ahead):
    """Try the cut between two neighbouring values of a node, missing rows on the right, then on the left; OUT node."""
    missing_n = node.n_rows - cursor.present_n
    missing_g, missing_h = node.gradient - cursor.present_g, node.hessian - cursor.present_h
    for turn in range(2 if missing_n > 0 and ahead > 0 else 1):
        left = cursor.left_g + turn * missing_g, cursor.left_h + turn * missing_h, cursor.left_n + turn * missing_n
        try_split(left, 0.0, rules, sign, cursor.parent, feature, cursor.code, ahead, turn == 1, node)


@lean_kernel
def is_drawn(node, cursor, rules, feature):
    """Whether the cut behind the codes so far is the one to try, if only a random one is (as in `scan_drawn`)."""
    n_cuts = cursor.n_codes - np.int64(cursor.present_n == node.n_rows)
    return not rules.extra_trees or cursor.n_left == draw_cut(n_cuts, feature, node)


@lean_kernel
def scan_order(order, column, place, quantized, rules, sign, feature, usable, cursors, nodes):
    """Best cut of one column for every node, along its rows with a value in order; `place` is the node of each row.

    OUT nodes, which are copies, and cursors, which are zero before.
    """
    for k in range(len(nodes)):
        cursors[k].parent = begin_search(nodes[k], rules)
        begin_column(nodes[k], feature, rules)
    for i in range(len(order)):
        row = order[i]
        if place[row] >= 0:
            cursor = cursors[place[row]]
            cursor.present_g += quantized[row, 0]
            cursor.present_h += quantized[row, 1]
            cursor.present_n += 1
            cursor.n_codes += np.int64(cursor.code != column[row])
            cursor.code = column[row]
    for k in range(len(nodes)):
        cursors[k].code = 0
    for i in range(len(order)):
        row = order[i]
        k = place[row]
        if k < 0 or not usable[k if len(usable) > 1 else 0, feature]:
            continue
        code, cursor = np.int64(column[row]), cursors[k]
        if code != cursor.code:
            if cursor.code > 0 and is_drawn(nodes[k], cursor, rules, feature):
                offer(nodes[k], cursor, rules, sign, feature, code)
            cursor.code = code
            cursor.n_left += 1
        cursor.left_g += quantized[row, 0]
        cursor.left_h += quantized[row, 1]
        cursor.left_n += 1
    for k in range(len(nodes)):
        node, cursor = nodes[k], cursors[k]
        if cursor.code > 0 and cursor.present_n < node.n_rows and is_drawn(node, cursor, rules, feature):
            offer(node, cursor, rules, sign, feature, 0)
        if node.feature >= 0 and cursor.present_n == node.n_rows:
            node.missing_left = 2 * node.left_hessian > node.hessian


@lean_kernel
def scan_category(records, pieces, quantized, column, rules, feature, usable, hist, lanes, nodes):
    """Best subset of one category column for every node, whose records are pieces; OUT nodes, hist: scratch."""
    for k in range(len(nodes)):
        node = nodes[k]
        parent = begin_search(node, rules)
        if not usable[k if len(usable) > 1 else 0, feature]:
            continue
        begin_column(node, feature, rules)
        for code in range(len(hist)):
            for j in range(hist.shape[1]):
                hist[code, j] = 0
        for i in range(pieces[k, 0], pieces[k, 1]):
            row = records[i] >> HALF
            add_code(hist, np.uint64(column[row]), quantized[row, 0], quantized[row, 1])
        scan_one_by_one(hist, lanes.codes, 255, True, rules, 0, parent, feature, lanes, node)


@lean_kernel
def split_ranks(pieces, records, columns, nodes, sides, spare, cuts):
    """Split pieces (first, last, node) by the splits of their nodes; OUT records, cuts, sides of the rows."""
    for p in range(len(pieces)):
        first, last, node = pieces[p, 0], pieces[p, 1], nodes[pieces[p, 2]]
        column = columns[node.feature]
        for i in range(first, last):
            row = records[i] >> HALF
            sides[row] = goes_left(node, np.int64(column[row]))
        cuts[p] = split_records(records, first, last, sides, SIDES, spare)
