"""Trees in files: written as a stack, and checked in one pass when read, so that every descent ends in a leaf.

In preorder the bits of the leaves are the whole structure (`kernels/nodes.py`), so children come after their
parents, every node but the root has one parent, and every walk ends. What is left to check: columns and levels are
those of the schema, every part has as many entries as there are nodes for it, and the values of nodes are finite.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sapwood.files.checks import each, one_of, optional, whole
from sapwood.files.tree_stack import PADDING, PARTS, SUMS, Facts, TreeStack
from sapwood.files.values import Json, Reader, Writer, expect
from sapwood.packed_tree import FORMULAS
from sapwood.tree import Tree

MOST_ROWS = 2**53
FACTS = {"outputs": whole(1, 2**20), "width": whole(1, 2**20), "classes": each(whole(1, 2**20))}


def write_trees(trees: Sequence[Tree], writer: Writer, where: str) -> Json:
    """The stack of the trees."""
    if not trees:
        return {"count": 0}
    stack = TreeStack.of(trees, trees[0].n_levels)
    for name, array in stack.parts.items():
        writer.keep(array, f"{where}.{name}")
    outputs, width = stack.facts.value_shape
    facts: dict[str, Json] = {"count": len(trees), "outputs": outputs, "width": width}
    return facts | {"classes": list(stack.facts.n_classes), "impurity": stack.facts.formula}


def read_trees(found: Json, n_levels: NDArray[np.int32], reader: Reader, where: str) -> TreeStack | None:
    """The stack of the trees, checked; None if there are none."""
    expect(isinstance(found, dict), where, "must be an object")
    count = found.get("count")
    whole()(count, f"{where}.count")
    if count == 0:
        expect(set(found) == {"count"}, where, "has no trees, but facts about them")
        return None
    expect(set(found) == {"count", "impurity", *FACTS}, where, "does not describe its trees")
    for name, check in FACTS.items():
        check(found[name], f"{where}.{name}")
    optional(one_of(*FORMULAS))(found["impurity"], f"{where}.impurity")
    parts = {name: reader.take(f"{where}.{name}", where) for name in PARTS if f"{where}.{name}" in reader.arrays}
    facts = Facts((found["outputs"], found["width"]), tuple(found["classes"]), found["impurity"])
    stack = TreeStack(parts, facts, n_levels)
    _Inspection(stack, where).run(count)
    return stack


class _Inspection:
    """One linear pass over a stack; nothing larger than the file is made before it is known to be needed."""

    def __init__(self, stack: TreeStack, where: str) -> None:
        self.stack, self.where, self.parts = stack, where, stack.parts

    def run(self, count: int) -> None:
        self._check_facts()
        self.expect("nodes" in self.parts and self.parts["nodes"].ndim == 1, "nodes", "is missing")
        self._check_names()
        n_nodes, n_leaves = self._check_sizes(count)
        self._check_lengths(n_nodes, n_leaves)
        bad = self.stack.first_bad_tree
        self.expect(bad < 0, "is_leaf", f"does not describe a tree at tree {bad}")
        self._check_splits()
        self._check_contents()
        self.expect(self.stack.rows_only_shrink, "rows.inner", "has a node of fewer rows than its child")

    def expect(self, holds: bool, name: str, wrong: str) -> None:
        expect(holds, f"{self.where}.{name}", wrong)

    def _check_facts(self) -> None:
        (outputs, width), classes = self.stack.facts.value_shape, self.stack.facts.n_classes
        self.expect(len(classes) == outputs and max(classes) == width, "classes", "does not match the width of values")
        if "class_weight.leaf" in self.parts:
            self.expect(outputs == 1 and width > 1, "class_weight", "belongs to one output of two classes or more")
        pair = self.stack.facts.formula
        fits = pair is None or ("class_weight.leaf" in self.parts and (pair == "gini of two") == (width == 2))
        self.expect(fits, "impurity", "has a formula that does not apply")

    def _check_names(self) -> None:
        """All required parts are present, and no others."""
        both = {"rows", "class_weight" if "class_weight.leaf" in self.parts else "value"}
        both |= {"weight"} if "weight.leaf" in self.parts else set()
        both |= {"impurity"} if self.stack.facts.formula is None else set()
        needed = {"nodes", "is_leaf", "feature", "threshold", "missing_left", "levels", *(f"{n}.leaf" for n in both)}
        needed |= {f"{name}.inner" for name in both if name not in SUMS}
        needed |= {PADDING} if self.stack.n_padding else set()
        allowed = needed | {f"{name}.inner" for name in both}
        for name in needed - set(self.parts):
            self.expect(False, name, "is missing")
        for name in set(self.parts) - allowed:
            self.expect(False, name, "is not one of its parts")

    def _check_sizes(self, count: int) -> tuple[int, int]:
        nodes, bits = self.parts["nodes"], self.parts["is_leaf"]
        self.expect(nodes.dtype.kind == "u" and nodes.shape == (count,), "nodes", f"is not for {count} trees")
        self.expect(bits.dtype == np.uint8 and bits.ndim == 1, "is_leaf", "is not made of bytes")
        self.expect(bool((nodes > 0).all()), "nodes", "has a tree without nodes")
        padding = self.parts.get(PADDING, np.empty(0, dtype=np.uint8))
        fits = padding.dtype == np.uint8 and padding.shape == (self.stack.n_padding,) and not padding.any()
        self.expect(fits, PADDING, f"is not {self.stack.n_padding} bytes of zeros")
        n_nodes = sum(nodes.tolist())
        self._check_bits("is_leaf", n_nodes)
        return n_nodes, int(np.bitwise_count(bits).sum())

    def _check_bits(self, name: str, n_bits: int) -> None:
        bits = self.parts[name]
        fits = bits.dtype == np.uint8 and bits.shape == ((n_bits + 7) // 8,)
        self.expect(fits, name, f"does not have one bit for each of {n_bits}")
        self.expect(n_bits % 8 == 0 or not int(bits[-1]) & (0xFF >> n_bits % 8), name, "has bits after the last")

    def _check_lengths(self, n_nodes: int, n_leaves: int) -> None:
        n_inner = n_nodes - n_leaves
        self.expect(n_leaves == n_inner + len(self.parts["nodes"]), "is_leaf", "has the wrong number of leaves")
        self.expect(self.parts["feature"].shape == (n_inner,), "feature", f"is not for {n_inner} inner nodes")
        self._check_bits("missing_left", n_inner)
        width = self.stack.facts.value_shape[0] * self.stack.facts.value_shape[1]
        for name, array in self.parts.items():
            owner, _, side = name.partition(".")
            if side:
                length = n_leaves if side == "leaf" else n_inner
                shape = (length, width) if owner in ("value", "class_weight") else (length,)
                self.expect(array.shape == shape, name, f"has the shape {array.shape} instead of {shape}")

    def _check_splits(self) -> None:
        """Columns exist, thresholds are numbers, and subsets hold levels of their columns."""
        feature, levels, threshold = self.parts["feature"], self.parts["levels"], self.parts["threshold"]
        n_features = len(self.stack.n_levels)
        self.expect(feature.dtype.kind == "u", "feature", "is not made of whole numbers")
        self.expect(
            not len(feature) or int(feature.max()) < n_features, "feature", f"names a column beyond {n_features}"
        )
        n_numbers = int(np.count_nonzero(self.stack.n_words == 0))
        fits = threshold.dtype.kind in "fu" and threshold.shape == (n_numbers,)
        self.expect(fits, "threshold", f"is not for {n_numbers} splits of numbers")
        self.expect(not np.isnan(threshold).any(), "threshold", "is NaN at a split")
        n_words = int(self.stack.n_words.sum())
        self.expect(levels.dtype == np.uint32 and levels.shape == (n_words,), "levels", f"is not for {n_words} words")
        last = np.cumsum(self.stack.n_words)[self.stack.n_words > 0] - 1
        spare = (-self.stack.n_levels[self.stack.feature][self.stack.n_words > 0] % 32).astype(np.uint32)
        beyond = levels[last] & ~(np.uint32(0xFFFFFFFF) >> spare)
        self.expect(not beyond.any(), "levels", "names levels that the column does not have")

    def _check_contents(self) -> None:
        for name, array in self.parts.items():
            owner, _, side = name.partition(".")
            if side and owner in ("rows", "class_weight"):
                self.expect(array.dtype.kind == "u" and array.dtype.itemsize <= 4, name, "is not made of whole numbers")
            elif side:
                self.expect(array.dtype.kind in "fu", name, "is not made of numbers")
                least = 0.0 if owner == "weight" else -np.inf
                fits = owner == "impurity" or bool(np.isfinite(array).all() and (array >= least).all())
                self.expect(fits, name, "holds numbers that nodes cannot have")
        self.expect(int(self.parts["rows.leaf"].sum(dtype=np.uint64)) < MOST_ROWS, "rows", "counts too many rows")
        for side in ("leaf", "inner"):
            weights = self.parts.get(f"class_weight.{side}")
            if weights is not None:
                self.expect(bool(weights.any(axis=1).all()), f"class_weight.{side}", "has a node without weight")
