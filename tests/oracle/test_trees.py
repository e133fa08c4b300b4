"""Sapwood's trees held against the brute-force specification and, on data without ties, against scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise, permutations
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import tree as scikit_learn

import strategies
from oracle import brute_force as bf
from oracle.compare import check_same_tree, check_tree, fitted_node
from oracle.tie_free import CLASSIFIERS, REGRESSORS, Sample, draw_sample

sapwood = pytest.importorskip("sapwood")
if not hasattr(sapwood, "DecisionTreeClassifier"):
    pytest.skip("the estimators do not exist yet", allow_module_level=True)

ALL = bf.CLASSIFICATION + bf.REGRESSION
SHARED = CLASSIFIERS + REGRESSORS
OPTIONS = [name for name in bf.Rules.__dataclass_fields__ if name != "criterion"]


def estimator(rules: bf.Rules, **more: Any) -> Any:
    """Sapwood's tree with these rules."""
    kind = sapwood.DecisionTreeClassifier if rules.is_classification else sapwood.DecisionTreeRegressor
    return kind(criterion=rules.criterion, **{name: getattr(rules, name) for name in OPTIONS}, **more)


def classes_of(model: Any) -> list[np.ndarray] | None:
    """Classes of every output, None for a regressor."""
    classes = getattr(model, "classes_", None)
    return [classes] if isinstance(classes, np.ndarray) else classes


def check_model(model: Any, X: Any, case: strategies.Case, rules: bf.Rules) -> None:
    """Follow a fitted tree with the specification beside it."""
    kept = slice(None) if case.weight is None else case.weight > 0
    task = bf.make_task(case.columns, case.y, case.weight, rules)
    check_tree(model.tree_, model.apply(X)[kept], task, classes_of(model))


def check_case(case: strategies.Case, rules: bf.Rules, **more: Any) -> None:
    """Fit and follow."""
    X = case.frame() if case.has_categories else case.array()
    check_model(estimator(rules, **more).fit(X, case.y, sample_weight=case.weight), X, case, rules)


# Against the specification.


@pytest.mark.parametrize("monotonic", [False, True], ids=["free", "monotonic"])
@pytest.mark.parametrize("categories", [False, True], ids=["numbers", "categories"])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("weighting", ["none", "integers", "floats"])
@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_tree_is_the_specified_one(
    criterion: str, weighting: str, missing: bool, categories: bool, monotonic: bool, data: st.DataObject
) -> None:
    constrained = {"single_output": True, "max_classes": 2} if monotonic else {}
    case = data.draw(
        strategies.cases(criterion, missing=missing, categories=categories, weighting=weighting, **constrained)
    )
    directions = data.draw(strategies.directions(case)) if monotonic else None
    if directions is not None and criterion in bf.CLASSIFICATION and not has_two_classes(case):
        return  # a constraint needs two classes
    check_case(case, data.draw(strategies.rules(criterion, directions, single_output=case.y.ndim == 1)))


def has_two_classes(case: strategies.Case) -> bool:
    """Whether both classes are left once rows without weight are gone."""
    weight = np.ones(len(case.y)) if case.weight is None else case.weight
    return len(np.unique(case.y[weight > 0])) == 2


@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_more_bins_than_values_give_the_exact_tree(criterion: str, data: st.DataObject) -> None:
    case = data.draw(strategies.cases(criterion))
    rules = data.draw(strategies.rules(criterion, single_output=case.y.ndim == 1))
    check_case(case, rules, max_bins=data.draw(st.sampled_from([32, 255])))


@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_sparse_equals_dense(criterion: str, data: st.DataObject) -> None:
    case = data.draw(strategies.cases(criterion, categories=False))
    rules = data.draw(strategies.rules(criterion, single_output=case.y.ndim == 1))
    make = data.draw(st.sampled_from([sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array]))
    dense = estimator(rules).fit(case.array(), case.y, sample_weight=case.weight)
    thin = estimator(rules).fit(make(case.array()), case.y, sample_weight=case.weight)
    check_same_arrays(thin.tree_, dense.tree_)
    np.testing.assert_array_equal(thin.apply(make(case.array())), dense.apply(case.array()))


def check_same_arrays(found: Any, expected: Any) -> None:
    """Two fitted trees agree; sums may be added in another order."""
    for name, array in expected.arrays().items():
        compare = np.testing.assert_allclose if array.dtype.kind == "f" else np.testing.assert_array_equal
        tolerance = {"rtol": 1e-9, "atol": 1e-9} if array.dtype.kind == "f" else {}
        compare(getattr(found, name), array, err_msg=name, **tolerance)


