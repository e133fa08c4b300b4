"""The paths of one tree of a sum of trees, as Shapley kernels take them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.cached_property import cached_property
from sapwood.explain.shap.path_lines import PathLines
from sapwood.kernels.paths import NOWHERE, PATH_NODE, find_sides, lay_paths
from sapwood.predictor import Descent
from sapwood.predictor.reach import check_reach
from sapwood.table.column import read_only
from sapwood.tree import Tree
from sapwood.tree_sum import Term


@dataclass(frozen=True, eq=False)
class TreePaths:
    """Nodes in preorder with the paths to them, the values of the tree's own nodes, and the splits that rows follow."""

    nodes: Array  # PATH_NODE
    children: NDArray[np.int32]  # (nodes, left, right, stop)
    values: Floats
    column: int
    descent: Descent
    stop_at_unseen: bool
    lines: PathLines | None  # of linear leaves

    @classmethod
    def of(cls, term: Term, dtype: np.dtype[Any], stop_at_unseen: bool) -> TreePaths:
        """The paths of a term for cells of a type."""
        tree = term.tree
        stops = (tree.subset_start >= 0) & stop_at_unseen
        size = tree.node_count + int(np.count_nonzero(stops))
        nodes, children = np.zeros(size, dtype=PATH_NODE), np.full((size, 3), NOWHERE, dtype=np.int32)
        parent = np.empty(tree.node_count, dtype=np.int32)
        left, right = tree.children_left, tree.children_right
        lay_paths(left, right, tree.feature, cover_ratios(tree), stops, parent, nodes, children)
        # A copy, since read-only arrays would make the compiler compile a second kernel
        values = np.array(term.values, order="C")
        lines = PathLines.of(tree.linear, nodes)
        return cls(nodes, children, values, term.column, Descent.of(tree, dtype), stop_at_unseen, lines)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the cells."""
        return self.descent.steps["threshold"].dtype

    @property
    def width(self) -> int:
        """Number of values of a node."""
        return int(self.values.shape[1])

    @property
    def columns(self) -> slice:
        """Columns of the scores that the values are added to."""
        return slice(self.column, self.column + self.width)

    @property
    def n_steps(self) -> int:
        """Number of inner nodes."""
        return len(self.descent.steps)

    @property
    def n_cells(self) -> int:
        """Sides of a row, and what lines add to it."""
        return self.n_steps + (0 if self.lines is None else len(self.lines.column))

    @cached_property
    def n_depths(self) -> int:
        """Depths that occur, the root's included."""
        return int(self.nodes["depth"].max()) + 1

    @cached_property
    def n_features(self) -> int:
        """Most distinct features on a path, or that its value depends on."""
        more = self.lines is not None and self.lines.is_off_path
        return int(self.nodes["n_features"].max()) + int(more)

    def expectation(self) -> Floats:
        """Mean value of the tree over its training rows, where lines add nothing."""
        leaves = self.nodes[self.nodes["is_leaf"] == 1]
        total: Floats = (leaves["reach"][:, None] * self.values[leaves["node"]]).sum(axis=0)
        return total

    def sides(self, columns: Array) -> NDArray[np.uint8]:
        """Side of every row at every step, (steps, rows), from cells as (columns, rows)."""
        check_reach(self.descent.n_columns, len(columns))
        out = np.empty((self.n_steps, columns.shape[1]), dtype=np.uint8)
        find_sides(self.descent.steps, self.descent.levels, columns, self.stop_at_unseen, out)
        return out

    def line_values(self, columns: Array) -> Floats | None:
        """What each line adds to rows in its leaf, (lines, rows); None if leaves are values."""
        return None if self.lines is None else self.lines.values(columns)

    def leaf_values(self, cells: Array) -> Floats:
        """Values of the leaves of rows, (rows, width), with their lines."""
        leaves = self.descent.leaves(read_only(cells), self.stop_at_unseen)
        values = np.asarray(self.values[leaves])
        if self.lines is not None:
            score = np.ascontiguousarray(values[:, 0])
            self.lines.linear.add(leaves, cells, score)
            values[:, 0] = score
        return values


def cover_ratios(tree: Tree) -> Floats:
    """Share of its parent's training rows that each node has, by weight.

    Where the weights of siblings sum up to 0 (leaves of boosting without curvature), rows are counted instead; where
    there are no rows, each sibling gets one half.
    """
    ratios = np.ones(tree.node_count)
    inner = np.flatnonzero(tree.children_left >= 0)
    left, right = tree.children_left[inner], tree.children_right[inner]
    own, other = tree.weighted_n_node_samples[left], tree.weighted_n_node_samples[right]
    empty = ~(own + other > 0)
    if empty.any():
        own = np.where(empty, tree.n_node_samples[left], own)
        other = np.where(empty, tree.n_node_samples[right], other)
        own, other = (np.where(own + other > 0, each, 1.0) for each in (own, other))
    ratios[left], ratios[right] = own / (own + other), other / (own + other)
    return ratios
