"""Whole trees against the twin, and what limits of growth mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from engine_cases import Array, Data, fit, lower, one_tree, with_signs
from growth_twin import Ambiguous, Branch, Twin
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from sapwood.boosting.columns import ColumnOptions
from sapwood.boosting.options import TreeOptions
from sapwood.kernels.boosting_records import NODE
from sapwood.losses import Squared
from sapwood.predictor import Predictor
from sapwood.tree import Tree
from strategies import EXAMPLES, examples

many = settings(examples, max_examples=10 * EXAMPLES)
N_FEATURES = 4
FREE = TreeOptions(max_depth=0, reg_lambda=0.0, min_child_weight=0.0)


@st.composite
def datasets(draw: st.DrawFn) -> tuple[Data, Array, Array]:
    """Up to 40 rows of small whole numbers, two of four columns categories; gradients that rarely tie."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    n = draw(st.integers(1, 40))
    X = np.column_stack([rng.integers(0, size, n) for size in (3, 12, 4, 9)]).astype(np.float64)
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.15]))] = np.nan
    gradient, hessian = rng.integers(-1000, 1000, n).astype(float), rng.integers(1, 5, n).astype(float)
    return Data.of(X, np.zeros(n), categorical_features=[2, 3]), gradient, hessian


options = st.fixed_dictionaries(
    {"max_depth": st.integers(0, 4), "min_child_weight": st.sampled_from([0.0, 1.0, 5.0])},
    optional={
        "max_leaves": st.integers(1, 9),
        "leaf_wise": st.booleans(),
        "gamma": st.sampled_from([1e3, 1e5, 3e5]),
        "reg_lambda": st.sampled_from([0.0, 1.0, 20.0]),
        "reg_alpha": st.sampled_from([50.0, 1000.0]),
        "max_delta_step": st.sampled_from([10.0, 200.0]),
        "min_child_rows": st.integers(2, 5),
        "min_split_rows": st.integers(2, 9),
        "cat_smooth": st.just(3.0),
        "max_cat_to_onehot": st.integers(1, 6),
        "max_cat_threshold": st.integers(1, 3),
    },
).map(lambda chosen: TreeOptions(**chosen))


def check(data: Data, gradient: Array, hessian: Array, tree: TreeOptions, together: Any = None) -> None:
    """Grow both trees and compare them node by node."""
    codes = np.ascontiguousarray(data.coded.columns.T)
    whole = gradient.astype(np.int64), hessian.astype(np.int64)
    twin = Twin(codes, data.coded.n_codes, data.coded.is_category, *whole, tree, together)
    try:
        root = twin.grow()
    except Ambiguous:
        reject()
    columns = ColumnOptions(N_FEATURES, together=together)
    found = one_tree(data, gradient, hessian, tree, columns=columns)
    assert_equal(found, 0, root, twin)
    assert_same_arrays(found, step_by_step(data, gradient, hessian, tree, columns=columns))
    leaves = Predictor(found).leaves(data.table)
    for branch in root.leaves():
        assert len(set(leaves[branch.rows].tolist())) <= 1
    assert len(set(leaves.tolist())) == sum(1 for _ in root.leaves())


def step_by_step(*args: Any, **options: Any) -> Tree:
    """The same tree by two threads, which share even the smallest nodes."""
    with pytest.MonkeyPatch.context() as patch:
        lower(patch, LITTLE_WORK=0, ROWS_PER_THREAD=1, SCAN_PER_THREAD=1)
        return one_tree(*args, n_jobs=2, **options)


def assert_same_arrays(first: Tree, second: Tree) -> None:
    for name, array in first.arrays().items():
        np.testing.assert_array_equal(array, second.arrays()[name], err_msg=name)


def assert_equal(tree: Tree, at: int, branch: Branch, twin: Twin) -> None:
    assert tree.n_node_samples[at] == len(branch.rows)
    assert tree.weighted_n_node_samples[at] == twin.hessian[branch.rows].sum()
    assert tree.value[at, 0, 0] == pytest.approx(twin.weight(branch), rel=1e-12, abs=1e-12)
    assert tree.is_leaf[at] == (branch.children is None)
    if branch.children is None:
        return
    assert tree.feature[at] == branch.split.feature
    left, right = tree.children_left[at], tree.children_right[at]
    objective = tree.weighted_n_node_samples * tree.impurity
    decrease = objective[at] - objective[left] - objective[right]
    assert decrease == pytest.approx(branch.split.gain, rel=1e-6, abs=1e-9 * np.abs(objective).max())
    assert_equal(tree, left, branch.children[0], twin)
    assert_equal(tree, right, branch.children[1], twin)


@many
@given(datasets(), options)
def test_trees_are_those_of_the_twin(case: tuple[Data, Array, Array], tree: TreeOptions) -> None:
    check(*case, tree)


@many
@given(datasets(), options, st.tuples(st.integers(-1, 1), st.integers(-1, 1)))
def test_symmetric_trees_are_those_of_the_twin(
    case: tuple[Data, Array, Array], tree: TreeOptions, signs: tuple[int, int]
) -> None:
    check(*case, with_signs(replace(tree, symmetric=True), *signs, 0, 0))


