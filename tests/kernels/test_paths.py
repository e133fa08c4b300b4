"""Sides of rows, and the paths of a tree, against one row and one node at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from descent_cases import rows_for, slow_leaf, trees
from sapwood.explain.shap.tree_paths import TreePaths, cover_ratios
from sapwood.kernels.paths import LEFT, RIGHT, STOP
from sapwood.tree import Tree
from sapwood.tree_sum import Term
from strategies import examples


def paths_of(tree: Tree, dtype: Any, stop: bool) -> TreePaths:
    return TreePaths.of(Term(tree, np.arange(tree.node_count, dtype=np.float64)[:, None]), np.dtype(dtype), stop)


def with_covers(tree: Tree, covers: NDArray[Any]) -> Tree:
    return replace(tree, weighted_n_node_samples=np.array(covers, dtype=np.float64))


@examples
@given(st.data(), st.booleans(), st.booleans())
def test_sides_lead_every_row_to_its_leaf(data: Any, categories: bool, stop: bool) -> None:
    """Follow the sides down: the row comes to the leaf, or stops, where prediction says."""
    tree = data.draw(trees(categories))
    X = data.draw(rows_for(tree))
    paths = paths_of(tree, X.dtype, stop)
    sides = paths.sides(np.ascontiguousarray(X.T))
    for row in range(len(X)):
        at = 0
        while not paths.nodes["is_leaf"][at]:
            step = paths.nodes["step"][paths.children[at, LEFT]]
            at = paths.children[at, sides[step, row]]
        assert paths.nodes["node"][at] == slow_leaf(tree, [float(cell) for cell in X[row]], stop)


def slow_paths(tree: Tree, stop: bool) -> list[dict[str, Any]]:
    """The specification: nodes with their whole way, each a list of (feature, ratio)."""
    ratios, found = cover_ratios(tree), []
    steps = {int(node): k for k, node in enumerate(np.flatnonzero(~tree.is_leaf))}

    def visit(node: int, way: list[tuple[int, float]], side: int, up: int, is_stop: bool) -> None:
        found.append({"node": node, "way": way, "side": side, "up": up, "is_leaf": is_stop or tree.is_leaf[node]})
        if found[-1]["is_leaf"]:
            return
        me, feature = len(found) - 1, int(tree.feature[node])
        if stop and tree.is_subset_split(node):
            visit(node, [*way, (feature, 0.0)], STOP, me, True)
        for own, child in ((LEFT, tree.children_left[node]), (RIGHT, tree.children_right[node])):
            visit(int(child), [*way, (feature, ratios[child])], own, me, False)

    visit(0, [], -1, -1, False)
    for item in found:
        item["step"] = steps[found[item["up"]]["node"]] if item["up"] >= 0 else -1
    return found


@examples
@given(st.data(), st.booleans(), st.booleans())
def test_paths_know_the_way(data: Any, categories: bool, stop: bool) -> None:
    tree = data.draw(trees(categories))
    n = tree.node_count
    tree = with_covers(tree, data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0, 3.0]), min_size=n, max_size=n)))
    nodes = paths_of(tree, np.float64, stop).nodes
    expected = slow_paths(tree, stop)
    assert len(nodes) == len(expected)
    for node, right in zip(nodes, expected, strict=True):
        way = right["way"]
        assert (node["node"], node["is_leaf"], node["parent"]) == (right["node"], right["is_leaf"], right["up"])
        assert (node["depth"], node["n_features"]) == (len(way), len({feature for feature, _ in way}))
        assert node["reach"] == pytest.approx(np.prod([ratio for _, ratio in way]))
        if way:
            feature, ratio = way[-1]
            same = [depth for depth, edge in enumerate(way, 1) if edge[0] == feature]
            shares = [way[depth - 1][1] for depth in same]
            assert (node["feature"], node["step"], node["side"]) == (feature, right["step"], right["side"])
            assert node["before"] == (same[-2] if len(same) > 1 else 0)
            assert (node["ratio"], node["share"]) == pytest.approx((ratio, np.prod(shares)))
            assert node["share_before"] == pytest.approx(np.prod(shares[:-1]))
            assert node["is_last"] == (right["side"] == RIGHT)


def test_without_weight_rows_are_counted_and_without_rows_children_share_alike() -> None:
    tree = Tree(
        children_left=np.array([1, -1, 3, -1, -1], dtype=np.int32),
        children_right=np.array([2, -1, 4, -1, -1], dtype=np.int32),
        feature=np.array([0, -2, 0, -2, -2], dtype=np.int32),
        threshold=np.zeros(5),
        missing_go_to_left=np.zeros(5, dtype=bool),
        value=np.zeros((5, 1, 1)),
        impurity=np.zeros(5),
        n_node_samples=np.array([4, 3, 1, 0, 0]),
        weighted_n_node_samples=np.zeros(5),
        subset_start=np.full(5, -1, dtype=np.int32),
        subsets=np.empty(0, dtype=np.uint32),
        n_levels=np.zeros(1, dtype=np.int32),
    )
    assert cover_ratios(tree).tolist() == [1.0, 0.75, 0.25, 0.5, 0.5]
    weighted = replace(tree, weighted_n_node_samples=np.array([3.0, 1.0, 2.0, 0.0, 2.0]))
    assert cover_ratios(weighted).tolist() == pytest.approx([1.0, 1 / 3, 2 / 3, 0.0, 1.0])
