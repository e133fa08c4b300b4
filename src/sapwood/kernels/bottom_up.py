"""Scores of 64 rows at a time: trees evaluated from the leaves up.

Cells become codes first: how many thresholds of the model lie below them. Then every inner node takes over the result
of its left child or that of its right child, decided for 64 rows at once by comparing 64 codes of one byte with the
node's own; the root's results are the numbers of the leaves. Every node is evaluated, also those that a row does not
pass: that takes four instructions. Of a large tree only the nodes that most rows pass are evaluated; from there rows
descend one by one, see `traverse.py`.

    slots     64 bytes each: for every exit (a leaf, or where a row descends further) its number, then the results of
              the nodes, children before parents; then all of these again, since two groups take turns at every node
    codes     64 bytes for every place, see `predictor/places.py`
    levels    64 numbers for every category column; all that are no level of training are one more level

Records hold where these begin, in elements.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sapwood.kernels._jit import inner_kernel, lean_kernel
from sapwood.kernels.lanes import FAN, LANES, choose, count_below
from sapwood.kernels.linear_leaves import line_value
from sapwood.kernels.traverse import descend

COLUMN = np.dtype(
    [
        ("feature", np.uint64),  # column of the table
        ("n_levels", np.uint64),  # 0 for numbers
        ("first", np.uint64),  # of its cuts
        ("depth", np.uint64),  # 16^depth - 1 cuts at most
        ("first_place", np.uint64),
        ("n_places", np.uint64),
        ("levels", np.uint64),  # where those of a category are
    ]
)
PLACE = np.dtype(
    [
        ("codes", np.uint64),
        ("below", np.int64),  # cuts that come before those of this place
        ("missing", np.int64),  # code of a missing value: 0 goes left everywhere, the largest right
    ]
)
NODE = np.dtype(
    [
        ("codes", np.uint32),  # of a category, where its levels are
        ("subset", np.uint32),  # of a category, the first word of the levels that go left
        ("left", np.uint16),  # slots of both children
        ("right", np.uint16),
        ("code", np.uint8),  # codes above go right
        ("is_category", np.uint8),
        ("_", np.uint16),  # 16 bytes
    ]
)
TREE = np.dtype(
    [
        ("first", np.uint64),  # first node of the tree
        ("end", np.uint64),
        ("exit", np.uint64),  # its first exit
        ("n_exits", np.uint64),
        ("column", np.uint64),  # of the scores
    ]
)
ZERO, ONE, TWO, GROUP, PAIR, KEYS = (np.uint64(number) for number in (0, 1, 2, LANES, 2 * LANES, FAN))
FIVE, THIRTY_ONE = np.uint32(5), np.uint32(31)


class Coding(NamedTuple):
    """How cells become codes."""

    columns: np.ndarray
    cuts: np.ndarray
    places: np.ndarray


class Trees(NamedTuple):
    """All trees: their nodes, and the values of leaves, in each tree one of the `width` values after the other."""

    trees: np.ndarray
    nodes: np.ndarray
    subsets: np.ndarray
    leaf_values: np.ndarray
    width: np.uint64


class Below(NamedTuple):
    """What large trees need beyond: where rows descend from an exit, and the values of leaves, leaf by leaf."""

    exits: np.ndarray
    steps: np.ndarray
    leaf_values: np.ndarray
    stop_at_unseen: bool
    at: np.ndarray  # for each row of the scratch memory
    under_way: np.ndarray


class Scratch(NamedTuple):
    """Memory for some groups of 64 rows."""

    codes: np.ndarray  # (groups, places, 64), flat
    levels: np.ndarray  # (groups, category columns, 64), flat
    cells: np.ndarray  # 64
    counts: np.ndarray  # 64
    marks: np.ndarray  # 64
    slots: np.ndarray
    exits: np.ndarray  # (groups, 64), flat
    sums: np.ndarray  # (groups, columns of the scores, 64), flat
    n_groups: np.uint64  # even
    sizes: np.ndarray  # of a group's codes and levels, and of the slots of exits


@inner_kernel
def count_cuts(cells, cuts, first, depth, counts):
    """How many cuts of a column are less than each of 64 cells; OUT counts.

    The cuts are a tree of 16 branches, level by level, the last of which are the cuts themselves.
    """
    if depth == TWO:  # most columns: both levels at once
        for lane in range(GROUP):
            x = cells[lane]
            branch = count_below(x, cuts, first) * KEYS
            counts[lane] = branch + count_below(x, cuts, first + KEYS + branch)
        return
    for lane in range(GROUP):
        count, level, size = ZERO, first, KEYS
        for _ in range(depth):
            count = count * KEYS + count_below(cells[lane], cuts, level + count * KEYS)
            level += size
            size *= KEYS
        counts[lane] = count


@lean_kernel
def _code_numbers(X, row, column, coding, scratch, start):
    """Codes of 64 cells at all places of a column, the last row again where there are no more; OUT scratch.codes."""
    cells, counts, codes, last = scratch.cells, scratch.counts, scratch.codes, np.uint64(X.shape[0]) - ONE
    for lane in range(GROUP):
        cells[lane] = X[min(row + lane, last), column.feature]
    count_cuts(cells, coding.cuts, column.first, column.depth, counts)
    for p in range(column.first_place, column.first_place + column.n_places):
        place = coding.places[p]
        to, below, missing = start + place.codes, np.int32(place.below), np.int32(place.missing)
        for lane in range(GROUP):
            x, code = cells[lane], min(max(np.int32(counts[lane]) - below, np.int32(0)), np.int32(255))
            codes[to + lane] = np.uint8(missing if x != x else code)  # noqa: PLR0124 - NaN


@inner_kernel
def _code_levels(X, row, column, scratch, start):
    """Levels of 64 cells, the last row again where there are no more; OUT scratch.levels."""
    last, n_levels = np.uint64(X.shape[0]) - ONE, np.float64(column.n_levels)
    for lane in range(GROUP):
        x = np.float64(X[min(row + lane, last), column.feature])
        level = np.uint64(x) if x >= 0.0 and x < n_levels else column.n_levels
        scratch.levels[start + column.levels + lane] = level


@inner_kernel
def _mark_outside(levels, at, subsets, first, marks):
    """1 for each of 64 levels that is not in the subset, 0 for the others; OUT marks."""
    for lane in range(GROUP):
        level = levels[at + lane]
        marks[lane] = ~(subsets[first + np.uint64(level >> FIVE)] >> (level & THIRTY_ONE)) & np.uint32(1)


@inner_kernel
def _choose_by_codes(trees, tree, scratch, codes, out, apart):
    """The slots of all nodes of a tree that splits no categories, of two groups; OUT scratch.slots[out:]."""
    slots, size = scratch.slots, scratch.sizes[0]
    for n in range(tree.first, tree.end):
        node = trees.nodes[n]
        left, right, at = np.uint64(node.left), np.uint64(node.right), codes + np.uint64(node.codes)
        choose(slots, out, scratch.codes, at, node.code, left, right)
        choose(slots, out + apart, scratch.codes, at + size, node.code, left + apart, right + apart)
        out += GROUP


@inner_kernel
def _choose_by_levels(trees, tree, scratch, codes, levels, first_slot, shift):
    """The slots of all nodes of a tree, of one group; OUT scratch.slots[first_slot + shift:]."""
    slots, out = scratch.slots, first_slot + shift
    for n in range(tree.first, tree.end):
        node = trees.nodes[n]
        left, right, at = np.uint64(node.left) + shift, np.uint64(node.right) + shift, np.uint64(node.codes)
        if node.is_category:
            _mark_outside(scratch.levels, levels + at, trees.subsets, np.uint64(node.subset), scratch.marks)
            choose(slots, out, scratch.marks, ZERO, node.code, left, right)
        else:
            choose(slots, out, scratch.codes, codes + at, node.code, left, right)
        out += GROUP


@inner_kernel
def _find_exits(trees, tree, scratch, g):
    """The exits of two groups of 64 rows from one tree; OUT scratch.exits."""
    sizes, slots, exits = scratch.sizes, scratch.slots, scratch.exits
    first_slot, apart, n_nodes = sizes[2], TWO * sizes[2], tree.end - tree.first
    if sizes[1] == ZERO:
        _choose_by_codes(trees, tree, scratch, g * sizes[0], first_slot, apart)
    else:
        for k in range(TWO):
            codes, levels = (g + k) * sizes[0], (g + k) * sizes[1]
            _choose_by_levels(trees, tree, scratch, codes, levels, first_slot, k * apart)
    root = ZERO if n_nodes == ZERO else first_slot + (n_nodes - ONE) * GROUP
    for k in range(TWO):
        for lane in range(GROUP):
            exits[(g + k) * GROUP + lane] = slots[root + k * apart + lane]


@inner_kernel
def _add_leaf_values(values, tree, exits, g, width, n_columns, sums):
    """Values of the leaves of a group of 64 rows; OUT sums."""
    for k in range(width):
        first, line = tree.exit * width + k * tree.n_exits, (g * n_columns + tree.column + k) * GROUP
        for lane in range(GROUP):
            sums[line + lane] += values[first + np.uint64(exits[g * GROUP + lane])]


@inner_kernel
def _descend_further(X, below, levels, lines, tree, first, n_rows, width, n_columns, sums):
    """Rows descend from their exits to their leaves, whose values are added; OUT sums."""
    descend(below.steps, levels, X, first, n_rows, below.stop_at_unseen, below.under_way, below.at)
    for row in range(n_rows):
        line = (row // GROUP * n_columns + tree.column) * GROUP + row % GROUP
        leaf = np.uint64(~below.at[row]) * width
        for k in range(width):
            sums[line + k * GROUP] += below.leaf_values[leaf + k]
        if lines is not None:
            leaf = np.uint64(~below.at[row])
            for i in range(lines.starts[leaf], lines.starts[leaf + ONE]):
                own = lines.lines[i]
                sums[line] += line_value(own, X[first + row, own.column])


@inner_kernel
def _code_group(X, row, coding, scratch, codes, levels):
    """Codes and levels of 64 rows in all columns; OUT scratch."""
    for c in range(np.uint64(len(coding.columns))):
        column = coding.columns[c]
        if column.n_levels:
            _code_levels(X, row, column, scratch, levels)
        else:
            _code_numbers(X, row, column, coding, scratch, codes)


@lean_kernel
def add_scores(X, coding, trees, below, levels, lines, scratch, n_trees, out, start):
    """Scores of a block of rows; OUT out (columns, rows), from row `start` on: what is there, plus the first trees.

    `below` is None if all trees are small and no leaf is linear, `levels` if the others split no categories, `lines` if
    no leaf is linear. Rows are taken some groups at a time, whose codes stay in the cache while tree after tree passes
    over them.
    """
    n_rows, n_columns, width = np.uint64(X.shape[0]), np.uint64(out.shape[0]), trees.width
    n_groups, sizes, sums = scratch.n_groups, scratch.sizes, scratch.sums
    for first in range(ZERO, n_rows, n_groups * GROUP):
        some = min(n_groups * GROUP, n_rows - first)
        groups = (some + PAIR - ONE) // PAIR * TWO
        for g in range(groups):
            row = first + g * GROUP
            _code_group(X, row, coding, scratch, g * sizes[0], g * sizes[1])
            for c in range(n_columns):
                line = (g * n_columns + c) * GROUP
                for r in range(row, min(row + GROUP, n_rows)):
                    sums[line + r - row] = out[c, start + r]
        for t in range(n_trees):
            tree = trees.trees[t]
            for g in range(ZERO, groups, TWO):
                _find_exits(trees, tree, scratch, g)
            if below is None:
                for g in range(groups):  # after all exits are found, so that none is waited for
                    _add_leaf_values(trees.leaf_values, tree, scratch.exits, g, width, n_columns, sums)
            else:
                for row in range(groups * GROUP):
                    below.at[row] = below.exits[tree.exit + np.uint64(scratch.exits[row])]
                _descend_further(X, below, levels, lines, tree, first, some, width, n_columns, sums)
        for g in range(groups):
            row = first + g * GROUP
            for c in range(n_columns):
                line = (g * n_columns + c) * GROUP
                for r in range(row, min(row + GROUP, n_rows)):
                    out[c, start + r] = sums[line + r - row]
