"""The inner nodes of all trees of a sum as steps in one array, and the values of their leaves in another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.cached_property import cached_property
from sapwood.codes.separation import round_down
from sapwood.kernels.linear_leaves import Lines
from sapwood.kernels.traverse import STEPS, Levels
from sapwood.linear_leaves import LinearLeaves
from sapwood.predictor.reach import columns_needed
from sapwood.tree import LEAF, Tree, lines_of_leaves
from sapwood.tree_sum import TreeSum

NODES = ("children_left", "children_right", "feature", "threshold", "missing_go_to_left", "n_node_samples")
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TreeSteps:
    """Children of a step are steps, or ~leaf; leaf i has `leaf_values[i * width : (i + 1) * width]`.

    A row may stop at a step, where it meets an unseen level; then it gets values that come after those of all leaves.
    """

    steps: NDArray[np.void]
    roots: NDArray[np.int32]  # first step of each tree, or ~leaf
    levels: Levels | None
    leaf_values: Floats
    width: int
    column: NDArray[np.uint32]  # of the scores, for each tree
    n_steps: NDArray[np.int64]  # of each tree
    n_rows: NDArray[np.int64]  # training rows that passed each step
    n_columns: int  # minimum number of columns of a table
    lines: Lines | None = None  # of linear leaves

    @classmethod
    def of(cls, tree_sum: TreeSum, dtype: np.dtype, may_stop: bool = False) -> TreeSteps:
        """Pack all trees for cells of a type; values of inner nodes are needed only where rows may stop."""
        members = list(tree_sum)
        sizes = np.array([member.tree.node_count for member in members])
        nodes = {name: np.concatenate([getattr(member.tree, name) for member in members]) for name in NODES}
        is_leaf = nodes["children_left"] == LEAF
        inner = np.flatnonzero(~is_leaf)
        tree = np.repeat(np.arange(len(members)), sizes)
        values = np.concatenate([member.values for member in members])
        linear = lines_of_leaves([member.tree for member in members]) if tree_sum.is_linear else None
        leaf_values = values[is_leaf]
        place, kept = _shared(leaf_values) if linear is None else (np.arange(len(leaf_values)), leaf_values)
        number = np.where(is_leaf, 0, np.cumsum(~is_leaf) - 1).astype(np.int32)
        number[is_leaf] = ~place
        first = starts(sizes)
        steps = np.zeros(len(inner), dtype=STEPS[dtype])
        steps["threshold"] = round_down(nodes["threshold"][inner], dtype)
        steps["test"] = nodes["feature"][inner].astype(np.uint32) << np.uint32(1) | nodes["missing_go_to_left"][inner]
        steps["left"] = number[nodes["children_left"][inner] + first[tree[inner]]]
        steps["right"] = number[nodes["children_right"][inner] + first[tree[inner]]]
        parts = [kept, values[inner]] if may_stop else [kept]
        return cls(
            steps,
            number[first],
            _levels([member.tree for member in members], inner, tree, len(kept)),
            np.concatenate(parts).ravel(),
            int(values.shape[1]),
            np.array([member.column for member in members], dtype=np.uint32),
            np.bincount(tree[inner], minlength=len(members)),
            nodes["n_node_samples"][inner],
            max(columns_needed(steps), 0 if linear is None else linear.n_columns),
            None if linear is None else Lines(linear.starts, linear.lines),
        )

    @cached_property
    def features(self) -> list[int]:
        """Columns of the table that are used, ascending."""
        return [int(j) for j in np.unique(self.steps["test"] >> np.uint32(1))]

    @cached_property
    def narrow(self) -> TreeSteps:
        """The same for a table of the used columns alone, which has no categories."""
        steps = self.steps.copy()
        place = np.searchsorted(self.features, steps["test"] >> np.uint32(1)).astype(np.uint32)
        steps["test"] = place << np.uint32(1) | steps["test"] & np.uint32(1)
        narrow = replace(self, steps=steps, n_columns=columns_needed(steps))
        if self.lines is None:
            return narrow
        narrowed = LinearLeaves(*self.lines).on(np.array(self.features))
        return replace(narrow, lines=Lines(narrowed.starts, narrowed.lines))


def _shared(values: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Places of the values of leaves, and the values: leaves that are sure of a class share theirs."""
    sure = np.eye(values.shape[1])
    likely = values.argmax(axis=1)
    is_sure = (values == sure[likely]).all(axis=1)
    number = np.where(is_sure, likely, len(sure) + np.cumsum(~is_sure) - 1)
    return number.astype(np.int32), np.concatenate([sure, values[~is_sure]])


def starts(sizes: Array) -> NDArray[np.int64]:
    """Where each of consecutive parts begins."""
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)


def _levels(trees: Sequence[Tree], inner: Array, tree: Array, n_leaves: int) -> Levels | None:
    """Category splits of all trees, or None if there are none."""
    if not any((one.subset_start >= 0).any() for one in trees):
        return None
    start = np.concatenate([one.subset_start for one in trees])[inner]
    shift = starts(np.array([len(one.subsets) for one in trees]))[tree[inner]]
    stops = n_leaves + np.arange(len(inner), dtype=np.int32)
    return Levels(
        np.where(start >= 0, start + shift, -1).astype(np.int32),
        np.concatenate([one.subsets for one in trees]),
        trees[0].n_levels,
        stops.astype(np.int32),
    )
