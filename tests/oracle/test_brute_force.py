"""The specification itself, held against scikit-learn where both define the same tree, and against figures by hand."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import strategies
from oracle import brute_force as bf
from oracle.compare import check_same_tree, check_tree, fitted_node
from oracle.tie_free import CLASSIFIERS, REGRESSORS, Sample, draw_sample

SHARED = CLASSIFIERS + REGRESSORS


def scikit_learn(sample: Sample, rules: bf.Rules) -> DecisionTreeClassifier | DecisionTreeRegressor:
    """scikit-learn's tree for a sample."""
    names = ("max_depth", "min_samples_split", "min_samples_leaf", "min_weight_fraction_leaf", "max_leaf_nodes")
    options = {name: getattr(rules, name) for name in (*names, "min_impurity_decrease", "monotonic_cst")}
    kind = DecisionTreeClassifier if rules.is_classification else DecisionTreeRegressor
    model = kind(criterion=rules.criterion, random_state=0, **options)
    return model.fit(sample.X, sample.y, sample_weight=sample.weight)


def check_both_ways(sample: Sample, rules: bf.Rules) -> None:
    """Node for node, and by following scikit-learn's tree."""
    model = scikit_learn(sample, rules)
    check_same_tree(fitted_node(model.tree_), bf.grow(sample.columns(), sample.y, sample.weight, rules))
    task = bf.make_task(sample.columns(), sample.y, sample.weight, rules)
    check_tree(model.tree_, model.apply(sample.X), task, strict=False)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_tree(criterion: str, missing: bool, seed: int) -> None:
    sample = draw_sample(criterion, seed, missing=missing)
    check_both_ways(sample, bf.Rules(criterion, min_samples_leaf=5))


@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_tree_of_two_outputs(criterion: str) -> None:
    sample = draw_sample(criterion, 1, n_outputs=2)
    check_both_ways(sample, bf.Rules(criterion, min_samples_leaf=5))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_tree_with_monotonic_constraints(criterion: str, seed: int) -> None:
    sample = draw_sample(criterion, seed, n_classes=2)
    check_both_ways(sample, bf.Rules(criterion, min_samples_leaf=5, monotonic_cst=(1, -1, 0, 0)))


@pytest.mark.parametrize("max_leaf_nodes", [2, 5, 12])
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_best_first_tree(criterion: str, max_leaf_nodes: int) -> None:
    sample = draw_sample(criterion, 2)
    check_both_ways(sample, bf.Rules(criterion, min_samples_leaf=5, max_leaf_nodes=max_leaf_nodes))


