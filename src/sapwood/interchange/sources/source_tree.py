"""A tree as another library numbers its nodes, to be made a `Tree`, whose nodes are in preorder.

Files are not trusted: children must be nodes, and each node must have one parent, or a row could go in circles.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints, Mask
from sapwood.cached_property import cached_property
from sapwood.errors import ModelFileError
from sapwood.losses.loss import LEAST_HESSIAN
from sapwood.tree import LEAF, UNDEFINED, Tree

Bits = NDArray[np.uint32]

MOST_WORDS = 2**27  # of 32 bits, of all subsets of levels of a model: half a gigabyte


@dataclass(frozen=True, eq=False)
class Links:
    """Children of the nodes, the root first; LEAF at leaves."""

    where: str  # for errors, such as "tree 3"
    left: Ints
    right: Ints

    @property
    def is_leaf(self) -> Mask:
        """Whether each node is a leaf."""
        return np.asarray(self.left == LEAF)

    @cached_property
    def order(self) -> Ints:
        """Nodes that can be reached from the root, in preorder; an error unless they form a tree."""
        lefts, rights = self.left.tolist(), self.right.tolist()
        found: list[int] = []
        open_nodes, seen = [0], bytearray(len(lefts))
        while open_nodes:
            node = open_nodes.pop()
            if not 0 <= node < len(lefts):
                raise ModelFileError(
                    f"{self.where} names the node {node} as a child, but has the nodes 0 to {len(lefts) - 1}."
                )
            if seen[node]:
                raise ModelFileError(f"{self.where} is not a tree: its node {node} can be reached in two ways.")
            seen[node] = 1
            found.append(node)
            if (lefts[node] == LEAF) != (rights[node] == LEAF):
                raise ModelFileError(f"{self.where} has a node with one child only, node {node}.")
            if lefts[node] != LEAF:
                open_nodes += [rights[node], lefts[node]]
        return np.array(found, dtype=np.int64)

    @property
    def inner(self) -> Ints:
        """Nodes that split, in preorder."""
        return self.order[~self.is_leaf[self.order]]

    def refuse_thresholds(self, feature: Ints, columns: Container[int], splits: Container[int]) -> None:
        """Refuse a tree with thresholds in columns of categories; `splits` are the nodes that split categories."""
        for node in self.inner.tolist():
            if int(feature[node]) in columns and node not in splits:
                raise ModelFileError(
                    f"{self.where} splits column {feature[node]} by a threshold, but it is a column of categories."
                )

    def _upwards(self) -> Iterable[tuple[int, int, int]]:
        """Inner nodes and their children, children first."""
        inner = self.inner[::-1]
        return zip(inner.tolist(), self.left[inner].tolist(), self.right[inner].tolist(), strict=True)

    def sums(self, own: Floats) -> Floats:
        """For each node, the sum of its own number and those of all nodes below it."""
        found = own.copy()
        for node, left, right in self._upwards():
            found[node] = found[node] + found[left] + found[right]
        return found

    def means(self, value: Floats, weight: Floats) -> Floats:
        """Values of all nodes from those of the leaves: the mean of the children, by their weights."""
        found = value.copy()
        for node, left, right in self._upwards():
            total = weight[left] + weight[right]
            found[node] = (weight[left] * found[left] + weight[right] * found[right]) / total
        return found

    def impurity(self, gain: Floats, weight: Floats) -> Floats:
        """Impurities such that each split lowers weight times impurity by its gain, and leaves have none."""
        return self.sums(np.where(self.is_leaf, 0.0, gain)) / weight


@dataclass(frozen=True, eq=False)
class SourceTree:
    """Nodes in any order, the root first; nodes that cannot be reached from it are left out."""

    links: Links
    feature: Ints
    threshold: Floats
    missing_left: Mask
    value: Floats  # (node, output, class or 1)
    weight: Floats
    count: Ints
    impurity: Floats
    subsets: Mapping[int, Bits] = field(default_factory=dict)  # levels that go left, of nodes that split categories

    def to_tree(self, n_levels: NDArray[np.int32], n_classes: tuple[int, ...] = (1,)) -> Tree:
        """The same tree in preorder."""
        order = self.links.order
        place = np.full(len(self.links.left), LEAF, dtype=np.int32)
        place[order] = np.arange(len(order), dtype=np.int32)
        start, subsets = self._joined_subsets()
        threshold = np.where(start >= 0, np.nan, self.threshold[order])
        is_leaf = self.links.is_leaf[order]

        def at_inner(values: Array, at_leaf: float, dtype: type[np.generic]) -> Array:
            return np.where(is_leaf, at_leaf, values).astype(dtype)

        return Tree(
            children_left=at_inner(place[self.links.left[order]], LEAF, np.int32),
            children_right=at_inner(place[self.links.right[order]], LEAF, np.int32),
            feature=at_inner(self.feature[order], UNDEFINED, np.int32),
            threshold=at_inner(threshold, UNDEFINED, np.float64),
            missing_go_to_left=at_inner(self.missing_left[order], False, np.bool_),
            value=np.ascontiguousarray(self.value[order], dtype=np.float64),
            impurity=self.impurity[order].astype(np.float64),
            n_node_samples=self.count[order].astype(np.int64),
            weighted_n_node_samples=self.weight[order].astype(np.float64),
            subset_start=start,
            subsets=subsets,
            n_levels=n_levels,
            n_classes=n_classes,
        )

    def _joined_subsets(self) -> tuple[NDArray[np.int32], Bits]:
        order = self.links.order.tolist()
        start, subsets = np.full(len(order), -1, dtype=np.int32), [np.empty(0, dtype=np.uint32)]
        used = 0
        for at, node in enumerate(order):
            if node in self.subsets:
                subsets.append(self.subsets[node])
                start[at], used = used, used + len(subsets[-1])
        return start, np.concatenate(subsets)


def subset_of(goes_left: Mask) -> Bits:
    """The bits of the levels that go left, 32 in a word."""
    bits = np.zeros((len(goes_left) + 31) // 32 * 32, dtype=np.bool_)
    bits[: len(goes_left)] = goes_left
    return np.packbits(bits, bitorder="little").view("<u4").astype(np.uint32)


def least_weight(weight: Floats) -> Floats:
    """Weights that can be divided by."""
    return np.maximum(weight, LEAST_HESSIAN)


def row_counts(cover: Floats) -> Ints:
    """Whole numbers of rows near these sums, at least one in each node."""
    return np.clip(np.rint(cover), 1.0, 2.0**53).astype(np.int64)


def refuse_wide_subsets(columns: Iterable[int], n_levels: NDArray[np.int32]) -> None:
    """A few bytes of a file must not cause gigabytes of subsets; `columns` are those of all category splits."""
    words = sum(int(n_levels[j] + 31) // 32 for j in columns)
    if words > MOST_WORDS:
        raise ModelFileError(
            f"The category splits of the model would take {words * 4 / 2**30:.1f} GiB: it has columns of up to "
            f"{int(n_levels.max())} categories. Number the categories 0, 1, 2, …, or merge rare ones."
        )
