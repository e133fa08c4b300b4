"""AdaBoost beside scikit-learn's, round for round, and what it adds."""

from __future__ import annotations

import pickle
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble as peer
import sklearn.tree as peer_tree
from sklearn.base import clone
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sapwood import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    NewtonBoostingClassifier,
    load,
    save,
)
from sapwood.adaboost.r2 import r2_step, weighted_median
from sapwood.adaboost.samme import samme_step
from sapwood.errors import InputError, ParameterError

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 5)).astype(np.float32)
SCORE = X[:, 0] + X[:, 1] ** 2 + 0.5 * X[:, 2] * X[:, 3] + 0.3 * RNG.normal(size=300)
LEAST = 25  # in smaller nodes two columns often part the rows alike, and equal splits are decided differently
TWO, THREE = (SCORE > 1).astype(int), np.digitize(SCORE, [0.3, 1.5])


@pytest.mark.parametrize("y", [TWO, THREE])
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("rate", [1.0, 0.5])
def test_samme_round_for_round(y: Any, depth: int, rate: float) -> None:
    ours = AdaBoostClassifier(
        DecisionTreeClassifier(max_depth=depth, min_samples_leaf=LEAST), n_estimators=25, learning_rate=rate
    ).fit(X, y)
    theirs = peer.AdaBoostClassifier(
        peer_tree.DecisionTreeClassifier(max_depth=depth, min_samples_leaf=LEAST),
        n_estimators=25,
        learning_rate=rate,
        random_state=0,
    ).fit(X, y)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-6)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-6)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=1e-6)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(ours.staged_predict_proba(X), theirs.staged_predict_proba(X), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6)
    np.testing.assert_allclose(list(ours.staged_score(X, y)), list(theirs.staged_score(X, y)))
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=1e-5, atol=1e-9)


@pytest.mark.parametrize(("depth", "loss"), [(1, "linear"), (1, "square"), (1, "exponential"), (2, "square")])
def test_r2_round_for_round(depth: int, loss: str) -> None:
    """Deeper trees have nodes of a few distinct rows, which several columns part alike."""
    ours = AdaBoostRegressor(
        DecisionTreeRegressor(max_depth=depth),
        n_estimators=20,
        loss=loss,
        resample=True,
        random_state=3,
    ).fit(X, SCORE)
    theirs = peer.AdaBoostRegressor(
        peer_tree.DecisionTreeRegressor(max_depth=depth),
        n_estimators=20,
        loss=loss,
        random_state=3,
    ).fit(X, SCORE)
    np.testing.assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    np.testing.assert_allclose(ours.estimator_weights_, theirs.estimator_weights_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
    for one, other in zip(ours.staged_predict(X), theirs.staged_predict(X), strict=True):
        np.testing.assert_allclose(one, other)
    np.testing.assert_allclose(list(ours.staged_score(X, SCORE)), list(theirs.staged_score(X, SCORE)))


def test_a_step_of_samme_by_hand() -> None:
    """Four rows of weight 1/4, one wrong: err 1/4, alpha = log 3, the wrong row's weight is tripled."""
    step = samme_step(np.array([True, False, False, False]), np.full(4, 0.25), 2, 1.0)
    assert step.error == 0.25
    assert step.weight == pytest.approx(np.log(3.0))
    np.testing.assert_allclose(step.row_weights, [0.75, 0.25, 0.25, 0.25])
    three = samme_step(np.array([True, False, False, False]), np.full(4, 0.25), 3, 1.0)
    assert three.weight == pytest.approx(np.log(3.0) + np.log(2.0))


def test_a_step_of_r2_by_hand() -> None:
    """Residuals 0, 1, 2, 4 of weight 1/4: relative 0, 1/4, 1/2, 1; L = 7/16, beta = 7/9."""
    step = r2_step(np.array([0.0, -1.0, 2.0, -4.0]), np.full(4, 0.25), "linear", 1.0)
    assert step.error == pytest.approx(7 / 16)
    assert step.weight == pytest.approx(np.log(9 / 7))
    np.testing.assert_allclose(step.row_weights, 0.25 * (7 / 9) ** np.array([1.0, 0.75, 0.5, 0.0]))


def test_weighted_medians() -> None:
    said = np.array([[1.0, 5.0], [2.0, 4.0], [9.0, 3.0]])
    np.testing.assert_array_equal(weighted_median(said, np.array([1.0, 1.0, 1.0])), [2.0, 4.0])
    np.testing.assert_array_equal(weighted_median(said, np.array([1.0, 1.0, 5.0])), [9.0, 3.0])


def test_it_stops_on_a_perfect_learner() -> None:
    model = AdaBoostClassifier(n_estimators=10).fit(X, X[:, 0] > 0)
    assert len(model.estimators_) == 1
    assert model.stopped_reason_ == "a learner without error was found"
    assert model.estimator_weights_[0] == 1.0
    number = AdaBoostRegressor(n_estimators=10).fit(X, (X[:, 0] > 0) * 2.0)
    assert number.stopped_reason_ == "a learner without error was found"
    np.testing.assert_array_equal(number.predict(X), (X[:, 0] > 0) * 2.0)


def test_it_stops_on_a_useless_learner() -> None:
    parity = np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5, dtype=float)
    with pytest.raises(InputError, match="no better than guessing"):
        AdaBoostClassifier().fit(parity, parity[:, 0] != parity[:, 1])
    y = np.where(np.arange(300) % 2, 1.0, -1.0)
    model = AdaBoostRegressor(DecisionTreeRegressor(max_depth=1), n_estimators=50, loss="linear").fit(X, y)
    assert "guessing" in model.stopped_reason_
    assert len(model.estimators_) >= 1
    assert np.isfinite(model.predict(X)).all()


