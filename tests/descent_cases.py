"""Trees of any shape, rows at and around their thresholds, and the specification of a descent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from sapwood.kernels.traverse import STEPS
from sapwood.tree import LEAF, UNDEFINED, Tree

UNSEEN = -2.0
CORNERS = (-np.inf, -1e300, -1.5, -1.0, -0.0, 0.0, 1e-50, 0.1, 1.0, 1.0 + 1e-12, 2.0**24 + 1, 1e300, np.inf)


@dataclass(frozen=True)
class Rows:
    """The little of a table that prediction needs."""

    cells: NDArray[Any]

    @property
    def n_rows(self) -> int:
        return len(self.cells)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.cells.dtype

    @property
    def storage(self) -> Rows:
        return self

    def block(self, start: int, stop: int) -> NDArray[Any]:
        return self.cells[start:stop]


def slow_leaves(tree: Tree, X: NDArray[Any], stop_at_unseen: bool = False) -> list[int]:
    """The specification."""
    return [slow_leaf(tree, [float(cell) for cell in row], stop_at_unseen) for row in X]


def slow_leaf(tree: Tree, row: list[float], stop_at_unseen: bool) -> int:
    node = 0
    while tree.children_left[node] != LEAF:
        feature = tree.feature[node]
        cell = row[feature]
        is_unseen = tree.is_subset_split(node) and not np.isnan(cell) and not 0 <= cell < tree.n_levels[feature]
        if is_unseen and stop_at_unseen:
            return node
        if np.isnan(cell) or is_unseen:
            goes_left = tree.missing_go_to_left[node]
        elif tree.is_subset_split(node):
            goes_left = int(cell) in tree.left_levels(node)
        else:
            goes_left = cell <= tree.threshold[node]
        node = int(tree.children_left[node] if goes_left else tree.children_right[node])
    return node


class Sketch:
    """A tree under construction, node by node in preorder."""

    def __init__(self, n_levels: tuple[int, ...]) -> None:
        self.n_levels = n_levels
        self.nodes: list[dict[str, Any]] = []
        self.subsets: list[int] = []

    def add(self, **fields: Any) -> int:
        leaf = {
            "left": LEAF,
            "right": LEAF,
            "feature": UNDEFINED,
            "threshold": UNDEFINED,
            "missing": False,
            "start": -1,
        }
        self.nodes.append(leaf | fields)
        return len(self.nodes) - 1

    def add_subset(self, levels: set[int], n_levels: int) -> int:
        words = np.zeros((n_levels + 31) // 32, dtype=np.uint32)
        for level in levels:
            words[level // 32] |= np.uint32(1 << level % 32)
        self.subsets += words.tolist()
        return len(self.subsets) - len(words)

    def finish(self) -> Tree:
        def field(name: str, dtype: Any) -> NDArray[Any]:
            return np.array([node[name] for node in self.nodes], dtype=dtype)

        count = len(self.nodes)
        return Tree(
            children_left=field("left", np.int32),
            children_right=field("right", np.int32),
            feature=field("feature", np.int32),
            threshold=field("threshold", np.float64),
            missing_go_to_left=field("missing", np.bool_),
            value=np.arange(count, dtype=np.float64).reshape(count, 1, 1),
            impurity=np.zeros(count),
            n_node_samples=np.ones(count, dtype=np.int64),
            weighted_n_node_samples=np.ones(count),
            subset_start=field("start", np.int32),
            subsets=np.array(self.subsets, dtype=np.uint32),
            n_levels=np.array(self.n_levels, dtype=np.int32),
        )


def numbers() -> st.SearchStrategy[float]:
    return st.one_of(st.sampled_from(CORNERS), st.floats(allow_nan=False), st.floats(-2, 2, width=32))


def columns(categories: bool) -> st.SearchStrategy[tuple[int, ...]]:
    """Numbers of levels of a few columns, 0 for numbers."""
    kinds = st.sampled_from([0, 2, 31, 32, 33, 70]) if categories else st.just(0)
    return st.lists(kinds, min_size=1, max_size=4).map(tuple)


@st.composite
def trees(draw: st.DrawFn, categories: bool, n_levels: tuple[int, ...] | None = None) -> Tree:
    """Trees of depth 6 at most, lopsided ones included."""
    sketch = Sketch(draw(columns(categories)) if n_levels is None else n_levels)

    def grow(depth: int) -> int:
        if depth == 0 or draw(st.integers(0, 3)) == 0:
            return sketch.add()
        node = sketch.add(**draw_split())
        sketch.nodes[node]["left"] = grow(depth - 1)
        sketch.nodes[node]["right"] = grow(depth - 1)
        return node

    def draw_split() -> dict[str, Any]:
        feature = draw(st.integers(0, len(sketch.n_levels) - 1))
        split = {"feature": feature, "missing": draw(st.booleans())}
        n_levels = sketch.n_levels[feature]
        if n_levels == 0:
            return split | {"threshold": draw(numbers())}
        start = sketch.add_subset(draw(st.sets(st.integers(0, n_levels - 1))), n_levels)
        return split | {"threshold": np.nan, "start": start}

    grow(draw(st.integers(0, 6)))
    return sketch.finish()


@st.composite
def rows_for(draw: st.DrawFn, tree: Tree) -> NDArray[Any]:
    """Cells at, just below and just above thresholds; missing, infinite and arbitrary ones; known and unseen levels."""
    dtype = draw(st.sampled_from(list(STEPS)))
    n_rows = draw(st.integers(1, 12))
    columns = [draw(st.lists(cells(tree, j, dtype), min_size=n_rows, max_size=n_rows)) for j in range(tree.n_features)]
    with np.errstate(over="ignore", under="ignore"):
        return np.array(columns).T.astype(dtype, order="C")


def cells(tree: Tree, feature: int, dtype: np.dtype[Any]) -> st.SearchStrategy[float]:
    n_levels = int(tree.n_levels[feature])
    if n_levels:
        return st.one_of(st.integers(0, n_levels - 1).map(float), st.sampled_from([UNSEEN, float(n_levels), np.nan]))
    used = tree.threshold[tree.feature == feature]
    with np.errstate(over="ignore", under="ignore"):
        near = used.astype(dtype)
        around = np.concatenate([near, np.nextafter(near, -np.inf), np.nextafter(near, np.inf), [np.nan]])
    return st.one_of(st.sampled_from(around.astype(np.float64).tolist()), numbers())