@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_names_of_levels_do_not_matter(criterion: str, data: st.DataObject) -> None:
    case = data.draw(strategies.cases(criterion))
    rules = data.draw(strategies.rules(criterion, single_output=case.y.ndim == 1))
    X, renamed = case.frame(), case.frame(tuple(data.draw(st.permutations(strategies.LEVELS))))
    one = estimator(rules).fit(X, case.y, sample_weight=case.weight)
    other = estimator(rules).fit(renamed, case.y, sample_weight=case.weight)
    check_model(other, renamed, case, rules)
    if ties_are_impossible(case, rules):
        assert as_partition(one.apply(X)) == as_partition(other.apply(renamed))


def ties_are_impossible(case: strategies.Case, rules: bf.Rules) -> bool:
    """Whether no node of the specified tree has two best partitions (rows without weight may go anywhere)."""
    if case.weight is not None and (case.weight == 0).any():
        return False
    root = bf.grow(case.columns, case.y, case.weight, rules)
    if rules.max_leaf_nodes is not None:
        return False
    return all(node.is_leaf or node.gain - node.runner_up > 1e-9 * max(root.impurity, 1e-9) for node in root.preorder())


def as_partition(leaves: np.ndarray) -> set[frozenset[int]]:
    """The sets of rows that share a leaf."""
    return {frozenset(np.flatnonzero(leaves == leaf).tolist()) for leaf in np.unique(leaves)}


@pytest.mark.parametrize("criterion", ALL)
def test_integers_as_levels_in_any_order(criterion: str) -> None:
    """The red, blue and yellow of the textbook: whatever integers stand for them, the tree is the same."""
    colour, y = np.array([0, 0, 0, 1, 1, 1, 2, 2, 2]), np.array([1, 1, 1, 0, 0, 0, 1, 1, 1])
    y = y + 1 if criterion == "poisson" else y  # a child without events is not allowed
    found = set()
    for codes in permutations([0, 1, 2]):
        X = np.array(codes)[colour][:, None].astype(float)
        model = estimator(bf.Rules(criterion), categorical_features=[0])
        leaves = model.fit(X, y).apply(X)
        assert model.tree_.n_leaves == 2
        found.add(frozenset(as_partition(leaves)))
    assert len(found) == 1


# Against scikit-learn, on samples without ties: small nodes are avoided because two features may divide them alike.


def theirs(rules: bf.Rules) -> Any:
    """scikit-learn's tree with these rules."""
    known = [name for name in OPTIONS if name not in ("impurity_threshold", "significance")]
    kind = scikit_learn.DecisionTreeClassifier if rules.is_classification else scikit_learn.DecisionTreeRegressor
    return kind(criterion=rules.criterion, random_state=0, **{name: getattr(rules, name) for name in known})


def check_against_scikit_learn(sample: Sample, rules: bf.Rules) -> None:
    """Node for node, and leaf for leaf on the training rows."""
    expected = theirs(rules).fit(sample.X, sample.y, sample_weight=sample.weight)
    found = estimator(rules).fit(sample.X, sample.y, sample_weight=sample.weight)
    check_same_tree(fitted_node(found.tree_), fitted_node(expected.tree_))
    assert as_partition(found.apply(sample.X)) == as_partition(expected.apply(sample.X))


@pytest.mark.parametrize("n_rows", [100, 300, 500])
@pytest.mark.parametrize("missing", [False, True], ids=["complete", "missing"])
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_tree(criterion: str, missing: bool, n_rows: int) -> None:
    sample = draw_sample(criterion, n_rows, n_rows=n_rows, missing=missing)
    check_against_scikit_learn(sample, bf.Rules(criterion, min_samples_leaf=10))


@pytest.mark.parametrize("criterion", REGRESSORS)
def test_scikit_learns_tree_without_weights(criterion: str) -> None:
    sample = draw_sample(criterion, 11, n_rows=400)
    check_against_scikit_learn(Sample(sample.X, sample.y, None), bf.Rules(criterion, max_depth=4, min_samples_leaf=10))


@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_tree_of_two_outputs(criterion: str) -> None:
    sample = draw_sample(criterion, 12, n_rows=200, n_outputs=2)
    check_against_scikit_learn(sample, bf.Rules(criterion, min_samples_leaf=10))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_tree_with_monotonic_constraints(criterion: str, seed: int) -> None:
    sample = draw_sample(criterion, seed, n_rows=200, n_classes=2)
    check_against_scikit_learn(sample, bf.Rules(criterion, min_samples_leaf=10, monotonic_cst=(1, -1, 0, 0)))


@pytest.mark.parametrize("max_leaf_nodes", [2, 3, 7, 20])
@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_best_first_tree(criterion: str, max_leaf_nodes: int) -> None:
    sample = draw_sample(criterion, 13, n_rows=300)
    check_against_scikit_learn(sample, bf.Rules(criterion, min_samples_leaf=10, max_leaf_nodes=max_leaf_nodes))


