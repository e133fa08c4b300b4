"""Minimal cost-complexity pruning: a pruned tree is a part of the tree, and the path is a path."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from law_cases import Data, assert_same_tree, examples, tables
from sapwood.tree import Tree

pytestmark = pytest.mark.timeout(1200)  # the first example of a kind waits for the compiler


def _cost(tree: Tree) -> float:
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return float((share * tree.impurity)[tree.is_leaf].sum())


def assert_part_of(part: Tree, whole: Tree, at: int = 0, within: int = 0) -> None:
    """Node by node, `part` is `whole` with some branches cut off."""
    for name in ("value", "impurity", "n_node_samples", "weighted_n_node_samples"):
        np.testing.assert_array_equal(getattr(part, name)[at], getattr(whole, name)[within])
    if part.is_leaf[at]:
        assert part.feature[at] == -2
        return
    for name in ("feature", "threshold", "missing_go_to_left"):
        np.testing.assert_array_equal(getattr(part, name)[at], getattr(whole, name)[within])
    assert_part_of(part, whole, part.children_left[at], whole.children_left[within])
    assert_part_of(part, whole, part.children_right[at], whole.children_right[within])


@examples
@given(tables(), st.sampled_from([0.0, 1e-4, 1e-3, 0.01, 0.1, 1.0, 100.0]))
def test_a_pruned_tree_is_part_of_the_tree(data: Data, alpha: float) -> None:
    whole, pruned = data.fit(), data.fit(ccp_alpha=alpha)
    assert_part_of(pruned.tree_, whole.tree_)
    cost = _cost(whole.tree_) + alpha * whole.tree_.n_leaves
    assert _cost(pruned.tree_) + alpha * pruned.tree_.n_leaves <= cost + 1e-9 * (1 + abs(cost))
    np.testing.assert_array_equal(pruned.predict(data.X), _predicted(pruned, data.X))


def _predicted(model, X):
    """Predictions by hand from the leaves."""
    values = model.tree_.value[model.apply(X)]
    if not hasattr(model, "classes_"):
        return values[:, 0, 0] if values.shape[1] == 1 else values[:, :, 0]
    if values.shape[1] == 1:
        return model.classes_[values[:, 0].argmax(axis=1)]
    return np.column_stack([labels[values[:, o].argmax(axis=1)] for o, labels in enumerate(model.classes_)])


@examples
@given(tables())
def test_a_larger_alpha_never_gives_more_leaves(data: Data) -> None:
    alphas = np.append(0.0, np.geomspace(1e-5, 10, 12))
    leaves = [data.fit(ccp_alpha=alpha).get_n_leaves() for alpha in alphas]
    assert leaves == sorted(leaves, reverse=True)


@examples
@given(tables())
def test_the_path_ascends_and_its_trees_have_its_costs(data: Data) -> None:
    whole = data.fit()
    path = whole.cost_complexity_pruning_path(data.X, data.y)
    assert (np.diff(path.ccp_alphas) >= -1e-12 * (1 + path.ccp_alphas[-1])).all()
    assert (np.diff(path.impurities) >= -1e-9 * (1 + path.impurities[-1])).all()
    assert path.ccp_alphas[0] == 0.0
    assert np.isclose(path.impurities[-1], whole.tree_.impurity[0])
    for place in {0, len(path.ccp_alphas) // 2, len(path.ccp_alphas) - 1}:
        alpha = path.ccp_alphas[place]
        last = np.flatnonzero(path.ccp_alphas <= alpha * (1 + 1e-9))[-1]
        pruned = data.fit(ccp_alpha=alpha * (1 + 1e-9))
        if alpha > 0:
            np.testing.assert_allclose(_cost(pruned.tree_), path.impurities[last], rtol=1e-6, atol=1e-9)
    assert data.fit(ccp_alpha=path.ccp_alphas[-1] * (1 + 1e-6) + 1e-12).get_n_leaves() == 1


@examples
@given(tables())
def test_the_path_leaves_the_model_alone(data: Data) -> None:
    model = data.fit(ccp_alpha=0.01)
    before = model.tree_
    model.cost_complexity_pruning_path(data.X[:2], data.y[:2] + (data.criterion == "poisson"))
    assert model.tree_ is before
    assert_same_tree(data.fit(ccp_alpha=0.01).tree_, before)
