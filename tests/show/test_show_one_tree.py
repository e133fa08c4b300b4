"""Text and graphviz of any tree of any model, chosen as in `plot_tree`."""

import numpy as np
import pytest
from sklearn.datasets import load_iris

import sapwood as sw
from sapwood.errors import InputTypeError, NotFittedError, ParameterError, ParameterTypeError

X, NUMBERS = load_iris(return_X_y=True)
Y = np.array(["setosa", "versi\ncolor", "virginica"])[NUMBERS]


@pytest.fixture(scope="module")
def models():
    return {
        "forest": sw.RandomForestClassifier(3, max_depth=2, random_state=0).fit(X, Y),
        "bagging": sw.BaggingClassifier(n_estimators=3, random_state=0).fit(X, Y),
        "adaboost": sw.AdaBoostClassifier(n_estimators=3).fit(X, Y),
        "newton": sw.NewtonBoostingClassifier(recipe="xgboost", n_estimators=3, max_depth=2).fit(X, Y),
        "gradient": sw.GradientBoostingRegressor(n_estimators=3, max_depth=2).fit(X, NUMBERS),
    }


def leaf_values(text):
    return [float(line.split("[")[1].rstrip("]")) for line in text.splitlines() if "value:" in line]


@pytest.mark.parametrize("name", ["forest", "bagging", "adaboost"])
def test_a_member_reads_as_it_does_by_itself(models, name):
    for t, member in enumerate(models[name].estimators_):
        assert sw.export_text(models[name], tree=t) == sw.export_text(member)
        assert sw.export_graphviz(models[name], tree=t, filled=True) == sw.export_graphviz(member, filled=True)


@pytest.mark.parametrize(("name", "n_scores"), [("newton", 3), ("gradient", 1)])
def test_a_boosted_tree_says_what_it_adds(models, name, n_scores):
    model = models[name]
    for t in range(3 * n_scores):
        tree = model.ensemble_.rounds[t // n_scores][t % n_scores]
        text = sw.export_text(model, tree=t, decimals=6)
        np.testing.assert_allclose(leaf_values(text), tree.value[tree.is_leaf, 0, 0], rtol=0.05, atol=1e-6)
        dot = sw.export_graphviz(model, tree=t, filled=True)
        assert dot.count(" [label=") == tree.node_count
        assert "fillcolor" in dot


def test_a_round_and_a_score_name_a_tree(models):
    newton = models["newton"]
    for k, name in enumerate(["setosa", "versi\ncolor", "virginica"]):
        assert sw.export_text(newton, tree=(1, name)) == sw.export_text(newton, tree=3 + k)
        assert sw.export_graphviz(newton, tree=(1, k)) == sw.export_graphviz(newton, tree=3 + k)


@pytest.mark.parametrize("export", [sw.export_text, sw.export_graphviz])
def test_a_model_is_shown_as_its_estimator(models, export):
    for estimator in models.values():
        assert export(estimator.model_, tree=1) == export(estimator, tree=1)
        assert export(estimator, tree=-1) == export(estimator, tree=len(estimator.model_.trees) - 1)
    single = sw.DecisionTreeClassifier(max_depth=2).fit(X, Y)
    assert export(single.model_) == export(single, tree=0) == export(single)


def test_options_are_known_by_name(models, tmp_path):
    sw.export_graphviz(models["forest"], tmp_path / "tree.dot", tree=0, precision=1, node_ids=True)
    assert "node #0" in (tmp_path / "tree.dot").read_text("utf-8")
    with pytest.raises(ParameterTypeError, match=r"has no parameter 'node_id'\. Did you mean 'node_ids'"):
        sw.export_graphviz(models["forest"], tree=0, node_id=True)


@pytest.mark.parametrize("export", [sw.export_text, sw.export_graphviz])
def test_mistakes_say_what_to_write(models, export):
    with pytest.raises(InputTypeError, match=r"RandomForestClassifier has many trees.* Use tree=0 for the first"):
        export(models["forest"])
    with pytest.raises(InputTypeError, match=r"tree=\(0, 'setosa'\) for a round and a score"):
        export(models["newton"])
    with pytest.raises(ParameterError, match="tree=9 is not allowed: the model has 9 trees"):
        export(models["newton"], tree=9)
    with pytest.raises(ParameterError, match=r"tree=\(0, 'rose'\) is not allowed.* a score \(0 to 2, or of \['setosa'"):
        export(models["newton"], tree=(0, "rose"))
    with pytest.raises(ParameterError, match="the model has 1 tree, so it must be an integer from 0 to 0"):
        export(sw.DecisionTreeClassifier().fit(X, Y), tree=1)
    with pytest.raises(NotFittedError):
        export(sw.NewtonBoostingClassifier(recipe="xgboost"), tree=0)
    with pytest.raises(InputTypeError, match="decision_tree is a int"):
        export(3)
