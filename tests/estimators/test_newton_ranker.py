"""Rankings: LambdaMART learns orders within queries."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.metrics import ndcg_score

from sapwood import NewtonBoostingRanker, NewtonBoostingRegressor

N_QUERIES, LENGTH = 60, 12
GROUP = np.full(N_QUERIES, LENGTH)
QID = np.repeat(np.arange(N_QUERIES), LENGTH)


def make(seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Some columns decide within a query; judges differ in how generous they are, which no order needs to know."""
    rng = np.random.default_rng(seed)
    x = np.round(rng.normal(size=(N_QUERIES * LENGTH, 5)), 1)
    generosity = np.repeat(rng.normal(size=N_QUERIES) * 3, LENGTH)
    relevance = x[:, 0] + x[:, 1] * x[:, 2] + rng.normal(size=len(x)) * 0.3
    return x, np.clip(np.round(2 + relevance + generosity), 0, 6)


X, Y = make(0)
X_TEST, Y_TEST = make(1)


def ranker(**parameters: Any) -> NewtonBoostingRanker:
    return NewtonBoostingRanker(recipe="xgboost", **{"n_estimators": 30, "max_depth": 3, "n_jobs": 1, **parameters})


def ndcg(y: NDArray[Any], score: NDArray[Any]) -> float:
    gains = (2.0**y - 1).reshape(N_QUERIES, LENGTH)
    some = gains.sum(axis=1) > 0
    return float(ndcg_score(gains[some], score.reshape(N_QUERIES, LENGTH)[some]))


def test_the_order_improves_round_by_round() -> None:
    model = ranker().fit(X, Y, group=GROUP, eval_set=[(X, Y), (X_TEST, Y_TEST)], eval_group=[GROUP, GROUP])
    own, other = (model.evals_result()[f"validation_{i}"]["ndcg"] for i in (0, 1))
    assert own[0] < own[9] < own[29]
    assert other[29] > other[0] + 0.02
    staged = [ndcg(Y_TEST, score) for score in model.staged_predict(X_TEST)]
    assert np.corrcoef(staged, other)[0, 1] > 0.97


def test_better_than_a_model_of_the_grades() -> None:
    model = ranker().fit(X, Y, group=GROUP)
    pointwise = NewtonBoostingRegressor(recipe="xgboost", n_estimators=30, max_depth=3, n_jobs=1).fit(X, Y)
    assert ndcg(Y_TEST, model.predict(X_TEST)) > ndcg(Y_TEST, pointwise.predict(X_TEST)) + 0.02


def test_labels_and_numbers_of_queries_say_the_same() -> None:
    expected = ranker(n_estimators=5).fit(X, Y, group=GROUP).predict(X)
    for qid in (QID, QID.tolist(), QID.astype(str), QID[::-1]):
        np.testing.assert_array_equal(ranker(n_estimators=5).fit(X, Y, qid=qid).predict(X), expected)


def test_without_queries_all_rows_are_one() -> None:
    ours = ranker(n_estimators=5).fit(X[:100], Y[:100])
    theirs = ranker(n_estimators=5).fit(X[:100], Y[:100], group=[100])
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))


def test_a_query_of_weight_two_is_two_queries() -> None:
    weight = np.ones(N_QUERIES)
    weight[:10], weight[50:] = 2.0, 0.0
    rows = np.r_[np.arange(10 * LENGTH), np.arange(50 * LENGTH)]
    for given in (weight, np.repeat(weight, LENGTH)):
        model = ranker(n_estimators=5).fit(X, Y, group=GROUP, query_weight=given)
        copies = ranker(n_estimators=5).fit(X[rows], Y[rows], group=[LENGTH] * 60)
        np.testing.assert_allclose(model.predict(X), copies.predict(X), atol=1e-9)


def test_weights_of_watched_queries() -> None:
    weight = np.r_[np.ones(30), np.zeros(30)]
    model = ranker(n_estimators=3).fit(
        X,
        Y,
        qid=QID,
        eval_set=[(X, Y), (X[: 30 * LENGTH], Y[: 30 * LENGTH])],
        eval_qid=[QID, QID[: 30 * LENGTH]],
        query_weight_eval_set=[weight, None],
    )
    curves = model.evals_result()
    assert curves["validation_0"]["ndcg"] == pytest.approx(curves["validation_1"]["ndcg"])


def test_the_score_is_the_metric() -> None:
    model = ranker(n_estimators=3, eval_metric=["map", "ndcg@5", "ndcg"])
    model.fit(X, Y, group=GROUP, eval_set=[(X_TEST, Y_TEST)], eval_group=[GROUP])
    curves = model.evals_result()["validation_0"]
    assert list(curves) == ["map", "ndcg@5", "ndcg"]
    assert model.score(X_TEST, Y_TEST, group=GROUP) == pytest.approx(curves["ndcg"][-1])
    assert model.score(X_TEST, Y_TEST, qid=QID) == model.score(X_TEST, Y_TEST, group=GROUP)
    assert model.score(X_TEST, Y_TEST) != model.score(X_TEST, Y_TEST, qid=QID)


def test_early_stopping_continuing_and_copies() -> None:
    stopped = ranker(n_estimators=200, early_stopping_rounds=5, learning_rate=0.5).fit(
        X, Y, group=GROUP, eval_set=[(X_TEST, Y_TEST)], eval_group=[GROUP]
    )
    assert stopped.best_n_rounds_ == stopped.best_iteration + 1 < stopped.n_estimators_ < 200
    assert stopped.score(X_TEST, Y_TEST, group=GROUP) == pytest.approx(stopped.best_score)
    first = ranker(n_estimators=4).fit(X, Y, group=GROUP)
    both = ranker(n_estimators=4).fit(X, Y, group=GROUP, init_model=first)
    np.testing.assert_array_equal(both.predict(X), ranker(n_estimators=8).fit(X, Y, group=GROUP).predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(both)).predict(X), both.predict(X))


def test_a_custom_objective() -> None:
    """Squares on the grades: a pointwise ranking."""
    model = ranker(objective=lambda y, s: (s - y, np.ones_like(y)), base_score=0.0, n_estimators=5)
    model.fit(X, Y, group=GROUP)
    pointwise = NewtonBoostingRegressor(recipe="xgboost", n_estimators=5, max_depth=3, base_score=0.0, n_jobs=1).fit(
        X, Y
    )
    np.testing.assert_array_equal(model.predict(X), pointwise.predict(X))


def test_queries_without_a_choice_teach_nothing() -> None:
    model = ranker(n_estimators=3).fit(X, np.ones(len(X)), group=GROUP)
    assert not model.predict(X).any()
    assert model.score(X, np.zeros(len(X)), group=GROUP) == 1.0
