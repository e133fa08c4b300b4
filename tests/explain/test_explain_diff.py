import copy
import re
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.tree import DecisionTreeRegressor as TheirTree

import sapwood as sw
from model_cases import _MAKERS, KINDS, fitted, foreign, frame, signal, three_classes
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.explain import ModelDiff, diff
from strategies import examples

SUMS = [kind for kind in KINDS if kind != "adaboost numbers"]
PARTS = ["rows", "features", "trees", "splits", "columns", "parameters"]


@cache
def refitted(kind: str) -> Any:
    """The same kind of model a month later."""
    return _MAKERS[kind](frame(100, seed=5))


@cache
def compared(kind: str) -> ModelDiff:
    return diff(fitted(kind), refitted(kind), frame())


def with_tree(model: Any, **arrays: Any) -> Any:
    """A copy of a single tree with some arrays replaced."""
    other = copy.copy(model)
    other.tree_ = replace(model.tree_, **arrays)
    return other


def score_moves(before: Any, after: Any, X: Any) -> np.ndarray:
    kept = after.model_.kept_scores
    return (after.model_.scores(X) - before.model_.scores(X))[kept].T


def test_a_worked_example():
    X = pd.DataFrame({"a": [0, 1, 2, 3]})
    before = sw.DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 4.0, 8.0])  # a <= 1.5: 0, else 6
    after = sw.DecisionTreeRegressor(max_depth=1).fit(X, [0.0, 0.0, 4.0, 10.0])  # a <= 2.5: 4/3, else 10
    found = diff(before, after, X)
    assert [(row.row, row.before) for row in found.rows] == [(2, 6.0), (3, 6.0), (0, 0.0), (1, 0.0)]
    np.testing.assert_allclose([row.after for row in found.rows], [4 / 3, 10, 4 / 3, 4 / 3])
    np.testing.assert_allclose([row.move for row in found.rows], [-14 / 3, 4, 4 / 3, 4 / 3])
    expected = {"moved": 1, "mean": 34 / 12, "q50": 4 / 3, "q90": 14 / 3, "q99": 14 / 3, "largest": 14 / 3}
    assert found.summary == pytest.approx(expected)
    np.testing.assert_allclose(found.shap.base_values[:, 0], 0.5)  # means 3 and 3.5
    np.testing.assert_allclose(found.shap.values[:, 0, 0], [4 / 3 - 0.5, 4 / 3 - 0.5, -14 / 3 - 0.5, 3.5])
    assert found.parts.structure[:, 0] == pytest.approx(found.moves.change[:, 0])
    assert not found.parts.values.any()
    assert not found.parts.start.any()
    assert str(found).splitlines() == [
        "Model diff: DecisionTreeRegressor, 4 rows",
        "Predictions: 4 of 4 rows move (100 %)",
        "  size of the move: mean 2.833, median 1.333, 90 % of rows up to 4.667, at most 4.667",
        "  row 2: 6 → 1.333 (-4.667)",
        "  row 3: 6 → 10 (+4.000)",
        "  row 0: 0 → 1.333 (+1.333)",
        "  row 1: 0 → 1.333 (+1.333)",
        "Trees: 1 of other structure",
        "  0 % of the rows are in the same leaves of all trees",
        "  a: 1 split; came 2.5; went 1.5",
        "  mean size of the score's move by part: leaf values 0, structure 2.8333, start 0",
        "Columns that explain the moves, by the mean size of the differences of Shapley values (4 rows):",
        "  a  2.5833",
    ]


@pytest.mark.parametrize("kind", KINDS)
def test_a_model_does_not_differ_from_itself(kind):
    X = frame()
    found = diff(fitted(kind), _MAKERS[kind](X), X)
    assert found.is_same
    assert not found.columns
    assert not found.parameters
    assert not found.moves.has_moved.any()
    assert found.trees.counts["same"] == found.trees.n_first_same == len(found.trees.trees)
    assert found.trees.same_leaves.all()
    assert not any(split.is_change for split in found.splits)
    assert str(found).splitlines()[1:] == ["No difference: columns, parameters, trees and predictions are the same."]


