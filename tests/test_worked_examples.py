"""The examples that the source texts work by hand, with their numbers."""

from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_breast_cancer

from sapwood import DecisionTreeClassifier
from sapwood.growth.prune import prune, pruning_path
from sapwood.plot import plot_tree
from sapwood.show import export_graphviz, export_text
from sapwood.tree import LEAF, Tree

TABLE = np.array(
    [
        (1, 1, 7, 0),
        (1, 0, 12, 0),
        (0, 1, 18, 1),
        (0, 1, 35, 1),
        (1, 1, 38, 1),
        (1, 0, 50, 0),
        (0, 0, 83, 0),
    ]
)
X, Y = TABLE[:, :3], TABLE[:, 3]


def leaf_impurity(tree: Tree) -> float:
    """Impurity of the leaves, weighted by their rows."""
    share = tree.weighted_n_node_samples / tree.weighted_n_node_samples[0]
    return float((share * tree.impurity)[tree.is_leaf].sum())


def stump(x: NDArray, y: NDArray) -> DecisionTreeClassifier:
    return DecisionTreeClassifier(max_depth=1).fit(x[:, None], y)


class TestGiniOfATable:
    """Example 1."""

    @pytest.mark.parametrize(("feature", "gini", "threshold"), [(0, 0.405, 0.5), (1, 0.214, 0.5), (2, 0.343, 15.0)])
    def test_best_split_of_each_feature_at_the_root(self, feature, gini, threshold):
        tree = stump(X[:, feature], Y).tree_
        assert leaf_impurity(tree) == pytest.approx(gini, abs=0.0005)
        assert tree.threshold[0] == threshold

    @pytest.mark.parametrize(("feature", "gini", "threshold"), [(0, 0.25, 0.5), (2, 0.0, 12.5)])
    def test_best_split_of_each_feature_in_the_child(self, feature, gini, threshold):
        child = X[:, 1] == 1
        tree = stump(X[child, feature], Y[child]).tree_
        assert leaf_impurity(tree) == pytest.approx(gini, abs=1e-12)
        assert tree.threshold[0] == threshold

    def test_the_tree_and_its_prediction(self):
        model = DecisionTreeClassifier().fit(X, Y)
        tree = model.tree_
        assert tree.feature.tolist() == [1, -2, 2, -2, -2]
        assert tree.threshold[[0, 2]].tolist() == [0.5, 12.5]
        assert tree.n_node_samples.tolist() == [7, 3, 4, 1, 3]
        assert model.predict([[1, 1, 15]]).tolist() == [1]
        assert model.score(X, Y) == 1.0


def test_gini_of_two_regions():
    """Example 2: class counts (0, 6) and (5, 8)."""
    region = np.repeat([0, 1], [6, 13])
    y = np.repeat([1, 0, 1], [6, 5, 8])
    tree = stump(region, y).tree_
    assert tree.impurity[tree.is_leaf].tolist() == pytest.approx([0.0, 80 / 169], abs=1e-15)


def test_impure_leaf():
    """Example 3: two rows that cannot be told apart, and one that can."""
    tree = DecisionTreeClassifier().fit([[0], [0], [1]], [0, 1, 1]).tree_
    assert tree.impurity[tree.is_leaf].tolist() == [0.5, 0.0]
    assert leaf_impurity(tree) == pytest.approx(1 / 3, abs=1e-15)


def eight_leaves() -> Tree:
    """A balanced tree of error 0.32. Its first pair of leaves, merged, has error 0.33; merging any other costs more."""
    n_nodes, leaf_cost = 15, 0.32 / 8
    children = np.full((2, n_nodes), LEAF, dtype=np.int32)
    cost = np.full(n_nodes, leaf_cost)
    weight = np.full(n_nodes, 1.0)
    for node, left, right in ((2, 3, 4), (5, 6, 7), (1, 2, 5), (9, 10, 11), (12, 13, 14), (8, 9, 12), (0, 1, 8)):
        children[:, node] = left, right
        weight[node] = weight[left] + weight[right]
        cost[node] = cost[left] + cost[right] + (0.01 if node == 2 else 1.0)
    inner = children[0] != LEAF
    return Tree(
        children_left=children[0],
        children_right=children[1],
        feature=np.where(inner, 0, -2).astype(np.int32),
        threshold=np.where(inner, np.arange(n_nodes), -2.0),
        missing_go_to_left=np.zeros(n_nodes, dtype=bool),
        value=np.zeros((n_nodes, 1, 1)),
        impurity=cost * weight[0] / weight,
        n_node_samples=weight.astype(np.int64),
        weighted_n_node_samples=weight,
        subset_start=np.full(n_nodes, -1, dtype=np.int32),
        subsets=np.empty(0, dtype=np.uint32),
        n_levels=np.zeros(1, dtype=np.int32),
    )


def test_pruning():
    """Example 4: C(T) = Error(T) + alpha |T| prefers 7 leaves of error 0.33 to 8 leaves of error 0.32."""
    alpha, tree = 0.2, eight_leaves()
    pruned = prune(tree, alpha)
    assert (tree.n_leaves, leaf_impurity(tree)) == (8, pytest.approx(0.32))
    assert (pruned.n_leaves, leaf_impurity(pruned)) == (7, pytest.approx(0.33))
    assert leaf_impurity(tree) + alpha * tree.n_leaves == pytest.approx(1.92)
    assert leaf_impurity(pruned) + alpha * pruned.n_leaves == pytest.approx(1.73)
    assert pruning_path(tree).alphas[0] == pytest.approx(0.01)
    assert prune(tree, 0.0099).n_leaves == 8


@pytest.mark.parametrize(
    ("dogs", "cats", "leaf", "expected"),
    [(1, 2, "share", 0.67), (1, 2, "softmax", 0.73), (10, 20, "share", 0.67), (10, 20, "softmax", 1.0)],
)
def test_softmax_of_a_leaf(dogs, cats, leaf, expected):
    """Example 7: probability of the majority class."""
    y = ["dog"] * dogs + ["cat"] * cats
    model = DecisionTreeClassifier(leaf=leaf).fit(np.zeros((len(y), 1)), y)
    assert model.classes_.tolist() == ["cat", "dog"]
    assert model.predict_proba([[0]])[0, 0] == pytest.approx(expected, abs=0.005)
    assert model.predict([[0]]).tolist() == ["cat"]


class TestBreastCancer:
    """Example 11: a tree and a stump on the Wisconsin breast cancer data, drawn."""

    @pytest.fixture(autouse=True)
    def canvas(self):
        mpl.use("Agg")
        yield
        mpl.pyplot.close("all")

    @pytest.mark.parametrize(("depth", "n_leaves"), [(1, 2), (3, 8)])
    def test_drawn(self, depth, n_leaves):
        data = load_breast_cancer(as_frame=True)
        kinds = data.target_names[data.target]
        model = DecisionTreeClassifier(max_depth=depth).fit(data.data, kinds)
        assert model.get_n_leaves() == n_leaves
        assert model.score(data.data, kinds) > 0.9
        words = [note.get_text() for note in plot_tree(model).texts]
        assert sum("malignant" in text or "benign" in text for text in words) >= n_leaves
        name = model.feature_names_in_[model.tree_.feature[0]]
        assert name in export_text(model)
        assert name in export_graphviz(model)
