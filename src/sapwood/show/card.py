"""The lines of text that stand in the box of a node, in graphviz and in pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sapwood.parameters import ArrayLike, Flag, Interval, Nothing, OneOf
from sapwood.show.condition import wording
from sapwood.show.fitted import is_classifier
from sapwood.show.names import class_names_for, feature_names_for
from sapwood.show.number import short_number
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
GAIN = "gain"  # the criterion of boosted trees, whose nodes are worth what their splits gain

_LARGE = 1e7  # of gains, whose last digits say nothing

CARD_RULES = {
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


@dataclass(frozen=True)
class CardOptions:
    """What the cards show."""

    feature_names: Any = None
    class_names: Any = None
    label: str = "all"
    impurity: bool = True
    node_ids: bool = False
    proportion: bool = False
    precision: int = 3


class CardWriter:
    """Writes the card of any node of one estimator."""

    def __init__(self, estimator: Any, options: CardOptions) -> None:
        self._tree = estimator.tree_
        self._schema = estimator.schema_
        self._criterion = estimator.criterion if isinstance(estimator.criterion, str) else "impurity"
        self._options = options
        self._feature_names = feature_names_for(options.feature_names, self._schema)
        self._class_names = class_names_for(options.class_names, estimator)
        self._classifier = is_classifier(estimator)

    def question(self, node: int) -> list[str]:
        """Word the condition under which rows go left; no line for a leaf."""
        if self._tree.children_left[node] == LEAF:
            return []
        precision = self._options.precision
        return [wording(self._tree, self._schema, node, self._feature_names, precision, trim=True).left]

    def facts(self, node: int) -> list[str]:
        """All lines but the question."""
        return [*self._impurity(node), self._samples(node), *self._value(node), *self._class(node)]

    def heading(self, node: int) -> list[str]:
        """Number of the node, if wanted."""
        return [f"{'node ' if self._is_labelled(node) else ''}#{node}"] if self._options.node_ids else []

    def lines(self, node: int) -> list[str]:
        """Write the whole card."""
        return [*self.heading(node), *self.question(node), *self.facts(node)]

    def _is_labelled(self, node: int) -> bool:
        return self._options.label == "all" or (self._options.label == "root" and node == 0)

    def _labelled(self, node: int, label: str, text: str) -> str:
        return f"{label} = {text}" if self._is_labelled(node) else text

    def _impurity(self, node: int) -> list[str]:
        if not self._options.impurity:
            return []
        if self._criterion == GAIN:
            return self._gain(node)
        return [self._labelled(node, self._criterion, impurity_text(self._tree, node, self._options.precision))]

    def _gain(self, node: int) -> list[str]:
        left, right = int(self._tree.children_left[node]), int(self._tree.children_right[node])
        if left == LEAF:
            return []
        worth = self._tree.weighted_n_node_samples * self._tree.impurity
        gain = float(worth[node] - worth[left] - worth[right])
        text = short_number(gain, self._options.precision) if abs(gain) < _LARGE else f"{gain:.4g}"
        return [self._labelled(node, GAIN, text)]

    def _samples(self, node: int) -> str:
        count = int(self._tree.n_node_samples[node])
        share = f"{round(100.0 * count / float(self._tree.n_node_samples[0]), 1)}%"
        return self._labelled(node, "samples", share if self._options.proportion else str(count))

    def _value(self, node: int) -> list[str]:
        texts = self._class_values(node) if self._classifier else [self._numbers(node)]
        return [self._labelled(node, "value", texts[0]), *texts[1:]]

    def _class_values(self, node: int) -> list[str]:
        precision = self._options.precision
        if self._options.proportion:
            return [shares_text(row, precision) for row in class_shares(self._tree, node)]
        return [counts_text(row, precision) for row in class_weights(self._tree, node)]

    def _numbers(self, node: int) -> str:
        texts: Sequence[str] = [short_number(value, self._options.precision) for value in numbers(self._tree, node)]
        return texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]"

    def _class(self, node: int) -> list[str]:
        if not self._classifier or self._options.class_names is False:
            return []
        return [self._labelled(node, "class", class_text(self._tree, node, self._class_names))]
