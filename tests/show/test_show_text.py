import numpy as np
import pytest
from sklearn.datasets import load_iris, make_classification
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sklearn.tree import export_text as sklearn_text

import sapwood
from sapwood.errors import InputTypeError, NotFittedError, ParameterError, ParameterTypeError
from sapwood.show import export_text
from show.stand_in_tree import StandIn, from_sklearn, grow, number_columns, stand_in_column

COLOURS = ("blue", "green", "red", "yellow")


def small():
    columns = [stand_in_column("age", has_missing=True), stand_in_column("colour", "category", COLOURS)]
    node = (0, 1.0, ([8, 2],), (1, {"blue", "red"}, ([1, 4],), ([3, 0],)))
    return grow(node, columns, ["no", "yes"], missing_left=True)


def test_a_worked_example():
    assert export_text(small()) == (
        "|--- age <= 1.00 or missing\n"
        "|   |--- class: no\n"
        "|--- age >  1.00\n"
        "|   |--- colour in {blue, red}\n"
        "|   |   |--- class: yes\n"
        "|   |--- colour not in {blue, red}\n"
        "|   |   |--- class: no\n"
    )


def test_weights_names_and_spacing():
    text = export_text(
        small(), show_weights=True, feature_names=["a", "c"], class_names=["N", "Y"], spacing=1, decimals=1
    )
    assert text.splitlines()[:2] == ["|- a <= 1.0 or missing", "| |- weights: [8.0, 2.0] class: N"]


def test_a_deep_branch_is_truncated():
    assert export_text(small(), max_depth=0).splitlines()[-1] == "|   |--- truncated branch of depth 2"


@pytest.mark.parametrize("options", [{}, {"show_weights": True}, {"max_depth": 1}, {"spacing": 5, "decimals": 4}])
def test_numbers_are_laid_out_as_in_scikit_learn(options):
    data = load_iris()
    model = DecisionTreeClassifier(random_state=0).fit(data.data, data.target)
    ours = from_sklearn(model, data.feature_names)
    assert export_text(ours, **options) == sklearn_text(model, feature_names=data.feature_names, **options)


@pytest.mark.parametrize("outputs", [1, 2])
def test_regression_is_laid_out_as_in_scikit_learn(outputs):
    x = np.arange(40.0)[:, None]
    y = np.stack([np.floor(x[:, 0] / 5), -np.floor(x[:, 0] / 7)], axis=1)[:, :outputs]
    model = DecisionTreeRegressor(max_depth=2).fit(x, y)
    assert export_text(from_sklearn(model, ["x"])) == sklearn_text(model, feature_names=["x"])


def test_classes_of_several_outputs_are_all_named():
    x, y = make_classification(60, 4, random_state=0)
    model = DecisionTreeClassifier(max_depth=2).fit(x, np.stack([y, y + 5], axis=1))
    assert "class: 1, 6" in export_text(from_sklearn(model, "abcd"))


def test_a_lone_root():
    assert export_text(grow(([1, 2],), number_columns("x"), ["no", "yes"])) == "|--- class: yes\n"
    assert export_text(grow((2.5,), number_columns("x"))) == "|--- value: [2.50]\n"


def test_a_tiny_target_is_not_printed_as_zero():
    assert "value: [1.5e-08]" in export_text(grow((1.5e-8,), number_columns("x")))


def test_a_tree_may_be_deeper_than_the_recursion_limit():
    depth, nodes = 3000, 6001
    inner = np.arange(0, nodes - 1, 2)
    left, right = np.full(nodes, -1, np.int32), np.full(nodes, -1, np.int32)
    left[inner], right[inner] = inner + 1, inner + 2
    base = grow((0, 1.0, ([1, 0],), ([0, 1],)), number_columns("x"), ["no", "yes"]).tree_
    tree = type(base)(
        left,
        right,
        np.where(left >= 0, 0, -2).astype(np.int32),
        np.arange(nodes, dtype=float),
        np.zeros(nodes, bool),
        np.tile([[[0.5, 0.5]]], (nodes, 1, 1)),
        np.zeros(nodes),
        np.ones(nodes, np.int64),
        np.ones(nodes),
        np.full(nodes, -1, np.int32),
        np.zeros(0, np.uint32),
        np.zeros(1, np.int32),
        (2,),
    )
    model = StandIn(tree, number_columns("x"), np.array(["no", "yes"]))
    assert len(export_text(model, max_depth=depth + 1).splitlines()) == 2 * depth + depth + 1


@pytest.mark.parametrize(
    ("options", "error", "words"),
    [
        ({"feature_names": ["a"]}, ParameterError, "feature_names has 1 names, .* 2 features"),
        ({"feature_names": "ab"}, ParameterTypeError, "feature_names='ab'"),
        ({"class_names": ["a", "b", "c"]}, ParameterError, "class_names has 3 names, .* 2 classes"),
        ({"max_depth": -1}, ParameterError, "max_depth=-1"),
        ({"max_depth": None}, ParameterError, "max_depth=None"),
        ({"spacing": 0}, ParameterError, "spacing=0"),
        ({"decimals": 1.5}, ParameterError, "decimals=1.5"),
        ({"show_weights": "yes"}, ParameterError, "show_weights='yes'"),
    ],
)
def test_bad_arguments_are_named(options, error, words):
    with pytest.raises(error, match=words):
        export_text(small(), **options)


def test_an_estimator_must_be_fitted():
    with pytest.raises(NotFittedError, match=r"This DecisionTreeClassifier is not fitted yet. Call fit"):
        export_text(sapwood.DecisionTreeClassifier())
    with pytest.raises(InputTypeError, match="class DecisionTreeClassifier"):
        export_text(sapwood.DecisionTreeClassifier)
    with pytest.raises(InputTypeError, match="decision_tree is a int"):
        export_text(3)


def test_a_tree_of_another_library_is_named_with_its_module():
    theirs = DecisionTreeClassifier().fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(InputTypeError, match=r"is a sklearn\.tree\.DecisionTreeClassifier, but must be .* of Sapwood"):
        export_text(theirs)
