from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings

import sapwood as sw
from descent_cases import UNSEEN, Rows, slow_leaf, trees
from export_cases import EXPORTS, exported
from sapwood.interchange.boundary import boundary_cells
from sapwood.predictor import Predictor
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.tree_sum import Term, TreeSum


def cells_of(model, most_rows=20_000):
    return boundary_cells(model.model_.trees, model.schema_, most_rows)


def nodes_passed(tree, row):
    """Nodes on the way of a row, by the specification of a descent."""
    leaf = slow_leaf(tree, row.tolist(), False)
    parents, path = tree.parents(), [leaf]
    while parents[path[-1]] >= 0:
        path.append(int(parents[path[-1]]))
    return path


@pytest.mark.parametrize("kind", EXPORTS)
def test_rows_reach_every_leaf_of_every_tree(kind):
    model = exported(kind)
    cells = cells_of(model)
    for term in model.model_.trees:
        reached = Predictor(term.tree).leaves(Rows(cells))
        assert set(reached) == set(np.flatnonzero(term.tree.is_leaf))


@pytest.mark.parametrize("kind", ["tree classes", "newton three", "float32"])
def test_rows_stand_at_and_just_above_every_threshold(kind):
    model = exported(kind)
    cells = cells_of(model)
    for term in model.model_.trees:
        tree = term.tree
        met = {(node, row[tree.feature[node]]) for row in cells for node in nodes_passed(tree, row)}
        for node in np.flatnonzero(~tree.is_leaf & (tree.subset_start < 0)):
            t = tree.threshold[node]
            assert {(node, t), (node, np.nextafter(t, np.inf))} <= met


def test_rows_hold_the_neighbours_in_float32():
    model = exported("newton numbers")
    cells = cells_of(model)
    tree = next(iter(model.model_.trees)).tree
    node = int(np.flatnonzero(tree.feature == 1)[0])
    t = tree.threshold[node]
    near = np.float32(t)
    below = near if near <= t else np.nextafter(near, np.float32(-np.inf))
    above = np.nextafter(below, np.float32(np.inf))
    assert {float(below), float(above), np.nextafter(t, -np.inf)} <= set(cells[:, 1])


@pytest.mark.parametrize("kind", ["forest classes", "infinite", "lone leaf"])
def test_every_column_meets_its_extreme_values(kind):
    model = exported(kind)
    cells = cells_of(model)
    for j, column in enumerate(model.schema_.columns):
        assert np.isnan(cells[:, j]).any()
        if column.kind == "category":
            assert {*range(len(column.levels)), UNSEEN} <= set(cells[:, j])
        else:
            assert {-np.inf, np.inf, 0.0} <= set(cells[:, j])
            assert np.signbit(cells[cells[:, j] == 0.0, j]).any()


def test_a_selection_keeps_to_its_size_and_touches_every_tree():
    model = exported("newton three")
    everything, few = cells_of(model), cells_of(model, 80)
    assert 60 < len(few) <= 80 < len(everything)
    known = {row.tobytes() for row in everything}
    assert all(row.tobytes() in known for row in few)
    n_alone = sum(len(column.levels) + 2 if column.levels else 5 for column in model.schema_.columns)
    for term in model.model_.trees:
        one = TreeSum(np.zeros(1), 1, lambda _, term=term: term)
        own = {row.tobytes() for row in boundary_cells(one, model.schema_)[n_alone:]}
        assert own & {row.tobytes() for row in few}


def test_tables_of_many_columns_leave_room_for_the_trees():
    X = np.random.default_rng(0).normal(size=(50, 400))
    model = sw.DecisionTreeRegressor(max_depth=2).fit(X, X[:, 7])
    cells = cells_of(model, 200)
    assert len(cells) <= 200
    assert set(model.tree_.threshold[~model.tree_.is_leaf]) <= set(cells.ravel())


def test_a_selection_is_always_the_same():
    model = exported("forest classes")
    np.testing.assert_array_equal(cells_of(model, 100), cells_of(model, 100))


@settings(max_examples=60, deadline=None)
@given(trees(categories=True))
def test_any_tree_is_reached_wherever_it_can_be(tree):
    columns = tuple(
        ColumnSchema(f"x{j}", "category" if n else "number", tuple(range(n))) for j, n in enumerate(tree.n_levels)
    )
    tree_sum = TreeSum(np.zeros(1), 1, lambda _: Term(tree, tree.value[:, 0]))
    cells = boundary_cells(tree_sum, Schema(columns, False), 200_000)
    reached = set(Predictor(tree).leaves(Rows(cells)).tolist())
    random = np.random.default_rng(0).choice(cells.ravel(), size=(500, len(columns)))
    for j, n in enumerate(tree.n_levels):
        if n:
            random[:, j] = np.random.default_rng(j).integers(0, n, 500)
    assert set(Predictor(tree).leaves(Rows(random)).tolist()) <= reached
