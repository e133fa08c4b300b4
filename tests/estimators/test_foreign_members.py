"""Bagging and AdaBoost of estimators that have only `fit` and `predict`, and what these are handed."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.cluster import KMeans
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline
from sklearn.tree import DecisionTreeClassifier as TheirTree

from sapwood import AdaBoostClassifier, AdaBoostRegressor, BaggingClassifier, BaggingRegressor
from sapwood.errors import InputError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.integers(0, 3, size=(80, 4)).astype(float)
NUMBERS = X[:, 0] - X[:, 1] + 0.1 * RNG.normal(size=80)
CLASSES = np.array(["low", "middle", "high"])[np.digitize(NUMBERS, [-0.5, 0.5])]


class Bare:
    """Not even an estimator of scikit-learn: it has `fit`, which returns nothing, and `predict`."""

    def __init__(self, inner: Any) -> None:
        self.inner = inner

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> None:
        self.type_, self.inner = type(X), self.inner.fit(X, y, sample_weight=sample_weight)

    def predict(self, X: Any) -> Any:
        assert type(X) is self.type_
        return self.inner.predict(X)


class Unmixed(BaseEstimator):
    """A scikit-learn estimator that is neither classifier nor regressor, and takes no weights."""

    def fit(self, X: Any, y: Any) -> Any:
        self.value_ = y[0]
        return self

    def predict(self, X: Any) -> Any:
        return np.full(X.shape[0], self.value_)


@pytest.mark.parametrize("kind", [BaggingRegressor, AdaBoostRegressor])
def test_numbers_of_any_estimator(kind: Any) -> None:
    bare, whole = (kind(one, n_estimators=4, random_state=0).fit(X, NUMBERS) for one in (Bare(Ridge()), Ridge()))
    np.testing.assert_array_equal(bare.predict(X), whole.predict(X))
    assert is_regressor(bare)
    assert kind(Unmixed(), n_estimators=3, random_state=0).fit(X, NUMBERS).predict(X).shape == (80,)


@pytest.mark.parametrize("kind", [BaggingClassifier, AdaBoostClassifier])
def test_classes_of_any_estimator(kind: Any) -> None:
    learner = LogisticRegression(C=0.1)
    bare, whole = (kind(one, n_estimators=4, random_state=0).fit(X, CLASSES) for one in (Bare(learner), learner))
    assert is_classifier(bare)
    assert bare.score(X, CLASSES) > 0.8
    if kind is AdaBoostClassifier:
        np.testing.assert_array_equal(bare.predict_proba(X), whole.predict_proba(X))
    else:  # members without probabilities vote
        said = np.array([member.predict(X) for member in bare.estimators_])
        np.testing.assert_allclose(bare.predict_proba(X)[:, 0], (said == "high").mean(axis=0))


def test_learners_that_take_no_weights() -> None:
    drawn = AdaBoostRegressor(Unmixed(), n_estimators=3, random_state=0, resample=True).fit(X, NUMBERS)
    other = AdaBoostRegressor(Unmixed(), n_estimators=3, random_state=0).fit(X, NUMBERS)
    np.testing.assert_array_equal(drawn.predict(X), other.predict(X))
    with pytest.raises(ParameterError, match="sample_weight"):
        AdaBoostClassifier(Unmixed()).fit(X, CLASSES)


def test_other_kinds_are_refused() -> None:
    for model in (BaggingClassifier(Ridge()), AdaBoostClassifier(Ridge()), BaggingClassifier(KMeans())):
        with pytest.raises(ParameterError, match="not a classifier"):
            model.fit(X, CLASSES)
    for model in (BaggingRegressor(LogisticRegression()), AdaBoostRegressor(KMeans())):
        with pytest.raises(ParameterError, match="not a regressor"):
            model.fit(X, NUMBERS)


class Inventive(Unmixed):
    """Predicts a label that nobody has seen."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.value_ = "medium"
        return self


@pytest.mark.parametrize("kind", [BaggingClassifier, AdaBoostClassifier])
def test_labels_that_are_no_classes(kind: Any) -> None:
    with pytest.raises(InputError, match=r"'medium', which is not one of the classes \['high', 'low', 'middle'\]"):
        kind(Inventive(), n_estimators=2).fit(X, CLASSES).predict(X)


@pytest.mark.parametrize("form", ["lil", "coo", "dok", "bsr", "dia", "csr", "csc"])
@pytest.mark.parametrize(
    ("kind", "learner", "y"),
    [
        (BaggingClassifier, TheirTree(max_depth=2, random_state=0), CLASSES),
        (BaggingRegressor, Ridge(), NUMBERS),
        (AdaBoostClassifier, TheirTree(max_depth=2, random_state=0), CLASSES),
        (AdaBoostRegressor, Ridge(), NUMBERS),
    ],
)
def test_sparse_tables_reach_learners_as_csr(form: str, kind: Any, learner: Any, y: Any) -> None:
    given = sparse.csr_array(X).asformat(form)
    weight = np.arange(80) % 3
    for columns in ({}, {"max_features": 0.5}) if kind in (BaggingClassifier, BaggingRegressor) else ({},):
        model = kind(Bare(learner), n_estimators=3, random_state=0, **columns).fit(given, y, sample_weight=weight)
        assert all(member.type_ is (sparse.csc_array if form == "csc" else sparse.csr_array) for member in model)
        plain = kind(Bare(learner), n_estimators=3, random_state=0, **columns).fit(X, y, sample_weight=weight)
        same = np.testing.assert_array_equal if y is CLASSES else np.testing.assert_allclose
        same(model.predict(given), plain.predict(X))


@pytest.mark.parametrize("kind", [BaggingClassifier, AdaBoostClassifier])
def test_learners_carry_their_seeds(kind: Any) -> None:
    learner = make_pipeline(TheirTree(max_features=1, max_depth=2))
    model = kind(learner, n_estimators=4, random_state=0, **{} if kind is BaggingClassifier else {"resample": True})
    model.fit(X, CLASSES)
    assert len({member[0].random_state for member in model.estimators_}) == 4
    again = kind(learner, n_estimators=4, random_state=0, **{} if kind is BaggingClassifier else {"resample": True})
    np.testing.assert_array_equal(again.fit(X, CLASSES).predict(X), model.predict(X))


@pytest.mark.parametrize("kind", [BaggingRegressor, AdaBoostRegressor])
def test_lists_reach_learners_as_arrays(kind: Any) -> None:
    model = kind(Bare(Ridge()), n_estimators=3, random_state=0).fit(X.tolist(), NUMBERS.tolist())
    assert all(member.type_ is np.ndarray for member in model)
    expected = kind(Bare(Ridge()), n_estimators=3, random_state=0).fit(X, NUMBERS)
    np.testing.assert_array_equal(model.predict(X.tolist()), expected.predict(X))
