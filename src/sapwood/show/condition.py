"""The one place that words a split."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.show.fitted import Schema
from sapwood.show.names import one_line
from sapwood.show.path import ancestors, last_descendant
from sapwood.show.value import levels_text, threshold_text
from sapwood.tree import Tree


@dataclass(frozen=True)
class Wording:
    """A split in parts: `name left_operator left_operand` holds for rows that go left."""

    name: str
    left_operator: str
    left_operand: str
    right_operator: str
    right_operand: str

    @property
    def left(self) -> str:
        """What holds for rows that go left."""
        return f"{self.name} {self.left_operator} {self.left_operand}"

    @property
    def right(self) -> str:
        """What holds for rows that go right."""
        return f"{self.name} {self.right_operator} {self.right_operand}"


def condition(
    tree: Tree, schema: Schema, node: int, feature_names: Sequence[str] | None = None, decimals: int = 2
) -> tuple[str, str]:
    """Word what holds for rows that go left and for rows that go right, missing values aside."""
    words = wording(tree, schema, node, feature_names, decimals)
    return words.left, words.right


def wording(
    tree: Tree,
    schema: Schema,
    node: int,
    feature_names: Sequence[str] | None = None,
    decimals: int = 2,
    gap: float = math.inf,
    trim: bool = False,
) -> Wording:
    """Word a split in parts; thresholds are printed so that values at distance `gap` stay on their side."""
    feature = int(tree.feature[node])
    column = schema.columns[feature]
    name = one_line(column.name if feature_names is None else feature_names[feature])
    if tree.is_subset_split(node):
        return _subset_wording(tree, schema, node, name)
    if parts_missing(tree, node):
        return Wording(name, "is", "not missing", "is", "missing")
    if column.kind == "boolean":
        return Wording(name, "is", "false", "is", "true")
    gap = min(gap, _nearest_threshold(tree, node))
    text = threshold_text(column, float(tree.threshold[node]), decimals, gap, trim)
    return Wording(name, "<=", text, ">", text)


def parts_missing(tree: Tree, node: int) -> bool:
    """Whether a split parts missing values from all others: everything is at most infinity."""
    return bool(tree.threshold[node] == np.inf and not tree.missing_go_to_left[node])


def missing_goes(tree: Tree, node: int) -> str:
    """Word where missing values go: "missing goes left"."""
    return f"missing goes {'left' if tree.missing_go_to_left[node] else 'right'}"


def missing_suffixes(tree: Tree, schema: Schema, node: int) -> tuple[str, str]:
    """Suffixes of both conditions: " or missing" on one side if the column had missing values in training."""
    if not schema.columns[int(tree.feature[node])].has_missing or parts_missing(tree, node):
        return "", ""
    return (" or missing", "") if tree.missing_go_to_left[node] else ("", " or missing")


def _subset_wording(tree: Tree, schema: Schema, node: int, name: str) -> Wording:
    """List the side with fewer levels, counting only levels that can arrive at the node."""
    levels = schema.columns[int(tree.feature[node])].levels
    left, right = _arriving_levels(tree, node)
    shorter = levels_text([levels[code] for code in (left if len(left) <= len(right) else right)])
    operators = ("in", "not in") if len(left) <= len(right) else ("not in", "in")
    return Wording(name, operators[0], shorter, operators[1], shorter)


def _arriving_levels(tree: Tree, node: int) -> tuple[list[int], list[int]]:
    feature = tree.feature[node]
    arriving = np.ones(int(tree.n_levels[feature]), dtype=bool)
    for above in ancestors(tree, node):
        if tree.feature[above] == feature and tree.is_subset_split(above):
            arriving &= _goes_left(tree, above) == (node < tree.children_right[above])
    left = _goes_left(tree, node)
    # Rows of unseen levels may have led here; then no set would be left to name
    if not (arriving & left).any() or not (arriving & ~left).any():
        arriving = np.ones_like(arriving)
    return np.flatnonzero(arriving & left).tolist(), np.flatnonzero(arriving & ~left).tolist()


def _goes_left(tree: Tree, node: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    mask = np.zeros(int(tree.n_levels[tree.feature[node]]), dtype=bool)
    mask[tree.left_levels(node)] = True
    return mask


def _nearest_threshold(tree: Tree, node: int) -> float:
    """Distance to the nearest threshold on the same feature above or below: printed alike, they would contradict."""
    below = np.arange(node + 1, last_descendant(tree, node) + 1)
    related = np.concatenate([np.asarray(ancestors(tree, node), dtype=np.intp), below])
    thresholds = tree.threshold[related[tree.feature[related] == tree.feature[node]]]
    distances = np.abs(thresholds - tree.threshold[node])
    distances = distances[distances > 0]
    return float(distances.min()) if len(distances) else math.inf
