"""The condition of a split as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Mask
from sapwood.one_line import one_line
from sapwood.show.value import levels_text, threshold_text
from sapwood.table.schema import Schema
from sapwood.tree import LEAF, Tree


@dataclass(frozen=True)
class SplitText:
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
    """What holds for rows that go left and for rows that go right, missing values aside."""
    found = split_text(tree, schema, node, feature_names, decimals)
    return found.left, found.right


def split_text(
    tree: Tree,
    schema: Schema,
    node: int,
    feature_names: Sequence[str] | None = None,
    decimals: int = 2,
    gap: float = math.inf,
    trim: bool = False,
) -> SplitText:
    """The parts of a condition; thresholds are printed so that values at distance `gap` stay on their side."""
    feature = int(tree.feature[node])
    column = schema.columns[feature]
    name = one_line(column.name if feature_names is None else feature_names[feature])
    if tree.is_subset_split(node):
        return _subset_text(tree, schema, node, name)
    if separates_missing(tree, node):
        return SplitText(name, "is", "not missing", "is", "missing")
    if column.kind == "boolean":
        return SplitText(name, "is", "false", "is", "true")
    gap = min(gap, _nearest_threshold(tree, node))
    text = threshold_text(column, float(tree.threshold[node]), decimals, gap, trim)
    return SplitText(name, "<=", text, ">", text)


def separates_missing(tree: Tree, node: int) -> bool:
    """Whether a split separates missing values from all others: everything is at most infinity."""
    return bool(tree.threshold[node] == np.inf and not tree.missing_go_to_left[node])


def missing_goes(tree: Tree, node: int) -> str:
    """Where missing values go: "missing goes left"."""
    return f"missing goes {'left' if tree.missing_go_to_left[node] else 'right'}"


def missing_suffixes(tree: Tree, schema: Schema, node: int) -> tuple[str, str]:
    """Suffixes of both conditions: " or missing" on one side if the column had missing values in training."""
    if not schema.columns[int(tree.feature[node])].has_missing or separates_missing(tree, node):
        return "", ""
    return (" or missing", "") if tree.missing_go_to_left[node] else ("", " or missing")


def _subset_text(tree: Tree, schema: Schema, node: int, name: str) -> SplitText:
    """List the side with fewer levels, counting only levels that can arrive at the node."""
    levels = schema.columns[int(tree.feature[node])].levels
    left, right = _arriving_levels(tree, node)
    shorter = levels_text([levels[code] for code in (left if len(left) <= len(right) else right)])
    operators = ("in", "not in") if len(left) <= len(right) else ("not in", "in")
    return SplitText(name, operators[0], shorter, operators[1], shorter)


def _arriving_levels(tree: Tree, node: int) -> tuple[list[int], list[int]]:
    feature = tree.feature[node]
    arriving = np.ones(int(tree.n_levels[feature]), dtype=bool)
    for above in _ancestors(tree, node):
        if tree.feature[above] == feature and tree.is_subset_split(above):
            arriving &= _goes_left(tree, above) == (node < tree.children_right[above])
    left = _goes_left(tree, node)
    # Rows of unseen levels may have led here; then no set would be left to name
    if not (arriving & left).any() or not (arriving & ~left).any():
        arriving = np.ones_like(arriving)
    return np.flatnonzero(arriving & left).tolist(), np.flatnonzero(arriving & ~left).tolist()


def _goes_left(tree: Tree, node: int) -> Mask:
    mask = np.zeros(int(tree.n_levels[tree.feature[node]]), dtype=bool)
    mask[tree.left_levels(node)] = True
    return mask


def _nearest_threshold(tree: Tree, node: int) -> float:
    """Distance to the nearest threshold on the same feature above or below: printed alike, they would contradict."""
    below = np.arange(node + 1, _last_descendant(tree, node) + 1)
    related = np.concatenate([np.asarray(_ancestors(tree, node), dtype=np.intp), below])
    thresholds = tree.threshold[related[tree.feature[related] == tree.feature[node]]]
    distances = np.abs(thresholds - tree.threshold[node])
    distances = distances[distances > 0]
    return float(distances.min()) if len(distances) else math.inf


# Nodes are in preorder, so paths are found without a search


def _ancestors(tree: Tree, node: int) -> list[int]:
    """Nodes from the root down to the parent."""
    above: list[int] = []
    here = 0
    while here != node:
        above.append(here)
        here = int(tree.children_left[here] if node < tree.children_right[here] else tree.children_right[here])
    return above


def _last_descendant(tree: Tree, node: int) -> int:
    """Last node of the subtree: it fills the nodes from `node` to this one."""
    while tree.children_right[node] != LEAF:
        node = int(tree.children_right[node])
    return node
