"""A tree in little memory, for forests: what follows from the rest is left out, and numbers are as short as can be.

    children_left     in preorder, the node after its parent
    inner nodes and leaves apart: leaves have no feature, threshold and child, and small numbers of rows
    value             of classes: weights of the classes, which are whole numbers if rows are counted
    impurity          of classes: a formula of these weights

Nothing is lost: `unpack` gives the same arrays back, bit for bit. A part that would not come back is kept as it is.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sapwood.arrays import Array
from sapwood.kernels.packing import gini_of_many, gini_of_two, write_class_weights
from sapwood.tree import LEAF, UNDEFINED, Tree


@dataclass(frozen=True, eq=False)
class PackedTree:
    """Parts by name; those of inner nodes and of leaves are separate arrays."""

    is_leaf: NDArray[np.uint8]  # a bit for each node
    node_count: int
    inner: dict[str, Array]
    leaf: dict[str, Array]
    formula: str | None  # of the impurity
    subsets: Array
    n_levels: Array
    n_classes: tuple[int, ...]
    value_shape: tuple[int, ...]

    @classmethod
    def of(cls, tree: Tree) -> PackedTree:
        """Pack a tree."""
        is_leaf = tree.is_leaf
        at, leaves = np.flatnonzero(~is_leaf), np.flatnonzero(is_leaf)
        both: dict[str, Array] = {"rows": tree.n_node_samples, "weight": tree.weighted_n_node_samples}
        weights, formula = whole_class_weights(tree.value, tree.weighted_n_node_samples), None
        if weights is None:
            both["value"] = tree.value.reshape(tree.node_count, -1)
        else:
            both["class_weight"] = weights
            formula = formula_of(weights, tree.impurity)
        if formula is None:
            both["impurity"] = tree.impurity
        inner: dict[str, Array] = {
            "right": tree.children_right,
            "feature": tree.feature,
            "threshold": tree.threshold,
            "missing_left": tree.missing_go_to_left,
            "subset_start": tree.subset_start,
        }
        return cls(
            np.packbits(is_leaf),
            tree.node_count,
            {name: narrowed(array.take(at, axis=0)) for name, array in (inner | both).items()},
            {name: narrowed(array.take(leaves, axis=0)) for name, array in both.items()},
            formula,
            tree.subsets,
            tree.n_levels,
            tree.n_classes,
            tree.value.shape[1:],
        )

    def unpack(self) -> Tree:
        """The tree it was made of."""
        is_leaf = np.unpackbits(self.is_leaf, count=self.node_count).astype(np.bool_)
        left = np.full(self.node_count, LEAF, dtype=np.int32)
        left[~is_leaf] = np.flatnonzero(~is_leaf) + 1

        def inner(name: str, dtype: DTypeLike, elsewhere: float) -> Array:
            out = np.full(self.node_count, elsewhere, dtype=dtype)
            out[~is_leaf] = self.inner[name]
            return out

        def both(name: str, dtype: DTypeLike = np.float64) -> Array:
            out = np.empty((self.node_count, *self.leaf[name].shape[1:]), dtype=dtype)
            out[~is_leaf], out[is_leaf] = self.inner[name], self.leaf[name]
            return out

        if "class_weight" in self.leaf:
            weights = both("class_weight", np.float64)
            value = weights / weights.sum(axis=1, keepdims=True)
        else:
            value = both("value")
        impurity = both("impurity") if self.formula is None else FORMULAS[self.formula](weights)
        return Tree(
            children_left=left,
            children_right=inner("right", np.int32, LEAF),
            feature=inner("feature", np.int32, UNDEFINED),
            threshold=inner("threshold", np.float64, float(UNDEFINED)),
            missing_go_to_left=inner("missing_left", np.bool_, False),
            value=value.reshape(self.node_count, *self.value_shape),
            impurity=impurity,
            n_node_samples=both("rows", np.int64),
            weighted_n_node_samples=both("weight"),
            subset_start=inner("subset_start", np.int32, -1),
            subsets=self.subsets,
            n_levels=self.n_levels,
            n_classes=self.n_classes,
        )

    @property
    def root_value(self) -> Array:
        """Value of the root, as `unpack` gives it, flat."""
        root = self.inner if self.node_count > 1 else self.leaf
        if "class_weight" not in root:
            return np.asarray(root["value"][0], dtype=np.float64)
        weights = np.asarray(root["class_weight"][0], dtype=np.float64)
        return np.asarray(weights / weights.sum())

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays that belong to the tree."""
        arrays = [self.is_leaf, self.subsets, *self.inner.values(), *self.leaf.values()]
        return sum(array.nbytes for array in arrays)


def narrowed(array: Array) -> Array:
    """The same numbers in fewer bytes: once if all are equal, else in the shortest type that holds them exactly."""
    if len(array) and array.ndim == 1 and array.dtype != np.bool_ and array.min() == array.max():
        return array[:1].copy()
    return shortest(array)


def shortest(array: Array) -> Array:
    """The same numbers in the shortest type that holds them exactly."""
    if len(array) == 0 or array.dtype == np.bool_:
        return array.copy()
    low, high = array.min(), array.max()
    if array.dtype.kind in "iu":
        return array.astype(np.min_scalar_type(high) if low >= 0 else array.dtype)
    with np.errstate(invalid="ignore", over="ignore"):
        for dtype in (np.uint32, np.float32):
            short = array.astype(dtype)
            if np.array_equal(short, array, equal_nan=True) and np.array_equal(np.signbit(short), np.signbit(array)):
                return short.astype(np.min_scalar_type(int(high))) if dtype is np.uint32 else short
    return array.copy()


def whole_class_weights(value: Array, weight: Array) -> Array | None:
    """Whole-number weights of the classes, if the values of nodes of this weight follow from them."""
    if value.shape[1] > 1 or value.shape[2] < 2:
        return None
    weights = np.empty((len(value), value.shape[2]), dtype=np.uint32)
    return weights if write_class_weights(value.reshape(weights.shape), weight, weights) else None


def _pair_gini(weights: Array) -> Array:
    return _computed(gini_of_two, weights)


def _gini(weights: Array) -> Array:
    return _computed(gini_of_many, weights)


def _computed(formula: Callable[..., None], weights: Array) -> Array:
    impurity = np.empty(len(weights))
    formula(weights, impurity)
    return impurity


def formula_of(weights: Array, impurity: Array) -> str | None:
    """The formula that gives exactly these impurities, if there is one."""
    name = "gini of two" if weights.shape[1] == 2 else "gini"
    return name if np.array_equal(FORMULAS[name](weights), impurity) else None


FORMULAS = {"gini of two": _pair_gini, "gini": _gini}
