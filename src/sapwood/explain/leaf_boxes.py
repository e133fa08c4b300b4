"""Boxes of leaves: for every column the values with which a row can be in the leaf, exactly.

All thresholds of an ensemble on a column cut its values into cells, cell i above cut i - 1 and up to cut i, so a leaf
admits an interval of cells. Levels of a category are cells too, in sets instead of intervals. Missing values (and
levels unknown to training, which go the same way) are admitted or not, independently of the cells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats, Ints, Mask
from sapwood.cached_property import cached_property
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.tree import Tree


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of one column: between thresholds, or levels."""

    column: ColumnSchema
    cuts: Floats

    @property
    def is_category(self) -> bool:
        """Whether cells are levels."""
        return self.column.kind == "category"

    @property
    def count(self) -> int:
        """Number of cells that hold a value; nothing is above infinity."""
        if self.is_category:
            return len(self.column.levels)
        return len(self.cuts) + int(len(self.cuts) == 0 or self.cuts[-1] < np.inf)

    @cached_property
    def values(self) -> Floats:
        """A value of each cell: level numbers, or the middle, or an end of the training range where it lies outside."""
        if self.is_category:
            return np.arange(self.count, dtype=np.float64)
        if not len(self.cuts):
            return np.array([self.column.low if np.isfinite(self.column.low) else 0.0])
        low, high, cuts = self.column.low, self.column.high, self.cuts
        with np.errstate(invalid="ignore", over="ignore"):
            middle = cuts[:-1] / 2 + cuts[1:] / 2
            above = high if high > cuts[-1] else max(cuts[-1] + 1.0, np.nextafter(cuts[-1], np.inf))
        inner = np.where((middle > cuts[:-1]) & (middle <= cuts[1:]), middle, cuts[1:])
        first = low if low <= cuts[0] else cuts[0]
        return np.concatenate([[first], inner, [above]])[: self.count]


def find_cells(trees: Iterable[Tree], schema: Schema) -> list[Cells]:
    """Cells of every column."""
    found: list[list[Floats]] = [[] for _ in schema.columns]
    for tree in trees:
        numeric = ~tree.is_leaf & (tree.subset_start < 0)
        for j in np.unique(tree.feature[numeric]):
            found[j].append(tree.threshold[numeric & (tree.feature == j)])
    return [
        Cells(column, np.unique(np.concatenate(cuts)) if cuts else np.empty(0))
        for column, cuts in zip(schema.columns, found, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class Side:
    """What the leaves of a tree admit of one column: an interval of cells first…last, or levels; and missing values."""

    first: Ints
    last: Ints  # before `first` if no number is admitted
    levels: Mask | None  # (leaves, levels)
    missing: Mask

    @property
    def has_cells(self) -> Mask:
        """Which leaves admit a value at all."""
        return np.asarray(self.first <= self.last if self.levels is None else self.levels.any(axis=1))

    def overlaps(self, some: slice, others: slice) -> Mask:
        """Which pairs of leaves admit a common value, or both missing ones: (some, others)."""
        both_missing = self.missing[some, None] & self.missing[None, others]
        if self.levels is not None:
            common = self.levels[some].astype(np.float32) @ self.levels[others].T.astype(np.float32) > 0
            return np.asarray(common | both_missing)
        first = np.maximum(self.first[some, None], self.first[None, others])
        last = np.minimum(self.last[some, None], self.last[None, others])
        return np.asarray((first <= last) | both_missing)

    def common(self, a: int, b: int) -> Ints:
        """Cells that two leaves both admit."""
        if self.levels is not None:
            return np.flatnonzero(self.levels[a] & self.levels[b])
        return np.arange(max(self.first[a], self.first[b]), min(self.last[a], self.last[b]) + 1)


@dataclass(frozen=True, eq=False)
class Boxes:
    """The leaves of a tree from left to right, with the columns that their paths use."""

    leaves: Ints
    sides: dict[int, Side]

    @classmethod
    def of(cls, tree: Tree, cells: list[Cells]) -> Boxes:
        """By descent from the root; a column that the tree does not use has no side."""
        leaves = np.flatnonzero(tree.is_leaf)
        used = np.unique(tree.feature[~tree.is_leaf])
        sides = {int(j): _side(tree, int(j), cells[j], leaves) for j in used}
        return cls(leaves, sides)


def _side(tree: Tree, j: int, cells: Cells, leaves: Ints) -> Side:
    """What every node admits of a column, parents first, and of this the leaves."""
    n = tree.node_count
    first, last = np.zeros(n, dtype=np.int64), np.full(n, cells.count - 1, dtype=np.int64)
    missing = np.ones(n, dtype=np.bool_)
    levels = np.ones((n, cells.count), dtype=np.bool_) if cells.is_category else None
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = tree.children_left[node], tree.children_right[node]
        for child in (left, right):
            first[child], last[child], missing[child] = first[node], last[node], missing[node]
            if levels is not None:
                levels[child] = levels[node]
        if tree.feature[node] != j:
            continue
        goes_left = bool(tree.missing_go_to_left[node])
        missing[left] &= goes_left
        missing[right] &= not goes_left
        if levels is not None:
            chosen = np.zeros(cells.count, dtype=np.bool_)
            chosen[tree.left_levels(int(node))] = True
            levels[left] &= chosen
            levels[right] &= ~chosen
        else:
            cut = np.searchsorted(cells.cuts, tree.threshold[node])
            last[left] = min(last[left], cut)
            first[right] = max(first[right], cut + 1)
    return Side(first[leaves], last[leaves], None if levels is None else levels[leaves], missing[leaves])


def subtree_ends(tree: Tree) -> Ints:
    """For every node the number after its last descendant, nodes being in preorder."""
    ends = np.arange(1, tree.node_count + 1)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:
        ends[node] = ends[tree.children_right[node]]
    return ends