def test_any_estimator() -> None:
    for resample in (False, True):
        model = AdaBoostClassifier(LogisticRegression(), n_estimators=5, resample=resample, random_state=0).fit(X, TWO)
        assert isinstance(model.estimators_[0], LogisticRegression)
        assert model.score(X, TWO) > 0.6
    theirs = peer.AdaBoostClassifier(GaussianNB(), n_estimators=5).fit(X, TWO)  # the scale of weights is no matter
    ours = AdaBoostClassifier(GaussianNB(), n_estimators=5).fit(X, TWO)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X))
    with pytest.raises(ParameterError, match="doesn't support sample_weight"):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, TWO)
    assert AdaBoostClassifier(KNeighborsClassifier(), n_estimators=3, resample=True).fit(X, TWO).score(X, TWO) > 0.7
    assert AdaBoostRegressor(LinearRegression(), n_estimators=5).fit(X, SCORE).score(X, SCORE) > 0.1
    with pytest.raises(AttributeError, match="feature_importances_"):
        _ = AdaBoostRegressor(LinearRegression(), n_estimators=2).fit(X, SCORE).feature_importances_


def test_strings_holes_and_weights() -> None:
    frame = pd.DataFrame(X, columns=list("abcde"))
    frame["level"] = np.where(SCORE > 1, "high", np.where(X[:, 4] > 0, "low", "lower"))
    frame.loc[::7, "a"] = np.nan
    weight = np.where(np.arange(300) % 5, 1.0, 0.0)
    labels = np.array(["no", "yes"])[TWO]
    model = AdaBoostClassifier(n_estimators=10).fit(frame, labels, sample_weight=weight)
    assert set(model.predict(frame)) <= {"no", "yes"}
    kept = weight > 0
    other = AdaBoostClassifier(n_estimators=10).fit(frame[kept], labels[kept])
    np.testing.assert_allclose(model.decision_function(frame), other.decision_function(frame))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(frame), model.predict(frame))