@pytest.mark.parametrize("kind", SUMS)
def test_parts_and_shapley_values_add_up_to_the_moves_of_scores(kind):
    found, moves = compared(kind), score_moves(fitted(kind), refitted(kind), frame())
    parts = found.parts
    np.testing.assert_allclose(parts.start + parts.values + parts.structure, moves, atol=1e-12)
    np.testing.assert_allclose(found.shap.values.sum(axis=1) + found.shap.base_values, moves, atol=1e-9)
    assert parts.output_names == found.shap.output_names


@pytest.mark.parametrize("kind", KINDS)
def test_moves_of_every_model_are_those_of_its_predictions(kind):
    before, after, X, found = fitted(kind), refitted(kind), frame(), compared(kind)
    old, new = before.predict(X), after.predict(X)
    assert np.array_equal(found.moves.before, old)
    assert np.array_equal(found.moves.after, new)
    if hasattr(before, "classes_"):
        shares = [model.predict_proba(X) for model in (before, after)]
        if kind == "two outputs":
            shares = [np.concatenate(both, axis=1) for both in shares]
        size = np.abs(shares[1] - shares[0]).max(axis=1)
        changed = (old != new).reshape(len(X), -1).any(axis=1)
        assert np.array_equal(found.moves.changes_class, changed)
        assert found.summary["changes_class"] == changed.mean()
    else:
        size = np.abs(new - old).reshape(len(X), -1).max(axis=1)
    np.testing.assert_allclose(found.moves.size, size, atol=1e-12)
    assert found.summary["largest"] == pytest.approx(size.max())
    sizes = [abs(row.move) for row in found.rows]
    assert sizes == sorted(sizes, reverse=True)
    assert sorted(row.row for row in found.rows) == list(range(len(X)))


@pytest.mark.parametrize("kind", KINDS)
def test_every_model_prints_a_page_and_gives_frames(kind):
    found = compared(kind)
    assert len(str(found).splitlines()) <= 45
    assert str(found) == repr(found)
    for part in PARTS:
        if part == "features" and not fitted(kind).model_.is_sum:
            with pytest.raises(InputError, match=r"part='features' is not known for these models\. Moves are not"):
                found.to_frame(part)
        else:
            assert isinstance(found.to_frame(part), pd.DataFrame)
    rows = found.to_frame()
    assert rows["row"].tolist() == found.moves.order.tolist()
    assert rows["move"].tolist() == [row.move for row in found.rows]


def test_one_changed_leaf_moves_its_rows_by_values():
    X = frame()
    before = fitted("tree numbers")
    leaves = before.apply(X)
    value = before.tree_.value.copy()
    value[leaves[7]] += 0.25
    found = diff(before, with_tree(before, value=value), X)
    moved = leaves == leaves[7]
    assert found.moves.has_moved.tolist() == moved.tolist()
    np.testing.assert_allclose(found.parts.values[:, 0], np.where(moved, 0.25, 0.0))
    assert not found.parts.structure.any()
    assert found.trees.same_leaves.all()
    [tree] = found.trees.trees
    n = before.get_n_leaves()
    assert (tree.status, tree.leaves_kept, tree.leaves_same) == ("other values", n, n - 1)
    assert tree.largest_step == pytest.approx(0.25)
    assert not any(split.is_change for split in found.splits)
    assert "Trees: 1 with other leaf values" in str(found)


def test_one_changed_threshold_moves_rows_by_structure():
    X = frame()
    before = fitted("tree numbers")
    tree = before.tree_
    node = int(np.flatnonzero(tree.feature == 0)[-1])  # a split of the age near the leaves
    threshold = tree.threshold.copy()
    threshold[node] += 3.0
    after = with_tree(before, threshold=threshold)
    found = diff(before, after, X)
    [change] = [split for split in found.splits if split.is_change]
    assert (change.feature, change.went, change.came) == ("age", (tree.threshold[node],), (threshold[node],))
    assert change.splits_before == change.splits_after
    assert found.trees.trees[0].status == "other structure"
    passes = before.decision_path(X)[:, [node]].toarray()[:, 0] > 0
    assert 0 < passes.sum() < len(X)
    assert found.trees.same_leaves.tolist() == (~passes).tolist()
    assert not found.parts.values.any()
    np.testing.assert_allclose(found.parts.structure[:, 0], after.predict(X) - before.predict(X))


