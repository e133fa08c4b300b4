"""Trees as the attributes of ONNX's operator TreeEnsemble.

Each score has trees of its own, since a leaf of the operator adds to one score. Levels that a category split lists
are those of the side where missing values do *not* go, so that unseen levels go with the missing ones. Where rows stop
at unseen levels, a guard before the split tests whether the level is known at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.interchange.targets.exported_model import stops_at_unseen
from sapwood.model import Model
from sapwood.tree import Tree

AT_MOST, MEMBER = 0, 6  # modes of nodes
NO_LEVEL = -1.0  # of an empty set
BRANCHES = ("true", "false")


@dataclass(frozen=True, eq=False)
class Shape:
    """One tree without its values: `nodes` by attribute, and the nodes of the Sapwood tree that its leaves stand for.

    `true` and `false` are numbers of nodes or, where `true_is_leaf` or `false_is_leaf` is 1, of leaves.
    """

    nodes: dict[str, Array]
    members: list[float]  # levels of the sets, each set followed by NaN
    leaves: Ints
    root: int = 0


def shape_of(tree: Tree, stops: bool) -> Shape:
    """The shape of a tree, with guards if rows stop at unseen levels."""
    if tree.node_count == 1:
        return _lone_leaf()
    inner, leaves = np.flatnonzero(~tree.is_leaf), np.flatnonzero(tree.is_leaf)
    is_subset = tree.subset_start[inner] >= 0
    guarded = inner[is_subset & stops]
    number = np.zeros(tree.node_count, dtype=np.int64)
    number[inner], number[leaves] = np.arange(len(inner)), np.arange(len(leaves))
    guards = _guards(tree, guarded, number[guarded], len(leaves))
    number[guarded] = len(inner) + np.arange(len(guarded))  # references to the split lead to its guard
    listed_right = is_subset & tree.missing_go_to_left[inner]
    left, right = tree.children_left[inner], tree.children_right[inner]
    splits: dict[str, Array] = {
        "feature": tree.feature[inner],
        "split": np.where(is_subset, 0.0, tree.threshold[inner]),
        "mode": np.where(is_subset, MEMBER, AT_MOST),
        "missing_is_true": tree.missing_go_to_left[inner] & ~is_subset,
    }
    for name, child in zip(
        BRANCHES, (np.where(listed_right, right, left), np.where(listed_right, left, right)), strict=True
    ):
        splits[name], splits[f"{name}_is_leaf"] = number[child], tree.is_leaf[child]
    members = [level for node in inner[is_subset].tolist() for level in _listed(tree, node)]
    return Shape(
        {name: np.concatenate([own, guards.nodes[name]]) for name, own in splits.items()},
        members + guards.members,
        np.concatenate([leaves, guards.leaves]),
        int(number[0]),
    )


def _guards(tree: Tree, guarded: NDArray[np.intp], split: Ints, n_leaves: int) -> Shape:
    """Nodes that let known levels and missing values pass to the split; the others end in leaves of their own."""
    n = len(guarded)
    known = [[*map(float, range(tree.n_levels[j])), np.nan] for j in tree.feature[guarded].tolist()]
    nodes: dict[str, Array] = {
        "feature": tree.feature[guarded],
        "split": np.zeros(n),
        "mode": np.full(n, MEMBER),
        "missing_is_true": np.ones(n, dtype=np.bool_),
        "true": split,
        "true_is_leaf": np.zeros(n, dtype=np.bool_),
        "false": n_leaves + np.arange(n),
        "false_is_leaf": np.ones(n, dtype=np.bool_),
    }
    return Shape(nodes, [level for own in known for level in own], guarded)


def _lone_leaf() -> Shape:
    """The operator wants a node: both of its branches are the leaf."""
    zero, one = np.zeros(1, dtype=np.int64), np.ones(1, dtype=np.bool_)
    names = ("feature", "split", "mode", "missing_is_true", *BRANCHES)
    nodes: dict[str, Array] = dict.fromkeys(names, zero)
    return Shape(nodes | {f"{name}_is_leaf": one for name in BRANCHES}, [], zero)


def _listed(tree: Tree, node: int) -> Iterator[float]:
    """The set of a category split, and the NaN that ends it."""
    left = tree.left_levels(node)
    levels = np.arange(tree.n_levels[tree.feature[node]])
    own = np.setdiff1d(levels, left) if tree.missing_go_to_left[node] else left
    yield from map(float, own if len(own) else [NO_LEVEL])
    yield np.nan


def tree_attributes(model: Model) -> dict[str, Array]:
    """Attributes of the operator as arrays; scores that do not start at 0 get a tree of one leaf for it."""
    shapes, values, targets = [], [], []
    for k, start in enumerate(model.trees.base.tolist()):
        if start != 0.0:
            shapes.append(_lone_leaf())
            values.append(np.array([start]))
            targets.append(k)
    for term in model.trees:
        shape = shape_of(term.tree, stops_at_unseen(model))
        for k, own in enumerate(term.values.T):
            shapes.append(shape)
            values.append(own[shape.leaves])
            targets.append(term.column + k)
    return _joined(shapes, values, targets)


def leaf_numbers(shapes: list[Shape]) -> dict[str, Array]:
    """Attributes of an operator that gives the leaf of a row in each tree: leaves of all trees count on from 0."""
    sizes = [len(shape.leaves) for shape in shapes]
    numbers = np.split(np.arange(sum(sizes), dtype=np.float64), np.cumsum(sizes)[:-1])
    return _joined(shapes, numbers, list(range(len(shapes))))


def _joined(shapes: list[Shape], values: list[Floats], targets: list[int]) -> dict[str, Array]:
    first_node = np.cumsum([0, *(len(shape.nodes["mode"]) for shape in shapes)])[:-1]
    first_leaf = np.cumsum([0, *map(len, values)])[:-1]

    def joined(name: str, dtype: DTypeLike = np.int64) -> Array:
        return np.concatenate([shape.nodes[name] for shape in shapes]).astype(dtype)

    def branches(name: str) -> Array:
        firsts = zip(shapes, first_node, first_leaf, strict=True)
        parts = [s.nodes[name] + np.where(s.nodes[f"{name}_is_leaf"], leaf, node) for s, node, leaf in firsts]
        return np.concatenate(parts).astype(np.int64)

    members = np.array([level for shape in shapes for level in shape.members], dtype=np.float64)
    attributes = {
        "tree_roots": first_node + np.array([shape.root for shape in shapes]),
        "nodes_featureids": joined("feature"),
        "nodes_splits": joined("split", np.float64),
        "nodes_modes": joined("mode", np.uint8),
        "nodes_truenodeids": branches("true"),
        "nodes_trueleafs": joined("true_is_leaf"),
        "nodes_falsenodeids": branches("false"),
        "nodes_falseleafs": joined("false_is_leaf"),
        "nodes_missing_value_tracks_true": joined("missing_is_true"),
        "leaf_weights": np.concatenate(values),
        "leaf_targetids": np.repeat(targets, [len(own) for own in values]),
    }
    return attributes | ({"membership_values": members} if len(members) else {})
