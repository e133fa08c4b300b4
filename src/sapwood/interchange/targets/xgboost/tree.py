"""A tree in XGBoost's JSON.

XGBoost keeps cells as float32 and sends x < t left; here x <= threshold goes left. For every number of float32 both
are the same if t is the next number of float32 above the threshold. Levels of a category split that are listed go
right, and what is not listed, unseen levels included, goes left: so the side of missing values is always the left
one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.tree import Tree

Ints = NDArray[np.int32]

ROOT_PARENT = 2**31 - 1


def float32_above(threshold: Floats) -> NDArray[np.float32]:
    """The least numbers t of float32 with x < t for every x of float32 up to the threshold."""
    with np.errstate(over="ignore", under="ignore"):
        near = threshold.astype(np.float32)
        above = np.nextafter(near, np.float32(np.inf))
    return np.where(near > threshold, near, above)


def xgboost_tree(tree: Tree, values: Floats, number: int) -> dict[str, object]:
    """One tree with these values of its nodes; those of inner nodes are `base_weights`."""
    left, right = _sides(tree)
    order = _levels_first(left, right)
    place = np.argsort(order)
    is_leaf, is_subset = tree.is_leaf[order], tree.subset_start[order] >= 0
    thresholds = float32_above(np.where(is_leaf | is_subset, 0.0, tree.threshold[order]))
    parents = tree.parents()[order]
    return {
        **_categories(tree, order),
        "base_weights": numbers_of_float32(values[order]),
        "default_left": [int(x) for x in (tree.missing_go_to_left[order] | is_subset) & ~is_leaf],
        "id": number,
        "left_children": np.where(is_leaf, -1, place[left[order]]).tolist(),
        "loss_changes": numbers_of_float32(_gains(tree)[order]),
        "parents": np.where(parents < 0, ROOT_PARENT, place[parents]).tolist(),
        "right_children": np.where(is_leaf, -1, place[right[order]]).tolist(),
        "split_conditions": numbers_of_float32(
            np.where(is_leaf, values[order], np.where(is_subset, 0.0, thresholds.astype(np.float64)))
        ),
        "split_indices": np.where(is_leaf, 0, tree.feature[order]).tolist(),
        "split_type": [int(x) for x in is_subset],
        "sum_hessian": numbers_of_float32(tree.weighted_n_node_samples[order]),
        "tree_param": {
            "num_deleted": "0",
            "num_feature": str(tree.n_features),
            "num_nodes": str(tree.node_count),
            "size_leaf_vector": "1",
        },
    }


def _sides(tree: Tree) -> tuple[Ints, Ints]:
    """Children of every node, those on the side of missing values first at category splits."""
    swapped = (tree.subset_start >= 0) & ~tree.missing_go_to_left
    left = np.where(swapped, tree.children_right, tree.children_left)
    return left, np.where(swapped, tree.children_left, tree.children_right)


def _levels_first(left: Ints, right: Ints) -> NDArray[np.intp]:
    """Nodes level by level: XGBoost assumes that a right child follows its left one."""
    order = [0]
    for node in order:
        if left[node] >= 0:
            order += [int(left[node]), int(right[node])]
    return np.array(order, dtype=np.intp)


def _categories(tree: Tree, order: NDArray[np.intp]) -> dict[str, list[int]]:
    """Levels that go right at the category splits: those that are not on the side of missing values."""
    places = np.flatnonzero(tree.subset_start[order] >= 0)
    listed = [_other_side(tree, int(node)) for node in order[places]]
    sizes = [len(own) for own in listed]
    return {
        "categories": [code for own in listed for code in own],
        "categories_nodes": places.tolist(),
        "categories_segments": [0, *np.cumsum(sizes).tolist()][: len(sizes)],
        "categories_sizes": sizes,
    }


def _other_side(tree: Tree, node: int) -> list[int]:
    left, levels = tree.left_levels(node), np.arange(tree.n_levels[tree.feature[node]])
    codes: list[int] = (np.setdiff1d(levels, left) if tree.missing_go_to_left[node] else left).tolist()
    return codes


def _gains(tree: Tree) -> Floats:
    """By how much each split lowers weight times impurity, the objective of boosting; 0 for leaves."""
    gains, inner = np.zeros(tree.node_count), np.flatnonzero(~tree.is_leaf)
    mass = tree.weighted_n_node_samples * tree.impurity
    gains[inner] = mass[inner] - mass[tree.children_left[inner]] - mass[tree.children_right[inner]]
    return np.nan_to_num(np.maximum(gains, 0.0))


def numbers_of_float32(values: Array) -> list[float]:
    """Numbers of float32 with no more digits than it takes to read them back."""
    with np.errstate(over="ignore", under="ignore"):
        return [float(str(x)) for x in np.asarray(values, dtype=np.float64).astype(np.float32)]
