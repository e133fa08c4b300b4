"""Rows at every split of a model: two models that agree on all of them have the same splits.

For each split of each tree, rows are made that reach it, with the split's column just below, at and just above the
threshold, missing, infinite and zero; or with every level, no level, and a level that training has not seen. In linear
leaves, two rows lie within the ranges of the lines.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Mask
from sapwood.linear_leaves import LinearLeaves
from sapwood.table.column import UNSEEN
from sapwood.table.schema import Schema
from sapwood.tree import Tree
from sapwood.tree_sum import TreeSum

Ints = NDArray[np.intp]

EXTREMES = (np.nan, -np.inf, np.inf, 0.0, -0.0)
MOST_ROWS = 500_000  # more than any model but a large forest has splits for
MOST_CELLS, FEWEST_ROWS = 20_000_000, 500
SEED = 20_011  # of the choice among rows of the same tree


def boundary_cells(trees: TreeSum, schema: Schema, most_rows: int = MOST_ROWS) -> Floats:
    """Rows (rows, columns) of float64 at the splits of all trees; the same for the same model.

    Categories are numbers of levels, NaN is missing and -2 a level that training has not seen. If there are more than
    `most_rows`, or too many for memory, every tree keeps a fair share of its own.
    """
    most_rows = min(most_rows, max(MOST_CELLS // schema.n_features, FEWEST_ROWS))
    everywhere = _columns_alone(schema, most_rows // 2)
    most = max(most_rows - len(everywhere), 1)
    limit = _fair_share([_most_cases(term.tree) for term in trees], most)
    parts = [rows for term in trees for rows in _rows_of(term.tree, limit)]
    found = np.concatenate([everywhere, *parts])
    return found[_spread(len(found), most_rows)]


def _columns_alone(schema: Schema, most: int) -> Floats:
    """One row for each extreme value or level of each column; also for columns that no tree splits."""
    values = [(j, value) for j, column in enumerate(schema.columns) for value in _own_values(len(column.levels))]
    chosen = _spread(len(values), max(most, 1))
    rows = np.zeros((len(chosen), schema.n_features))
    for row, at in zip(rows, chosen.tolist(), strict=True):
        j, value = values[at]
        row[j] = value
    return rows


def _own_values(n_levels: int) -> list[float]:
    return [*map(float, range(n_levels)), np.nan, float(UNSEEN)] if n_levels else list(EXTREMES)


def _most_cases(tree: Tree) -> int:
    """An upper bound of the rows at the splits of a tree."""
    inner = ~tree.is_leaf
    levels, linear = tree.n_levels[tree.feature[inner]].astype(np.int64), tree.linear
    n_in_leaves = 0 if linear is None else 2 * int(np.count_nonzero(linear.counts))
    return int(np.where(levels > 0, levels + 2, len(EXTREMES) + 5).sum()) + n_in_leaves


def _fair_share(counts: list[int], most: int) -> int:
    """The number of rows that a tree may have so that all together have `most`: small trees leave theirs to others."""
    left = most
    for done, count in enumerate(sorted(counts)):
        share = left // (len(counts) - done)
        if count > share:
            return max(share, 1)
        left -= count
    return most


def _spread(n: int, most: int) -> Ints:
    """Numbers of `most` rows out of n, one from each of as many stretches of equal length."""
    if n <= most:
        return np.arange(n)
    edges = np.linspace(0, n, most + 1)[:-1]
    offset = np.random.default_rng(SEED).random(most) * (n / most)
    return np.minimum((edges + offset).astype(np.intp), n - 1)


def _rows_of(tree: Tree, limit: int) -> Iterator[Floats]:
    """Rows at the splits of one tree, at most `limit`, and in its linear leaves."""
    if tree.node_count == 1:
        return
    boxes = _Boxes.of(tree)
    node, value = boxes.cases()
    kept = _spread(len(node), limit)
    node, value = node[kept], value[kept]
    rows = boxes.rows(node)
    rows[np.arange(len(node)), tree.feature[node]] = value
    yield rows
    if tree.linear is not None:
        yield from _rows_of_lines(boxes, tree.linear)


def _rows_of_lines(boxes: _Boxes, linear: LinearLeaves) -> Iterator[Floats]:
    """Rows in linear leaves, at a third and two thirds of the range of each line."""
    leaves = np.flatnonzero(linear.counts)
    place, lines = np.repeat(np.arange(len(leaves)), linear.counts[leaves]), linear.lines
    for third in (1 / 3, 2 / 3):
        rows = boxes.rows(leaves)
        rows[place, lines["column"]] = lines["low"] + third * (lines["high"] - lines["low"])
        yield rows


@dataclass(frozen=True, eq=False)
class _Boxes:
    """What the nodes of a tree admit of the columns that it uses: low < x <= high, some levels, or missing values.

    Minus infinity is above no `low`: `least` tells where it is admitted, which is left of every split passed.
    """

    tree: Tree
    used: Ints  # columns
    low: Floats  # (nodes, used columns)
    high: Floats
    least: Mask
    missing: Mask
    levels: dict[int, Mask]  # place of a category column to (nodes, levels)

    @classmethod
    def of(cls, tree: Tree) -> _Boxes:
        """Level by level, since children admit what their parent does and obey its split."""
        used = np.unique(tree.feature[~tree.is_leaf]).astype(np.intp)
        shape = tree.node_count, len(used)
        levels = {
            k: np.ones((tree.node_count, tree.n_levels[j]), dtype=np.bool_)
            for k, j in enumerate(used.tolist())
            if tree.n_levels[j]
        }
        lowest, everywhere = np.full(shape, -np.inf), np.ones(shape, dtype=np.bool_)
        boxes = cls(tree, used, lowest, np.full(shape, np.inf), everywhere, everywhere.copy(), levels)
        depths = tree.compute_node_depths()
        for depth in range(1, int(depths.max())):
            boxes._divide(np.flatnonzero((depths == depth) & ~tree.is_leaf))
        return boxes

    def _divide(self, nodes: Ints) -> None:
        tree, place = self.tree, np.searchsorted(self.used, self.tree.feature[nodes])
        left, right = tree.children_left[nodes], tree.children_right[nodes]
        for part in (self.low, self.high, self.least, self.missing, *self.levels.values()):
            part[left] = part[right] = part[nodes]
        to_left = tree.missing_go_to_left[nodes]
        self.missing[left, place] &= to_left
        self.missing[right, place] &= ~to_left
        cut = tree.subset_start[nodes] < 0
        threshold = tree.threshold[nodes[cut]]
        self.high[left[cut], place[cut]] = np.minimum(self.high[nodes[cut], place[cut]], threshold)
        self.low[right[cut], place[cut]] = np.maximum(self.low[nodes[cut], place[cut]], threshold)
        self.least[right[cut], place[cut]] = False
        for node, k in zip(nodes[~cut].tolist(), place[~cut].tolist(), strict=True):
            goes_left = np.zeros(self.levels[k].shape[1], dtype=np.bool_)
            goes_left[tree.left_levels(node)] = True
            self.levels[k][tree.children_left[node]] &= goes_left
            self.levels[k][tree.children_right[node]] &= ~goes_left

    def rows(self, node: Ints) -> Floats:
        """Rows (nodes, columns) that reach the nodes, 0 in columns that the tree does not use."""
        found = np.zeros((len(node), self.tree.n_features))
        found[:, self.used] = self.inside(node)
        return found

    def cases(self) -> tuple[Ints, Floats]:
        """Nodes, and cells of their columns, such that rows with these cells reach the nodes."""
        tree = self.tree
        inner = np.flatnonzero(~tree.is_leaf & self._can_be_reached())
        numbers = inner[tree.subset_start[inner] < 0]
        around = _around(tree.threshold[numbers])
        node, value = [np.repeat(numbers, around.shape[1])], [around.ravel()]
        for k, admitted in self.levels.items():
            own = inner[tree.feature[inner] == self.used[k]]
            cells = np.array(_own_values(admitted.shape[1]))
            node.append(np.repeat(own, len(cells)))
            value.append(np.tile(cells, len(own)))
        nodes, values = np.concatenate(node), np.concatenate(value)
        order = np.argsort(nodes, kind="stable")
        nodes, values = nodes[order], values[order]
        kept = self._admits(nodes, values)
        return nodes[kept], values[kept]

    def _can_be_reached(self) -> Mask:
        """Nodes that some row reaches: each column admits a number, a level or a missing value."""
        some = np.asarray((self.low < self.high) | self.least | self.missing)
        for k, admitted in self.levels.items():
            some[:, k] = admitted.any(axis=1) | self.missing[:, k]
        return np.asarray(some.all(axis=1))

    def _admits(self, node: Ints, value: Floats) -> Mask:
        """Whether a row with this cell in the column of the node's split can reach it."""
        place = np.searchsorted(self.used, self.tree.feature[node])
        admitted = np.asarray((self.low[node, place] < value) & (value <= self.high[node, place]))
        admitted |= (value == -np.inf) & self.least[node, place]
        for k, known in self.levels.items():
            own = np.flatnonzero(place == k)
            code = np.nan_to_num(value[own], nan=UNSEEN).astype(np.intp)
            admitted[own] = np.where(code >= 0, known[node[own], code], self.missing[node[own], k])
        return np.where(np.isnan(value), self.missing[node, place], admitted)

    def inside(self, node: Ints) -> Floats:
        """Cells (nodes, used columns) that reach the nodes; numbers of float32 where there is one."""
        low, high, missing = self.low[node], self.high[node], self.missing[node]
        with np.errstate(over="ignore", under="ignore"):
            beyond = np.nextafter(low.astype(np.float32), np.float32(np.inf)).astype(np.float64)
        cells = np.where(np.isfinite(high), _float32_below(high), np.where(np.isfinite(low), beyond, 0.0))
        cells = np.where((low < cells) & (cells <= high), cells, high)
        cells = np.where(low < high, cells, np.where(self.least[node], -np.inf, np.nan))
        for k, admitted in self.levels.items():
            known = admitted[node]
            cells[:, k] = np.where(known.any(axis=1), known.argmax(axis=1), np.where(missing[:, k], np.nan, UNSEEN))
        return cells


def _around(threshold: Floats) -> Floats:
    """A threshold, its neighbours in float64 and in float32, and extremes, (thresholds, cells)."""
    below = _float32_below(threshold)
    with np.errstate(over="ignore", under="ignore"):
        above = np.nextafter(below.astype(np.float32), np.float32(np.inf)).astype(np.float64)
        near = [threshold, np.nextafter(threshold, -np.inf), np.nextafter(threshold, np.inf), below, above]
    extremes = np.broadcast_to(EXTREMES, (len(threshold), len(EXTREMES)))
    return np.column_stack([*near, extremes])


def _float32_below(x: Floats) -> Floats:
    """The largest numbers of float32 that are not above x."""
    with np.errstate(over="ignore", under="ignore"):
        near = x.astype(np.float32)
        return np.where(near > x, np.nextafter(near, np.float32(-np.inf)), near).astype(np.float64)
