"""A stack of trees: all trees of a model as a few arrays, as they stand in its file.

Nothing is stored that follows from the rest. Nodes are in preorder, so one bit a node gives the whole structure, and no
file can make a tree that has cycles or unreachable nodes. The other parts are:

| part | of | stored |
|---|---|---|
| nodes | trees | number of nodes |
| is_leaf | nodes | bits |
| feature | inner nodes | the column |
| threshold | splits of numbers | values up to it go left |
| levels | splits of categories | bits of the levels that go left, in words of 32 |
| missing_left | inner nodes | bits |
| rows, weight, class_weight | leaves, inner nodes | not of inner nodes that are the sums of their children |
| value | inner nodes, leaves | unless it follows from class_weight |
| impurity | inner nodes, leaves | unless a formula of class_weight gives it |
| padding | stack | zeros that fill it up to 40 bytes a tree |

The weight is not stored if it is the number of rows. Numbers are kept in the shortest type that holds them exactly.
In memory a tree takes some 2000 bytes, however small it is: by the padding, no small file can hold millions of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.kernels.nodes import add_up, link_right
from sapwood.packed_tree import FORMULAS, PackedTree, formula_of, shortest, whole_class_weights
from sapwood.tree import LEAF, UNDEFINED, Tree

SUMS = ("rows", "weight", "class_weight")
TOLD = (*SUMS, "value", "impurity")  # of leaves and inner nodes
PADDING, BYTES_OF_TREE = "padding", 40
PARTS = (
    *("nodes", "is_leaf", "feature", "threshold", "missing_left", "levels", PADDING),
    *(f"{name}.{side}" for name in TOLD for side in ("leaf", "inner")),
)


@dataclass(frozen=True, eq=False)
class Facts:
    """What all trees of a stack share."""

    value_shape: tuple[int, int]  # outputs, and classes or 1
    n_classes: tuple[int, ...]
    formula: str | None  # of the impurity


@dataclass(frozen=True, eq=False)
class TreeStack:
    """Parts by name, those of inner nodes and of leaves apart, as `x.inner` and `x.leaf`."""

    parts: Mapping[str, Array]
    facts: Facts
    n_levels: NDArray[np.int32]

    @classmethod
    def of(cls, trees: Sequence[Tree], n_levels: NDArray[np.int32]) -> TreeStack:
        """Stack trees of the same columns."""
        first = trees[0]
        is_leaf = np.concatenate([tree.is_leaf for tree in trees])
        feature = _joined(trees, "feature")[~is_leaf]
        weight, value = _joined(trees, "weighted_n_node_samples"), _joined(trees, "value")
        by_class = whole_class_weights(value, weight)
        formula = None if by_class is None else formula_of(by_class, _joined(trees, "impurity"))
        both = {"rows": _joined(trees, "n_node_samples"), "weight": weight}
        both |= {"value": value.reshape(len(value), -1)} if by_class is None else {"class_weight": by_class}
        if formula is None:
            both["impurity"] = _joined(trees, "impurity")
        if np.array_equal(both["rows"], weight):
            del both["weight"]
        parts: dict[str, Array] = {
            "nodes": np.array([tree.node_count for tree in trees], dtype=np.uint32),
            "is_leaf": np.packbits(is_leaf),
            "feature": shortest(feature.astype(np.uint32)),
            "threshold": shortest(_joined(trees, "threshold")[~is_leaf][n_levels[feature] == 0]),
            "missing_left": np.packbits(_joined(trees, "missing_go_to_left")[~is_leaf]),
            "levels": _joined_subsets(trees),
        }
        for name, array in both.items():
            parts[f"{name}.leaf"] = shortest(array[is_leaf])
            parts[f"{name}.inner"] = shortest(array[~is_leaf])
        facts = Facts((first.n_outputs, first.max_n_classes), first.n_classes, formula)
        return cls(parts, facts, n_levels)._without_sums()._padded()

    def _without_sums(self) -> TreeStack:
        """Leave out inner nodes that are the sums of their children."""
        kept = dict(self.parts)
        for name in SUMS:
            inner = kept.pop(f"{name}.inner", None)
            if inner is not None and not np.array_equal(TreeStack(kept, self.facts, self.n_levels).inner(name), inner):
                kept[f"{name}.inner"] = inner
        return TreeStack(kept, self.facts, self.n_levels)

    def _padded(self) -> TreeStack:
        padding = {PADDING: np.zeros(self.n_padding, np.uint8)} if self.n_padding else {}
        return TreeStack({**self.parts, **padding}, self.facts, self.n_levels)

    @property
    def n_padding(self) -> int:
        """Bytes of padding that the stack must have."""
        held = sum(array.nbytes for name, array in self.parts.items() if name != PADDING)
        return max(0, BYTES_OF_TREE * len(self) - held)

    def __len__(self) -> int:
        """Number of trees."""
        return len(self.parts["nodes"])

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First node of each tree, and the number of all nodes."""
        return _starts(self.parts["nodes"])

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Mask of the leaves."""
        return _bits(self.parts["is_leaf"], int(self.starts[-1]))

    @cached_property
    def _links(self) -> tuple[NDArray[np.int32], int]:
        right = np.empty(len(self.is_leaf), dtype=np.int32)
        scratch = np.empty(int(self.parts["nodes"].max(initial=0)), dtype=np.int32)
        return right, int(link_right(self.is_leaf, self.starts, scratch, right))

    @property
    def first_bad_tree(self) -> int:
        """The first tree whose nodes do not form one, or -1."""
        return self._links[1]

    @property
    def rows_only_shrink(self) -> bool:
        """Whether no node has fewer rows than one of its children, which prediction relies on in large trees."""
        if "rows.inner" not in self.parts:
            return True
        rows, inner = self._both("rows", np.int64), np.flatnonzero(~self.is_leaf)
        first = np.repeat(self.starts[:-1], np.diff(self._inner_starts))
        children = np.maximum(rows[inner + 1], rows[first + self._links[0][inner]])
        return bool((rows[inner] >= children).all())

    @cached_property
    def feature(self) -> NDArray[np.int32]:
        """Columns of the inner nodes."""
        return self.parts["feature"].astype(np.int32)

    @cached_property
    def n_words(self) -> NDArray[np.int64]:
        """Words of the levels of each inner node, 0 for numbers."""
        return ((self.n_levels[self.feature] + 31) // 32).astype(np.int64)

    @cached_property
    def threshold(self) -> NDArray[np.float64]:
        """Thresholds of the inner nodes, NaN for categories."""
        stored = self.parts["threshold"]
        if len(stored) == len(self.feature):
            return stored.astype(np.float64, copy=False)
        out = np.full(len(self.feature), np.nan)
        out[self.n_words == 0] = stored
        return out

    @cached_property
    def _subset_start(self) -> NDArray[np.int32]:
        """Where the levels of each inner node begin among those of its tree; -1 for numbers."""
        ends = np.cumsum(self.n_words)
        of_tree = np.concatenate([[0], ends])[self._inner_starts]
        begin = ends - self.n_words - np.repeat(of_tree[:-1], np.diff(self._inner_starts))
        return np.where(self.n_words > 0, begin, -1).astype(np.int32)

    @cached_property
    def _inner_starts(self) -> NDArray[np.int64]:
        """First inner node of each tree among all inner nodes."""
        return np.concatenate([[0], np.cumsum(~self.is_leaf)])[self.starts].astype(np.int64)

    @cached_property
    def _missing_left(self) -> NDArray[np.bool_]:
        return _bits(self.parts["missing_left"], len(self.feature))

    def leaf(self, name: str) -> Array:
        """What is known of the leaves."""
        return self.parts[f"{name}.leaf"] if f"{name}.leaf" in self.parts else self.parts["rows.leaf"]

    def inner(self, name: str) -> Array:
        """What is known of the inner nodes; sums of their children where nothing is stored."""
        if f"{name}.inner" in self.parts:
            return self.parts[f"{name}.inner"]
        if name == "weight" and "weight.leaf" not in self.parts:
            return self.inner("rows")
        leaf = self.leaf(name)
        sums = np.zeros(
            (len(self.is_leaf), leaf.size // max(1, len(leaf))), np.int64 if leaf.dtype.kind in "iu" else float
        )
        sums[self.is_leaf] = leaf.reshape(len(leaf), -1)
        add_up(self.is_leaf, self.starts, self._links[0], sums)
        return sums[~self.is_leaf].reshape(-1, *leaf.shape[1:])

    @property
    def _common_parts(self) -> list[str]:
        """What is known of leaves and inner nodes alike."""
        names = {name.partition(".")[0] for name in self.parts if name.endswith(".leaf")} | {"weight"}
        return sorted(names)

    def packed(self) -> list[PackedTree]:
        """The trees in little memory: what is stored is not copied."""
        inner = {name: self.inner(name) for name in self._common_parts}
        inner |= {
            "right": self._links[0][~self.is_leaf],
            "feature": self.parts["feature"],
            "threshold": self.threshold,
            "missing_left": self._missing_left,
            "subset_start": self._subset_start,
        }
        leaf = {name: self.leaf(name) for name in self._common_parts}
        leaf_starts = self.starts - self._inner_starts
        words = self._word_starts
        return [
            PackedTree(
                np.packbits(self.is_leaf[self.starts[t] : self.starts[t + 1]]),
                int(self.parts["nodes"][t]),
                {name: array[self._inner_starts[t] : self._inner_starts[t + 1]] for name, array in inner.items()},
                {name: array[leaf_starts[t] : leaf_starts[t + 1]] for name, array in leaf.items()},
                self.facts.formula,
                self.parts["levels"][words[t] : words[t + 1]],
                self.n_levels,
                self.facts.n_classes,
                self.facts.value_shape,
            )
            for t in range(len(self))
        ]

    @cached_property
    def _word_starts(self) -> NDArray[np.int64]:
        return np.concatenate([[0], np.cumsum(self.n_words)])[self._inner_starts].astype(np.int64)

    def trees(self) -> Iterator[Tree]:
        """The trees; their arrays are parts of larger ones, which are made once for all."""
        whole = self._whole()
        words = self._word_starts
        for t in range(len(self)):
            own = slice(self.starts[t], self.starts[t + 1])
            arrays: dict[str, Any] = {name: array[own] for name, array in whole.items()}
            levels = self.parts["levels"][words[t] : words[t + 1]]
            yield Tree(**arrays, subsets=levels, n_levels=self.n_levels, n_classes=self.facts.n_classes)

    def _whole(self) -> dict[str, Array]:
        """Arrays of all nodes, by the names that a tree has for them."""
        numbers = np.arange(len(self.is_leaf), dtype=np.int32) - np.repeat(self.starts[:-1], np.diff(self.starts))
        value, impurity = self._value_and_impurity()
        return {
            "children_left": np.where(self.is_leaf, LEAF, numbers + 1).astype(np.int32),
            "children_right": self._links[0],
            "feature": self._spread(self.feature, UNDEFINED),
            "threshold": self._spread(self.threshold, float(UNDEFINED)),
            "missing_go_to_left": self._spread(self._missing_left, False),
            "value": value.reshape(-1, *self.facts.value_shape),
            "impurity": impurity,
            "n_node_samples": self._both("rows", np.int64),
            "weighted_n_node_samples": self._both("weight"),
            "subset_start": self._spread(self._subset_start, -1),
        }

    def _value_and_impurity(self) -> tuple[Array, Array]:
        if "class_weight.leaf" not in self.parts:
            return self._both("value"), self._both("impurity")
        weights = self._both("class_weight")
        impurity = self._both("impurity") if self.facts.formula is None else FORMULAS[self.facts.formula](weights)
        return weights / weights.sum(axis=1, keepdims=True), impurity

    def _spread(self, inner: Array, elsewhere: float) -> Array:
        out = np.full(len(self.is_leaf), elsewhere, dtype=inner.dtype)
        out[~self.is_leaf] = inner
        return out

    def _both(self, name: str, dtype: type[np.generic] = np.float64) -> Array:
        leaf = self.leaf(name)
        out = np.empty((len(self.is_leaf), *leaf.shape[1:]), dtype=dtype)
        out[self.is_leaf], out[~self.is_leaf] = leaf, self.inner(name)
        return out


def _joined(trees: Sequence[Tree], name: str) -> Array:
    return np.concatenate([getattr(tree, name) for tree in trees])


def _joined_subsets(trees: Sequence[Tree]) -> NDArray[np.uint32]:
    """Levels that go left, split by split in the order of the nodes."""
    found: list[Array] = [np.empty(0, dtype=np.uint32)]
    for tree in trees:
        for node in np.flatnonzero(tree.subset_start >= 0):
            start = tree.subset_start[node]
            found.append(tree.subsets[start : start + (tree.n_levels[tree.feature[node]] + 31) // 32])
    return np.concatenate(found)


def _starts(sizes: Array) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]).astype(np.int64)


def _bits(packed: Array, count: int) -> NDArray[np.bool_]:
    return np.unpackbits(packed, count=count).view(np.bool_)
