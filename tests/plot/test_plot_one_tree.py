import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier as TheirForest
from sklearn.neighbors import KNeighborsClassifier

from sapwood import (
    AdaBoostClassifier,
    BaggingClassifier,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    RandomForestClassifier,
)
from sapwood.errors import InputTypeError, NotFittedError, ParameterError, ParameterTypeError
from sapwood.plot import plot_decision_regions, plot_learning_curves, plot_oob_curve, plot_tree
from sapwood.show import export_graphviz
from sapwood.show.node_label import TreeStyle

ENSEMBLES = {
    "forest": RandomForestClassifier(3, max_depth=2, random_state=0),
    "bagging": BaggingClassifier(DecisionTreeClassifier(max_depth=2), n_estimators=3, max_features=2, random_state=0),
    "adaboost": AdaBoostClassifier(n_estimators=3),
    "newton": NewtonBoostingClassifier(recipe="xgboost", n_estimators=3, max_depth=2),
    "gradient": GradientBoostingClassifier(n_estimators=3, max_depth=2),
}
NAMES = ["sepal $length", "sepal_width", "petal length", "petal width"]


@pytest.fixture(scope="module")
def iris():
    data = load_iris()
    return pd.DataFrame(data.data, columns=NAMES), data.target_names[data.target]


@pytest.fixture(scope="module")
def fitted(iris):
    return {name: model.fit(*iris) for name, model in ENSEMBLES.items()}


def boxes(ax):
    return [text.get_text() for text in ax.texts if text.get_bbox_patch() is not None]


@pytest.mark.parametrize("name", ["forest", "bagging", "adaboost"])
def test_a_member_is_drawn_as_if_alone(fitted, name):
    model = fitted[name]
    ax = plot_tree(model, 2)
    assert boxes(ax) == boxes(plot_tree(model.estimators_[2], ax=plt.subplots()[1]))
    assert ax.get_title() == "tree 2 (of 0 to 2)"


@pytest.mark.parametrize("name", ["newton", "gradient"])
def test_a_boosted_tree_is_picked_by_number_or_by_round_and_score(fitted, name):
    model = fitted[name]
    tree = model.ensemble_.rounds[1][2]
    ax = plot_tree(model, 5)
    assert len(boxes(ax)) == tree.node_count
    assert ax.get_title() == "round 1 (of 0 to 2), virginica"
    leaf = boxes(ax)[-1].splitlines()
    assert leaf[0].startswith("samples = ")
    assert float(leaf[1].removeprefix("value = ")) == pytest.approx(tree.value[-1, 0, 0], abs=6e-4)
    for pair in ((1, 2), (1, "virginica")):
        assert boxes(plot_tree(model, pair, ax=plt.subplots()[1])) == boxes(ax)


def test_gains_stand_at_inner_nodes_and_colours_show_the_way():
    x = np.arange(40.0)[:, None]
    model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, max_depth=1, reg_lambda=0.0).fit(
        x, np.repeat([-1.0, 1.0], 20)
    )
    ax = plot_tree(model, 1)
    assert ax.get_title() == "round 1 (of 0 to 1)"
    tree = model.ensemble_.rounds[1][0]
    gain = tree.compute_feature_importances(normalize=False)[0] * tree.weighted_n_node_samples[0]
    assert f"gain = {gain:.3f}".rstrip("0") in boxes(ax)[0]
    assert not any("gain" in text for text in boxes(ax)[1:])
    _, low, high = (text.get_bbox_patch().get_facecolor() for text in ax.texts if "value" in text.get_text())
    assert low[2] > low[0]  # blue lowers
    assert high[0] > high[2]  # orange raises


@pytest.mark.parametrize("draw", [lambda model: plot_tree(model, 0), plot_learning_curves, plot_oob_curve])
def test_a_fitted_model_of_another_library_is_not_called_unfitted(iris, draw):
    theirs = TheirForest(2).fit(*iris)
    with pytest.raises(InputTypeError, match=r"is a sklearn\.ensemble\.RandomForestClassifier, but must be "):
        draw(theirs)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_a_model_is_drawn_as_its_estimator(fitted, name):
    model = fitted[name]
    ax = plot_tree(model.model_, 2, ax=plt.subplots()[1])
    assert boxes(ax) == boxes(plot_tree(model, 2))
    assert boxes(plot_tree(model, -1, ax=ax)) == boxes(plot_tree(model, len(model.model_.trees) - 1))


def test_a_model_has_no_record_of_its_training(fitted):
    for draw, name in ((plot_learning_curves, "newton"), (plot_oob_curve, "forest")):
        with pytest.raises(InputTypeError, match=r"is a Model, which has no record of its training"):
            draw(fitted[name].model_)


def test_options_are_known_by_name(fitted):
    with pytest.raises(ParameterTypeError, match=r"has no parameter 'precison'\. Did you mean 'precision'"):
        plot_tree(fitted["forest"], 0, precison=2)
    for option in TreeStyle.__annotations__:
        assert f"{option}: " in plot_tree.__doc__
        assert f"{option}: " in export_graphviz.__doc__


def test_without_impurity_there_is_no_gain(fitted):
    assert not any("gain" in text for text in boxes(plot_tree(fitted["newton"], 0, impurity=False)))


@pytest.mark.parametrize(
    ("name", "tree", "error", "words"),
    [
        ("forest", None, InputTypeError, "RandomForestClassifier has many trees, but one is wanted. Use tree=0"),
        ("forest", 3, ParameterError, "tree=3 is not allowed: the model has 3 trees, .* from 0 to 2"),
        ("forest", -4, ParameterError, "tree=-4"),
        ("forest", "x", ParameterError, "tree='x'"),
        ("newton", 9, ParameterError, "from 0 to 8"),
        ("newton", (3, 0), ParameterError, r"round \(0 to 2\)"),
        ("newton", (0, 3), ParameterError, r"score \(0 to 2, or of \['setosa'"),
        ("newton", (0, "tulip"), ParameterError, "tulip"),
        ("newton", (0, 1, 2), ParameterError, r"tree=\(0, 1, 2\)"),
    ],
)
def test_bad_numbers_are_named(fitted, name, tree, error, words):
    with pytest.raises(error, match=words):
        plot_tree(fitted[name], tree)
    assert not plt.get_fignums()


def test_other_models_are_refused(iris):
    single = DecisionTreeClassifier(max_depth=1).fit(*iris)
    with pytest.raises(ParameterError, match="tree=1 is not allowed: the model has 1 tree"):
        plot_tree(single, 1)
    with pytest.raises(NotFittedError):
        plot_tree(RandomForestClassifier(), 0)
    foreign = BaggingClassifier(KNeighborsClassifier(), n_estimators=2).fit(*iris)
    with pytest.raises(InputTypeError, match="This BaggingClassifier has estimators of another library"):
        plot_tree(foreign, 1)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_regions_of_every_kind_of_model(fitted, iris, name):
    ax = plot_decision_regions(fitted[name].model_, *iris, features=(2, "petal width"), resolution=20)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["setosa", "versicolor", "virginica"]
    assert ax.collections[0].get_array().shape == (20, 20, 3)


def test_regions_of_a_boosted_regressor(iris):
    x, _ = iris
    model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=2).fit(x, x["petal width"])
    ax = plot_decision_regions(model, x, x["petal width"], features=(0, 2), resolution=10)
    assert len(ax.figure.axes) == 2
