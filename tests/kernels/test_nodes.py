"""Kernels on finished nodes against recursion, sorting and quadratic pruning."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from kernel_cases import eighths, weights
from numpy.typing import NDArray

from sapwood.kernels.nodes import leaves_above, link_nodes, node_medians, preorder, weakest_links
from strategies import examples

Array = NDArray[Any]


@dataclass(frozen=True)
class Links:
    """A binary tree in preorder; -1 is no child."""

    left: Array
    right: Array
    parent: Array

    def leaves(self, node: int, cut: set[int]) -> list[int]:
        """Leaves below a node once the nodes in `cut` are leaves."""
        if self.left[node] < 0 or node in cut:
            return [node]
        return self.leaves(int(self.left[node]), cut) + self.leaves(int(self.right[node]), cut)

    def inner(self, node: int, cut: set[int]) -> list[int]:
        if self.left[node] < 0 or node in cut:
            return []
        return [node, *self.inner(int(self.left[node]), cut), *self.inner(int(self.right[node]), cut)]


@st.composite
def trees(draw: st.DrawFn) -> Links:
    """Random trees of up to 41 nodes, chains included."""
    left, right, parent = [], [], []

    def add(above: int, inner: int) -> int:
        node = len(left)
        left.append(-1)
        right.append(-1)
        parent.append(above)
        if inner > 0:
            n_left = draw(st.sampled_from([0, inner - 1, (inner - 1) // 2]))
            left[node] = add(node, n_left)
            right[node] = add(node, inner - 1 - n_left)
        return node

    add(-1, draw(st.integers(0, 20)))
    return Links(np.array(left, np.int32), np.array(right, np.int32), np.array(parent, np.int32))


def costs(tree: Links) -> st.SearchStrategy[Array]:
    """Whole numbers, so that sums are exact; also costs that grow downwards, and many equal strengths."""
    n = len(tree.left)
    cell = st.one_of(st.integers(0, 4), st.integers(0, 1000))
    return st.lists(cell, min_size=n, max_size=n).map(lambda cells: np.array(cells, dtype=np.float64))


def slow_weakest_links(tree: Links, cost: Array) -> tuple[list[int], list[Fraction], list[float]]:
    """The specification: look at every inner node for every cut; of equal links, the one nearest to the root."""
    cut: set[int] = set()
    order, alphas, after = [], [], []
    while inner := tree.inner(0, cut):
        strength = {t: link_strength(tree, cost, t, cut) for t in inner}
        weakest = min(inner, key=lambda t: (strength[t], t))
        cut.add(weakest)
        order.append(weakest)
        alphas.append(strength[weakest])
        after.append(sum(cost[leaf] for leaf in tree.leaves(0, cut)))
    return order, alphas, after


def link_strength(tree: Links, cost: Array, node: int, cut: set[int]) -> Fraction:
    leaves = tree.leaves(node, cut)
    return Fraction(int(cost[node] - sum(cost[leaf] for leaf in leaves)), len(leaves) - 1)


def run_weakest_links(tree: Links, cost: Array) -> tuple[Array, Array, Array]:
    n = len(cost)
    effective_alpha, order, after = np.full(n, np.nan), np.full(n, -1, dtype=np.int64), np.full(n, np.nan)
    n_cut = weakest_links(tree.left, tree.right, tree.parent, cost, effective_alpha, order, after)
    return effective_alpha, order[:n_cut], after[:n_cut]


@examples
@given(st.data(), trees())
def test_weakest_links(data: Any, tree: Links) -> None:
    cost = data.draw(costs(tree))
    effective_alpha, order, after = run_weakest_links(tree, cost)
    expected_order, alphas, expected_after = slow_weakest_links(tree, cost)
    assert order.tolist() == expected_order
    assert after.tolist() == expected_after
    assert effective_alpha[order].tolist() == [float(alpha) for alpha in alphas]
    never_cut = np.setdiff1d(np.arange(len(cost)), order)
    assert np.isposinf(effective_alpha[never_cut]).all()


@examples
@given(st.data(), trees())
def test_alphas_never_decrease_whatever_the_rounding(data: Any, tree: Links) -> None:
    n = len(tree.left)
    cost = np.array(data.draw(st.lists(st.floats(0, 1), min_size=n, max_size=n)))
    effective_alpha, order, _ = run_weakest_links(tree, cost)
    assert (np.diff(effective_alpha[order]) >= 0).all()
    assert n == 1 or order[-1] == 0


def slow_kept(tree: Links, cost: Array, alpha: Fraction) -> list[int]:
    """The specification: the smallest subtree that minimises cost + alpha * leaves, found from the bottom up."""
    n = len(cost)
    best = [Fraction(int(c)) + alpha for c in cost]
    is_leaf = [True] * n
    for node in reversed(range(n)):
        if tree.left[node] >= 0:
            branch = best[tree.left[node]] + best[tree.right[node]]
            if branch < best[node]:
                best[node], is_leaf[node] = branch, False
    kept = list(range(n))
    for node in range(1, n):
        above = kept[tree.parent[node]]
        kept[node] = above if is_leaf[above] else node
    return kept


@examples
@given(st.data(), trees())
def test_pruned_tree_is_the_smallest_of_least_cost(data: Any, tree: Links) -> None:
    cost = data.draw(costs(tree))
    effective_alpha, order, _ = run_weakest_links(tree, cost)
    on_a_link = [float(alpha) for alpha in effective_alpha[order] if float(2 * alpha).is_integer()]
    alpha = data.draw(st.one_of(st.sampled_from([*on_a_link, 0.0, 1.0]), eighths(-3, 300)))
    kept = leaves_above(tree.left, tree.right, effective_alpha > alpha)
    assert kept.tolist() == slow_kept(tree, cost, Fraction(alpha))


@examples
@given(st.data(), trees())
def test_preorder(data: Any, tree: Links) -> None:
    n = len(tree.left)
    new = np.array([0, *data.draw(st.permutations(range(1, n)))], dtype=np.int64)  # the root stays first
    left, right = np.full(n, -1, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    inner = tree.left >= 0
    left[new[inner]], right[new[inner]] = new[tree.left[inner]], new[tree.right[inner]]
    assert preorder(left, right, n).tolist() == new.tolist()


def slow_median(w: Array, y: Array) -> float:
    """The middle of all targets of least absolute loss."""
    losses = [(w * np.abs(y - m)).sum() for m in y]
    reached = y[losses == min(losses)]
    return 0.5 * reached.min() + 0.5 * reached.max()


@examples
@given(st.data(), st.integers(1, 15))
def test_node_medians(data: Any, n: int) -> None:
    columns = [
        data.draw(st.lists(cell, min_size=n, max_size=n)) for cell in (weights(), eighths(-2, 2), eighths(-9, 9))
    ]
    wy, rows = np.column_stack(columns), np.array(data.draw(st.permutations(range(n))))
    first = np.array(data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=4)), dtype=np.int64)
    n_rows = np.array([data.draw(st.integers(1, n - start)) for start in first], dtype=np.int64)
    output, out = data.draw(st.integers(0, 1)), np.full(len(first), np.nan)
    node_medians(rows.astype(np.uint32) << np.uint32(1), first, n_rows, wy, output, out)
    members = [rows[start : start + size] for start, size in zip(first, n_rows, strict=True)]
    assert out.tolist() == [slow_median(wy[inside, 0], wy[inside, 1 + output]) for inside in members]


@examples
@given(st.data(), trees())
def test_links_are_the_same_however_growth_numbers_the_nodes(data: Any, tree: Links) -> None:
    """Nodes in any order, among others that hang on nothing; of those that are no longer split, nothing shows."""
    n, inner = len(tree.left), tree.left >= 0
    number = np.array(data.draw(st.permutations(range(1, n + 3))), dtype=np.int64)[:n]
    number[0] = 0
    layout = [("left", "i8"), ("right", "i8"), ("feature", "i8"), ("missing_left", "?"), ("n_rows", "i4")]
    nodes, splits = np.full(n + 3, 99, dtype=layout), np.zeros(n + 3, dtype=np.bool_)
    nodes["left"][number[inner]], nodes["right"][number[inner]] = number[tree.left[inner]], number[tree.right[inner]]
    nodes["feature"][number], nodes["n_rows"][number] = np.arange(n), 2 * np.arange(n)
    nodes["missing_left"][number], splits[number] = np.arange(n) % 2, inner
    links = link_nodes(nodes, splits, number)
    assert links.children_left.tolist() == tree.left.tolist()
    assert links.children_right.tolist() == tree.right.tolist()
    assert links.feature.tolist() == np.where(inner, np.arange(n), -2).tolist()
    assert links.missing_go_to_left.tolist() == (inner & (np.arange(n) % 2 == 1)).tolist()
    assert links.n_node_samples.tolist() == (2 * np.arange(n)).tolist()
