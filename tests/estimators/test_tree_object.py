"""`tree_` answers as scikit-learn's does, and takes its criterion "friedman_mse"."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn import tree as scikit_learn
from sklearn.datasets import load_diabetes, load_iris

from sapwood import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreesRegressor,
    RandomForestRegressor,
    prune_by_cv,
)
from sapwood.errors import InputError, InputTypeError

X, y = load_iris(return_X_y=True)
X32 = X.astype(np.float32)
Y2 = np.column_stack([y, y[::-1]])


@pytest.mark.parametrize("target", [y, Y2], ids=["one output", "two outputs"])
@pytest.mark.parametrize("kind", ["DecisionTreeClassifier", "DecisionTreeRegressor"])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_matrix])
def test_answers_have_the_shape_of_scikit_learns(kind: str, target: np.ndarray, make: type) -> None:
    own = {"DecisionTreeClassifier": DecisionTreeClassifier, "DecisionTreeRegressor": DecisionTreeRegressor}[kind]
    model = own(max_depth=3).fit(X32, target)
    peer = getattr(scikit_learn, kind)(max_depth=3, random_state=0).fit(X32, target)
    rows = make(X32)
    for name in ("apply", "predict", "decision_path"):
        found, expected = getattr(model.tree_, name)(rows), getattr(peer.tree_, name)(rows)
        assert found.shape[0] == expected.shape[0]
        assert found.dtype == expected.dtype
        assert type(found).__name__ == type(expected).__name__
        assert found.ndim == expected.ndim
    np.testing.assert_array_equal(model.tree_.predict(rows).shape, peer.tree_.predict(rows).shape)


def test_answers_are_the_estimators() -> None:
    model = DecisionTreeClassifier(max_depth=4).fit(X, y)
    np.testing.assert_array_equal(model.tree_.apply(X), model.apply(X))
    np.testing.assert_array_equal(model.tree_.predict(X), model.predict_proba(X))
    np.testing.assert_array_equal(model.tree_.decision_path(X).toarray(), model.decision_path(X).toarray())
    lone = DecisionTreeClassifier().fit(X, np.zeros(len(X)))
    assert not lone.tree_.apply(X).any()
    assert model.tree_.apply(X[:0]).shape == (0,)


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
def test_categories_and_missing_values() -> None:
    random = np.random.default_rng(0)
    n = 400
    frame = pd.DataFrame({"c": random.choice(list("abcdefgh"), n), "x": random.normal(size=n)})
    frame.loc[random.random(n) < 0.2, "c"] = None
    frame.loc[random.random(n) < 0.2, "x"] = np.nan
    target = frame["c"].isin(["a", "d"]) * 1.0 + frame["x"].fillna(0.3) + random.normal(size=n) / 5
    model = DecisionTreeRegressor(min_samples_leaf=3).fit(frame, target)
    cells = model.model_.match(frame).block(0, n)
    np.testing.assert_array_equal(model.tree_.apply(cells), model.apply(frame))
    unseen = frame.assign(c="new")
    np.testing.assert_array_equal(model.tree_.apply(model.model_.match(unseen).block(0, n)), model.apply(unseen))


def test_what_is_no_matrix_is_refused() -> None:
    tree = DecisionTreeClassifier(max_depth=2).fit(X, y).tree_
    with pytest.raises(InputTypeError, match="list"):
        tree.apply(X.tolist())
    with pytest.raises(InputTypeError, match="matrix of numbers"):
        tree.predict(X.astype(object))
    with pytest.raises(InputError, match="4 columns"):
        tree.decision_path(X[:, :3])
    with pytest.raises(InputError, match="4 columns"):
        tree.apply(X[0])


@pytest.mark.parametrize("kind", [DecisionTreeRegressor, RandomForestRegressor, ExtraTreesRegressor])
def test_friedman_mse_is_the_squared_error(kind: type) -> None:
    rows, target = load_diabetes(return_X_y=True)
    options = {"random_state": 0} | ({} if kind is DecisionTreeRegressor else {"n_estimators": 3})
    one, other = (kind(criterion=name, **options).fit(rows, target) for name in ("squared_error", "friedman_mse"))
    np.testing.assert_array_equal(one.predict(rows), other.predict(rows))
    assert other.get_params()["criterion"] == "friedman_mse"


def test_a_tree_of_friedman_mse_is_pruned() -> None:
    rows, target = load_diabetes(return_X_y=True)
    names = ("squared_error", "friedman_mse")
    one, other = (prune_by_cv(DecisionTreeRegressor(criterion=name, random_state=0), rows, target) for name in names)
    assert one.alpha == other.alpha


@pytest.mark.parametrize("rule", ["min", "1se"])
def test_pruning_by_a_score_whose_errors_are_below_zero(rule: str) -> None:
    pruned = prune_by_cv(DecisionTreeClassifier(random_state=0), X, y, scoring="accuracy", rule=rule)
    assert pruned.estimator.get_n_leaves() < 10
