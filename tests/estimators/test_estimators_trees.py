"""What the decision trees do beyond scikit-learn's checks: attributes, several outputs, class weights, explanations."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from law_cases import assert_same_tree
from sapwood import DecisionTreeClassifier, DecisionTreeRegressor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 3))
Y = np.digitize(X[:, 0] + 0.5 * RNG.normal(size=120), [-0.5, 0.5])
COLOURS = pd.DataFrame({"colour": ["red", "blue", "red", "green", "blue", "green"] * 5, "x": np.arange(30.0)})
WARM = (COLOURS["colour"] == "red").astype(int).to_numpy()


def test_attributes():
    model = DecisionTreeClassifier().fit(X, Y)
    assert model.n_features_in_ == 3
    assert model.n_outputs_ == 1
    assert model.n_classes_ == 3
    assert model.classes_.tolist() == [0, 1, 2]
    assert model.max_features_ == 3
    assert not hasattr(model, "feature_names_in_")
    model.fit(pd.DataFrame(X, columns=list("abc")), Y)
    assert model.feature_names_in_.tolist() == ["a", "b", "c"]
    model.fit(X, Y)
    assert not hasattr(model, "feature_names_in_")
    assert model.get_depth() == model.tree_.max_depth
    assert model.get_n_leaves() == model.tree_.n_leaves


def test_importances():
    model = DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert model.feature_importances_.sum() == pytest.approx(1.0)
    assert model.feature_importances_.argmax() == 0


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_importances_of_a_lone_leaf_are_zero(kind):
    model = kind().fit(X, np.ones(120, dtype=int))
    assert model.tree_.node_count == 1
    assert model.feature_importances_.tolist() == [0.0, 0.0, 0.0]
    assert model.get_depth() == 0


@pytest.mark.parametrize("kind", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_two_outputs(kind):
    both = np.column_stack([Y, Y[::-1] % 2])
    model = kind(max_depth=4).fit(X, both)
    assert model.n_outputs_ == 2
    assert model.predict(X).shape == (120, 2)
    if kind is DecisionTreeClassifier:
        assert [labels.tolist() for labels in model.classes_] == [[0, 1, 2], [0, 1]]
        assert [shares.shape for shares in model.predict_proba(X)] == [(120, 3), (120, 2)]
        assert [shares.shape for shares in model.predict_log_proba(X)] == [(120, 3), (120, 2)]
    twice = kind(max_depth=4).fit(X, np.column_stack([Y, Y]))
    np.testing.assert_array_equal(twice.tree_.threshold, kind(max_depth=4).fit(X, Y).tree_.threshold)


def test_one_column_is_one_output():
    model = DecisionTreeRegressor().fit(X, Y[:, None])
    assert model.predict(X).shape == (120,)


def test_class_weight_is_a_weight():
    by_class = DecisionTreeClassifier(class_weight={0: 2.0, 1: 0.5}).fit(X, Y)
    by_row = DecisionTreeClassifier().fit(X, Y, sample_weight=np.array([2.0, 0.5, 1.0])[Y])
    assert_same_tree(by_class.tree_, by_row.tree_)
    balanced = DecisionTreeClassifier(class_weight="balanced").fit(X, Y)
    share = 120 / (3 * np.bincount(Y))
    assert_same_tree(balanced.tree_, DecisionTreeClassifier().fit(X, Y, sample_weight=share[Y]).tree_)


@pytest.mark.parametrize("criterion", ["gini", "entropy", "error"])
@pytest.mark.parametrize("classes", [2, 3])
def test_a_class_of_weight_zero_is_known_but_never_predicted(criterion, classes):
    y = np.minimum(Y, classes - 1)
    model = DecisionTreeClassifier(criterion=criterion, class_weight={0: 0}).fit(X, y)
    assert model.classes_.tolist() == list(range(classes))
    assert (model.predict_proba(X)[:, 0] == 0).all()
    without = DecisionTreeClassifier(criterion=criterion).fit(X[y > 0], y[y > 0])
    np.testing.assert_array_equal(model.predict(X), without.predict(X))
    np.testing.assert_array_equal(model.tree_.threshold, without.tree_.threshold)


def test_class_weight_of_two_outputs():
    both = np.column_stack([Y, Y[::-1] % 2])
    given = [{0: 2.0}, None]
    first = DecisionTreeClassifier(class_weight=given).fit(X, both)
    second = DecisionTreeClassifier().fit(X, both, sample_weight=np.where(Y == 0, 2.0, 1.0))
    assert_same_tree(first.tree_, second.tree_)


@pytest.mark.parametrize("unseen", ["missing", "node"])
def test_the_explanation_ends_with_the_prediction(unseen):
    model = DecisionTreeClassifier(unseen=unseen).fit(COLOURS, WARM)
    row = {"colour": "pink", "x": 3.0}
    predicted = model.predict(pd.DataFrame([row]))[0]
    words = model.explain_row(row)
    assert f"Prediction: {predicted}" in words
    assert "colour = pink was not seen in training" in words
    assert ("the path ends here" in words) == (unseen == "node")
    share = model.predict_proba(pd.DataFrame([row])).max()
    assert f"{100 * share:.0f}" in words.splitlines()[-1] or f"{100 * share:.1f}" in words.splitlines()[-1]


def test_in_a_pipeline_and_a_search():
    pipeline = make_pipeline(StandardScaler(), DecisionTreeClassifier(random_state=0))
    search = GridSearchCV(pipeline, {"decisiontreeclassifier__max_depth": [1, 3, 8]}, cv=3).fit(X, Y)
    assert search.best_score_ > 0.5
    assert repr(DecisionTreeClassifier(max_depth=3)) == "DecisionTreeClassifier(max_depth=3)"
