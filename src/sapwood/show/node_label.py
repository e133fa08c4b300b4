"""The lines of text in the box of a node, in graphviz and in pictures."""

from __future__ import annotations

from typing import TypedDict

from sapwood.parameters import ArrayLike, Flag, Interval, Nothing, OneOf
from sapwood.show.condition import split_text
from sapwood.show.line_text import line_texts
from sapwood.show.names import class_names_for, feature_names_for
from sapwood.show.number import short_number
from sapwood.show.one_tree import GAIN, OneTree
from sapwood.show.prediction import (
    class_shares,
    class_text,
    class_weights,
    counts_text,
    impurity_text,
    numbers,
    shares_text,
)
from sapwood.tree import LEAF

TRUNCATED = "(...)"

_LARGE = 1e7  # of gains, whose last digits are noise


class TreeStyle(TypedDict, total=False):
    """Options of `plot_tree` and `export_graphviz`: what is shown of a tree, and which text is in its boxes."""

    max_depth: int | None
    feature_names: object
    class_names: object
    label: str
    impurity: bool
    node_ids: bool
    proportion: bool
    precision: int


DEFAULTS: TreeStyle = {
    "max_depth": None,
    "feature_names": None,
    "class_names": None,
    "label": "all",
    "impurity": True,
    "node_ids": False,
    "proportion": False,
    "precision": 3,
}

STYLE_RULES = {
    "max_depth": (Interval(int, low=0), Nothing(remedy="Use max_depth=None to draw the whole tree.")),
    "class_names": (ArrayLike(), Flag(), Nothing()),
    "label": (OneOf("all", "root", "none"),),
    "filled": (Flag(),),
    "impurity": (Flag(),),
    "node_ids": (Flag(),),
    "proportion": (Flag(),),
    "rounded": (Flag(),),
    "precision": (Interval(int, low=0),),
}


class NodeLabels:
    """Writes the label of any node of one tree."""

    def __init__(self, one: OneTree, style: TreeStyle) -> None:
        self._one, self._tree = one, one.tree
        self._style: TreeStyle = {**DEFAULTS, **style}
        self._precision = self._style["precision"]
        self._feature_names = feature_names_for(self._style["feature_names"], one.schema)
        self._class_names = class_names_for(self._style["class_names"], one.classes)

    def lines(self, node: int) -> list[str]:
        """The whole label: number, condition of the split, impurity, rows, value and class."""
        return [
            *self._number(node),
            *self._condition(node),
            *self._impurity(node),
            self._samples(node),
            *self._value(node),
            *self._class(node),
        ]

    def _number(self, node: int) -> list[str]:
        return [f"{'node ' if self._is_labelled(node) else ''}#{node}"] if self._style["node_ids"] else []

    def _condition(self, node: int) -> list[str]:
        """The condition under which rows go left; none for a leaf."""
        if self._tree.children_left[node] == LEAF:
            return []
        return [split_text(self._tree, self._one.schema, node, self._feature_names, self._precision, trim=True).left]

    def _is_labelled(self, node: int) -> bool:
        return self._style["label"] == "all" or (self._style["label"] == "root" and node == 0)

    def _labelled(self, node: int, label: str, text: str) -> str:
        return f"{label} = {text}" if self._is_labelled(node) else text

    def _impurity(self, node: int) -> list[str]:
        if not self._style["impurity"]:
            return []
        if self._one.criterion == GAIN:
            return self._gain(node)
        return [self._labelled(node, self._one.criterion, impurity_text(self._tree, node, self._precision))]

    def _gain(self, node: int) -> list[str]:
        left, right = int(self._tree.children_left[node]), int(self._tree.children_right[node])
        if left == LEAF:
            return []
        total = self._tree.weighted_n_node_samples * self._tree.impurity
        gain = float(total[node] - total[left] - total[right])
        text = short_number(gain, self._precision) if abs(gain) < _LARGE else f"{gain:.4g}"
        return [self._labelled(node, GAIN, text)]

    def _samples(self, node: int) -> str:
        count = int(self._tree.n_node_samples[node])
        share = f"{round(100.0 * count / float(self._tree.n_node_samples[0]), 1)}%"
        return self._labelled(node, "samples", share if self._style["proportion"] else str(count))

    def _value(self, node: int) -> list[str]:
        texts = self._class_values(node) if self._one.classes else [self._numbers(node)]
        lines = line_texts(self._tree, self._one.schema, node, self._feature_names, self._precision)
        return [self._labelled(node, "value", texts[0]), *texts[1:], *lines]

    def _class_values(self, node: int) -> list[str]:
        if self._style["proportion"]:
            return [shares_text(row, self._precision) for row in class_shares(self._tree, node)]
        return [counts_text(row, self._precision) for row in class_weights(self._tree, node)]

    def _numbers(self, node: int) -> str:
        texts = [short_number(value, self._precision) for value in numbers(self._tree, node)]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"

    def _class(self, node: int) -> list[str]:
        if not self._one.classes or self._style["class_names"] is False:
            return []
        return [self._labelled(node, "class", class_text(self._tree, node, self._class_names))]