def test_another_way_of_missing_values_is_a_change_of_structure():
    X = frame()
    before = fitted("tree numbers")
    node = int(np.flatnonzero(before.tree_.feature == 1)[0])
    ways = before.tree_.missing_go_to_left.copy()
    ways[node] = not ways[node]
    found = diff(before, with_tree(before, missing_go_to_left=ways), X)
    assert found.trees.trees[0].status == "other structure"
    [change] = [split for split in found.splits if split.is_change]
    assert change.turned == (before.tree_.threshold[node],)
    assert "missing values change sides at" in change.description


@pytest.mark.parametrize("kind", KINDS)
def test_splits_that_came_and_went_are_those_of_the_nodes(kind):
    before, after = (model.to_frame() for model in (fitted(kind), refitted(kind)))
    asked = {name for nodes in (before, after) for name in nodes["feature"].dropna()}
    found = {split.feature: split for split in compared(kind).splits}
    assert found.keys() == asked
    for name, split in found.items():
        old, new = (nodes[nodes["feature"] == name] for nodes in (before, after))
        assert (split.splits_before, split.splits_after) == (len(old), len(new))
        if name in ("age", "income"):
            assert split.came == tuple(sorted(set(new["threshold"]) - set(old["threshold"])))
            assert split.went == tuple(sorted(set(old["threshold"]) - set(new["threshold"])))
        if name == "colour":
            sets = [{tuple(sorted(levels)) for levels in nodes["levels"]} for nodes in (old, new)]
            assert set(split.came) == sets[1] - sets[0]
            assert set(split.went) == sets[0] - sets[1]
        if name == "since":
            assert all(isinstance(split, datetime) for split in (*split.came, *split.went))
        if name == "member":  # whatever threshold was drawn
            assert not (len(old) and len(new) and (split.came or split.went))
        if name not in ("income", "colour"):
            assert not split.turned  # no values were missing


@pytest.mark.parametrize("kind", ["newton numbers", "newton three"])
def test_continued_boosting_keeps_the_first_trees(kind):
    X = frame()
    before = fitted(kind)
    y = three_classes(X) if kind == "newton three" else signal(X)
    after = clone(before).set_params(n_estimators=3).fit(X, y, init_model=before)
    found = diff(before, after, X)
    first, more = 4 * before.ensemble_.n_scores, 3 * before.ensemble_.n_scores
    assert found.trees.n_first_same == found.trees.counts["same"] == first
    assert found.trees.counts["only after"] == more
    assert found.trees.same_leaves.all()
    assert not found.parts.values.any()
    assert not found.parts.start.any()
    np.testing.assert_allclose(found.parts.structure, score_moves(before, after, X), atol=1e-12)
    assert f"Trees: {first} the same, {more} only after\n  the first {first} are the same\n" in str(found)
    assert "of all trees that both models have" in str(found)
    back = diff(after, before, X)
    assert back.trees.counts["only before"] == more


def test_trees_that_join_a_forest_do_not_change_the_values_of_the_others():
    X = frame()
    before = fitted("forest numbers")
    after = clone(before).set_params(n_estimators=7).fit(X, signal(X))
    found = diff(before, after, X)
    assert found.trees.counts == {
        "same": 4,
        "other values": 0,
        "other structure": 0,
        "only before": 0,
        "only after": 3,
    }
    assert not found.parts.values.any()
    np.testing.assert_allclose(found.parts.structure, score_moves(before, after, X), atol=1e-12)
    assert [str(change) for change in found.parameters] == ["n_estimators: 4 → 7"]