@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_limits(criterion: str) -> None:
    sample = draw_sample(criterion, 14, n_rows=300)
    check_against_scikit_learn(sample, bf.Rules(criterion, max_depth=3, min_samples_leaf=10))
    check_against_scikit_learn(sample, bf.Rules(criterion, min_samples_split=60, min_samples_leaf=9))
    check_against_scikit_learn(sample, bf.Rules(criterion, min_weight_fraction_leaf=0.05))
    check_against_scikit_learn(sample, bf.Rules(criterion, min_impurity_decrease=0.01, min_samples_leaf=9))


# Pruning.


def sapwoods_path(model: Any, X: Any, case: strategies.Case | Sample) -> tuple[np.ndarray, np.ndarray]:
    """Alphas and impurities of the weakest-link sequence."""
    path = model.cost_complexity_pruning_path(X, case.y, sample_weight=case.weight)
    return np.asarray(path.ccp_alphas), np.asarray(path.impurities)


@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_pruning_path(criterion: str) -> None:
    sample = draw_sample(criterion, 15, n_rows=300)
    rules = bf.Rules(criterion, min_samples_leaf=10)
    expected = sapwoods_path(theirs(rules), sample.X, sample)
    found = sapwoods_path(estimator(rules), sample.X, sample)
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-7, atol=1e-12)


@pytest.mark.parametrize("criterion", SHARED)
def test_scikit_learns_pruned_tree(criterion: str) -> None:
    sample = draw_sample(criterion, 16, n_rows=200)
    rules = bf.Rules(criterion, min_samples_leaf=10)
    alphas, _ = sapwoods_path(theirs(rules), sample.X, sample)
    for low, high in pairwise(alphas[1:]):
        alpha = (low + high) / 2
        expected = theirs(rules).set_params(ccp_alpha=alpha).fit(sample.X, sample.y, sample_weight=sample.weight)
        found = estimator(rules, ccp_alpha=alpha).fit(sample.X, sample.y, sample_weight=sample.weight)
        check_same_tree(fitted_node(found.tree_), fitted_node(expected.tree_))


@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_pruning_path_of_small_tables(criterion: str, data: st.DataObject) -> None:
    case = data.draw(strategies.cases(criterion))
    X, rules = case.frame(), bf.Rules(criterion)
    full = estimator(rules).fit(X, case.y, sample_weight=case.weight)
    expected = merge_equal(*bf.pruning_path(fitted_node(full.tree_)))
    found = merge_equal(*sapwoods_path(estimator(rules), X, case))
    scale = max(float(full.tree_.impurity[0]), 1e-300)
    assert len(found[0]) == len(expected[0])
    np.testing.assert_allclose(found[0], expected[0], rtol=1e-7, atol=1e-9 * scale)
    np.testing.assert_allclose(found[1], expected[1], rtol=1e-7, atol=1e-9 * scale)


def merge_equal(alphas: Any, impurities: Any) -> tuple[list[float], list[float]]:
    """One entry per distinct alpha, with the impurity of the smallest tree: ties may be collapsed in any order."""
    slack = 1e-9 * max(impurities[-1], 1e-300)
    kept: list[tuple[float, float]] = []
    for alpha, impurity in zip(alphas, impurities, strict=True):
        if kept and alpha - kept[-1][0] <= slack:
            kept[-1] = (kept[-1][0], impurity)
        else:
            kept.append((alpha, impurity))
    return [alpha for alpha, _ in kept], [impurity for _, impurity in kept]


# Properties that hold whatever the tree.


@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_integer_weights_are_repetitions(criterion: str, data: st.DataObject) -> None:
    case = data.draw(strategies.cases(criterion, weighting="integers"))
    counts = case.weight.astype(int)
    weighted = estimator(bf.Rules(criterion)).fit(case.frame(), case.y, sample_weight=case.weight)
    X, y = (
        case.frame().loc[np.repeat(np.arange(len(counts)), counts)].reset_index(drop=True),
        np.repeat(case.y, counts, axis=0),
    )
    repeated = estimator(bf.Rules(criterion)).fit(X, y)
    for name in ("feature", "weighted_n_node_samples", "impurity", "threshold"):
        found, expected = getattr(weighted.tree_, name), getattr(repeated.tree_, name)
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=name)


TYPES: list[Callable[[np.ndarray], Any]] = [
    np.asfortranarray,
    np.ascontiguousarray,
    lambda X: X.astype(np.float32),
    pd.DataFrame,
]


@pytest.mark.parametrize("criterion", ALL)
@strategies.examples
@given(data=st.data())
def test_storage_does_not_matter(criterion: str, data: st.DataObject) -> None:
    case = data.draw(strategies.cases(criterion, categories=False, plain_numbers=True))
    expected = estimator(bf.Rules(criterion)).fit(case.array(), case.y, sample_weight=case.weight)
    X = data.draw(st.sampled_from(TYPES))(case.array())
    check_same_arrays(estimator(bf.Rules(criterion)).fit(X, case.y, sample_weight=case.weight).tree_, expected.tree_)
