"""Explanations of boosting with one tree for all classes: the same as of a tree for each class with the same splits."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import pytest

import sapwood as sw
from model_cases import fitted, frame, signal, three_classes
from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import ParameterError
from sapwood.explain import (
    counterfactual,
    decision_path,
    importance,
    partial_dependence,
    shap_interaction_values,
    shap_values,
    trees_as_rules,
)
from sapwood.model import Model

X = frame()
CLASSES = ["low", "mid", "top"]
VECTORS = fitted("newton vectors")


@cache
def quantiles() -> Any:
    model = sw.NewtonBoostingRegressor(
        n_estimators=4,
        max_depth=3,
        objective="quantile",
        quantile_alpha=[0.9, 0.1, 0.5],
        multi_strategy="multi_output_tree",
        random_state=0,
    )
    return model.fit(X, signal(X))


def one_by_one(model: Any) -> Model:
    """The same model, with a copy of each tree for each score."""
    ensemble = model.ensemble_
    rounds = tuple(
        tuple(replace(tree, value=tree.value[:, [k]], n_classes=(1,)) for k in range(ensemble.n_scores))
        for (tree,) in ensemble.rounds
    )
    return replace(model.model_, trees=Ensemble(ensemble.base, rounds).tree_sum())


MODELS = pytest.mark.parametrize("make", [lambda: VECTORS, quantiles], ids=["classes", "quantiles"])


@MODELS
def test_predictions_and_scores(make):
    model, parts = make(), one_by_one(make())
    np.testing.assert_array_equal(model.model_.scores(X), parts.scores(X))
    np.testing.assert_array_equal(model.predict(X), parts.predict(X))


@MODELS
def test_shapley_values_add_up(make):
    model, parts, few = make(), one_by_one(make()), X.head(12)
    scores = model.model_.scores(few).T
    for background in (None, X.iloc[40:60]):
        found = shap_values(model, few, background=background)
        np.testing.assert_allclose(found.values.sum(axis=1) + found.base_values, scores, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(found.values, shap_values(parts, few, background=background).values, atol=1e-12)
    pairs = shap_interaction_values(model, few)
    np.testing.assert_allclose(pairs.values, shap_interaction_values(parts, few).values, atol=1e-12)
    np.testing.assert_allclose(pairs.values.sum(axis=2), shap_values(model, few).values, atol=1e-9)


@MODELS
@pytest.mark.parametrize("method", ["brute", "recursion"])
@pytest.mark.parametrize("columns", ["income", "colour", ["age", "colour"]])
def test_partial_dependence(make, method, columns):
    model, parts = make(), one_by_one(make())
    given: dict[str, Any] = {"method": method, "output": "score"}
    found = partial_dependence(model, X, columns, **given)
    assert len(found.output_names) == 3
    np.testing.assert_allclose(found.average, partial_dependence(parts, X, columns, **given).average, atol=1e-12)


def test_importances():
    found, parts = importance(VECTORS, X, three_classes(X)), importance(one_by_one(VECTORS), X)
    for name, factor in {"gain": 1, "splits": 3, "cover": 1, "mean_abs_shap": 1}.items():
        ours = dict(zip(found.names, found.measures[name], strict=True))
        theirs = dict(zip(parts.names, parts.measures[name], strict=True))
        assert {key: factor * value for key, value in ours.items()} == pytest.approx(theirs)
    gains = dict(zip(found.names, found.measures["gain"], strict=True))
    assert gains == pytest.approx(dict(zip(X.columns, VECTORS.feature_importances_, strict=True)))
    assert found.measures["permutation"].max() > 0.1


def test_counterfactuals():
    parts = one_by_one(VECTORS)
    for row in X.head(6).to_dict("records"):
        wanted = "low" if VECTORS.predict_one(row) != "low" else "top"
        found, same = counterfactual(VECTORS, row, target=wanted), counterfactual(parts, row, target=wanted)
        assert found.distance == pytest.approx(same.distance)
        assert found.after == VECTORS.predict_one(found.row) == wanted
        assert found.is_proven


def test_nodes_have_a_column_for_each_class():
    found = VECTORS.to_frame()
    assert "score" not in found.columns
    assert "value" not in found.columns
    assert found["round"].tolist() == found["tree"].tolist()
    values = found[[f"value {name}" for name in CLASSES]].to_numpy()
    np.testing.assert_array_equal(values, np.concatenate([tree.value[:, :, 0] for (tree,) in VECTORS.ensemble_.rounds]))
    assert [f"value score {k}" in quantiles().to_frame().columns for k in range(4)] == [True, True, True, False]


def test_paths_are_about_the_predicted_class():
    scores = VECTORS.model_.scores(X)
    for row in (7, 8, 9):
        found = decision_path(VECTORS, X.iloc[row].to_dict(), most=9)
        k = CLASSES.index(found.prediction)
        assert {path.about for path in found.paths} == {f"score of {found.prediction}"}
        assert {path.round for path in found.paths} == {0, 1, 2, 3}
        total = VECTORS.ensemble_.base[k] + sum(path.value for path in found.paths)
        assert total == pytest.approx(scores[k, row])
        assert f"to the score of {found.prediction}" in str(found)
        assert "of them about this class" not in str(found)


def test_paths_of_quantiles_are_about_their_mean():
    found = decision_path(quantiles(), X.iloc[7].to_dict(), most=9)
    assert {path.about for path in found.paths} == {"mean of 3 scores"}
    total = quantiles().ensemble_.base.mean() + sum(path.value for path in found.paths)
    assert total == pytest.approx(quantiles().model_.scores(X)[:, 7].mean())


def test_rules_have_a_value_for_each_class():
    rules = trees_as_rules(VECTORS, tree=1)
    ((tree,),) = VECTORS.ensemble_.rounds[1:2]
    assert [rule.prediction for rule in rules] == [tuple(tree.value[rule.leaf, :, 0].tolist()) for rule in rules]
    assert rules[0].about == "scores of low, mid, top"
    assert rules[0].prediction_text.count(", ") == 4
    assert trees_as_rules(quantiles(), tree=0)[0].about == "score 0, score 1, score 2"
    assert len(rules.to_frame()) == tree.n_leaves


@pytest.mark.parametrize("tree", [(0, "low"), (0, 0), 4, "low"])
def test_a_tree_has_no_class(tree):
    for ask in (lambda: trees_as_rules(VECTORS, tree=tree), lambda: sw.export_text(VECTORS, tree=tree)):
        with pytest.raises(ParameterError, match="an integer from 0 to 3, the number of a round, whose one tree adds"):
            ask()


def test_differences_of_models_of_one_tree():
    more = sw.NewtonBoostingClassifier(
        n_estimators=6, max_depth=3, multi_strategy="multi_output_tree", random_state=0
    ).fit(X, three_classes(X))
    found = sw.diff(VECTORS, more, X)
    assert found.trees.counts == {"same": 4, "other values": 0, "other structure": 0, "only before": 0, "only after": 2}
    moves = (more.model_.scores(X) - VECTORS.model_.scores(X)).T
    np.testing.assert_allclose(sum(found.trees.parts.by_name().values()), moves, atol=1e-12)
    assert not sw.diff(VECTORS, VECTORS, X).trees.parts.values.any()


def test_differences_to_a_model_of_a_tree_for_each_class():
    for before, after in ((VECTORS, fitted("newton three")), (fitted("newton three"), VECTORS)):
        found = sw.diff(before, after, X)
        assert found.trees.counts["other structure"] == 4
        moves = (after.model_.scores(X) - before.model_.scores(X)).T
        np.testing.assert_allclose(sum(found.trees.parts.by_name().values()), moves, atol=1e-12)
        assert str(found)


def test_trees_of_the_same_splits_and_other_scores_are_not_compared():
    """Each tree of the second model has the splits of one of the first, but only one of its values."""
    found = sw.diff(VECTORS.model_, one_by_one(VECTORS), X)
    assert found.trees.counts["other structure"] == 4
    assert found.trees.trees[0].leaves_kept == found.trees.trees[0].leaves_before
    assert all(np.isfinite(tree.largest_step) for tree in found.trees.trees)
    assert not found.trees.parts.values.any()
    np.testing.assert_allclose(sum(found.trees.parts.by_name().values()), 0.0, atol=1e-12)


def test_interactions_are_certified():
    sets = [["age", "colour"], ["income", "member", "since"]]
    model = sw.NewtonBoostingClassifier(
        n_estimators=5, interaction_constraints=sets, multi_strategy="multi_output_tree", random_state=0
    ).fit(X, three_classes(X))
    assert model.certify()
    broken = VECTORS.certify(interaction_constraints=sets)
    assert not broken
    example = broken.counter_example
    assert (example.tree, example.in_model) == (0, True)
    scores = VECTORS.model_.scores(pd.DataFrame(list(example.rows)))
    k = CLASSES.index(example.about.removeprefix("score of "))
    assert example.scores == pytest.approx(scores[k].tolist())


def test_each_score_is_checked_for_its_order():
    """A class whose own values are in order does not hide another one whose values are not."""
    rows = np.arange(60.0)
    y = np.repeat([0, 1, 2], 20)
    model = sw.NewtonBoostingClassifier(
        n_estimators=3, multi_strategy="multi_output_tree", random_state=0, min_child_weight=0
    ).fit(rows[:, None], y)
    scores = model.predict(rows[:, None], output_margin=True)
    rises = (np.diff(scores, axis=0) >= 0).all(axis=0)
    assert rises.tolist() == [False, False, True]
    for sign, first in ((1, "score of 0"), (-1, "score of 2")):
        found = model.certify(monotone_constraints=[sign])
        assert not found
        assert found.counter_example.about in (first, "score of 1")
        assert f"the {found.counter_example.about} goes from" in found.proof


def test_a_plot_of_importances_and_shapley_values():
    pytest.importorskip("matplotlib")
    assert sw.plot_importance(VECTORS)
    assert sw.plot_shap_summary(shap_values(VECTORS, X.head(20)))
