"""Scores of 64 rows at a time: small trees as tournaments of leaves.

Cells become codes first: how many thresholds of the model lie below them. Then every inner node is a match between the
leaf that won its left branch and the leaf that won its right one, decided for 64 rows at once by comparing 64 codes of
one byte with the node's own. Every node is played, also those that a row does not pass: a match is four instructions.
Of a large tree only the nodes that most rows pass are played; from there rows go on by themselves, see `traverse.py`.

    slots     64 bytes each: for every exit (a leaf, or where a row goes on) its number, then the winners of the nodes,
              children before parents
    codes     64 bytes for every place, see `predictor/places.py`
    levels    64 numbers for every category column; all that are no level of training are one more level

Records hold where these begin, in elements.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sapwood.kernels._jit import lean_kernel
from sapwood.kernels.lanes import FAN, LANES, choose, count_below
from sapwood.kernels.traverse import CROWD, descend

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
        ("missing", np.int64),  # code of a missing value: 0 goes left everywhere, 255 right
    ]
)
MATCH = np.dtype(
    [
        ("codes", np.uint32),  # of a category, where its levels are
        ("subset", np.uint32),  # of a category, the first word of the levels that go left
        ("left", np.uint16),  # slots of both branches
        ("right", np.uint16),
        ("code", np.uint8),  # codes above go right
        ("is_category", np.uint8),
        ("_", np.uint16),  # 16 bytes
    ]
)
CONTEST = np.dtype(
    [
        ("first", np.uint64),  # first match of the tree
        ("end", np.uint64),
        ("exit", np.uint64),  # its first exit
        ("n_exits", np.uint64),
        ("column", np.uint64),  # of the scores
    ]
)
ZERO, ONE, TWO, GROUP, KEYS = (np.uint64(number) for number in (0, 1, 2, LANES, FAN))
FIVE, THIRTY_ONE = np.uint32(5), np.uint32(31)


class Coding(NamedTuple):
    """How cells become codes."""

    columns: Any
    cuts: Any
    places: Any


class Season(NamedTuple):
    """All trees: their matches, and the values of leaves, in each tree one of the `width` values after the other."""

    contests: Any
    matches: Any
    subsets: Any
    leaf_values: Any
    width: Any


class Rest(NamedTuple):
    """What large trees need beyond: where rows go on from an exit, and the values of leaves, leaf by leaf."""

    exits: Any
    steps: Any
    leaf_values: Any
    at: Any  # for each row of the ground
    crowd: Any


class Ground(NamedTuple):
    """Memory to play on, for some groups of 64 rows."""

    codes: Any  # (groups, places, 64), flat
    levels: Any  # (groups, category columns, 64), flat
    cells: Any  # 64
    counts: Any  # 64
    marks: Any  # 64
    slots: Any
    sums: Any  # (groups, columns of the scores, 64), flat
    n_groups: Any
    sizes: Any  # of a group's codes and levels, and of the slots of exits


@lean_kernel
def _count_cuts(cells, cuts, first, depth, counts):
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
def _code_numbers(X, row, column, coding, ground, start):
    """Codes of 64 cells at all places of a column, the last row again where there are no more; OUT ground.codes."""
    cells, counts, codes, last = ground.cells, ground.counts, ground.codes, np.uint64(X.shape[0]) - ONE
    for lane in range(GROUP):
        cells[lane] = X[min(row + lane, last), column.feature]
    _count_cuts(cells, coding.cuts, column.first, column.depth, counts)
    for p in range(column.first_place, column.first_place + column.n_places):
        place = coding.places[p]
        to, below, missing = start + place.codes, np.int32(place.below), np.int32(place.missing)
        for lane in range(GROUP):
            x, code = cells[lane], min(max(np.int32(counts[lane]) - below, np.int32(0)), np.int32(255))
            codes[to + lane] = np.uint8(missing if x != x else code)  # noqa: PLR0124 - NaN


@lean_kernel
def _code_levels(X, row, column, ground, start):
    """Levels of 64 cells, the last row again where there are no more; OUT ground.levels."""
    last, n_levels = np.uint64(X.shape[0]) - ONE, np.float64(column.n_levels)
    for lane in range(GROUP):
        x = np.float64(X[min(row + lane, last), column.feature])
        level = np.uint64(x) if x >= 0.0 and x < n_levels else column.n_levels
        ground.levels[start + column.levels + lane] = level


@lean_kernel
def _mark_outside(levels, at, subsets, first, marks):
    """1 for each of 64 levels that is not in the subset, 0 for the others; OUT marks."""
    for lane in range(GROUP):
        level = levels[at + lane]
        marks[lane] = ~(subsets[first + np.uint64(level >> FIVE)] >> (level & THIRTY_ONE)) & np.uint32(1)


@lean_kernel
def _find_exits(season, contest, ground, codes, levels, first_slot):
    """The slot with the exits of 64 rows from one tree; OUT ground.slots."""
    slots, out, winner = ground.slots, first_slot, ZERO
    for m in range(contest.first, contest.end):
        match = season.matches[m]
        left, right, at = np.uint64(match.left), np.uint64(match.right), np.uint64(match.codes)
        if match.is_category:
            _mark_outside(ground.levels, levels + at, season.subsets, np.uint64(match.subset), ground.marks)
            choose(slots, out, ground.marks, ZERO, match.code, left, right)
        else:
            choose(slots, out, ground.codes, codes + at, match.code, left, right)
        winner = out
        out += GROUP
    return winner


@lean_kernel
def _add_leaf_values(values, contest, slots, winner, width, sums, to):
    """Values of the leaves that won; OUT sums[to:]."""
    for k in range(width):
        first, line = contest.exit * width + k * contest.n_exits, to + (contest.column + k) * GROUP
        for lane in range(GROUP):
            sums[line + lane] += values[first + np.uint64(slots[winner + lane])]


@lean_kernel
def _go_on(X, rest, levels, contest, first, n_rows, width, n_columns, sums):
    """Rows of the ground go on from their exits to their leaves, whose values are added; OUT sums."""
    begin = ZERO
    while begin < n_rows:
        size = min(np.uint64(CROWD), n_rows - begin)
        descend(rest.steps, levels, X, first + begin, begin, size, False, rest.crowd, rest.at)
        begin += size
    for row in range(n_rows):
        line = (row // GROUP * n_columns + contest.column) * GROUP + row % GROUP
        leaf = np.uint64(~rest.at[row]) * width
        for k in range(width):
            sums[line + k * GROUP] += rest.leaf_values[leaf + k]


@lean_kernel
def _code_group(X, row, coding, ground, codes, levels):
    """Codes and levels of 64 rows in all columns; OUT ground."""
    for c in range(np.uint64(len(coding.columns))):
        column = coding.columns[c]
        if column.n_levels:
            _code_levels(X, row, column, ground, levels)
        else:
            _code_numbers(X, row, column, coding, ground, codes)


@lean_kernel
def play_season(X, coding, season, rest, levels, ground, n_trees, out, start):
    """Scores of a block of rows; OUT out (columns, rows), from row `start` on: what is there, plus the first trees.

    `rest` is None if all trees are small, `levels` if the others split no categories. Rows are taken some groups at a
    time, whose codes stay in the cache while tree after tree passes over them.
    """
    n_groups, sizes, width = ground.n_groups, ground.sizes, season.width
    n_rows, n_columns = np.uint64(X.shape[0]), np.uint64(out.shape[0])
    for first in range(ZERO, n_rows, n_groups * GROUP):
        groups = min(n_groups, (n_rows - first + GROUP - ONE) // GROUP)
        for g in range(groups):
            row = first + g * GROUP
            _code_group(X, row, coding, ground, g * sizes[0], g * sizes[1])
            for c in range(n_columns):
                for lane in range(min(GROUP, n_rows - row)):
                    ground.sums[(g * n_columns + c) * GROUP + lane] = out[c, start + row + lane]
        for t in range(n_trees):
            contest = season.contests[t]
            for g in range(groups):
                winner = _find_exits(season, contest, ground, g * sizes[0], g * sizes[1], sizes[2])
                if rest is None:
                    to = g * n_columns * GROUP
                    _add_leaf_values(season.leaf_values, contest, ground.slots, winner, width, ground.sums, to)
                else:
                    for lane in range(GROUP):
                        rest.at[g * GROUP + lane] = rest.exits[contest.exit + np.uint64(ground.slots[winner + lane])]
            if rest is not None:
                some = min(groups * GROUP, n_rows - first)
                _go_on(X, rest, levels, contest, first, some, width, n_columns, ground.sums)
        for g in range(groups):
            row = first + g * GROUP
            for c in range(n_columns):
                for lane in range(min(GROUP, n_rows - row)):
                    out[c, start + row + lane] = ground.sums[(g * n_columns + c) * GROUP + lane]