def test_a_renamed_level_is_told_and_goes_with_missing_values():
    X, y = pd.DataFrame({"c": ["a", "a", "b", "b"]}), [0.0, 0.0, 1.0, 1.0]
    before = sw.DecisionTreeRegressor().fit(X.replace("a", "old"), y)
    after = sw.DecisionTreeRegressor().fit(X, y)
    found = diff(before, after, X)
    [change] = found.columns
    assert (change.feature, change.what, change.before, change.after) == ("c", "levels", ("old",), ("a",))
    assert str(change) == "c: levels {a} came, {old} went"
    [split] = found.splits
    assert (split.came, split.went) == ((("a",),), (("old",),))
    assert split.description == "c: 1 split; came {a}; went {old}"
    assert found.trees.trees[0].status == "other structure"
    assert found.moves.before.tolist() == before.predict(X).tolist() == [1.0] * 4  # missing values go right
    assert [row.row for row in found.rows if row.has_moved] == [0, 1]


def test_a_new_level_on_the_side_of_missing_values_leaves_the_structure_alone():
    y = np.repeat([0.0, 1.0, 0.0], 4)
    X = pd.DataFrame({"c": np.repeat(["a", "b", "new"], 4)})
    before, after = (sw.DecisionTreeRegressor().fit(X[:n], y[:n]) for n in (8, 12))
    assert before.tree_.left_levels(0).tolist() == [0]
    assert after.tree_.left_levels(0).tolist() == [0, 2]
    for goes_left in (False, True):
        way = np.array([goes_left, False, False])
        found = diff(*(with_tree(model, missing_go_to_left=way) for model in (before, after)), X)
        assert found.trees.trees[0].status == ("same" if goes_left else "other structure")
        assert found.trees.same_leaves.all() == (not found.moves.has_moved.any()) == goes_left


def test_columns_in_other_places_and_levels_of_other_numbers_make_no_difference():
    X, before = frame(), fitted("tree numbers")
    tree, columns = before.tree_, before.schema_.columns
    colour = replace(columns[2], levels=columns[2].levels[::-1])
    words = [sum((int(word) >> bit & 1) << 2 - bit for bit in range(3)) for word in tree.subsets]
    assert words != tree.subsets.tolist()
    after = with_tree(
        before,
        feature=np.where(tree.feature < 0, tree.feature, 4 - tree.feature),
        n_levels=tree.n_levels[::-1].copy(),
        subsets=np.array(words, dtype=np.uint32),
    )
    after.schema_ = replace(before.schema_, columns=(*columns[:2], colour, *columns[3:])[::-1])
    assert after.predict(X).tolist() == before.predict(X).tolist()
    found = diff(before, after, X)
    assert found.is_same
    assert found.trees.same_leaves.all()
    np.testing.assert_allclose(found.shap.values, 0.0, atol=1e-12)


def test_an_additional_column_is_worth_nothing_to_the_other_model():
    X = frame()
    few = X[["income", "colour", "age"]]
    before, after = (sw.DecisionTreeRegressor(max_depth=4).fit(part, signal(X)) for part in (few, X))
    found = diff(before, after, X)
    assert [str(change) for change in found.columns] == [
        "member: a new column (boolean)",
        "since: a new column (date)",
    ]
    assert found.shap.feature_names == ("income", "colour", "age", "member", "since")
    moves = score_moves(before, after, X)
    np.testing.assert_allclose(found.shap.values.sum(axis=1) + found.shap.base_values, moves, atol=1e-9)
    back = diff(after, before, X)
    assert [change.what for change in back.columns] == ["removed", "removed"]
    assert str(back.columns[0]) == "member: the column is gone (boolean)"


def test_kinds_ranges_and_missing_values_in_words():
    n = np.arange(4.0)
    old = pd.DataFrame({"a": n, "b": n, "c": n, "d": n, "e": [np.nan] * 4, "f": n.astype(int).astype(str)})
    new = old.assign(a=n * 2, b=[0, 1, 2, np.nan], c=n + 1, d=n.astype(int).astype(str), e=n)
    new = new.assign(d=pd.Categorical([0, 1, 2, 3]))
    found = diff(*(sw.DecisionTreeRegressor().fit(X, n) for X in (old, new)), old)
    assert [str(change) for change in found.columns] == [
        "a: range grew, 0 to 3 → 0 to 6",
        "b: range shrank, 0 to 3 → 0 to 2",
        "b: no missing values before, some now",
        "c: range moved, 0 to 3 → 1 to 4",
        "d: number → category",
        "e: range grew, no values → 0 to 3",
        "e: missing values before, none now",
    ]


