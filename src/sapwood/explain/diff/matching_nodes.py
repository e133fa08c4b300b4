"""Matching nodes: nodes of two trees that the same splits lead to."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Mask
from sapwood.explain.diff.column_pairs import ColumnPairs
from sapwood.tree import Tree

Nodes = NDArray[np.intp]

_LEFT, _STOP = 1, 2  # what a row does at a split; 0 is to go right


@dataclass(frozen=True, eq=False)
class MatchingNodes:
    """For each node of the first tree the matching one of the second, -1 for none.

    If the match is complete, every row is in the same leaf of both trees, regardless of the leaf values.
    """

    node: Nodes
    is_complete: bool


class SplitComparison:
    """Whether splits of two models are the same: any row that both models can read goes to the same side.

    Columns and levels are those of the same name, in any order. A level that is new to one of the models goes
    there with the missing values, or stops, so its name alone does not make a difference.
    """

    def __init__(self, pairs: ColumnPairs, stops: tuple[bool, bool]) -> None:
        self._places, self._stops = pairs.places, stops
        self._codes = cache(pairs.level_codes)

    def same(self, before: Tree, at: Nodes, after: Tree, opposite: Nodes) -> Mask:
        """Whether each split of the first tree is the same as its counterpart in the second tree."""
        threshold, other = before.threshold[at], after.threshold[opposite]
        are_sets = np.isnan(threshold) & np.isnan(other)
        same: Mask = (threshold == other) | are_sets
        same &= self._places[0][before.feature[at]] == self._places[1][after.feature[opposite]]
        same &= before.missing_go_to_left[at] == after.missing_go_to_left[opposite]
        for k in np.flatnonzero(same & are_sets):
            same[k] = self._same_sides(before, int(at[k]), after, int(opposite[k]))
        return same

    def _same_sides(self, before: Tree, node: int, after: Tree, opposite: int) -> bool:
        codes = self._codes(int(self._places[0][before.feature[node]]))
        sides = _sides(before, node, codes[0], self._stops[0])
        return np.array_equal(sides, _sides(after, opposite, codes[1], self._stops[1]))


def _sides(tree: Tree, node: int, codes: Nodes, stops: bool) -> Array:
    """The side of each level, whose code is -1 if it is unknown to the model."""
    sides = np.zeros(int(tree.n_levels[tree.feature[node]]) + 1, dtype=np.int8)
    sides[tree.left_levels(node)] = _LEFT
    sides[-1] = _STOP if stops else tree.missing_go_to_left[node] * _LEFT
    return sides[codes]


def matching_nodes(before: Tree, after: Tree, comparison: SplitComparison) -> MatchingNodes:
    """Descend both trees at once, level by level, for as long as their splits are the same."""
    match = np.full(before.node_count, -1, dtype=np.intp)
    inner, inner_after, is_complete = ~before.is_leaf, ~after.is_leaf, True
    at = opposite = np.zeros(1, dtype=np.intp)
    while len(at):
        match[at] = opposite
        both = inner[at] & inner_after[opposite]
        is_complete &= np.array_equal(inner[at], inner_after[opposite])
        at, opposite = at[both], opposite[both]
        same = comparison.same(before, at, after, opposite)
        is_complete &= bool(same.all())
        at, opposite = at[same], opposite[same]
        at = np.concatenate([before.children_left[at], before.children_right[at]])
        opposite = np.concatenate([after.children_left[opposite], after.children_right[opposite]])
    return MatchingNodes(match, is_complete)
