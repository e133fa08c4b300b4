"""A tree as another library numbers its nodes, on its way to a `Tree`, whose nodes are in preorder.

Nothing is taken for granted: children must be nodes, and each node must have one parent, or a file could send a row
round and round.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.errors import ModelFileError
from sapwood.losses.loss import LEAST_HESSIAN
from sapwood.tree import LEAF, UNDEFINED, Tree

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint32]

MOST_WORDS = 2**27  # of all subsets of levels of a model, half a gigabyte


@dataclass(frozen=True, eq=False)
class SourceTree:
    """Nodes in any order, the root first; nodes that cannot be reached from it are left out."""

    where: str  # for errors, such as "tree 3"
    left: Ints  # LEAF at leaves
    right: Ints
    feature: Ints
    threshold: Floats
    missing_left: NDArray[np.bool_]
    value: Floats  # (node, output, class or 1)
    weight: Floats
    count: Ints
    impurity: Floats
    subsets: Mapping[int, Words] = field(default_factory=dict)  # levels that go left, of nodes that split categories

    def to_tree(self, n_levels: NDArray[np.int32], n_classes: tuple[int, ...] = (1,)) -> Tree:
        """The same tree in this library's terms."""
        order = preorder(self.left, self.right, self.where)
        place = np.full(len(self.left), LEAF, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        is_leaf = self.left[order] == LEAF
        start, subsets = self._joined_subsets(order)
        threshold = np.where(start >= 0, np.nan, self.threshold[order])
        return Tree(
            children_left=_at_inner(is_leaf, place[self.left[order]], LEAF, np.int32),
            children_right=_at_inner(is_leaf, place[self.right[order]], LEAF, np.int32),
            feature=_at_inner(is_leaf, self.feature[order], UNDEFINED, np.int32),
            threshold=_at_inner(is_leaf, threshold, UNDEFINED, np.float64),
            missing_go_to_left=_at_inner(is_leaf, self.missing_left[order], False, np.bool_),
            value=np.ascontiguousarray(self.value[order], dtype=np.float64),
            impurity=self.impurity[order].astype(np.float64),
            n_node_samples=self.count[order].astype(np.int64),
            weighted_n_node_samples=self.weight[order].astype(np.float64),
            subset_start=start,
            subsets=subsets,
            n_levels=n_levels,
            n_classes=n_classes,
        )

    def _joined_subsets(self, order: Ints) -> tuple[NDArray[np.int32], Words]:
        start, words = np.full(len(order), -1, dtype=np.int32), [np.empty(0, dtype=np.uint32)]
        used = 0
        for at, node in enumerate(order.tolist()):
            if node in self.subsets:
                words.append(self.subsets[node])
                start[at], used = used, used + len(words[-1])
        return start, np.concatenate(words)


def _at_inner(is_leaf: NDArray[np.bool_], values: NDArray[Any], at_leaf: Any, dtype: Any) -> NDArray[Any]:
    return np.where(is_leaf, at_leaf, values).astype(dtype)


def subset_of(goes_left: NDArray[np.bool_]) -> Words:
    """The bits of the levels that go left, 32 in a word."""
    bits = np.zeros((len(goes_left) + 31) // 32 * 32, dtype=np.bool_)
    bits[: len(goes_left)] = goes_left
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def preorder(left: Ints, right: Ints, where: str) -> Ints:
    """Nodes with each left child right after its parent; an error unless they form a tree."""
    lefts, rights = left.tolist(), right.tolist()
    found: list[int] = []
    open_nodes, seen = [0], bytearray(len(lefts))
    while open_nodes:
        node = open_nodes.pop()
        if not 0 <= node < len(lefts):
            raise ModelFileError(f"{where} names the node {node} as a child, but has the nodes 0 to {len(lefts) - 1}.")
        if seen[node]:
            raise ModelFileError(f"{where} is no tree: more than one way leads to its node {node}.")
        seen[node] = 1
        found.append(node)
        if (lefts[node] == LEAF) != (rights[node] == LEAF):
            raise ModelFileError(f"{where} has a node with one child only, node {node}.")
        if lefts[node] != LEAF:
            open_nodes += [rights[node], lefts[node]]
    return np.array(found, dtype=np.int64)


def mean_values(left: Ints, right: Ints, order: Ints, value: Floats, weight: Floats) -> Floats:
    """Values of all nodes from those of the leaves: the mean of the children, by their weights."""
    found = value.copy()
    for node in order[::-1].tolist():
        if left[node] != LEAF:
            a, b = left[node], right[node]
            found[node] = (weight[a] * found[a] + weight[b] * found[b]) / (weight[a] + weight[b])
    return found


def impurity_of_gains(left: Ints, right: Ints, order: Ints, gain: Floats, weight: Floats) -> Floats:
    """Impurities such that each split lowers weight times impurity by its gain, and leaves have none."""
    mass = np.zeros(len(left))
    for node in order[::-1].tolist():
        if left[node] != LEAF:
            mass[node] = gain[node] + mass[left[node]] + mass[right[node]]
    return mass / weight


def least_weight(weight: Floats) -> Floats:
    """Weights that can be divided by."""
    return np.maximum(weight, LEAST_HESSIAN)


def row_counts(cover: Floats) -> Ints:
    """Whole numbers of rows, at least one in each node, for sums that are near them."""
    return np.clip(np.rint(cover), 1.0, 2.0**53).astype(np.int64)


def refuse_wide_subsets(columns: Iterable[int], n_levels: NDArray[np.int32]) -> None:
    """A few bytes of a file must not ask for gigabytes of subsets; `columns` are those of all category splits."""
    words = sum(int(n_levels[j] + 31) // 32 for j in columns)
    if words > MOST_WORDS:
        raise ModelFileError(
            f"The category splits of the model would take {words * 4 / 2**30:.1f} GiB: it has columns of up to "
            f"{int(n_levels.max())} categories. Number the categories 0, 1, 2, …, or put rare ones together."
        )
