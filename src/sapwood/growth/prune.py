"""Minimal cost-complexity pruning: C(T) = Error(T) + alpha |T|, minimised over the subtrees T of a tree.

As alpha grows, the best subtree loses one branch after the other, always the weakest link; the sequence T_0, T_1, …
T_L and its alphas are the pruning path.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.kernels.nodes import leaves_above, weakest_links
from sapwood.tree import LEAF, UNDEFINED, Tree


@dataclass(frozen=True, eq=False)
class PruningPath:
    """`alphas[k]` makes the cut k and leaves a tree of error `costs[k]`; `effective_alpha` is the same by node."""

    alphas: Floats
    costs: Floats
    effective_alpha: Floats
    initial_cost: float


def pruning_path(tree: Tree) -> PruningPath:
    """The weakest-link sequence. The error of a leaf is its impurity times its share of the weight."""
    cost = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0] * tree.impurity
    n = tree.node_count
    effective_alpha, order, after = np.empty(n), np.empty(n, dtype=np.int64), np.empty(n)
    n_cut = weakest_links(tree.children_left, tree.children_right, tree.parents(), cost, effective_alpha, order, after)
    initial = float(cost[tree.is_leaf].sum())
    return PruningPath(effective_alpha[order[:n_cut]], after[:n_cut], effective_alpha, initial)


def prune(tree: Tree, alpha: float) -> Tree:
    """The smallest subtree that minimises C(T) at alpha."""
    return collapse(tree, ancestors_at(tree, pruning_path(tree), alpha))


def ancestors_at(tree: Tree, path: PruningPath, alpha: float) -> Ints:
    """For every node the node that replaces it once the tree is pruned at alpha: itself, or an ancestor."""
    kept: Ints = leaves_above(tree.children_left, tree.children_right, ~(path.effective_alpha <= alpha))
    return kept


def collapse(tree: Tree, kept: Ints) -> Tree:
    """The tree of the nodes that are kept; a node whose children are not is a leaf."""
    stays = kept == np.arange(tree.node_count)
    ends = stays & (tree.is_leaf | ~stays[tree.children_left])
    position = np.cumsum(stays, dtype=np.int32) - np.int32(1)
    leaf = ends[stays]
    return replace(
        tree,
        children_left=np.where(leaf, np.int32(LEAF), position[tree.children_left[stays]]),
        children_right=np.where(leaf, np.int32(LEAF), position[tree.children_right[stays]]),
        feature=np.where(leaf, np.int32(UNDEFINED), tree.feature[stays]),
        threshold=np.where(leaf, float(UNDEFINED), tree.threshold[stays]),
        missing_go_to_left=tree.missing_go_to_left[stays] & ~leaf,
        value=tree.value[stays],
        impurity=tree.impurity[stays],
        n_node_samples=tree.n_node_samples[stays],
        weighted_n_node_samples=tree.weighted_n_node_samples[stays],
        subset_start=np.where(leaf, np.int32(-1), tree.subset_start[stays]),
    )