@pytest.mark.parametrize(
    "limits",
    [
        {"max_depth": 2},
        {"min_samples_split": 40, "min_samples_leaf": 3},
        {"min_weight_fraction_leaf": 0.08},
        {"min_impurity_decrease": 0.01, "min_samples_leaf": 4},
    ],
    ids=lambda limits: next(iter(limits)),
)
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_limits(criterion: str, limits: dict) -> None:
    check_both_ways(draw_sample(criterion, 3), bf.Rules(criterion, **limits))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_pruning_path(criterion: str, seed: int) -> None:
    sample = draw_sample(criterion, seed)
    rules = bf.Rules(criterion, min_samples_leaf=5)
    model = scikit_learn(sample, rules)
    path = model.cost_complexity_pruning_path(sample.X, sample.y, sample_weight=sample.weight)
    alphas, impurities = bf.pruning_path(bf.grow(sample.columns(), sample.y, sample.weight, rules))
    np.testing.assert_allclose(alphas, path.ccp_alphas, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(impurities, path.impurities, rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize("monotonic", [False, True])
@pytest.mark.parametrize("criterion", SHARED)
@strategies.examples
@given(data=st.data())
def test_scikit_learns_tree_on_small_tables_with_ties(criterion: str, monotonic: bool, data: st.DataObject) -> None:
    options = {"single_output": True, "max_classes": 2, "missing": False} if monotonic else {}
    case = data.draw(strategies.cases(criterion, categories=False, plain_numbers=True, **options))
    directions = data.draw(strategies.directions(case)) if monotonic else None
    rules = data.draw(strategies.rules(criterion, directions).filter(is_known_to_scikit_learn))
    kept = slice(None) if case.weight is None else case.weight > 0  # scikit-learn keeps rows of weight zero
    sample = Sample(case.array()[kept], case.y[kept], None if case.weight is None else case.weight[kept])
    if monotonic and rules.is_classification and len(np.unique(sample.y)) < 2:
        return
    model = scikit_learn(sample, rules)
    task = bf.make_task(case.columns, case.y, case.weight, rules)
    check_tree(model.tree_, model.apply(sample.X), task, strict=False)


def is_known_to_scikit_learn(rules: bf.Rules) -> bool:
    """Whether all the limits in use exist there."""
    return rules.significance is None and rules.impurity_threshold == 0


# Figures done by hand.

TABLE = np.array(
    [[1, 1, 7, 0], [1, 0, 12, 0], [0, 1, 18, 1], [0, 1, 35, 1], [1, 1, 38, 1], [1, 0, 50, 0], [0, 0, 83, 0]]
)


def test_gini_of_the_worked_example() -> None:
    columns = [bf.Column(TABLE[:, j].astype(float)) for j in range(3)]
    root = bf.grow(columns, TABLE[:, 3], None, bf.Rules("gini"))
    assert (root.feature, root.threshold) == (1, 0.5)
    assert root.impurity - root.gain == pytest.approx(0.214, abs=5e-4)
    child = root.right
    assert child is not None
    assert (child.feature, child.threshold) == (2, 12.5)
    assert child.impurity - child.gain * 7 / 4 == pytest.approx(0)


def test_impurities_by_hand() -> None:
    y, both = np.array([0.0, 0, 0, 1]), np.array([[1.0, 1, 1, 1], [1, 0, 0, 1]])
    np.testing.assert_allclose(bf.gini(y, both), [0.375, 0.5])
    np.testing.assert_allclose(bf.entropy(y, both), [0.811278124459, 1.0])
    np.testing.assert_allclose(bf.error(y, both), [0.25, 0.5])
    np.testing.assert_allclose(bf.squared_error(y, both), [0.1875, 0.25])
    np.testing.assert_allclose(bf.absolute_error(y, both), [0.25, 0.5])
    np.testing.assert_allclose(bf.poisson(y, both), [np.log(4) / 4, np.log(2) / 2])


@pytest.mark.parametrize(
    ("y", "weight", "median"),
    [
        ([1, 2, 3], [1, 1, 1], 2),
        ([4, 1, 3, 2], [1, 1, 1, 1], 2.5),
        ([1, 2, 3], [2, 1, 1], 1.5),
        ([1, 2, 3], [0, 1, 1], 2.5),
        ([1, 2, 3], [5, 1, 1], 1),
        ([7, 7, 7], [1, 1, 1], 7),
    ],
)
def test_weighted_median(y: list[float], weight: list[float], median: float) -> None:
    assert bf.medians(np.array(y, dtype=float), np.array([weight], dtype=float))[0] == median


def test_midpoints() -> None:
    big, tiny = np.finfo(float).max, np.nextafter(1.0, 2)
    assert bf.midpoint(1.0, 2.0) == 1.5
    assert bf.midpoint(big / 2, big) == 0.75 * big
    assert bf.midpoint(1.0, tiny) == 1.0
    assert bf.midpoint(3.0, np.inf) == 3.0
    assert bf.midpoint(-np.inf, 3.0) == -np.inf
    assert bf.midpoint(-np.inf, np.inf) == -np.inf


def test_category_splits_are_counted() -> None:
    for n_levels in range(1, 7):
        x = np.arange(n_levels).astype(float)
        assert len(list(bf.category_splits(0, x, np.ones(len(x))))) == 2 ** (n_levels - 1) - 1
        with_missing = np.append(x, np.nan)
        assert len(list(bf.category_splits(0, with_missing, np.ones(n_levels + 1)))) == 2**n_levels - 1


def test_category_split_of_red_blue_yellow() -> None:
    colour = bf.Column(np.array([0.0, 0, 1, 1, 2, 2]), is_category=True)
    root = bf.grow([colour], np.array([1, 1, 0, 0, 1, 1]), None, bf.Rules("gini"))
    assert root.left_levels == {1}
    assert [node.is_leaf for node in root.preorder()] == [False, True, True]


def test_p_values_are_scipys() -> None:
    from scipy import stats

    rng = np.random.default_rng(0)
    y, side = rng.integers(0, 3, 40).astype(float), rng.random(40) < 0.4
    table = [[np.sum((y == k) & s) for k in range(3)] for s in (side, ~side)]
    expected = stats.chi2_contingency(table, correction=False).pvalue
    assert bf.chi_squared_p_value(y, np.ones(40), side) == pytest.approx(expected)
    z = rng.normal(size=40)
    assert bf.f_p_value(z, np.ones(40), side) == pytest.approx(stats.f_oneway(z[side], z[~side]).pvalue)
    assert bf.f_p_value(z[:2], np.ones(2), np.array([True, False])) == 1


def test_integer_weights_are_repetitions() -> None:
    rng = np.random.default_rng(5)
    y, x, weight = rng.integers(0, 3, 30), rng.normal(size=30), rng.integers(0, 4, 30)
    limits = bf.Rules("entropy", max_depth=3)
    weighted = bf.grow([bf.Column(x)], y, weight, limits)
    repeated = bf.grow([bf.Column(np.repeat(x, weight))], np.repeat(y, weight), None, limits)
    for one, other in zip(weighted.preorder(), repeated.preorder(), strict=True):
        assert (one.feature, one.threshold, one.weight) == (other.feature, other.threshold, other.weight)
