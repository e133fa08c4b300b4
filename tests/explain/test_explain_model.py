"""Explanations take the Model of an estimator in place of the estimator, and give the same."""

import dataclasses

import numpy as np
import pytest

import sapwood as sw
from model_cases import KINDS, OF_TARGETS, fitted, foreign, frame, signal, two_classes
from sapwood.errors import ParameterError, ParameterTypeError
from sapwood.explain import (
    counterfactual,
    decision_path,
    diff,
    importance,
    partial_dependence,
    shap_interaction_values,
    shap_values,
    trees_as_rules,
)
from sapwood.explain.nodes import nodes_frame
from sapwood.keywords import keywords_of
from sapwood.model import Model


def assert_same(one: object, other: object) -> None:
    """Results are equal in all fields, to the last bit."""
    assert str(one) == str(other)
    for field in dataclasses.fields(one):
        values = [getattr(each, field.name) for each in (one, other)]
        # lists, since NaN among objects is not equal to NaN otherwise
        np.testing.assert_equal(*(value.tolist() if isinstance(value, np.ndarray) else value for value in values))


@pytest.mark.parametrize("kind", KINDS)
def test_every_explanation_of_every_model(kind):
    estimator, X = fitted(kind), frame()
    model, row = estimator.model_, X.iloc[[3]]
    background = {} if model.is_sum else {"background": X.iloc[:5]}
    assert_same(shap_values(model, X.iloc[:9], **background), shap_values(estimator, X.iloc[:9], **background))
    assert_same(importance(model, X), importance(estimator, X))
    assert_same(partial_dependence(model, X, "age"), partial_dependence(estimator, X, "age"))
    assert_same(decision_path(model, row), decision_path(estimator, row))
    assert_same(trees_as_rules(model), trees_as_rules(estimator))
    assert nodes_frame(model).equals(estimator.to_frame())
    target = {} if model.is_classifier else {"target": (np.ravel(estimator.predict(row))[0] + 0.01, None)}
    if kind in OF_TARGETS:
        target = {"target": [target["target"], (None, None)]}
    assert_same(counterfactual(model, row, **target), counterfactual(estimator, row, **target))


def test_interactions():
    estimator, X = fitted("newton three"), frame()
    assert_same(shap_interaction_values(estimator.model_, X), shap_interaction_values(estimator, X))


@pytest.mark.parametrize("kind", ["forest numbers", "newton two", "adaboost numbers"])
def test_shuffled_columns(kind):
    estimator, X = fitted(kind), frame()
    y = two_classes(X) if kind == "newton two" else signal(X)
    found, expected = importance(estimator.model_, X, y), importance(estimator, X, y)
    at = [expected.names.index(name) for name in found.names]
    for name, values in found.measures.items():
        np.testing.assert_array_equal(values, expected[name][at])
    assert set(expected.measures) - set(found.measures) <= {"oob_permutation", "oob_permutation_se"}


def test_scoring_of_a_model():
    model, X = fitted("newton numbers").model_, frame()
    own = importance(model, X, signal(X), scoring=lambda model, X, y: -float(np.abs(model.predict(X) - y).mean()))
    assert own["permutation"].max() > 0
    with pytest.raises(ParameterError, match="scoring='r2' needs an estimator, but model is the Model of one"):
        importance(model, X, signal(X), scoring="r2")
    with pytest.raises(ParameterError, match="scoring=None is not allowed for NewtonBoostingRanker"):
        importance(fitted("newton ranks").model_, X, signal(X))


def test_diff_of_models_has_no_parameters():
    X = frame()
    before, after = (sw.NewtonBoostingRegressor(n_estimators=n).fit(X, signal(X)) for n in (2, 3))
    whole, found = diff(before, after, X), diff(before.model_, after.model_, X)
    assert [change.name for change in whole.parameters] == ["n_estimators"]
    assert found.parameters == ()
    np.testing.assert_array_equal(found.moves.change, whole.moves.change)
    np.testing.assert_array_equal(found.shap.values, whole.shap.values)
    assert [tree.status for tree in found.trees.trees] == [tree.status for tree in whole.trees.trees]


@pytest.mark.parametrize("kind", ["bagging", "gradient"])
def test_models_with_estimators_of_other_libraries(kind):
    estimator, X, y = foreign(kind)
    assert isinstance(estimator.model_, Model)
    assert_same(importance(estimator.model_, X, y), importance(estimator, X, y))
    assert_same(partial_dependence(estimator.model_, X, 0), partial_dependence(estimator, X, 0))


@pytest.mark.parametrize(
    ("call", "arguments", "hint"),
    [
        (partial_dependence, {"grid_resolutoin": 3}, "Did you mean 'grid_resolution'"),
        (partial_dependence, {"percentile": (0, 1)}, "Did you mean 'percentiles'"),
        (importance, {"n_repeat": 2}, "Did you mean 'n_repeats'"),
        (importance, {"seed": 2}, "random_state"),
    ],
)
def test_unknown_options_are_refused_with_the_nearest_name(call, arguments, hint):
    features = {"features": "age"} if call is partial_dependence else {}
    with pytest.raises(ParameterTypeError, match=hint):
        call(fitted("tree numbers"), frame(), **features, **arguments)


@pytest.mark.parametrize("call", [partial_dependence, importance])
def test_every_option_is_documented(call):
    names = keywords_of(call)
    assert {"n_jobs", "values" if call is partial_dependence else "n_repeats"} <= set(names)
    assert [name for name in names if f"        {name}:" not in call.__doc__] == []