def test_a_model_without_names_is_compared_by_place():
    X = frame()[["age", "income"]]
    before = sw.DecisionTreeRegressor(max_depth=3).fit(X.to_numpy(), signal(frame()))
    after = sw.DecisionTreeRegressor(max_depth=3).fit(X, signal(frame()))
    found = diff(before, after, X)
    assert found.is_same
    assert found.shap.feature_names == ("age", "income")
    assert diff(after, before, X).shap.feature_names == ("age", "income")


def test_parameters_are_compared_by_what_is_written():
    X, y = frame()[["age"]], signal(frame())
    seeds = [np.random.RandomState(0), np.random.RandomState(1)]
    before = sw.BaggingRegressor(sw.DecisionTreeRegressor(max_depth=2), 2, random_state=seeds[0]).fit(X, y)
    after = sw.BaggingRegressor(sw.DecisionTreeRegressor(max_depth=3), 2, max_features=1, random_state=seeds[1])
    found = diff(before, after.fit(X, y), X)
    assert sorted(map(str, found.parameters)) == ["estimator__max_depth: 2 → 3", "max_features: 1.0 → 1"]
    kinds = diff(before, sw.DecisionTreeRegressor(max_depth=3).fit(X, y), X)
    assert str(kinds.parameters[0]) == "model: BaggingRegressor → DecisionTreeRegressor"
    long = sw.DecisionTreeRegressor(categorical_features=["age"] * 50).fit(X, y)
    shown, depth = sorted(map(str, diff(regressor(X, y), long, X).parameters))
    assert depth == "max_depth: 2 → None"
    assert shown.startswith("categorical_features: 'from_dtype' → ['age', 'age',")
    assert shown.endswith("…")
    assert len(shown) < 110
    assert kinds.to_frame("parameters").columns.tolist() == ["name", "before", "after"]


def test_models_of_different_classes_are_compared_as_far_as_they_go():
    X, y = frame(), signal(frame())
    numbers = diff(fitted("forest numbers"), fitted("newton numbers"), X)
    np.testing.assert_allclose(
        numbers.shap.values.sum(axis=1) + numbers.shap.base_values,
        score_moves(fitted("forest numbers"), fitted("newton numbers"), X),
        atol=1e-9,
    )
    classes = diff(fitted("forest classes"), fitted("newton three"), X)  # shares against scores of a softmax
    assert classes.shap is None
    assert classes.parts is None
    assert classes.trees is not None
    assert "are on different scales" in str(classes)
    counts = sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, objective="count:poisson").fit(
        X, np.exp(y / 4)
    )
    assert diff(counts, fitted("newton numbers"), X).shap is None


def test_rows_below_the_tolerance_have_not_moved():
    found = compared("newton two")
    X = frame()
    tolerant = diff(fitted("newton two"), refitted("newton two"), X, tolerance=0.1)
    expected = (found.moves.size > 0.1) | found.moves.changes_class
    assert 0 < expected.sum() < len(X)
    assert tolerant.moves.has_moved.tolist() == expected.tolist()
    assert f"Predictions: {expected.sum()} of 120 rows move by more than 0.1" in str(tolerant)
    assert not tolerant.is_same
    assert [row.has_moved for row in tolerant.rows] == expected[tolerant.moves.order].tolist()


