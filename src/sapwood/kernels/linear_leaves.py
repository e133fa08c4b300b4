"""Linear leaves: ridge regressions on some columns, one in each leaf, and what they add to scores.

A line of a leaf adds slope * (x - centre) to a score, where x is the cell clipped to low … high, and nothing if the
cell is missing. Columns are centred at their means in the leaf, weighted by hessians, so the value of the leaf stays
Newton's step, and the slopes b solve

    (Z' H Z + D) b = -Z' g        with z = x - centre, 0 where x is missing

where D holds the penalties: `ridge` times the variance of each column in the leaf, so that slopes shrink like leaf
values, by 1 + ridge / (sum of hessians) if columns are uncorrelated, in any unit of the column.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel, part

MOST_COLUMNS = 5  # of a leaf
ROWS_EACH = 10  # least rows for the value, and for each slope; a row of weight 2 counts as two

LINE = np.dtype(
    [
        ("column", np.int64),
        ("slope", np.float64),
        ("centre", np.float64),
        ("low", np.float64),  # the range of the leaf's training rows
        ("high", np.float64),
    ]
)


class Lines(NamedTuple):
    """Lines of numbered leaves: those of leaf i are lines[starts[i] : starts[i + 1]]."""

    starts: np.ndarray
    lines: np.ndarray


class LeafRows(NamedTuple):
    """Rows of numbered nodes: those of node i are rows[starts[i] : starts[i + 1]], ascending."""

    starts: np.ndarray
    rows: np.ndarray


class Scratch(NamedTuple):
    """Memory of one thread: weighted derivatives and centred cells of the rows of a leaf, and a system of equations."""

    gradient: np.ndarray
    hessian: np.ndarray
    cells: np.ndarray  # (5, rows)
    system: np.ndarray
    solution: np.ndarray  # first its right side


@part
def line_value(line, x):
    """What a line adds for a cell."""
    x = np.float64(x)
    if x != x:  # noqa: PLR0124 - NaN
        return 0.0
    return line.slope * (min(max(x, line.low), line.high) - line.centre)


@lean_kernel
def add_lines(starts, lines, leaves, X, score, first, last):
    """Add the lines of its leaf to the score of each row of a block, one after the other; OUT score."""
    for row in range(np.uint64(first), np.uint64(last)):
        leaf = leaves[row]
        for i in range(starts[leaf], starts[leaf + 1]):
            score[row] += line_value(lines[i], X[row, lines[i].column])


@lean_kernel
def write_path_columns(nodes, splits, order, is_number, near):
    """The numeric columns that the path to each node splits on, the nearest first, then -1; OUT near (nodes, 5)."""
    for j in range(MOST_COLUMNS):
        near[order[0], j] = -1
    for i in range(len(order)):
        at = order[i]
        if splits[at]:
            left, right, column, n = nodes[at].left, nodes[at].right, np.int32(nodes[at].feature), 0
            if is_number[column]:
                near[left, 0], n = column, 1
            for j in range(MOST_COLUMNS):
                if n < MOST_COLUMNS and near[at, j] != column:
                    near[left, n] = near[at, j]
                    n += 1
            for j in range(MOST_COLUMNS):
                near[right, j] = near[left, j]


@lean_kernel
def group_rows(rows, leaf_of, weight, starts, grouped):
    """Put rows of a weight above zero in the order of their leaves; `rows` are those that count, or None for all.

    OUT starts (nodes + 2): those of node i are grouped[starts[i] : starts[i + 1]], ascending.
    """
    n_rows, n_nodes = len(leaf_of) if rows is None else len(rows), np.uint64(len(starts) - 2)
    for i in range(np.uint64(n_rows)):
        row = i if rows is None else np.uint64(rows[i])
        leaf = np.uint64(leaf_of[row])
        if leaf < n_nodes and (weight is None or weight[row] > 0.0):
            starts[leaf + np.uint64(2)] += 1
    for node in range(n_nodes):
        starts[node + np.uint64(2)] += starts[node + np.uint64(1)]
    for i in range(np.uint64(n_rows)):
        row = i if rows is None else np.uint64(rows[i])
        leaf = np.uint64(leaf_of[row])
        if leaf < n_nodes and (weight is None or weight[row] > 0.0):
            grouped[starts[leaf + np.uint64(1)]] = row
            starts[leaf + np.uint64(1)] += 1


@inner_kernel
def _centre(cells, hessian, n_rows, line):
    """Range and mean of a column in a leaf, and its cells less the mean; OUT line, cells. Returns if they vary."""
    first, total, weights, low, high = 0.0, 0.0, 0.0, np.inf, -np.inf
    for i in range(n_rows):
        x = cells[i]
        if x == x:  # noqa: PLR0124 - not NaN
            if low > high:
                first = x  # a cell to count from: the mean of dates keeps its digits
            total += hessian[i] * (x - first)
            weights += hessian[i]
            low, high = min(low, x), max(high, x)
    if not (low < high and np.isfinite(high - low) and weights > 0.0):
        return False
    line.low, line.high, line.centre = low, high, min(max(first + total / weights, low), high)
    for i in range(n_rows):
        x = cells[i]
        cells[i] = x - line.centre if x == x else 0.0  # noqa: PLR0124 - NaN
    return True


@inner_kernel
def _sum_up(n_rows, n, ridge, scratch):
    """The system of equations of n columns; OUT scratch."""
    gradient, hessian, cells, system, right = scratch
    for j in range(n):
        right[j] = 0.0
        for k in range(j + 1):
            system[j, k] = 0.0
    total = 0.0
    for i in range(n_rows):
        g, h = gradient[i], hessian[i]
        total += h
        for j in range(n):
            right[j] -= g * cells[j, i]
            for k in range(j + 1):
                system[j, k] += h * cells[j, i] * cells[k, i]
    for j in range(n):
        system[j, j] += ridge * (system[j, j] / total)


@inner_kernel
def solve(system, right, n):
    """Solve n equations by Cholesky's method, the lower triangle of whose system is given; OUT both, right: solution.

    Returns False if there is no single solution.
    """
    for j in range(n):
        least = 1e-12 * system[j, j]
        for k in range(j + 1):
            total = system[j, k]
            for i in range(k):
                total -= system[j, i] * system[k, i]
            if k < j:
                system[j, k] = total / system[k, k]
            elif total > least:
                system[j, j] = np.sqrt(total)
            else:
                return False
    for j in range(n):
        for i in range(j):
            right[j] -= system[j, i] * right[i]
        right[j] /= system[j, j]
    for back in range(n):
        j = n - 1 - back
        for i in range(j + 1, n):
            right[j] -= system[i, j] * right[i]
        right[j] /= system[j, j]
        if not np.isfinite(right[j]):
            return False
    return True


@inner_kernel
def _fit_leaf(X, rows, total_weight, columns, ridge, scratch, lines):
    """Fit one leaf, whose derivatives are in the scratch memory; OUT lines, of which it returns the number."""
    n = 0
    for j in range(MOST_COLUMNS):
        if columns[j] >= 0:
            for i in range(len(rows)):
                scratch.cells[n, i] = X[rows[i], columns[j]]
            lines[n].column = columns[j]
            n += _centre(scratch.cells[n], scratch.hessian, len(rows), lines[n])
    if n == 0 or total_weight < ROWS_EACH * (1 + n):
        return 0
    _sum_up(len(rows), n, ridge, scratch)
    if not solve(scratch.system, scratch.solution, n):
        return 0
    for j in range(n):
        lines[j].slope = scratch.solution[j]
    return n


@lean_kernel
def fit_leaves(X, leaf_rows, near, gradient, hessian, weight, ridge, leaves, scratch, found):
    """Fit some leaves, given by the numbers of their nodes, as many lines each as there are; OUT found, scratch."""
    lines, counts = found
    for leaf in leaves:
        rows = leaf_rows.rows[leaf_rows.starts[leaf] : leaf_rows.starts[leaf + 1]]
        total_weight = 0.0
        for i in range(len(rows)):
            w = 1.0 if weight is None else weight[rows[i]]
            total_weight += w
            scratch.gradient[i], scratch.hessian[i] = gradient[rows[i]] * w, hessian[rows[i]] * w
        counts[leaf] = _fit_leaf(X, rows, total_weight, near[leaf], ridge, scratch, lines[leaf])
