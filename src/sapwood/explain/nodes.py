"""Every node of every tree of a model, as the columns of a data frame."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.explain.column_numbers import Model, plain, scores_per_round
from sapwood.table.frame import make_frame
from sapwood.table.schema import Schema
from sapwood.tree import Tree
from sapwood.tree_sum import Term

Columns = dict[str, NDArray[Any]]


def nodes_frame(model: Model) -> Any:
    """One line for each node; see `to_frame` of the models."""
    names, per_round = model._score_names(), scores_per_round(model)
    found = []
    for t, term in enumerate(model._tree_sum()):
        where = _whereabouts(t, names, per_round, term.tree.node_count)
        found.append(where | _nodes(term.tree, model.schema_) | _words(term, names, per_round))
        found[-1] |= _rows(term.tree, has_impurity=per_round is None)
    return make_frame({name: np.concatenate([own[name] for own in found]) for name in found[0]})


def gains(tree: Tree) -> NDArray[np.float64]:
    """By how much the split of each node lowers weight times impurity; 0 for leaves."""
    mass = tree.weighted_n_node_samples * tree.impurity
    inner = ~tree.is_leaf
    gain = np.zeros(tree.node_count)
    gain[inner] = mass[inner] - mass[tree.children_left[inner]] - mass[tree.children_right[inner]]
    return gain


def _whereabouts(t: int, names: list[Any], per_round: int | None, n_nodes: int) -> Columns:
    """The tree, and of boosting its round and what its score is about."""
    where: dict[str, Any] = {"tree": t}
    if per_round is not None:
        where |= {"round": t // per_round, "score": names[t % per_round]}
    return {name: np.full(n_nodes, value) for name, value in where.items()}


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


def _levels(tree: Tree, schema: Schema) -> NDArray[Any]:
    """Names of the levels that go left, as lists; None where a node does not split a category."""
    out = np.full(tree.node_count, None, dtype=object)
    for node in np.flatnonzero(tree.subset_start >= 0):
        known = schema.columns[int(tree.feature[node])].levels
        out[node] = [plain(known[code]) for code in tree.left_levels(int(node))]
    return out


def _words(term: Term, names: list[Any], per_round: int | None) -> Columns:
    width = term.values.shape[1]
    if width == 1 or per_round is not None:
        return {"value": term.values[:, 0]}
    own = names[term.column : term.column + width]
    return {f"value {name}": term.values[:, k] for k, name in enumerate(own) if name is not None}


def _rows(tree: Tree, has_impurity: bool) -> Columns:
    """Nodes of boosting have none: what stands in its place only keeps account of the gains, from 0 in the root."""
    return {
        "n_rows": tree.n_node_samples,
        "weight": tree.weighted_n_node_samples,
        "impurity": tree.impurity if has_impurity else np.full(tree.node_count, np.nan),
        "gain": gains(tree),
    }
