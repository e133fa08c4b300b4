import sys

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import load_iris

import sapwood as sw
from model_cases import KINDS, fitted, foreign, frame, three_classes
from sapwood.errors import InputTypeError, MissingExtraError, NotFittedError


def test_a_worked_example():
    model = sw.DecisionTreeClassifier(max_depth=1).fit([[0.0], [1.0], [2.0], [3.0]], ["a", "a", "b", "b"])
    frame = model.to_frame()
    assert frame.columns.tolist() == [
        *("tree", "node", "depth", "parent", "left", "right", "is_leaf", "feature", "threshold", "levels"),
        *("missing_left", "value a", "value b", "n_rows", "weight", "impurity", "gain"),
    ]
    assert frame["node"].tolist() == [0, 1, 2]
    assert frame["depth"].tolist() == [0, 1, 1]
    assert frame["parent"].tolist() == [-1, 0, 0]
    assert frame["left"].tolist() == [1, -1, -1]
    assert frame["right"].tolist() == [2, -1, -1]
    assert frame["is_leaf"].tolist() == [False, True, True]
    assert frame["feature"][0] == "x0"
    assert frame["threshold"][0] == 1.5
    assert frame["value a"].tolist() == [0.5, 1.0, 0.0]
    assert frame["n_rows"].tolist() == [4, 2, 2]
    assert frame["gain"].tolist() == [2.0, 0.0, 0.0]


@pytest.mark.parametrize("kind", KINDS)
def test_every_node_of_every_tree_is_there(kind):
    model = fitted(kind)
    found, tree_sum = model.to_frame(), model.model_.trees
    assert len(found) == sum(member.tree.node_count for member in tree_sum)
    assert found["tree"].nunique() == len(tree_sum)
    assert (found["is_leaf"] == found["feature"].isna()).all()
    assert (found["gain"] > -1e-9).all()
    parents = found[~found["is_leaf"]]
    inside = found[found["parent"] >= 0]
    assert len(inside) == 2 * len(parents)
    by_parent = inside.groupby(["tree", "parent"])["n_rows"].sum()
    assert by_parent.tolist() == parents["n_rows"].tolist()


def test_rounds_and_scores_of_boosting():
    found = fitted("newton three").to_frame()
    assert found["round"].tolist() == (found["tree"] // 3).tolist()
    assert found.groupby("tree")["score"].first().tolist() == ["low", "mid", "top"] * 4
    assert "value" in found.columns
    assert found["impurity"].isna().all()
    assert (found.loc[~found["is_leaf"], "gain"] > 0).all()


def test_levels_are_names_and_gains_are_importances():
    X = frame()
    model = sw.DecisionTreeClassifier().fit(X, three_classes(X))
    found = model.to_frame()
    categories = found[found["feature"] == "colour"]
    assert len(categories)
    assert all(set(own) < {"red", "green", "blue"} for own in categories["levels"])
    assert categories["threshold"].isna().all()
    gain = found.groupby("feature")["gain"].sum().reindex(X.columns, fill_value=0.0)
    np.testing.assert_allclose(gain / gain.sum(), model.feature_importances_, atol=1e-12)


def test_a_frame_of_polars_without_pandas(monkeypatch):
    model = fitted("tree classes")
    monkeypatch.setitem(sys.modules, "pandas", None)
    found = model.to_frame()
    assert isinstance(found, pl.DataFrame)
    assert found.height == model.tree_.node_count
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(MissingExtraError, match="pip install pandas"):
        model.to_frame()


def test_models_without_trees_are_refused():
    with pytest.raises(NotFittedError):
        sw.RandomForestClassifier().to_frame()
    with pytest.raises(InputTypeError, match="there are no trees"):
        foreign("bagging")[0].to_frame()


def test_a_lone_root():
    data = load_iris()
    found = sw.DecisionTreeRegressor(max_leaf_nodes=2, min_samples_split=151).fit(data.data, data.target).to_frame()
    assert len(found) == 1
    assert found["value"].tolist() == [1.0]
