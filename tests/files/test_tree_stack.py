"""Trees become a stack of arrays and come back the same."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from file_cases import same
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from descent_cases import columns, trees
from sapwood.errors import ModelFileError
from sapwood.files.tree_records import read_trees, write_trees
from sapwood.files.tree_stack import BYTES_OF_TREE, PADDING, PARTS, TreeStack
from sapwood.files.values import Reader, Writer
from sapwood.kernels.nodes import add_up, link_right
from sapwood.packed_tree import PackedTree
from sapwood.tree import Tree

ODD = (0.0, -0.0, 1.0, 255.0, 256.0, 2.0**32, 0.1, -1e300, 5e-324)


def filled(tree: Tree, outputs: int, width: int, draw: st.DrawFn) -> Tree:
    """The tree with numbers of rows, weights, values and impurities of any kind."""
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    n = tree.node_count
    rows = np.ones((n, width), dtype=np.int64)
    rows[tree.is_leaf] = rng.integers(draw(st.sampled_from([0, 1])), 300, (tree.n_leaves, width)) + 1
    first = np.array([0, n])
    add_up(tree.is_leaf, first, tree.children_right, rows)
    if draw(st.booleans()):
        rows[0] += 1  # rows that stopped on the way
    total = rows.sum(axis=1).astype(np.float64)
    how = draw(st.sampled_from(["shares", "odd", "float32"]))
    if how == "shares":
        value = np.repeat((rows / total[:, None])[:, None], outputs, axis=1)
    elif how == "odd":
        value = rng.choice(ODD, (n, outputs, width))
    else:
        value = rng.normal(size=(n, outputs, width)).astype(np.float32).astype(np.float64)
    w = total if draw(st.booleans()) else total * 0.1
    impurity = rng.choice([0.5, np.nan, 0.0, np.inf], n) if draw(st.booleans()) else gini(rows)
    classes = (width,) * outputs
    counts = {"n_node_samples": rows.sum(axis=1), "weighted_n_node_samples": w}
    return replace(tree, value=value, impurity=impurity, n_classes=classes, **counts)


def gini(counts: NDArray[Any]) -> NDArray[np.float64]:
    w, second = counts.sum(axis=1).astype(np.float64), counts[:, -1].astype(np.float64)
    return np.maximum(2.0 * second * (w - second) / w, 0.0) / w


@st.composite
def stacks(draw: st.DrawFn) -> tuple[list[Tree], NDArray[np.int32]]:
    n_levels = draw(columns(True))
    outputs, width = draw(st.sampled_from([(1, 1), (1, 2), (1, 3), (2, 1), (2, 3)]))
    grown = draw(st.lists(trees(True, n_levels), min_size=1, max_size=4))
    return [filled(tree, outputs, width, draw) for tree in grown], np.array(n_levels, dtype=np.int32)


@settings(max_examples=80, deadline=None)
@given(stacks())
def test_any_trees_come_back_through_a_file(given_stack: tuple[list[Tree], NDArray[np.int32]]) -> None:
    given_trees, n_levels = given_stack
    writer = Writer({})
    told = write_trees(given_trees, writer, "trees")
    assert {name.removeprefix("trees.") for name in writer.arrays} <= set(PARTS)
    reader = Reader({}, dict(writer.arrays))
    stack = read_trees(told, n_levels, reader, "trees")
    assert stack is not None
    assert not reader.arrays
    assert len(stack) == len(given_trees)
    assert same(given_trees, list(stack.trees()))
    assert same(given_trees, [tree.unpack() for tree in stack.packed()])
    again = TreeStack.of(list(stack.trees()), n_levels)
    assert same(dict(again.parts), {name.removeprefix("trees."): array for name, array in writer.arrays.items()})


@settings(max_examples=40, deadline=None)
@given(stacks())
def test_a_stack_is_never_much_smaller_than_its_trees(given_stack: tuple[list[Tree], NDArray[np.int32]]) -> None:
    stack = TreeStack.of(*given_stack)
    size = sum(array.nbytes for array in stack.parts.values())
    assert size >= BYTES_OF_TREE * len(stack)
    assert PADDING not in stack.parts or size == BYTES_OF_TREE * len(stack)


def plain_links(is_leaf: list[bool]) -> list[int] | None:
    """Right children of one tree, by recursion; None if the nodes do not form one."""
    right = [-1] * len(is_leaf)

    def end(node: int) -> int:
        if node >= len(is_leaf):
            raise IndexError
        if is_leaf[node]:
            return node + 1
        right[node] = end(node + 1)
        return end(right[node])

    try:
        return right if end(0) == len(is_leaf) else None
    except IndexError:
        return None


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(st.booleans(), min_size=1, max_size=9), min_size=1, max_size=4))
def test_links_are_those_of_a_plain_reader_or_there_is_no_tree(forest: list[list[bool]]) -> None:
    is_leaf = np.concatenate([np.array(tree) for tree in forest])
    starts = np.cumsum([0, *map(len, forest)])
    right, scratch = np.full(len(is_leaf), 99, np.int32), np.empty(max(map(len, forest)), np.int32)
    bad = link_right(is_leaf, starts, scratch, right)
    wanted = [plain_links(tree) for tree in forest]
    first_bad = next((t for t, links in enumerate(wanted) if links is None), -1)
    assert bad == first_bad
    for t in range(len(forest) if bad < 0 else bad):
        assert right[starts[t] : starts[t + 1]].tolist() == wanted[t]


@settings(max_examples=40, deadline=None)
@given(st.lists(trees(False), min_size=1, max_size=3), st.integers(1, 3), st.integers(0, 99))
def test_sums_are_those_of_the_leaves_below(grown: list[Tree], width: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    is_leaf = np.concatenate([tree.is_leaf for tree in grown])
    starts = np.cumsum([0, *(tree.node_count for tree in grown)])
    sums = rng.integers(0, 9, (len(is_leaf), width))
    wanted = sums.copy()
    add_up(is_leaf, starts, np.concatenate([tree.children_right for tree in grown]), sums)
    for tree, start in zip(grown, starts, strict=False):
        for node in reversed(np.flatnonzero(~tree.is_leaf)):
            children = start + np.array([tree.children_left[node], tree.children_right[node]])
            wanted[start + node] = wanted[children].sum(axis=0)
    assert np.array_equal(sums, wanted)


def lone_leaf() -> Tree:
    leaf = {"children_left": -1, "children_right": -1, "feature": -2, "subset_start": -1}
    numbers = {"threshold": -2.0, "impurity": 0.0, "weighted_n_node_samples": 1.0}
    return Tree(
        **{name: np.array([number], dtype=np.int32) for name, number in leaf.items()},
        **{name: np.array([number]) for name, number in numbers.items()},
        missing_go_to_left=np.array([False]),
        value=np.array([[[0.5]]]),
        n_node_samples=np.array([1]),
        subsets=np.empty(0, dtype=np.uint32),
        n_levels=np.zeros(2, dtype=np.int32),
    )


def test_no_trees_are_written_as_no_trees() -> None:
    writer = Writer({})
    assert write_trees([], writer, "trees") == {"count": 0}
    assert not writer.arrays
    assert read_trees({"count": 0}, np.zeros(1, np.int32), Reader({}, {}), "trees") is None


def changed_stack(name: str, array: Any, **facts: Any) -> None:
    """Read a stack of three lone leaves with one part, or some facts, changed."""
    writer = Writer({})
    told = write_trees([lone_leaf()] * 3, writer, "trees") | facts
    arrays = dict(writer.arrays) | {f"trees.{name}": array}
    if array is None:
        del arrays[f"trees.{name}"]
    read_trees(told, np.zeros(2, np.int32), Reader({}, arrays), "trees")


BAD_PARTS = {
    "nodes": [
        np.array([1, 1, 2], np.uint32),
        np.array([1, 2, 0], np.uint32),
        np.array([1, 1, 1], np.int32),
        np.array(1, np.uint8),
        None,
    ],
    "is_leaf": [np.array([0b11000000], np.uint8), np.array([0b11110000], np.uint8), np.array([7, 0], np.uint8), None],
    "feature": [np.array([1], np.uint8), np.empty(0, np.float64)],
    "threshold": [np.array([1.0])],
    "missing_left": [np.array([0], np.uint8)],
    "levels": [np.array([0], np.uint32), np.empty(0, np.int64)],
    "rows.leaf": [np.ones(3), np.ones(2, np.uint8), np.ones((3, 1), np.uint8), np.ones(3, np.uint64), None],
    "value.leaf": [np.full((3, 1), np.nan), np.full((3, 1), np.inf), np.ones(3), np.ones((3, 1), np.int8), None],
    "weight.leaf": [np.array([1.0, -1.0, 1.0]), np.array([1.0, np.inf, 1.0]), np.ones(2)],
    "impurity.leaf": [np.ones(4), None],
    "class_weight.leaf": [np.ones((3, 1), np.uint8)],
    "padding": [np.ones(87, np.uint8), np.zeros(5, np.uint8), np.zeros(95, np.float64), None],
}


@pytest.mark.parametrize(("name", "k"), [(name, k) for name, bad in BAD_PARTS.items() for k in range(len(bad))])
def test_a_part_that_does_not_fit_is_refused_by_name(name: str, k: int) -> None:
    with pytest.raises(ModelFileError, match=r"cannot be used: trees\.[a-z_.]+ "):
        changed_stack(name, BAD_PARTS[name][k])


@pytest.mark.parametrize(
    "facts",
    [
        {"count": -1},
        {"count": 2},
        {"count": 2**60},
        {"count": True},
        {"count": 0},
        {"outputs": 2},
        {"width": 2},
        {"width": 2**40},
        {"classes": [2]},
        {"classes": []},
        {"classes": 1},
        {"impurity": "gini"},
        {"impurity": "entropy"},
        {"impurity": ["gini"]},
        {"more": 1},
    ],
    ids=str,
)
def test_facts_that_do_not_fit_are_refused(facts: dict[str, Any]) -> None:
    writer = Writer({})
    told = write_trees([lone_leaf()] * 3, writer, "trees") | facts
    with pytest.raises(ModelFileError, match=r"cannot be used: trees"):
        read_trees(told, np.zeros(2, np.int32), Reader({}, dict(writer.arrays)), "trees")


def test_an_inner_node_of_fewer_rows_than_its_child_is_refused() -> None:
    grown = split_at(0.5)
    odd = replace(grown, n_node_samples=np.array([3, 4, 1]))
    writer = Writer({})
    told = write_trees([odd], writer, "trees")
    with pytest.raises(ModelFileError, match=r"trees.rows.inner has a node of fewer rows than its child"):
        read_trees(told, grown.n_levels, Reader({}, dict(writer.arrays)), "trees")


def split_at(threshold: float) -> Tree:
    leaf = lone_leaf()
    arrays = {name: np.repeat(array, 3, axis=0) for name, array in leaf.arrays().items() if name != "n_levels"}
    arrays["subsets"] = leaf.subsets
    children = {"children_left": [1, -1, -1], "children_right": [2, -1, -1], "feature": [1, -2, -2]}
    arrays |= {name: np.array(own, np.int32) for name, own in children.items()}
    arrays["threshold"] = np.array([threshold, -2.0, -2.0])
    arrays["n_node_samples"] = np.array([2, 1, 1])
    return replace(leaf, **arrays)


@pytest.mark.parametrize("threshold", [0.0, -0.0, np.inf, -np.inf, 0.1, 3.0, 2.0**53, 1e-310])
def test_thresholds_of_every_kind_keep_their_bits(threshold: float) -> None:
    grown = split_at(threshold)
    stack = TreeStack.of([grown], grown.n_levels)
    (found,) = stack.trees()
    assert found.threshold.tobytes() == grown.threshold.tobytes()
    assert same(PackedTree.of(grown), stack.packed()[0])