def test_shapley_values_of_some_rows_are_those_of_all_rows_there():
    models, X = (fitted("forest classes"), refitted("forest classes")), frame()
    everything, some = compared("forest classes"), diff(*models, X, shap_rows=7)
    assert some.shap.rows.tolist() == [0, 20, 40, 60, 79, 99, 119]
    np.testing.assert_array_equal(some.shap.values, everything.shap.values[some.shap.rows])
    assert len(diff(*models, X, shap_rows=None).shap.rows) == len(X)
    none = diff(*models, X, shap_rows=0)
    assert none.shap is None
    assert "since shap_rows=0" in str(none)
    sizes = [feature.mean_abs for feature in everything.shap.features]
    assert sizes == sorted(sizes, reverse=True)
    assert len(sizes) == 5 * 3
    first = everything.shap.features[0]
    j, k = everything.shap.feature_names.index(first.feature), everything.shap.output_names.index(first.output)
    assert first.mean_abs == pytest.approx(np.abs(everything.shap.values[:, j, k]).mean())
    assert first.mean == pytest.approx(everything.shap.values[:, j, k].mean())


def test_unknown_levels_that_stop_at_a_node():
    X = frame()
    model = sw.DecisionTreeRegressor(max_depth=3, unseen="node").fit(X, signal(X))
    other = X.assign(colour=X["colour"].cat.rename_categories({"blue": "teal"}))
    value = model.tree_.value.copy()
    value[0] += 1.0
    root_splits_colour = model.schema_.names[model.tree_.feature[0]] == "colour"
    found = diff(model, with_tree(model, value=value), other)
    assert found.trees.trees[0].status == "other values"
    stopped = model.apply(other) == 0
    assert stopped.any() == root_splits_colour
    np.testing.assert_allclose(found.parts.values[:, 0], stopped * 1.0)
    lenient = copy.copy(model).set_params(unseen="missing")
    way = diff(model, lenient, other)
    assert way.trees.trees[0].status == "other structure"
    asks_colour = model.decision_path(other)[:, np.flatnonzero(model.tree_.feature == 2)].sum(axis=1)
    assert way.trees.same_leaves.tolist() == (np.asarray(asks_colour).ravel() == 0).tolist()


@pytest.mark.parametrize("kind", ["bagging", "adaboost", "init"])
def test_members_of_other_kinds_are_compared_by_their_predictions(kind):
    before, X, y = foreign(kind)
    after = clone(before).fit(X[:60], y[:60])
    found = diff(before, after, X)
    assert np.array_equal(found.moves.before, before.predict(X))
    assert np.array_equal(found.moves.after, after.predict(X))
    assert found.shap is None
    assert str(found).splitlines()[-1].startswith("Note: ")
    if kind == "init":
        parts = found.parts
        np.testing.assert_allclose(
            parts.start + parts.values + parts.structure, score_moves(before, after, X), atol=1e-12
        )
    else:
        assert found.trees is None
        with pytest.raises(InputError, match=r"part='splits' is not known for these models\. Trees and Shapley"):
            found.to_frame("splits")
    assert diff(before, before, X).is_same


def test_members_of_other_kinds_get_their_own_columns():
    X = frame()[["age", "member"]].astype(float)
    models = [sw.BaggingRegressor(LinearRegression(), 2, random_state=0) for _ in range(2)]
    before, after = models[0].fit(X[["age"]], signal(frame())), models[1].fit(X, signal(frame()))
    found = diff(before, after, X)
    np.testing.assert_array_equal(found.moves.before, before.predict(X[["age"]]))
    assert [change.what for change in found.columns] == ["added"]


def test_several_numbers_are_compared_output_by_output():
    X = frame()
    targets = [np.column_stack([signal(X), signal(X) ** 2 + shift]) for shift in (0.0, 1.0)]
    given = {"n_estimators": 3, "max_depth": 3, "max_features": "third", "random_state": 0}
    before, after = (sw.RandomForestRegressor(**given).fit(X, y) for y in targets)
    found = diff(before, after, X)
    np.testing.assert_allclose(found.moves.change, after.predict(X) - before.predict(X))
    assert {row.about for row in found.rows} == {"output 1"}
    assert list(found.to_frame())[:7] == ["row", "before 0", "before 1", "after 0", "after 1", "move", "about"]
    assert re.search(r"row \d+: [\d.]+, [\d.]+ → [\d.]+, [\d.]+ \(output 1 [+-]", str(found))


