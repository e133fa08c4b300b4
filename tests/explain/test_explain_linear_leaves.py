"""Explanations of models with linear leaves, beside Shapley values: text, rules, frames, paths, changes, proofs."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose

import sapwood as sw
from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor, explain

rng = np.random.default_rng(1)
X = pd.DataFrame({"age": rng.uniform(20, 70, 600), "size": rng.uniform(-1, 1, 600), "rooms": rng.integers(1, 9, 600)})
X["day"] = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, 600), unit="D")
X.loc[rng.random(600) < 0.1, "size"] = np.nan
SIZE = X["size"].fillna(0.0)
Y = 0.1 * X["age"] + 2.0 * SIZE * (X["age"] > 45) + 0.5 * X["rooms"]
ROW = X.iloc[0].to_dict()


@cache
def model(**parameters: Any) -> Any:
    return NewtonBoostingRegressor(
        **{"n_estimators": 30, "linear_tree": True, "random_state": 0, "learning_rate": 0.3, **parameters}
    ).fit(X, Y)


@cache
def one_leaf_each() -> Any:
    """One split at 0, with slopes of 1 and 3."""
    x = np.linspace(-1.0, 1.0, 200)[:, None]
    y = np.where(x[:, 0] > 0, 5.0 + 3.0 * x[:, 0], x[:, 0])
    plain: dict[str, Any] = {"recipe": "xgboost", "learning_rate": 1.0, "max_depth": 1, "reg_lambda": 0.0}
    return NewtonBoostingRegressor(n_estimators=1, **plain, linear_tree=True, linear_lambda=0.0).fit(x, y)


def test_text_and_pictures_have_the_lines() -> None:
    small = one_leaf_each()
    text = sw.export_text(small)
    assert "value: [-3.51] + 1.0 * (x0 + 0.5)" in text
    assert "value: [3.51] + 3.0 * (x0 - 0.5)" in text
    assert "+ 3.0 * (x0 - 0.503)" in sw.export_graphviz(small)
    assert sw.plot_tree(small) is not None
    assert "(day - 2024-" in "".join(sw.export_text(model(), tree=t) for t in range(30))


def test_rules_and_frames_have_the_lines() -> None:
    small = one_leaf_each()
    rules = explain.trees_as_rules(small)
    assert str(rules[1]).startswith("IF x0 > ")
    assert "THEN +3.505 + 3.0 * (x0 - 0.503) to the" in str(rules[1])
    frame = small.to_frame()
    assert frame["lines"].tolist()[0] is None
    ((name, slope, centre, low, high),) = frame["lines"].tolist()[2]
    assert_allclose([slope, centre, low, high], [3.0, 0.5025, 0.005, 1.0], atol=1e-2)
    assert name == "x0"
    assert "lines" not in model(linear_tree=False).to_frame().columns


def test_paths_have_the_value_of_the_row() -> None:
    path = explain.decision_path(one_leaf_each(), [0.25]).paths[0]
    assert_allclose(path.value, one_leaf_each().predict([[0.25]])[0] - one_leaf_each().ensemble_.base[0])
    found = explain.decision_path(model(), ROW, most=30)
    total = sum(own.value for own in found.paths) + model().ensemble_.base[0]
    assert_allclose(total, model().predict_one(ROW))


def test_partial_dependence_by_recursion_is_the_mean_along_the_trees() -> None:
    small = one_leaf_each()
    found = explain.partial_dependence(small, np.zeros((5, 1)), 0, method="recursion", values=[-0.5, 0.25, 9.0])
    assert_allclose(found.average[0], small.predict([[-0.5], [0.25], [9.0]]))
    large = model()
    found = explain.partial_dependence(large, X, "age", method="recursion", values=[30.0, 60.0])
    brute = explain.partial_dependence(large, X, "age", method="brute", values=[30.0, 60.0])
    assert_allclose(np.ptp(found.average), np.ptp(brute.average), rtol=0.15)
    known = explain.shap_values(large, X[:1])
    all_known = explain.dependence.recursion.marginal_scores(
        large.model_.trees, range(4), large.model_.match(X[:5]).block(0, 5).astype(float)
    )
    assert_allclose(all_known[0], large.predict(X[:5]))
    nothing = explain.dependence.recursion.marginal_scores(large.model_.trees, [], np.zeros((1, 0)))
    assert_allclose(nothing[0, 0], known.base_values[0])


def test_importance_has_shapley_values() -> None:
    assert "mean_abs_shap" in explain.importance(model(), X, Y).measures


def test_models_are_compared_tree_by_tree() -> None:
    again = explain.diff(model(), model(), X)
    assert again.trees is not None
    assert again.trees.counts["same"] == 30
    steeper = explain.diff(model(), model(linear_lambda=50.0), X)
    assert steeper.trees is not None
    assert steeper.shap is not None
    (change, *_) = steeper.trees.trees
    assert (change.status, change.leaves_kept) == ("other values", change.leaves_before)
    assert 0 < change.largest_step < 5
    parts = steeper.trees.parts
    moved = model(linear_lambda=50.0).predict(X) - model().predict(X)
    assert_allclose((parts.start + parts.values + parts.structure)[:, 0], moved, atol=1e-9)
    assert_allclose(steeper.shap.values.sum(axis=1)[:, 0] + steeper.shap.base_values[:, 0], moved, atol=1e-9)


def test_interaction_constraints_are_certified() -> None:
    kept = model(interaction_constraints=(("age", "size"), ("rooms", "day")))
    assert kept.certify()
    broken = model().certify(interaction_constraints=[["age"], ["size"], ["rooms"], ["day"]])
    assert not broken
    assert broken.counter_example is not None


@pytest.mark.parametrize("by", [0.5, 2.0])
def test_counterfactuals_move_as_little_as_it_takes(by: float) -> None:
    own = model().predict_one(ROW)
    found = explain.counterfactual(model(), ROW, target=(own + by, None))
    assert model().predict_one(found.row) >= own + by
    assert not found.is_proven
    assert "a smaller change may also work" in str(found)
    numbers = [change for change in found.changes if change.feature in ("age", "size")]
    assert numbers
    for change in numbers:
        nearer = found.row | {change.feature: change.after + 0.02 * (change.before - change.after)}
        assert model().predict_one(nearer) < own + by + 0.02


def test_a_counterfactual_of_one_line_is_exact() -> None:
    found = explain.counterfactual(one_leaf_each(), [0.3], target=(6.5, None))
    (change,) = found.changes
    exact = 0.3 + (6.5 - one_leaf_each().predict([[0.3]])[0]) / 3.0
    assert exact <= change.after <= exact + 1e-6
    assert f"{change.after}" in str(found)
    assert_allclose(found.distance, (change.after - 0.3) / 2.0)


def test_whole_numbers_stay_whole_in_counterfactuals() -> None:
    own = model().predict_one(ROW)
    found = explain.counterfactual(model(), ROW, target=(own + 0.9, None), features=["rooms", "day"], X=X)
    assert float(found.row["rooms"]).is_integer()
    assert pd.Timestamp(found.row["day"]) == pd.Timestamp(found.row["day"]).normalize()


def test_classes_have_counterfactuals() -> None:
    y = np.digitize(Y, [Y.median()])
    two = NewtonBoostingClassifier(n_estimators=20, linear_tree=True, random_state=0).fit(X, y)
    found = explain.counterfactual(two, ROW)
    assert two.predict_one(found.row) != two.predict_one(ROW)