def test_learners_are_fitted_trees() -> None:
    model = AdaBoostClassifier(n_estimators=4).fit(X, THREE)
    assert [tree.get_depth() for tree in model.estimators_] == [1] * 4
    said = [tree.predict(X) for tree in model.estimators_]
    votes = sum(
        say * np.where(one[:, None] == np.arange(3), 1.0, -0.5)
        for one, say in zip(said, model.estimator_weights_, strict=True)
    )
    np.testing.assert_allclose(model.decision_function(X), votes / model.estimator_weights_.sum())


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_estimators": 0}, "n_estimators=0"),
        ({"learning_rate": 0.0}, "learning_rate=0.0"),
        ({"estimator": DecisionTreeClassifier}, "estimator="),
        ({"estimator": "tree"}, "estimator='tree'"),
        ({"resample": "often"}, "resample='often'"),
    ],
)
def test_bad_parameters(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises((ParameterError, TypeError), match=message):
        AdaBoostClassifier(**parameters).fit(X, TWO)
    with pytest.raises(InputError, match="2 columns"):
        AdaBoostClassifier().fit(X, np.column_stack([TWO, TWO]))
    with pytest.raises(ParameterError, match="loss='cubic'"):
        AdaBoostRegressor(loss="cubic").fit(X, SCORE)


def test_learners_of_the_wrong_kind() -> None:
    for learner in (DecisionTreeRegressor(), LinearRegression()):
        with pytest.raises(ParameterError, match="not a classifier"):
            AdaBoostClassifier(learner).fit(X, TWO)
    with pytest.raises(ParameterError, match="not a regressor"):
        AdaBoostRegressor(DecisionTreeClassifier()).fit(X, SCORE)


def test_weighted_fits_do_not_depend_on_the_seed() -> None:
    first, second = (AdaBoostRegressor(n_estimators=5, random_state=seed).fit(X, SCORE) for seed in (0, 1))
    np.testing.assert_array_equal(first.predict(X), second.predict(X))
    assert clone(first).get_params() == first.get_params()


def test_learners_get_weights_of_mean_one() -> None:
    """The scale that penalties are meant for: the first learner is the one that is fitted without weights."""
    alone = LogisticRegression(C=0.01).fit(X, TWO)
    first = AdaBoostClassifier(LogisticRegression(C=0.01), n_estimators=3).fit(X, TWO).estimators_[0]
    np.testing.assert_allclose(first.coef_, alone.coef_)
    boosted = AdaBoostClassifier(NewtonBoostingClassifier(n_estimators=5), n_estimators=3, random_state=0).fit(X, TWO)
    assert boosted.estimators_[0].ensemble_.rounds[0][0].node_count > 1  # min_child_weight=1 forbids no split
    assert boosted.score(X, TWO) > 0.9


@pytest.mark.parametrize("rate", [1e3, 1e6, 1e308])
def test_an_absurd_learning_rate_ends_with_a_reason(rate: float) -> None:
    three = np.digitize(SCORE, [0, 1])
    model = AdaBoostClassifier(n_estimators=30, learning_rate=rate)
    with pytest.warns(UserWarning, match="smaller one than learning_rate"):
        model.fit(X, three)
    assert "the learning rate is too large" in model.stopped_reason_
    assert 1 <= len(model) < 30
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    for loss in ("linear", "square", "exponential"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            regressor = AdaBoostRegressor(n_estimators=30, learning_rate=rate, loss=loss).fit(X, SCORE)
        assert np.isfinite(regressor.predict(X)).all()
        assert np.isfinite(regressor.estimator_weights_).all()


@pytest.mark.parametrize("kind", [AdaBoostClassifier, AdaBoostRegressor])
def test_trees_carry_their_seeds(kind: Any, tmp_path: Path) -> None:
    y = TWO if kind is AdaBoostClassifier else SCORE
    inner = DecisionTreeClassifier if kind is AdaBoostClassifier else DecisionTreeRegressor
    model = kind(inner(max_depth=3, max_features=1), n_estimators=5).fit(X, y)
    save(model, tmp_path / "model.sapwood")
    for one in (model, load(tmp_path / "model.sapwood")):
        assert len({tree.random_state for tree in one.estimators_}) == len(one)
        assert one.estimators_[0].max_features_ == 1
    again = clone(model.estimators_[0]).fit(X, y)  # whose weights are all the same
    np.testing.assert_array_equal(again.tree_.feature, model.estimators_[0].tree_.feature)
    np.testing.assert_array_equal(again.tree_.threshold, model.estimators_[0].tree_.threshold)