def test_all_containers_give_the_same():
    X = frame()[["age", "income", "member"]].astype(float)
    y = signal(frame())
    before, after = (
        sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, max_depth=m).fit(X, y) for m in (2, 3)
    )
    expected = diff(before, after, X)
    backwards = X[["member", "income", "age"]]
    for rows in (pl.from_pandas(X), X.to_numpy(), sparse.csr_array(X.to_numpy()), backwards, pl.from_pandas(backwards)):
        found = diff(before, after, rows)
        np.testing.assert_array_equal(found.moves.change, expected.moves.change)
        np.testing.assert_array_equal(found.parts.structure, expected.parts.structure)
        np.testing.assert_allclose(found.shap.values, expected.shap.values, atol=1e-12)
        assert str(found) == str(expected)


def test_threads_make_no_difference_and_nothing_is_changed():
    models, X = (fitted("forest classes"), refitted("forest classes")), frame()
    kept = X.copy()
    attributes = [set(vars(model)) for model in models]
    assert str(diff(*models, X, n_jobs=1)) == str(diff(*models, X, n_jobs=3)) == str(compared("forest classes"))
    pd.testing.assert_frame_equal(X, kept)
    assert [set(vars(model)) for model in models] == attributes


def test_numbers_that_are_not_finite_have_moves():
    X = np.arange(4.0)[:, None]
    before = sw.DecisionTreeRegressor().fit(X, [0.0, 1.0, 2.0, 3.0])
    values = [np.where(before.tree_.value == one, np.nan if one == 2 else np.inf, before.tree_.value) for one in (1, 2)]
    one, other = (with_tree(before, value=value) for value in values)
    found = diff(one, other, X, shap_rows=0)
    assert found.moves.size.tolist() == [0.0, np.inf, np.inf, 0.0]
    assert [row.row for row in found.rows] == [1, 2, 0, 3]
    assert diff(one, one, X, shap_rows=0).moves.size.tolist() == [0.0] * 4


RANDOM_KINDS = {
    "tree": sw.DecisionTreeClassifier,
    "forest": sw.RandomForestRegressor,
    "newton": sw.NewtonBoostingRegressor,
    "newton classes": sw.NewtonBoostingClassifier,
}


