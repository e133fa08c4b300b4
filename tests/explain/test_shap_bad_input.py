"""Mistakes with Shapley values: each is answered with what to do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeRegressor as TheirTree

from sapwood import AdaBoostRegressor, BaggingClassifier, DecisionTreeRegressor, RandomForestClassifier, SapwoodError
from sapwood.explain import shap_interaction_values, shap_values

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 3))
Y = X[:, 0] + X[:, 1] ** 2


def tree() -> Any:
    return DecisionTreeRegressor(max_depth=3).fit(X, Y)


def median(n_features: int = 3) -> Any:
    wide = RNG.normal(size=(200, n_features))
    return AdaBoostRegressor(DecisionTreeRegressor(max_depth=5), n_estimators=4).fit(wide, wide.sum(axis=1))


def foreign() -> Any:
    return BaggingClassifier(LogisticRegression(), n_estimators=2).fit(X, Y > 0)


MISTAKES: dict[str, tuple[Callable[[], Any], type[Exception], str]] = {
    "class": (lambda: shap_values(DecisionTreeRegressor, X), TypeError, r"Fit DecisionTreeRegressor\(\) first"),
    "not fitted": (lambda: shap_values(RandomForestClassifier(), X), ValueError, "not fitted yet. Call fit"),
    "scikit-learn": (lambda: shap_values(TheirTree().fit(X, Y), X), TypeError, "must be a fitted model of Sapwood"),
    "pipeline": (lambda: shap_values(make_pipeline(tree()), X), TypeError, "Pass its last step"),
    "nothing": (lambda: shap_values(None, X), TypeError, "model is a NoneType"),
    "other learners": (lambda: shap_values(foreign(), X), TypeError, "another library"),
    "columns": (lambda: shap_values(tree(), X[:, :2]), ValueError, "X has 2 features, but DecisionTreeRegressor"),
    "no rows": (lambda: shap_values(tree(), X[:0]), ValueError, "0 sample"),
    "background": (lambda: shap_values(tree(), X, background=X[:, :2]), ValueError, "^background has 2 features"),
    "no background rows": (
        lambda: shap_values(tree(), X, background=X[:0]),
        ValueError,
        r"0 sample.* Pass at least one row in background\.$",
    ),
    "empty background": (
        lambda: shap_values(tree(), X, background=[]),
        ValueError,
        "background must have rows and col",
    ),
    "scalar background": (
        lambda: shap_values(tree(), X, background=3.0),
        ValueError,
        "background must have rows and columns",
    ),
    "background of words": (lambda: shap_values(tree(), X, background="abc"), TypeError, "^background is 'abc'"),
    "flag": (lambda: shap_values(tree(), X, check_additivity="no"), ValueError, "check_additivity='no' is not allowed"),
    "threads": (lambda: shap_values(tree(), X, n_jobs=0), ValueError, "n_jobs=0 is not allowed"),
    "median": (lambda: shap_values(median(), X), ValueError, "background=None is not allowed for AdaBoostRegressor"),
    "median of many": (
        lambda: shap_values(median(14), X[:, [0] * 14], background=X[:, [0] * 14]),
        ValueError,
        "model=AdaBoostRegressor uses 1[34] features; .* at most 12 features",
    ),
    "pairs of a median": (lambda: shap_interaction_values(median(), X), ValueError, "has no interaction values"),
    "pairs and background": (
        lambda: shap_interaction_values(tree(), X, background=X),
        ValueError,
        "background is not allowed for shap_interaction_values.* Leave it out",
    ),
    "pairs of nothing": (lambda: shap_interaction_values("model", X), TypeError, "model is a str"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes_are_explained(name: str) -> None:
    mistake, kind, message = MISTAKES[name]
    with pytest.raises(SapwoodError, match=message) as caught:
        mistake()
    assert isinstance(caught.value, kind)