@many
@given(datasets(), options, st.tuples(st.integers(-1, 1), st.integers(-1, 1)))
def test_monotone_trees_are_those_of_the_twin(
    case: tuple[Data, Array, Array], tree: TreeOptions, signs: tuple[int, int]
) -> None:
    check(*case, with_signs(tree, *signs, 0, 0))


@many
@given(datasets(), options, st.lists(st.frozensets(st.integers(0, 3), min_size=1), max_size=3).map(tuple))
def test_trees_with_interaction_constraints_are_those_of_the_twin(
    case: tuple[Data, Array, Array], tree: TreeOptions, together: tuple[frozenset[int], ...]
) -> None:
    check(*case, tree, together)


@many
@given(datasets(), st.integers(2, 12), st.booleans())
def test_leaves_are_split_in_order_of_gain(case: tuple[Data, Array, Array], most: int, deep: bool) -> None:
    check(*case, replace(FREE, leaf_wise=True, max_leaves=most, max_depth=0 if deep else 3))


@many
@given(datasets(), options, st.integers(2, 8))
def test_ties_are_decided_alike_by_both_ways_to_grow(
    case: tuple[Data, Array, Array], tree: TreeOptions, most: int
) -> None:
    data, gradient, hessian = case
    tied = np.sign(gradient), np.ones_like(hessian)
    for chosen in (tree, replace(FREE, leaf_wise=True, max_leaves=most)):
        assert_same_arrays(one_tree(data, *tied, chosen), step_by_step(data, *tied, chosen))


@pytest.mark.parametrize("most", range(2, 9))
def test_of_leaves_with_the_same_gain_both_ways_split_the_same(most: int) -> None:
    data = Data.of(np.arange(8.0)[:, None], np.zeros(8))
    gradient = np.array([-17.0, -15.0, -9.0, -7.0, 7.0, 9.0, 15.0, 17.0])
    tree = replace(FREE, leaf_wise=True, max_leaves=most)
    assert_same_arrays(*(grow(data, gradient, np.ones(8), tree) for grow in (one_tree, step_by_step)))


@examples
@given(datasets(), st.integers(0, 5))
def test_without_a_limit_of_leaves_both_policies_grow_the_same_tree(
    case: tuple[Data, Array, Array], max_depth: int
) -> None:
    trees = [one_tree(*case, replace(FREE, max_depth=max_depth, leaf_wise=leaf_wise)) for leaf_wise in (False, True)]
    assert_same_arrays(*trees)


@examples
@given(datasets(), options)
def test_limits_are_kept(case: tuple[Data, Array, Array], limits: TreeOptions) -> None:
    tree = one_tree(*case, limits)
    inner = ~tree.is_leaf
    assert tree.max_depth <= (limits.max_depth or 99)
    assert tree.n_leaves <= (limits.max_leaves or 99)
    if inner.any():
        assert tree.n_node_samples.min() >= limits.min_child_rows
        assert tree.weighted_n_node_samples.min() >= limits.min_child_weight
        assert tree.n_node_samples[inner].min() >= limits.min_split_rows


