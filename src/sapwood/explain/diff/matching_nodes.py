"""Twins: nodes of two trees that the same answers to the same questions lead to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.explain.diff.column_pairs import ColumnPairs
from sapwood.tree import Tree

Ints = NDArray[np.intp]
Mask = NDArray[np.bool_]

_LEFT, _STOP = 1, 2  # ways of a row at a split; 0 is to the right


@dataclass(frozen=True, eq=False)
class Twins:
    """`node` is the twin of each node of the first tree, -1 if it has none; `are_alike` if all nodes of both have one.

    Trees that are alike send every row to the same leaf, whatever their leaves say.
    """

    node: Ints
    are_alike: bool


class Questions:
    """Whether splits of two models ask the same: any row that both models can read goes the same way.

    Columns and levels are those of the same name, wherever they stand. A level that is new to one of the models goes
    there with the missing values, or stops, so its name alone does not make a difference.
    """

    def __init__(self, pairs: ColumnPairs, stops: tuple[bool, bool]) -> None:
        self._places, self._stops = pairs.places, stops
        self._codes = cache(pairs.level_codes)

    def same(self, before: Tree, at: Ints, after: Tree, opposite: Ints) -> Mask:
        """Whether each split of the first tree asks what the split opposite of it in the second tree does."""
        threshold, other = before.threshold[at], after.threshold[opposite]
        are_sets = np.isnan(threshold) & np.isnan(other)
        same: Mask = (threshold == other) | are_sets
        same &= self._places[0][before.feature[at]] == self._places[1][after.feature[opposite]]
        same &= before.missing_go_to_left[at] == after.missing_go_to_left[opposite]
        for k in np.flatnonzero(same & are_sets):
            same[k] = self._same_ways(before, int(at[k]), after, int(opposite[k]))
        return same

    def _same_ways(self, before: Tree, node: int, after: Tree, opposite: int) -> bool:
        codes = self._codes(int(self._places[0][before.feature[node]]))
        ways = _ways(before, node, codes[0], self._stops[0])
        return np.array_equal(ways, _ways(after, opposite, codes[1], self._stops[1]))


def _ways(tree: Tree, node: int, codes: Ints, stops: bool) -> NDArray[Any]:
    """The way of each level, -1 for one that the model does not know."""
    ways = np.zeros(int(tree.n_levels[tree.feature[node]]) + 1, dtype=np.int8)
    ways[tree.left_levels(node)] = _LEFT
    ways[-1] = _STOP if stops else tree.missing_go_to_left[node] * _LEFT
    return ways[codes]


def find_twins(before: Tree, after: Tree, questions: Questions) -> Twins:
    """Go down both trees at once, level by level, for as long as they ask the same."""
    twin = np.full(before.node_count, -1, dtype=np.intp)
    inner, inner_after, are_alike = ~before.is_leaf, ~after.is_leaf, True
    at = opposite = np.zeros(1, dtype=np.intp)
    while len(at):
        twin[at] = opposite
        both = inner[at] & inner_after[opposite]
        are_alike &= np.array_equal(inner[at], inner_after[opposite])
        at, opposite = at[both], opposite[both]
        same = questions.same(before, at, after, opposite)
        are_alike &= bool(same.all())
        at, opposite = at[same], opposite[same]
        at = np.concatenate([before.children_left[at], before.children_right[at]])
        opposite = np.concatenate([after.children_left[opposite], after.children_right[opposite]])
    return Twins(twin, are_alike)
