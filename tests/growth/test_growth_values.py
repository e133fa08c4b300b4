"""Values of the leaves: shares, softmax, means, medians; monotonic constraints."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import softmax

from law_cases import CLASSIFICATION, Data, examples, new_tree, rows_of_nodes, tables
from sapwood import DecisionTreeRegressor

pytestmark = pytest.mark.timeout(1200)  # the first example of a kind waits for the compiler


@examples
@given(tables(criteria=CLASSIFICATION), st.sampled_from(["share", "softmax"]))
def test_class_values(data: Data, leaf: str) -> None:
    if data.y.ndim > 1:
        return
    model = data.fit(leaf=leaf, max_depth=4)
    for node, rows in enumerate(rows_of_nodes(model, data.X)):
        counts = np.array([np.sum(data.y[rows] == label) for label in model.classes_], dtype=float)
        expected = softmax(counts) if leaf == "softmax" else counts / counts.sum()
        np.testing.assert_allclose(model.tree_.value[node, 0], expected, rtol=1e-12, atol=1e-300)


@examples
@given(
    tables(criteria=("squared_error", "absolute_error", "poisson")),
    st.sampled_from(["auto", "mean", "median"]),
    st.sampled_from([{}, {"max_leaf_nodes": 6}, {"max_bins": 4}]),
)
def test_number_values(data: Data, leaf: str, parameters: dict) -> None:
    model = data.fit(leaf=leaf, max_depth=4, **parameters)
    centre = np.median if leaf == "median" or (leaf, data.criterion) == ("auto", "absolute_error") else np.mean
    for node, rows in enumerate(rows_of_nodes(model, data.X)):
        expected = np.atleast_1d(centre(data.y[rows], axis=0))
        np.testing.assert_allclose(model.tree_.value[node, :, 0], expected, rtol=1e-12, atol=1e-12)


@examples
@given(tables(criteria=("squared_error",)))
def test_impurity_is_the_variance(data: Data) -> None:
    model = data.fit(max_depth=4)
    for node, rows in enumerate(rows_of_nodes(model, data.X)):
        np.testing.assert_allclose(model.tree_.impurity[node], np.var(data.y[rows], axis=0).mean(), atol=1e-12)


@pytest.mark.parametrize("offset", [1e3, 1e6, 1e9])
def test_a_large_offset_of_the_target_keeps_the_tree(offset: float) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(500, 1))
    y = np.round((X[:, 0] + rng.normal(size=500)) * 2**20) / 2**20  # exact with the offset, and without ties
    first, second = DecisionTreeRegressor().fit(X, y), DecisionTreeRegressor().fit(X, y + offset)
    for name in ("feature", "threshold", "children_left", "missing_go_to_left", "n_node_samples"):
        np.testing.assert_array_equal(getattr(first.tree_, name), getattr(second.tree_, name), err_msg=name)
    np.testing.assert_allclose(second.predict(X) - offset, first.predict(X), atol=1e-16 * offset * 10)
    np.testing.assert_allclose(first.tree_.impurity, second.tree_.impurity, rtol=1e-6, atol=1e-9)


def test_mirror_images_tie_whatever_the_offset() -> None:
    X, y = np.array([[2, 0], [1, 1], [0, 2]]), np.array([0.25, 0.5, -0.25])
    for offset in (0.0, 1e6):
        assert DecisionTreeRegressor().fit(X, y + offset).tree_.feature.tolist() == [0, -2, 0, -2, -2]


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("power", [-1000, -500, -100, 100, 500, 1000])
def test_the_scale_of_the_target_does_not_matter(criterion: str, power: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = np.floor(4 + X[:, 0] + rng.normal(size=300))
    first = new_tree(criterion, max_depth=4, min_samples_leaf=3).fit(X, y)
    second = new_tree(criterion, max_depth=4, min_samples_leaf=3).fit(X, y * 2.0**power)
    np.testing.assert_array_equal(first.tree_.threshold, second.tree_.threshold)
    np.testing.assert_array_equal(second.predict(X), first.predict(X) * 2.0**power)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error", "squared_error", "absolute_error", "poisson"])
@pytest.mark.parametrize("power", [-1000, -100, 100, 1000])
@pytest.mark.parametrize("parameters", [{}, {"min_weight_fraction_leaf": 0.1}, {"max_leaf_nodes": 5}], ids=str)
def test_the_scale_of_the_weights_does_not_matter(criterion: str, power: int, parameters: dict) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = (X[:, 0] + rng.normal(size=300) > 0).astype(int)
    weight = rng.integers(1, 5, size=300).astype(float)
    first = new_tree(criterion, max_depth=3, **parameters).fit(X, y, sample_weight=weight)
    second = new_tree(criterion, max_depth=3, **parameters).fit(X, y, sample_weight=weight * 2.0**power)
    for name, array in first.tree_.arrays().items():
        unit = 2.0**power if name == "weighted_n_node_samples" else 1
        slack = 1e-12 if name == "impurity" else 0  # logarithms
        np.testing.assert_allclose(second.tree_.arrays()[name], array * unit, rtol=slack, err_msg=name)


def test_weights_of_very_different_size() -> None:
    X, y = np.arange(6.0)[:, None], [0, 1, 0, 1, 0, 1]
    for criterion in ("gini", "entropy", "error"):
        model = new_tree(criterion).fit(X, y, sample_weight=[1e300, 1, 1e-300, 1e300, 1, 1e-320])
        assert np.isfinite(model.tree_.value).all()
        assert np.isfinite(model.tree_.impurity).all()
        assert model.predict(X[[0, 3]]).tolist() == [0, 1]


def test_poisson_never_predicts_a_rate_of_zero() -> None:
    weight = [0.4, 0.2, 0.3, 0.1]
    model = DecisionTreeRegressor(criterion="poisson").fit([[0], [2], [3], [1]], [1, 1, 0, 1], sample_weight=weight)
    assert (model.tree_.value > 0).all()


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")  # the grid is wider than the rows
@examples
@given(
    tables(columns=("many", "few", "zeros", "some missing"), most_classes=2),
    st.data(),
    st.sampled_from([{}, {"max_depth": 4}, {"max_leaf_nodes": 12}, {"max_bins": 8}]),
)
def test_monotonic_constraints_hold_on_a_grid(data: Data, draw: st.DataObject, parameters: dict) -> None:
    n_features = data.X.shape[1]
    signs = draw.draw(st.lists(st.integers(-1, 1), min_size=n_features, max_size=n_features))
    model = data.fit(monotonic_cst=signs, **parameters)
    grid = np.linspace(-3.2, 3.2, 65)
    for j, sign in enumerate(signs):
        rows = np.repeat(data.X[:20], len(grid), axis=0)
        rows[:, j] = np.tile(grid, len(data.X[:20]))
        slopes = np.diff(_response(model, rows).reshape(-1, len(grid)), axis=1)
        assert sign == 0 or (sign * slopes >= 0).all()


def _response(model, X):
    if hasattr(model, "predict_proba"):
        shares = model.predict_proba(X)
        return shares[:, 1] if shares.shape[1] > 1 else np.zeros(len(X))
    return model.predict(X)
