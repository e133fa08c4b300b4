"""Every limit of growth is respected at every node."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2_contingency, f_oneway

from law_cases import CLASSIFICATION, Data, decreases, examples, new_tree, rows_of_nodes, tables

pytestmark = pytest.mark.timeout(1200)  # the first example of a kind waits for the compiler


@examples
@given(tables(), st.integers(1, 6))
def test_max_depth(data: Data, limit: int) -> None:
    model = data.fit(max_depth=limit)
    assert model.get_depth() <= limit
    assert model.get_depth() == model.tree_.compute_node_depths().max() - 1


@examples
@given(tables(), st.integers(2, 20))
def test_max_leaf_nodes(data: Data, limit: int) -> None:
    model, unlimited = data.fit(max_leaf_nodes=limit), data.fit()
    assert model.get_n_leaves() <= limit
    assert model.get_n_leaves() == min(limit, unlimited.get_n_leaves())


@examples
@given(tables())
def test_best_first_without_a_limit_is_depth_first(data: Data) -> None:
    first, second = data.fit(), data.fit(max_leaf_nodes=10_000)
    for name, array in first.tree_.arrays().items():
        if name not in ("subset_start", "subsets"):  # stored in order of growth
            np.testing.assert_array_equal(array, second.tree_.arrays()[name], err_msg=name)


@examples
@given(tables(), st.one_of(st.integers(1, 40), st.sampled_from([0.05, 0.2, 0.5])))
def test_min_samples_leaf(data: Data, limit: int | float) -> None:
    tree = data.fit(min_samples_leaf=limit).tree_
    least = limit if isinstance(limit, int) else int(np.ceil(limit * len(data.y)))
    if tree.node_count > 1:
        assert tree.n_node_samples.min() >= least


@examples
@given(tables(), st.one_of(st.integers(2, 60), st.sampled_from([0.1, 0.5, 1.0])))
def test_min_samples_split(data: Data, limit: int | float) -> None:
    tree = data.fit(min_samples_split=limit).tree_
    least = limit if isinstance(limit, int) else max(2, int(np.ceil(limit * len(data.y))))
    assert (tree.n_node_samples[~tree.is_leaf] >= least).all()


@examples
@given(tables(), st.sampled_from([0.01, 0.1, 0.4, 0.5]))
def test_min_weight_fraction_leaf(data: Data, limit: float) -> None:
    weight = data.rng().integers(1, 9, size=len(data.y)) / 4
    tree = data.fit(sample_weight=weight, min_weight_fraction_leaf=limit).tree_
    if tree.node_count > 1:
        assert tree.weighted_n_node_samples.min() >= limit * weight.sum() * (1 - 1e-12)


@examples
@given(tables(), st.sampled_from([0.001, 0.01, 0.1]), st.booleans())
def test_min_impurity_decrease(data: Data, limit: float, best_first: bool) -> None:
    scale = 1.0 if data.criterion in CLASSIFICATION else np.var(data.y)
    tree = data.fit(min_impurity_decrease=limit * scale, max_leaf_nodes=50 if best_first else None).tree_
    assert (decreases(tree) >= limit * scale - 1e-12).all()


@pytest.mark.parametrize("power", [0, 40, 600])
def test_limits_are_in_the_units_of_the_target(power: int) -> None:
    _check_units(power)


def test_min_impurity_decrease_of_a_tiny_target() -> None:
    _check_units(-40)


def test_splits_without_decrease_do_not_depend_on_the_unit() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = np.round(X[:, 0] + rng.normal(size=300), 1)  # sums are rounded
    first, second = (new_tree("absolute_error").fit(X, y * unit) for unit in (1.0, 2.0**40))
    np.testing.assert_array_equal(first.tree_.threshold, second.tree_.threshold)


def _check_units(power: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 1))
    y = np.round((X[:, 0] + rng.normal(size=300)) * 8) / 8
    for criterion, unit in (("squared_error", 2 * power), ("absolute_error", power)):
        if criterion == "squared_error" and 2 * power > 1000:
            continue  # the variance is infinite
        for limit in ("min_impurity_decrease", "impurity_threshold"):
            first = new_tree(criterion, **{limit: 0.02}).fit(X, y)
            second = new_tree(criterion, **{limit: 0.02 * 2.0**unit}).fit(X, y * 2.0**power)
            np.testing.assert_array_equal(first.tree_.threshold, second.tree_.threshold)


@examples
@given(tables(), st.sampled_from([0.05, 0.2, 0.45]))
def test_impurity_threshold(data: Data, limit: float) -> None:
    tree = data.fit(impurity_threshold=limit).tree_
    assert (tree.impurity[~tree.is_leaf] > limit).all()


@examples
@given(tables(), st.sampled_from([{}, {"max_leaf_nodes": 9}]))
def test_impurity_never_grows_and_is_never_negative(data: Data, parameters: dict) -> None:
    tree = data.fit(**parameters).tree_
    assert (tree.impurity >= 0).all()
    assert (decreases(tree) >= -1e-9 * max(tree.impurity[0], 1e-12)).all()


@examples
@given(tables(), st.sampled_from([0.05, 0.3]))
def test_significance(data: Data, level: float) -> None:
    if data.y.ndim > 1:
        return
    model = data.fit(significance=level)
    rows, tree = rows_of_nodes(model, data.X), model.tree_
    for node in np.flatnonzero(~tree.is_leaf):
        left, right = data.y[rows[tree.children_left[node]]], data.y[rows[tree.children_right[node]]]
        assert _p_value(data.criterion, left, right) <= level * (1 + 1e-6), node


def _p_value(criterion: str, left: np.ndarray, right: np.ndarray) -> float:
    if criterion not in CLASSIFICATION:
        if (left == left[0]).all() and (right == right[0]).all():
            return 0.0  # no variance within the sides; scipy would warn
        return float(f_oneway(left, right).pvalue)
    classes = np.unique(np.concatenate([left, right]))
    counts = [[np.sum(side == k) for k in classes] for side in (left, right)]
    return float(chi2_contingency(counts, correction=False).pvalue)


@pytest.mark.parametrize("criterion", ["gini", "squared_error"])
def test_significance_keeps_a_clear_split_and_stops_at_noise(criterion: str) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    clear = new_tree(criterion, significance=0.001).fit(X, (X[:, 0] > 0).astype(int))
    assert clear.get_n_leaves() == 2
    noise = new_tree(criterion, significance=1e-6).fit(X, rng.integers(0, 2, size=200))
    assert noise.get_n_leaves() == 1


@examples
@given(tables(), st.integers(0, 10))
def test_draws_of_features_are_repeatable(data: Data, seed: int) -> None:
    trees = [data.fit(max_features=1, random_state=seed).tree_ for _ in range(2)]
    np.testing.assert_array_equal(trees[0].feature, trees[1].feature)
    generators = [np.random.default_rng(seed), np.random.RandomState(seed)]
    for generator in generators:
        assert data.fit(max_features="sqrt", random_state=generator).tree_.node_count >= 1


@pytest.mark.parametrize(
    ("setting", "expected"), [(None, 10), ("sqrt", 3), ("log2", 3), (4, 4), (99, 10), (0.25, 2), (1.0, 10), (0.01, 1)]
)
def test_max_features(setting, expected) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(50, 10)), rng.integers(0, 2, size=50)
    assert new_tree("gini", max_features=setting, random_state=0).fit(X, y).max_features_ == expected
