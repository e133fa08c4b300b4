"""The fitted tree: frozen arrays, one entry per node, nodes in preorder (a left child follows its parent).

Array names and leaf conventions are scikit-learn's, so code that reads `tree_` keeps working. Beyond it a node may
split a category column: `threshold` is then NaN and the levels that go left are the bits set in
`subsets[subset_start[node] :]`, level c at bit `c % 32` of word `c // 32`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array
from sapwood.errors import InputError, InputTypeError
from sapwood.linear_leaves import LinearLeaves, empty_lines
from sapwood.result import Part, Result
from sapwood.table.sparse import is_sparse

if TYPE_CHECKING:
    from scipy import sparse  # which takes long to import

LEAF = -1  # children_left and children_right of a leaf
UNDEFINED = -2  # feature and threshold of a leaf

Ints = NDArray[np.int32]
Floats = NDArray[np.float64]
BLOCK_ROWS = 1 << 14  # that go down together in `apply`


@dataclass(frozen=True, eq=False, repr=False)
class Tree(Result):
    """Nodes as parallel arrays; `value` is (node, output, class share) or (node, output, 1)."""

    children_left: Ints
    children_right: Ints
    feature: Ints
    threshold: Floats
    missing_go_to_left: NDArray[np.bool_]
    value: Floats
    impurity: Floats
    n_node_samples: NDArray[np.int64]
    weighted_n_node_samples: Floats
    subset_start: Ints  # -1 where the split is a threshold, else offset of the first word
    subsets: NDArray[np.uint32]
    n_levels: Ints  # levels of each feature, 0 for numbers
    n_classes: tuple[int, ...] = field(default=(1,))
    linear: LinearLeaves | None = None  # what leaves add to their values, in trees of boosting with linear leaves

    def __post_init__(self) -> None:
        for array in self.arrays().values():
            array.setflags(write=False)

    def _parts(self) -> Iterator[Part]:
        sizes = f"{self.node_count} nodes, {self.n_leaves} leaves, depth {self.max_depth}"
        yield f"Tree({sizes}, {self.n_features} columns, {self.n_outputs} outputs)"

    def arrays(self) -> dict[str, Array]:
        """All arrays by name."""
        own = {name: item for name, item in vars(self).items() if isinstance(item, np.ndarray)}
        return own if self.linear is None else {**own, "line_starts": self.linear.starts, "lines": self.linear.lines}

    @property
    def node_count(self) -> int:
        """Number of nodes, leaves included."""
        return len(self.feature)

    @property
    def capacity(self) -> int:
        """Equal to `node_count`; scikit-learn's name."""
        return self.node_count

    @property
    def n_features(self) -> int:
        """Number of columns the tree was grown on."""
        return len(self.n_levels)

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return int(self.value.shape[1])

    @property
    def max_n_classes(self) -> int:
        """Width of `value`."""
        return int(self.value.shape[2])

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """Mask of the leaves."""
        mask: NDArray[np.bool_] = self.children_left == LEAF
        return mask

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self.is_leaf))

    @property
    def max_depth(self) -> int:
        """Depth of the deepest leaf; a lone root has depth 0."""
        return int(self.compute_node_depths().max()) - 1

    def compute_node_depths(self) -> NDArray[np.int64]:
        """Depth of every node, the root at 1 (scikit-learn's convention)."""
        depths = np.zeros(self.node_count, dtype=np.int64)
        level, depth = np.zeros(1, dtype=np.int64), 1
        while len(level):
            depths[level] = depth
            children = np.concatenate([self.children_left[level], self.children_right[level]])
            level, depth = children[children != LEAF], depth + 1
        return depths

    def parents(self) -> Ints:
        """Parent of every node, -1 for the root."""
        parent = np.full(self.node_count, -1, dtype=np.int32)
        inner = np.flatnonzero(~self.is_leaf).astype(np.int32)
        parent[self.children_left[inner]] = inner
        parent[self.children_right[inner]] = inner
        return parent

    def paths_to(self, leaves: Array) -> sparse.csr_matrix:
        """Indicator matrix (rows x nodes) of the nodes on the path to each leaf."""
        from scipy import sparse

        depths, parents = self.compute_node_depths(), self.parents()
        indptr = np.concatenate(([0], np.cumsum(depths[leaves])))
        indices = np.empty(indptr[-1], dtype=np.int64)
        node, place = leaves.astype(np.int64), indptr[1:] - 1
        while len(node):
            indices[place] = node
            up = parents[node] >= 0
            node, place = parents[node[up]].astype(np.int64), place[up] - 1
        shape = (len(leaves), self.node_count)
        return sparse.csr_matrix((np.ones(len(indices), dtype=np.int64), indices, indptr), shape=shape)

    def apply(self, X: Any) -> NDArray[np.int64]:
        """Leaf of every row of a matrix of numbers, dense or sparse; NaN is missing, a category is its level's number.

        This and the two below are scikit-learn's, for programs that call them. Those of the estimator take any table.
        """
        if not (isinstance(X, np.ndarray) and X.dtype.kind in "fiub") and not is_sparse(X):
            raise InputTypeError(
                f"A tree takes a matrix of numbers, but X is of type {type(X).__name__}. Use a numpy array, or give "
                "the table to the estimator instead of its tree_."
            )
        if X.ndim != 2 or X.shape[1] != self.n_features:
            raise InputError(f"X has shape {X.shape}, but the tree needs a matrix of {self.n_features} columns.")
        rows = X.tocsr() if is_sparse(X) else X
        leaves = np.empty(X.shape[0], dtype=np.int64)
        for start in range(0, len(leaves), BLOCK_ROWS):
            leaves[start : start + BLOCK_ROWS] = self._descend(_dense(rows[start : start + BLOCK_ROWS]))
        return leaves

    def predict(self, X: object) -> Floats:
        """Value of each row's leaf: (rows, classes or 1), with several outputs (rows, outputs, classes or 1)."""
        leaves = self.apply(X)
        values = self.value[leaves]
        if self.linear is not None:
            self.linear.add(leaves, np.ascontiguousarray(_dense(X), dtype=np.float64), values[:, 0, 0])
        return values[:, 0] if self.n_outputs == 1 else values

    def divided_by(self, divisor: float) -> Tree:
        """The same tree with smaller values."""
        linear = None if self.linear is None else self.linear.divided_by(divisor)
        return replace(self, value=self.value / divisor, linear=linear)

    def decision_path(self, X: object) -> sparse.csr_matrix:
        """Indicator matrix (rows x nodes) of the nodes each row passes."""
        return self.paths_to(self.apply(X))

    def _descend(self, cells: Array) -> NDArray[np.int64]:
        node = np.zeros(len(cells), dtype=np.int64)
        rows = np.arange(len(cells))
        while len(rows := rows[self.children_left[node[rows]] != LEAF]):
            at = node[rows]
            left = self._goes_left(at, cells[rows, self.feature[at]])
            node[rows] = np.where(left, self.children_left[at], self.children_right[at])
        return node

    def _goes_left(self, node: NDArray[np.int64], x: Array) -> NDArray[np.bool_]:
        """Whether the cells go left at their nodes; missing values and unknown levels go to the node's default side."""
        start = self.subset_start[node]
        is_number = start < 0
        is_level = ~is_number & (x >= 0) & (x < self.n_levels[self.feature[node]])
        left = np.where(is_number & ~np.isnan(x), x <= self.threshold[node], self.missing_go_to_left[node])
        level = x[is_level].astype(np.int64)
        words = self.subsets[start[is_level] + (level >> 5)].astype(np.int64)
        left[is_level] = (words >> (level & 31)) & 1
        return left

    def is_subset_split(self, node: int) -> bool:
        """Whether the node splits a category column."""
        return bool(self.subset_start[node] >= 0)

    def left_levels(self, node: int) -> NDArray[np.intp]:
        """Levels (codes) that go left at a category split."""
        start = int(self.subset_start[node])
        n_levels = int(self.n_levels[self.feature[node]])
        words = self.subsets[start : start + (n_levels + 31) // 32]
        bits = np.unpackbits(words.view(np.uint8), bitorder="little")[:n_levels]
        return np.flatnonzero(bits)

    def compute_feature_importances(self, normalize: bool = True) -> Floats:
        """Total impurity decrease by feature, each node weighted by its share of the rows."""
        inner = ~self.is_leaf
        mass = self.weighted_n_node_samples * self.impurity
        left, right = self.children_left[inner], self.children_right[inner]
        decrease = mass[inner] - mass[left] - mass[right]
        by_feature = np.bincount(self.feature[inner], weights=decrease, minlength=self.n_features)
        importances: Floats = by_feature / self.weighted_n_node_samples[0]
        total = float(importances.sum())
        return importances / total if normalize and total > 0 else importances


def lines_of_leaves(trees: Iterable[Tree]) -> LinearLeaves:
    """The lines of the leaves of all trees, one leaf after the other; inner nodes do not count."""
    counts, lines = [np.zeros(0, dtype=np.int64)], [empty_lines(0)]
    for tree in trees:
        counts.append(np.zeros(tree.n_leaves, np.int64) if tree.linear is None else tree.linear.counts[tree.is_leaf])
        lines.append(empty_lines(0) if tree.linear is None else tree.linear.lines)
    return LinearLeaves.of(np.concatenate(counts), np.concatenate(lines))


def _dense(X: Any) -> Array:
    cells: Array = X.toarray() if is_sparse(X) else X
    return cells