@st.composite
def pairs_of_models(draw: st.DrawFn) -> tuple[Any, Any, pd.DataFrame]:
    """Two models of one kind on columns, levels and rows of their own, and rows with levels of both."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    kind, depth = draw(st.sampled_from(list(RANDOM_KINDS))), draw(st.integers(1, 3))
    names = draw(st.permutations(["a", "b", "c"]))
    X = _random_frame(rng, 12, "vwxyz")
    models = []
    for own in (["a", "b", "c"], names[: draw(st.integers(1, 3))]):
        size = {} if kind == "tree" else {"n_estimators": draw(st.integers(1, 3))}
        y = np.concatenate([[0, 1, 2], rng.integers(0, 3, 22)])
        training = _random_frame(rng, len(y), draw(st.sampled_from(["vwx", "xyz"])))[own]
        models.append(RANDOM_KINDS[kind](max_depth=depth, random_state=0, **size).fit(training, y))
    return models[0], models[1], X


def _random_frame(rng: np.random.Generator, n: int, levels: str) -> pd.DataFrame:
    a = rng.integers(0, 5, n).astype(float)
    a[rng.random(n) < 0.2] = np.nan
    return pd.DataFrame({"a": a, "b": rng.choice(list(levels), n), "c": rng.normal(size=n).round(1)})


@examples
@given(pairs_of_models())
def test_moves_of_scores_are_sums_of_parts_and_of_shapley_values(case):
    before, after, X = case
    found, moves = diff(before, after, X), score_moves(before, after, X)
    np.testing.assert_allclose(found.parts.start + found.parts.values + found.parts.structure, moves, atol=1e-10)
    np.testing.assert_allclose(found.shap.values.sum(axis=1) + found.shap.base_values, moves, atol=1e-8)
    back = diff(after, before, X)
    np.testing.assert_allclose(back.moves.change, -found.moves.change)
    assert back.trees.same_leaves.tolist() == found.trees.same_leaves.tolist()
    assert [tree.leaves_kept for tree in back.trees.trees] == [tree.leaves_kept for tree in found.trees.trees]
    assert diff(before, before, X).is_same


RNG = np.random.default_rng(0)
NUMBERS = RNG.normal(size=(40, 2))
Y = NUMBERS[:, 0]


def regressor(X: Any = NUMBERS, y: Any = Y) -> Any:
    return sw.DecisionTreeRegressor(max_depth=2).fit(X, y)


def classifier(y: Any) -> Any:
    return sw.DecisionTreeClassifier(max_depth=2).fit(NUMBERS, y)


MISTAKES = {
    "class": (lambda: diff(sw.DecisionTreeRegressor, regressor(), NUMBERS), InputTypeError, "model_a is the class"),
    "scikit-learn": (
        lambda: diff(regressor(), TheirTree().fit(NUMBERS, Y), NUMBERS),
        InputTypeError,
        "model_b is a sklearn.tree.DecisionTreeRegressor, but must be a fitted model of Sapwood",
    ),
    "not fitted": (
        lambda: diff(regressor(), sw.RandomForestRegressor(), NUMBERS),
        NotFittedError,
        "This RandomForestRegressor is not fitted yet",
    ),
    "classes and numbers": (
        lambda: diff(regressor(), classifier(Y > 0), NUMBERS),
        InputError,
        "model_a (DecisionTreeRegressor) predicts numbers, but model_b (DecisionTreeClassifier) predicts classes. "
        "Compare two models that predict the same kind of thing.",
    ),
    "ranks and numbers": (
        lambda: diff(
            sw.NewtonBoostingRanker(recipe="xgboost", n_estimators=1).fit(NUMBERS, Y > 0), regressor(), NUMBERS
        ),
        InputError,
        "model_a (NewtonBoostingRanker) predicts ranks",
    ),
    "other classes": (
        lambda: diff(classifier(Y > 0), classifier(np.digitize(Y, [-0.5, 0.5])), NUMBERS),
        InputError,
        "has the classes [False, True], but model_b (DecisionTreeClassifier) has [0, 1, 2]. Compare two models of",
    ),
    "other classes of an output": (
        lambda: diff(classifier(np.column_stack([Y > 0, Y > 0])), classifier(np.column_stack([Y > 0, Y > 9])), NUMBERS),
        InputError,
        "the classes of output 1 [False, True], but",
    ),
    "other outputs": (
        lambda: diff(regressor(), regressor(y=np.column_stack([Y, Y])), NUMBERS),
        InputError,
        "model_a (DecisionTreeRegressor) has 1 output, but model_b (DecisionTreeRegressor) has 2. Compare two models",
    ),
    "columns by place": (
        lambda: diff(regressor(), regressor(NUMBERS[:, :1]), NUMBERS),
        InputError,
        "X does not match model_b: X has 2 features, but DecisionTreeRegressor is expecting 1 features",
    ),
    "columns by name": (
        lambda: diff(
            regressor(frame()[["age"]], signal(frame())), regressor(frame(), signal(frame())), frame()[["age"]]
        ),
        InputError,
        "X does not match model_b: X lacks 4 of the 5 columns",
    ),
    "no table": (lambda: diff(regressor(), regressor(), "rows"), InputTypeError, "X does not match model_a: "),
    "tolerance": (
        lambda: diff(regressor(), regressor(), NUMBERS, tolerance=-1),
        ParameterError,
        "tolerance=-1 is not allowed for diff: it must be a finite number of at least 0",
    ),
    "shap_rows": (
        lambda: diff(regressor(), regressor(), NUMBERS, shap_rows=1.5),
        ParameterError,
        "shap_rows=1.5 is not allowed for diff",
    ),
    "part": (
        lambda: diff(regressor(), regressor(), NUMBERS).to_frame("row"),
        ParameterError,
        "part='row' is not allowed for to_frame",
    ),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_answered_with_what_to_do(mistake):
    make, error, words = MISTAKES[mistake]
    with pytest.raises(error, match=re.escape(words)):
        make()
