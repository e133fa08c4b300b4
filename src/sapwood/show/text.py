"""A tree as indented text, in scikit-learn's layout."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.keywords import answering
from sapwood.parameters import Flag, Interval, check_parameters
from sapwood.show.condition import missing_suffixes, wording
from sapwood.show.fitted import Schema, is_classifier
from sapwood.show.names import class_names_for, feature_names_for
from sapwood.show.path import heights
from sapwood.show.picked import picked_tree
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
    decision_tree: Any,
    *,
    tree: Any = None,
    feature_names: Any = None,
    class_names: Any = None,
    max_depth: int = 10,
    spacing: int = 3,
    decimals: int = 2,
    show_weights: bool = False,
) -> str:
    """Build a text report of the rules of a tree.

    Names default to those seen in fit. `decimals` is the least number of decimals; a threshold gets more where fewer
    would make the printed rule false. "or missing" marks the side missing values take, if there were any in training.

    Of a model of many trees, `tree` is the number of one of them, from 0 on; of boosting also a round and a score, such
    as (0, "setosa"). The values of a boosted tree are what it adds to its score.
    """
    options = {"max_depth": max_depth, "spacing": spacing, "decimals": decimals, "show_weights": show_weights}
    check_parameters("export_text", _RULES, options)
    one = picked_tree(decision_tree, tree, "decision_tree").estimator
    nodes, schema = one.tree_, one.schema_
    names = feature_names_for(feature_names, schema)
    classes = class_names_for(class_names, one) if is_classifier(one) else None
    report = _Report(nodes, schema, names, classes, heights(nodes), spacing, decimals, show_weights)
    return "".join(f"{line}\n" for line in report.lines(max_depth))


@dataclass(frozen=True)
class _Report:
    tree: Tree
    schema: Schema
    feature_names: list[str]
    class_names: list[list[str]] | None
    heights: NDArray[np.int64]
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
        children = int(self.tree.children_left[node]), int(self.tree.children_right[node])
        return [f"{indent} {left}", (children[0], depth + 1), f"{indent} {right}", (children[1], depth + 1)]

    def _conditions(self, node: int) -> tuple[str, str]:
        words = wording(self.tree, self.schema, node, self.feature_names, self.decimals)
        left, right = missing_suffixes(self.tree, self.schema, node)
        # scikit-learn pads ">" so that both thresholds stand in one column
        return words.left + left, f"{words.name} {words.right_operator:2} {words.right_operand}{right}"

    def _leaf(self, node: int) -> str:
        if self.class_names is None:
            return f" value: {bracketed(numbers(self.tree, node), self.decimals)}"
        answer = f" class: {class_text(self.tree, node, self.class_names)}"
        return f" weights: {self._weights(node)}{answer}" if self.show_weights else answer

    def _weights(self, node: int) -> str:
        rows = class_weights(self.tree, node)
        return ", ".join(f"[{', '.join(f'{weight:.{self.decimals}f}' for weight in row)}]" for row in rows)