def exclusive_or(*extra: float) -> tuple[Data, Array, Array]:
    """Residuals by two columns: neither alone helps much, both together explain all."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    residual = np.array([10.0, -10.0, -10.0, 10.5])
    return Data.of(X, np.zeros(4)), -residual, np.ones(4)


@pytest.mark.parametrize("leaf_wise", [False, True])
def test_a_poor_split_followed_by_a_better_one_is_kept(leaf_wise: bool) -> None:
    case = exclusive_or()
    free = replace(FREE, leaf_wise=leaf_wise)
    gains = one_tree(*case, free).impurity
    assert len(gains) == 7
    kept = one_tree(*case, replace(free, gamma=50.0))  # the root gains 0.03, its children 100
    assert kept.n_leaves == 4
    np.testing.assert_allclose(sorted(kept.value[kept.is_leaf, 0, 0]), [-10, -10, 10, 10.5])
    assert one_tree(*case, replace(free, gamma=150.0)).n_leaves == 1


def test_poor_splits_below_a_good_one_are_taken_back() -> None:
    data = Data.of(np.arange(4.0)[:, None], np.zeros(4))
    gradient = np.array([-100.0, -101.0, 100.0, 101.0])
    assert one_tree(data, gradient, np.ones(4), FREE).n_leaves == 4
    pruned = one_tree(data, gradient, np.ones(4), replace(FREE, gamma=1.0))
    assert pruned.n_leaves == 2
    np.testing.assert_allclose(pruned.value[pruned.is_leaf, 0, 0], [100.5, -100.5])
    assert pruned.threshold[0] == 1.5


def test_a_gain_of_gamma_is_enough() -> None:
    data = Data.of(np.arange(2.0)[:, None], np.zeros(2))
    gradient = np.array([-4.0, 4.0])  # gain (16 + 16) / 2
    assert one_tree(data, gradient, np.ones(2), replace(FREE, gamma=16.0)).n_leaves == 2
    assert one_tree(data, gradient, np.ones(2), replace(FREE, gamma=16.1)).n_leaves == 1


def test_depth_wise_growth_with_few_leaves_goes_from_left_to_right() -> None:
    data = Data.of(np.arange(8.0)[:, None], np.zeros(8))
    gradient = -np.array([0.0, 1.0, 10.0, 11.0, 100.0, 140.0, 190.0, 260.0])
    tree = one_tree(data, gradient, np.ones(8), replace(FREE, max_leaves=3))
    assert tree.n_leaves == 3
    assert tree.children_left[tree.children_left[0]] != -1
    assert tree.children_left[tree.children_right[0]] == -1


@examples
@given(datasets(), st.sampled_from([-1, 1]), st.integers(1, 3))
def test_predictions_are_monotone(case: tuple[Data, Array, Array], sign: int, max_depth: int) -> None:
    limits = with_signs(TreeOptions(max_depth=max_depth, min_child_weight=0.0), 0, sign, 0, 0)
    tree = one_tree(*case, limits)
    X = case[0].table.block(0, case[0].table.n_rows)
    grid = np.repeat(X, 12, axis=0)
    grid[:, 1] = np.tile(np.arange(12.0), len(X))
    leaves = Predictor(tree).leaves(case[0].table.schema.match(grid, unseen="missing"))
    values = tree.value[leaves, 0, 0].reshape(len(X), 12)
    assert (sign * np.diff(values, axis=1) >= 0).all()


@examples
@given(datasets())
def test_paths_stay_within_one_set_of_columns(case: tuple[Data, Array, Array]) -> None:
    together = (frozenset({0, 1}), frozenset({1, 2}))
    tree = one_tree(*case, FREE, columns=ColumnOptions(N_FEATURES, together=together))

    def walk(node: int, path: frozenset[int]) -> None:
        if tree.is_leaf[node]:
            assert len(path) <= 1 or any(path <= group for group in together)
            return
        for child in (tree.children_left[node], tree.children_right[node]):
            walk(child, path | {int(tree.feature[node])})

    walk(0, frozenset())


def test_no_split_of_equal_gradients() -> None:
    data = Data.of(np.arange(50.0)[:, None], np.zeros(50))
    for reg_lambda in (0.0, 1.0):
        tree = one_tree(data, np.full(50, 0.1), np.full(50, 0.3), replace(FREE, reg_lambda=reg_lambda))
        assert tree.n_leaves == 1


def test_one_row_makes_one_leaf() -> None:
    tree = one_tree(Data.of(np.array([[1.0]]), np.zeros(1)), np.array([-3.0]), np.ones(1), TreeOptions())
    assert tree.value.ravel().tolist() == [1.5]


def test_sums_of_nodes_are_those_of_their_rows_where_a_level_has_no_hessian() -> None:
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [2.0, 0.0]])
    data = Data.of(X, np.zeros(4), categorical_features=[0])
    gradient, hessian = np.array([-9.0, -1.0, 8.0, 64.0]), np.array([2.0, 2.0, 1.0, 0.0])
    tree = one_tree(data, gradient, hessian, FREE)
    leaves = Predictor(tree).leaves(data.table)
    left = tree.children_left[0]
    below = np.isin(leaves, [left, tree.children_left[left], tree.children_right[left]])
    assert not tree.is_leaf[left]
    assert tree.value[left, 0, 0] == -gradient[below].sum() / hessian[below].sum()


def test_levels_of_symmetric_trees_draw_columns_whatever_nodes_wait() -> None:
    columns = ColumnOptions(6, by_level=0.2)
    for key in range(20):
        choice, nodes = columns.choice(key), np.zeros(3, dtype=NODE)
        nodes["depth"] = [1, 2, 2]  # the first gained nothing by the split of its level
        np.testing.assert_array_equal(choice.shared([0, 1, 2], 2), choice.usable(nodes, [1])[0])


def test_waiting_nodes_do_not_end_symmetric_trees_of_drawn_columns() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 8))
    y = X @ np.arange(1.0, 9.0) + np.sin(3 * X).sum(axis=1)
    tree = TreeOptions(max_depth=6, symmetric=True)
    rounds = fit(Data.of(X, y), Squared(), tree, 20, columns=ColumnOptions(8, by_level=0.2))
    assert min(own.max_depth for (own,) in rounds.trees) >= 5


def test_missing_values_are_told_from_others_by_a_threshold_above_these() -> None:
    X = np.array([[0.0], [8.0], [9.0], [np.nan], [np.nan]])
    gradient = np.array([1000.0, -300.0, -300.0, -100.0, -100.0])
    tree = replace(FREE, max_depth=2)
    by_level, shared = (
        one_tree(Data.of(X, np.zeros(5)), gradient, np.ones(5), replace(tree, symmetric=flag)) for flag in (False, True)
    )
    assert_same_arrays(shared, by_level)
