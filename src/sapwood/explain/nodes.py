"""Every node of every tree of a model, as the columns of a data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.explain.column_values import plain
from sapwood.model import model_of
from sapwood.table.frame import make_frame
from sapwood.table.schema import Schema
from sapwood.tree import Tree
from sapwood.tree_sum import Term

Columns = dict[str, Array]


def nodes_frame(estimator: object) -> Any:
    """One line for each node; see `to_frame` of the estimators."""
    model = model_of(estimator)
    names, round_size, found = model.score_names, model.trees.round_size, []
    for t, term in enumerate(model.require_trees()):
        position = _position(t, term, names, round_size)
        found.append(position | _nodes(term.tree, model.schema) | _values(term, names))
        if model.trees.is_linear:
            found[-1]["lines"] = _lines(term.tree, model.schema)
        found[-1] |= _rows(term.tree, has_impurity=not round_size)
    return make_frame({name: np.concatenate([own[name] for own in found]) for name in found[0]})


def gains(tree: Tree) -> Floats:
    """By how much the split of each node lowers weight times impurity; 0 for leaves."""
    mass = tree.weighted_n_node_samples * tree.impurity
    inner = ~tree.is_leaf
    gain = np.zeros(tree.node_count)
    gain[inner] = mass[inner] - mass[tree.children_left[inner]] - mass[tree.children_right[inner]]
    return gain


def _position(t: int, term: Term, names: Sequence[object], round_size: int) -> Columns:
    """Number of the tree, and for boosting its round and the name of its score, unless it is for all scores."""
    position: dict[str, Any] = {"tree": t}
    if round_size:
        position["round"] = t // round_size
        if term.values.shape[1] == 1:
            position["score"] = names[term.column]
    return {name: np.full(term.tree.node_count, value) for name, value in position.items()}


def _nodes(tree: Tree, schema: Schema) -> Columns:
    leaf = tree.is_leaf
    feature = np.full(tree.node_count, None, dtype=object)
    feature[~leaf] = np.array(schema.names, dtype=object)[tree.feature[~leaf]]
    return {
        "node": np.arange(tree.node_count),
        "depth": tree.compute_node_depths() - 1,
        "parent": tree.parents(),
        "left": tree.children_left,
        "right": tree.children_right,
        "is_leaf": leaf,
        "feature": feature,
        "threshold": np.where(leaf, np.nan, tree.threshold),
        "levels": _levels(tree, schema),
        "missing_left": tree.missing_go_to_left & ~leaf,
    }


def _levels(tree: Tree, schema: Schema) -> Array:
    """Names of the levels that go left, as lists; None where a node does not split a category."""
    out = np.full(tree.node_count, None, dtype=object)
    for node in np.flatnonzero(tree.subset_start >= 0):
        known = schema.columns[int(tree.feature[node])].levels
        out[node] = [plain(known[code]) for code in tree.left_levels(int(node))]
    return out


def _values(term: Term, names: Sequence[object]) -> Columns:
    width = term.values.shape[1]
    if width == 1:
        return {"value": term.values[:, 0]}
    own = names[term.column : term.column + width]
    return {f"value {name}": term.values[:, k] for k, name in enumerate(own) if name is not None}


def _lines(tree: Tree, schema: Schema) -> Array:
    """Lines of linear leaves: lists of (column, slope, centre, low, high); None for other nodes."""
    out = np.full(tree.node_count, None, dtype=object)
    for node in [] if tree.linear is None else np.flatnonzero(tree.linear.counts).tolist():
        assert tree.linear is not None
        out[node] = [(schema.names[j], *numbers) for j, *numbers in tree.linear.of_node(node).tolist()]
    return out


def _rows(tree: Tree, has_impurity: bool) -> Columns:
    """Nodes of boosting have no impurity; `Tree.impurity` only records gains there, from 0 in the root."""
    return {
        "n_rows": tree.n_node_samples,
        "weight": tree.weighted_n_node_samples,
        "impurity": tree.impurity if has_impurity else np.full(tree.node_count, np.nan),
        "gain": gains(tree),
    }
