"""Every mistake with forests, bagging and AdaBoost ends in an error that names the culprit and offers a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from sapwood import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    SapwoodError,
)
from test_bad_input import REMEDY

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 3))
Y = (X[:, 0] > 0).astype(int)
NUMBERS = X[:, 0] ** 2
FRAME = pd.DataFrame({"age": X[:, 0], "speed": X[:, 1], "colour": ["red", "blue"] * 20})
CLASSIFIERS: tuple[Any, ...] = (RandomForestClassifier, ExtraTreesClassifier, BaggingClassifier, AdaBoostClassifier)
REGRESSORS: tuple[Any, ...] = (RandomForestRegressor, ExtraTreesRegressor, BaggingRegressor, AdaBoostRegressor)
ALL = (*CLASSIFIERS, *REGRESSORS)


def fit(kind: Any, X: Any = X, y: Any = None, weight: Any = None, **parameters: Any) -> Any:
    y = (Y if kind in CLASSIFIERS else NUMBERS) if y is None else y
    return kind(n_estimators=2, **parameters).fit(X, y, sample_weight=weight)


Mistake = tuple[Callable[[Any], Any], str]
MISTAKES: dict[str, Mistake] = {
    "no rows": (lambda kind: fit(kind, X[:0], Y[:0]), "(?i)0 (rows|sample)|minimum"),
    "one dimension": (lambda kind: fit(kind, X[:, 0]), "(?i)1D|dimension"),
    "too few targets": (lambda kind: fit(kind, y=Y[:5]), "5"),
    "missing target": (lambda kind: fit(kind, y=np.where(Y == 1, np.nan, 0.0)), "NaN"),
    "infinite target": (lambda kind: fit(kind, y=np.where(Y == 1, np.inf, 0.0)), "infinity"),
    "negative weight": (lambda kind: fit(kind, weight=-np.ones(40)), "negative"),
    "weights of zero": (lambda kind: fit(kind, weight=np.zeros(40)), "zero"),
    "too few weights": (lambda kind: fit(kind, weight=np.ones(3)), "sample_weight"),
    "repeated column": (lambda kind: fit(kind, pd.concat([FRAME, FRAME], axis=1)), "same name"),
    "no trees": (lambda kind: fit(kind).set_params(n_estimators=0).fit(X, Y), "n_estimators=0"),
    "trees as text": (lambda kind: fit(kind).set_params(n_estimators="2").fit(X, Y), "n_estimators='2'"),
    "unknown parameter": (lambda kind: kind(n_tres=3), "n_tres"),
    "bad seed": (lambda kind: fit(kind, random_state="seed"), "random_state='seed'"),
    "bad threads": (lambda kind: fit(kind, n_jobs=0), "n_jobs=0"),
    "bad verbosity": (lambda kind: fit(kind, verbose=-1), "verbose=-1"),
    "absent column": (lambda kind: fit(kind, FRAME).predict(FRAME.drop(columns="age")), "age"),
    "another width": (lambda kind: fit(kind).predict(X[:, :2]), "2"),
    "text for a number": (lambda kind: fit(kind, FRAME).predict(FRAME.assign(age="old")), "age"),
}


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", MISTAKES)
def test_mistakes(name: str, kind: Any) -> None:
    attempt, words = MISTAKES[name]
    before = X.copy(), FRAME.copy(deep=True)
    with pytest.raises(SapwoodError, match="(?s)" + words) as caught:
        attempt(kind)
    assert isinstance(caught.value, (ValueError, TypeError))
    assert REMEDY.search(" ".join(str(caught.value).split())), str(caught.value)
    np.testing.assert_array_equal(X, before[0])
    pd.testing.assert_frame_equal(FRAME, before[1])


@pytest.mark.parametrize("kind", ALL, ids=lambda kind: kind.__name__)
def test_not_fitted(kind: Any) -> None:
    for method in ("predict", "apply", "predict_proba", "permutation_importance", "predict_quantiles"):
        if hasattr(kind, method):
            with pytest.raises(NotFittedError, match="not fitted"):
                getattr(kind(), method)(X, *([Y] if method == "permutation_importance" else []))


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_fractions_are_no_classes(kind: Any) -> None:
    with pytest.raises(SapwoodError, match="continuous"):
        fit(kind, y=NUMBERS)


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_text_is_no_number(kind: Any) -> None:
    with pytest.raises(SapwoodError, match="not a number"):
        fit(kind, y=np.array(["a", "b"] * 20))


@pytest.mark.parametrize("kind", CLASSIFIERS, ids=lambda kind: kind.__name__)
def test_one_class_is_predicted(kind: Any) -> None:
    assert set(fit(kind, y=np.ones(40, dtype=int)).predict(X)) == {1}


@pytest.mark.parametrize("kind", REGRESSORS, ids=lambda kind: kind.__name__)
def test_a_constant_is_predicted(kind: Any) -> None:
    np.testing.assert_allclose(fit(kind, y=np.full(40, 7.0)).predict(X), 7.0, rtol=1e-12)


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
def test_unseen_levels_follow_the_missing_or_are_refused() -> None:
    new = FRAME.assign(colour="violet")
    for kind in (RandomForestClassifier, ExtraTreesClassifier):
        assert len(fit(kind, FRAME).predict(new)) == 40
        with pytest.raises(SapwoodError, match="violet"):
            fit(kind, FRAME, unseen="error").predict(new)
    tree = DecisionTreeClassifier(unseen="error")
    for ensemble in (BaggingClassifier(tree, 2), AdaBoostClassifier(tree, n_estimators=2)):
        with pytest.raises(SapwoodError, match="violet"):
            ensemble.fit(FRAME, Y).predict(new)
