import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import sapwood as sw
from sapwood.explain.dependence.recursion import splits_of
from sapwood.kernels.marginal import add_marginals
from sapwood.show.row_path import goes_left
from strategies import cases, examples


def twin(tree, values, columns, point, node=0):
    """The mean value of the tree at a point: by value at known columns, else both ways by weight."""
    if tree.children_left[node] < 0:
        return values[node]
    left, right = tree.children_left[node], tree.children_right[node]
    if tree.feature[node] in columns:
        value = point[columns.index(tree.feature[node])]
        return twin(tree, values, columns, point, left if goes_left(tree, node, value) else right)
    share = tree.weighted_n_node_samples[left] / tree.weighted_n_node_samples[[left, right]].sum()
    return share * twin(tree, values, columns, point, left) + (1 - share) * twin(tree, values, columns, point, right)


@examples
@given(st.data())
def test_marginals_are_those_of_the_twin(data):
    case = data.draw(cases("gini"))
    model = sw.DecisionTreeClassifier().fit(case.frame(), case.y, case.weight)
    tree = model.tree_
    values = tree.value.reshape(tree.node_count, -1)
    n = len(case.columns)
    columns = data.draw(st.lists(st.integers(0, n - 1), min_size=1, max_size=2, unique=True))
    cells = np.asarray(model.model_.match(case.frame()).block(0, 4), dtype=np.float64)
    grid = [[*cells[:, j], np.nan, -2.0] for j in columns]
    points = np.array(np.meshgrid(*grid)).reshape(len(columns), -1).T.copy()
    out = np.full((len(points), values.shape[1]), 0.5)
    add_marginals(splits_of(tree, columns), values, None, points, np.empty(tree.node_count), out)
    expected = [0.5 + twin(tree, values, columns, point) for point in points]
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12)


def test_no_points_and_a_lone_root():
    model = sw.DecisionTreeRegressor().fit([[1.0], [1.0]], [2.0, 4.0])
    splits, values = splits_of(model.tree_, [0]), model.tree_.value[:, 0]
    out = np.zeros((2, 1))
    add_marginals(splits, values, None, np.zeros((2, 1)), np.empty(1), out)
    assert out.tolist() == [[3.0], [3.0]]
    add_marginals(splits, values, None, np.zeros((0, 1)), np.empty(1), np.zeros((0, 1)))
