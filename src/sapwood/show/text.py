"""A tree as indented text, in scikit-learn's layout."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Ints
from sapwood.keywords import answering
from sapwood.model import model_of
from sapwood.parameters import Flag, Interval, check_parameters
from sapwood.show.condition import missing_suffixes, split_text
from sapwood.show.line_text import line_texts
from sapwood.show.names import class_names_for, feature_names_for
from sapwood.show.one_tree import OneTree, TreeNumber, pick_tree
from sapwood.show.prediction import bracketed, class_text, class_weights, numbers
from sapwood.tree import Tree

_RULES = {
    "max_depth": (Interval(int, low=0),),
    "spacing": (Interval(int, low=1),),
    "decimals": (Interval(int, low=0),),
    "show_weights": (Flag(),),
}


@answering
def export_text(
    decision_tree: object,
    *,
    tree: TreeNumber = None,
    feature_names: object = None,
    class_names: object = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Build a text report of the rules of a tree.

    "or missing" marks the side of missing values, if there were any in training. The values of a boosted tree are what
    it adds to its score.

    Args:
        decision_tree: a fitted model.
        tree: number of a tree of a model of many, from 0, negative ones from the end; of boosting also a round and a
            score, such as (0, "setosa").
        feature_names: names of the columns; by default those seen in fit.
        class_names: names of the classes; by default those seen in fit.
        max_depth: depth below which branches are cut off.
        spacing: width of an indent.
        decimals: minimum number of decimals; thresholds get more where fewer would make the printed rule false.
        show_weights: whether leaves show the weight of each class.
    """
    options = {"max_depth": max_depth, "spacing": spacing, "decimals": decimals, "show_weights": show_weights}
    check_parameters("export_text", _RULES, options)
    one = pick_tree(model_of(decision_tree, "decision_tree"), tree)
    names, classes = feature_names_for(feature_names, one.schema), class_names_for(class_names, one.classes)
    report = _Report(one, names, classes, _heights(one.tree), spacing, decimals, show_weights)
    return "".join(f"{line}\n" for line in report.lines(max_depth))


def _heights(tree: Tree) -> Ints:
    """Depth of the subtree below each node; a leaf has 1."""
    height = np.ones(tree.node_count, dtype=np.int64)
    for node in np.flatnonzero(~tree.is_leaf)[::-1]:  # in preorder, children come after their parents
        height[node] = 1 + max(height[tree.children_left[node]], height[tree.children_right[node]])
    return height


@dataclass(frozen=True)
class _Report:
    one: OneTree
    feature_names: list[str]
    class_names: list[list[str]]
    heights: Ints
    spacing: int
    decimals: int
    show_weights: bool

    def lines(self, max_depth: int) -> list[str]:
        """Walk the tree with a stack, since a tree may be deeper than Python's recursion limit."""
        lines: list[str] = []
        todo: list[tuple[int, int] | str] = [(0, 0)]
        while todo:
            item = todo.pop()
            if isinstance(item, str):
                lines.append(item)
            else:
                todo.extend(reversed(self._parts(*item, max_depth)))
        return lines

    def _parts(self, node: int, depth: int, max_depth: int) -> list[tuple[int, int] | str]:
        """Lines and open nodes, as (node, depth), that stand for a node."""
        indent = f"|{' ' * self.spacing}" * depth + f"|{'-' * self.spacing}"
        if self.heights[node] == 1:
            return [indent + self._leaf(node)]
        if depth > max_depth:
            return [f"{indent} truncated branch of depth {self.heights[node]}"]
        left, right = self._conditions(node)
        below = int(self.one.tree.children_left[node]), int(self.one.tree.children_right[node])
        return [f"{indent} {left}", (below[0], depth + 1), f"{indent} {right}", (below[1], depth + 1)]

    def _conditions(self, node: int) -> tuple[str, str]:
        split = split_text(self.one.tree, self.one.schema, node, self.feature_names, self.decimals)
        left, right = missing_suffixes(self.one.tree, self.one.schema, node)
        # scikit-learn pads ">" so that both thresholds stand in one column
        return split.left + left, f"{split.name} {split.right_operator:2} {split.right_operand}{right}"

    def _leaf(self, node: int) -> str:
        if not self.class_names:
            lines = line_texts(self.one.tree, self.one.schema, node, self.feature_names, self.decimals)
            return " ".join([f" value: {bracketed(numbers(self.one.tree, node), self.decimals)}", *lines])
        named = f" class: {class_text(self.one.tree, node, self.class_names)}"
        return f" weights: {self._weights(node)}{named}" if self.show_weights else named

    def _weights(self, node: int) -> str:
        rows = class_weights(self.one.tree, node)
        return ", ".join(f"[{', '.join(f'{weight:.{self.decimals}f}' for weight in row)}]" for row in rows)
