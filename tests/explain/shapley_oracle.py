"""Shapley values by their definitions, slowly: the specification of all Shapley kernels."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from descent_cases import slow_leaf, trees
from linear_twin import line_values
from sapwood.explain.shap.enumeration import shapley_of_game
from sapwood.kernels.linear_leaves import LINE
from sapwood.linear_leaves import LinearLeaves
from sapwood.tree import Tree
from sapwood.tree_sum import Term, TreeSum

Array = NDArray[Any]


@dataclass(frozen=True)
class Rows:
    """The little of a table that explanations need."""

    cells: Array

    @property
    def n_rows(self) -> int:
        return len(self.cells)

    @property
    def n_features(self) -> int:
        return self.cells.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.cells.dtype

    def block(self, start: int, stop: int) -> Array:
        return self.cells[start:stop]


@st.composite
def terms(draw: st.DrawFn, categories: bool, width: int = 1) -> Term:
    """A tree with covers, some of them zero, and words of its nodes, which are eighths."""
    tree = draw(trees(categories))
    covers = np.zeros(tree.node_count)
    leaf_cover = st.sampled_from([0.0, 0.25, 1.0, 2.0, 5.0])
    for node in range(tree.node_count - 1, -1, -1):
        left, right = tree.children_left[node], tree.children_right[node]
        covers[node] = draw(leaf_cover) if left < 0 else covers[left] + covers[right]
    words = draw(st.lists(st.integers(-40, 40), min_size=width * tree.node_count, max_size=width * tree.node_count))
    return Term(replace(tree, weighted_n_node_samples=covers), np.array(words, dtype=float).reshape(-1, width) / 8)


@st.composite
def linear_terms(draw: st.DrawFn, categories: bool) -> Term:
    """A tree with up to three lines in each leaf, on any numbers that the tree splits, on the leaf's path or not."""
    term = draw(terms(categories))
    tree, lines, counts = term.tree, [], []
    columns = [j for j in np.unique(tree.feature[~tree.is_leaf]).tolist() if tree.n_levels[j] == 0]
    eighths = st.integers(-16, 16).map(lambda k: k / 8)
    for is_leaf in tree.is_leaf:
        chosen = draw(st.lists(st.sampled_from(columns), max_size=3, unique=True)) if is_leaf and columns else []
        for j in chosen:
            low, centre, high = sorted(draw(eighths) for _ in range(3))
            lines.append((j, draw(eighths), centre, low, high))
        counts.append(len(chosen))
    linear = LinearLeaves.of(np.array(counts), np.array(lines, dtype=LINE)) if lines else None
    return Term(replace(tree, linear=linear), term.values)


def leaf_value(term: Term, leaf: int, row: Array, known: Any) -> Array:
    """Value of a leaf, with its lines on columns that are known."""
    linear = term.tree.linear
    if linear is None:
        return term.values[leaf]
    return term.values[leaf] + sum(line_values([one], row[None, :]) for one in linear.of_node(leaf) if one[0] in known)


def tree_sum_of(*given: Term) -> TreeSum:
    columns = max(term.column + term.values.shape[1] for term in given)
    return TreeSum(np.zeros(columns), len(given), list(given).__getitem__)


def games(expect: Callable[[set[int]], Array], n_features: int) -> Array:
    """The worth of all subsets of the features."""
    subsets = [{j for j in range(n_features) if number >> j & 1} for number in range(1 << n_features)]
    return np.array([expect(subset) for subset in subsets])


def along_tree(term: Term, row: Array, stop: bool) -> Callable[[set[int]], Array]:
    """What the tree says if some features are known: at a split of another one, both ways by their covers."""
    tree = term.tree

    def expect(known: set[int], node: int = 0) -> Array:
        children = [int(tree.children_left[node]), int(tree.children_right[node])]
        if children[0] < 0:
            return leaf_value(term, node, row, known)
        if tree.feature[node] in known:
            child = next_node(tree, node, row, stop)
            return term.values[node] if child == node else expect(known, child)
        left, right = shares(tree, *children)
        return left * expect(known, children[0]) + right * expect(known, children[1])

    return expect


def shares(tree: Tree, left: int, right: int) -> tuple[float, float]:
    for cover in (tree.weighted_n_node_samples, tree.n_node_samples):
        total = float(cover[left] + cover[right])
        if total > 0:
            return cover[left] / total, cover[right] / total
    return 0.5, 0.5


def next_node(tree: Tree, node: int, row: Array, stop: bool) -> int:
    """The child that a row goes to, or the node itself if it stops there."""
    feature = int(tree.feature[node])
    cell, n_levels = float(row[feature]), int(tree.n_levels[feature])
    goes_left = bool(tree.missing_go_to_left[node])
    if not np.isnan(cell) and not tree.is_subset_split(node):
        goes_left = cell <= tree.threshold[node]
    elif 0 <= cell < n_levels:
        goes_left = int(cell) in tree.left_levels(node)
    elif not np.isnan(cell) and stop:
        return node
    return int(tree.children_left[node] if goes_left else tree.children_right[node])


def with_background(term: Term, row: Array, background: Array, stop: bool) -> Callable[[set[int]], Array]:
    """Mean over the background of what the tree says about its rows with the known features of the row."""

    def expect(known: set[int]) -> Array:
        mixed = background.astype(np.float64)
        mixed[:, list(known)] = row[list(known)]
        leaves = [slow_leaf(term.tree, [float(cell) for cell in each], stop) for each in mixed]
        everything = range(mixed.shape[1])
        values = [leaf_value(term, leaf, own, everything) for leaf, own in zip(leaves, mixed, strict=True)]
        return np.mean(values, axis=0)

    return expect


def values_of(games_of_rows: list[Array]) -> Array:
    """Values (rows, features, words)."""
    return np.array([shapley_of_game(worth) for worth in games_of_rows])


def interactions_of(worth: Array) -> Array:
    """Interaction values (features, features, words) of a game; the diagonal is what is left of the value."""
    n = len(worth).bit_length() - 1
    out = np.zeros((n, n, worth.shape[1]))
    for i, j in combinations(range(n), 2):
        for subset in range(1 << n):
            if subset >> i & 1 or subset >> j & 1:
                continue
            size = subset.bit_count()
            weight = math.factorial(size) * math.factorial(n - size - 2) / (2 * math.factorial(n - 1))
            with_i, with_j = subset | 1 << i, subset | 1 << j
            out[i, j] += weight * (worth[with_i | with_j] - worth[with_i] - worth[with_j] + worth[subset])
        out[j, i] = out[i, j]
    values = shapley_of_game(worth)
    for i in range(n):
        out[i, i] = values[i] - out[i].sum(axis=0)
    return out
