import numpy as np
import pandas as pd
import pytest

import sapwood as sw
from model_cases import KINDS, fitted, foreign, frame
from sapwood.errors import InputError, InputTypeError, NotFittedError, ParameterError
from sapwood.explain import decision_path
from sapwood.predictor import Predictor


def test_a_single_tree_is_told_as_it_tells_itself():
    X = frame()
    for kind in ("tree numbers", "tree classes", "two outputs"):
        model = fitted(kind)
        found = decision_path(model, X.iloc[[5]])
        assert str(found) == model.explain_row(X.iloc[[5]])
        assert found.n_trees == len(found.paths) == 1


def test_a_worked_example():
    X = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0]})
    model = sw.RandomForestClassifier(n_estimators=2, prior_weight=0.0, random_state=0)
    model.fit(X, ["no", "no", "yes", "yes"], rows=[[0, 1, 2, 3], [1, 2, 2, 2]])
    found = decision_path(model, {"a": 3})
    assert str(found).splitlines() == [
        "Prediction: yes",
        "Probabilities: yes 100 %, no 0 %",
        "2 trees",
        "Tree 0 predicts 100 % for yes, 50 points more than on average:",
        "  1. a = 3 > 1.5",
        "Tree 1 predicts 100 % for yes, 25 points more than on average:",
        "  1. a = 3 > 1.5",
    ]
    assert found.prediction == "yes"
    assert found.probabilities == {"no": 0.0, "yes": 1.0}
    assert [path.difference for path in found.paths] == [0.5, 0.25]
    assert repr(found) == str(found)


@pytest.mark.parametrize("kind", KINDS)
def test_trees_are_those_that_say_most(kind):
    model, X = fitted(kind), frame()
    tree_sum, table = model.model_.trees, model.model_.match(X.iloc[[7]])
    found = decision_path(model, X.iloc[7].to_dict(), most=2)
    assert len(found.paths) == min(2, len(tree_sum))
    differences = []
    for t, member in enumerate(tree_sum):
        leaf = Predictor(member.tree).leaves(table)[0]
        path = decision_path(model, X.iloc[[7]], tree=t).paths[0]
        assert (path.tree, path.steps[-1].node) == (t, leaf)
        if member.values.shape[1] == 1:
            assert path.value == member.values[leaf, 0]
            leaves = member.tree.is_leaf
            weights = member.tree.weighted_n_node_samples[leaves]
            assert path.expected == pytest.approx(np.average(member.values[leaves, 0], weights=weights))
        about = path.about is None or "score of" not in path.about or path.about.endswith(str(found.prediction))
        differences.append(abs(path.difference) if about or len(tree_sum.base) == 1 else 0.0)
    expected = sorted(differences, reverse=True)[: len(found.paths)]
    assert [abs(path.difference) for path in found.paths] == pytest.approx(expected)
    predicted = model.predict(X.iloc[[7]])[0]
    assert found.prediction == (tuple(predicted) if np.ndim(predicted) else predicted)


def test_rounds_and_scores():
    model, row = fitted("newton three"), frame().iloc[[3]]
    found = decision_path(model, row, tree=(1, 2))
    assert (found.paths[0].tree, found.paths[0].round) == (5, 1)
    assert " to the score of top, " in str(found)
    for name in ("top", np.str_("top")):
        assert str(decision_path(model, row, tree=(1, name))) == str(found)
    assert "12 trees, 4 of them about this class" in str(decision_path(model, row))


def test_scores_of_classes_that_are_numbers():
    X = frame()
    model = sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=2, max_depth=2).fit(X, 1 + np.arange(len(X)) % 3)
    by_position, by_name = (decision_path(model, X.iloc[[3]], tree=(1, score)) for score in (1, "2"))
    assert by_position.paths[0].tree == by_name.paths[0].tree == 4
    assert "score of 2" in str(by_position)


def test_unseen_levels_and_missing_values():
    X = frame()
    row = {**X.iloc[3].to_dict(), "colour": "purple", "income": None}
    y = np.where(X["colour"] == "red", 3.0, X["income"].fillna(0.0) / 100)
    stop = sw.RandomForestRegressor(n_estimators=2, max_features=None, random_state=0, unseen="node").fit(X, y)
    assert "colour = purple was not seen in training, so the path ends here" in str(decision_path(stop, row))
    on = sw.NewtonBoostingRegressor(recipe="xgboost", n_estimators=2).fit(X, y)
    words = str(decision_path(on, row))
    assert "colour = purple was not seen in training, goes " in words
    assert "income is missing, goes " in words


@pytest.mark.parametrize(
    ("arguments", "error", "words"),
    [
        ({"tree": 4}, ParameterError, "tree=4 is not allowed: the model has 4 trees"),
        ({"tree": (0, 0)}, ParameterError, r"tree=\(0, 0\)"),
        ({"most": 0}, ParameterError, "most=0"),
        ({"row": [1, 2]}, InputError, "The row has 2 values"),
        ({"row": "age"}, InputTypeError, "is not a row"),
    ],
)
def test_bad_arguments_are_refused(arguments, error, words):
    with pytest.raises(error, match=words):
        decision_path(fitted("forest classes"), **{"row": frame().iloc[[0]], **arguments})


def test_bad_models_are_refused():
    with pytest.raises(NotFittedError):
        decision_path(sw.RandomForestClassifier(), [1])
    with pytest.raises(InputTypeError, match="there are no trees"):
        decision_path(foreign("adaboost")[0], [1.0, 2.0, 3.0])


def test_a_model_with_an_init_estimator():
    model, X, _ = foreign("gradient")
    assert decision_path(model, X[0]).prediction == pytest.approx(model.predict(X[:1])[0])
