"""Leaves are the steps that the loss asks for, and everything that changes a step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from gradient_cases import make_data
from scipy.special import expit
from sklearn.linear_model import LinearRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sapwood import GradientBoostingClassifier, GradientBoostingRegressor
from sapwood.errors import InitWarning, InputError, ParameterError
from sapwood.losses.names import make_loss

DATA = make_data(n=300)
LOSSES = (
    "squared_error",
    "absolute_error",
    "huber",
    "quantile",
    "poisson",
    "gamma",
    "tweedie",
    "log_loss",
    "exponential",
)


def model_of(loss: str, **parameters: Any) -> Any:
    kind = GradientBoostingClassifier if loss in ("log_loss", "exponential") else GradientBoostingRegressor
    return kind(loss=loss, **parameters)


@pytest.mark.parametrize(("loss", "n_classes"), [*((loss, 2) for loss in LOSSES), ("log_loss", 3)])
def test_line_search_lowers_the_loss_at_each_stage_and_more_than_leaves_do(loss: str, n_classes: int) -> None:
    y = DATA.target(loss, n_classes)
    options = {"n_estimators": 12, "learning_rate": 1.0, "max_depth": 2, "min_samples_leaf": 5}
    plain = model_of(loss, **options).fit(DATA.X, y, DATA.weight)
    searched = model_of(loss, line_search=True, **options).fit(DATA.X, y, DATA.weight)
    if loss != "huber":  # its delta, and so the loss itself, is another in each stage
        assert (np.diff(searched.train_score_) <= 1e-12 * searched.train_score_[:-1]).all()
    assert searched.train_score_[0] <= plain.train_score_[0] + 1e-12


@pytest.mark.parametrize(("loss", "n_classes"), [("log_loss", 2), ("poisson", 2), ("gamma", 2), ("exponential", 2)])
def test_the_length_of_the_step_is_the_best(loss: str, n_classes: int) -> None:
    y = DATA.target(loss, n_classes)
    options = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 3}
    plain = model_of(loss, **options).fit(DATA.X, y, DATA.weight)
    searched = model_of(loss, line_search=True, **options).fit(DATA.X, y, DATA.weight)
    ratio = searched.estimators_[0, 0].tree_.value / plain.estimators_[0, 0].tree_.value
    rho = float(np.median(ratio))
    np.testing.assert_allclose(ratio[1:], rho, rtol=1e-9)
    codes, base, said = np.asarray(y, dtype=float), plain.ensemble_.base[0], plain.estimators_[0, 0].predict(DATA.X)

    def total(length: float) -> float:
        return float((DATA.weight * plain.loss_.losses(codes, (base + length * said)[None])).sum())

    assert total(rho) <= min(total(rho - 1e-3), total(rho + 1e-3), total(1.0))


@pytest.mark.parametrize("loss", ["poisson", "gamma", "tweedie"])
def test_losses_with_a_log_link(loss: str) -> None:
    y = DATA.target(loss)
    model = model_of(loss, n_estimators=40).fit(DATA.X, y, DATA.weight)
    said = model.predict(DATA.X)
    assert (said > 0).all()
    assert np.corrcoef(np.log(said), np.log(y))[0, 1] > 0.95
    assert (np.diff(model.train_score_) < 0).all()
    np.testing.assert_allclose(model.init_.predict(DATA.X[:1]), np.average(y, weights=DATA.weight))
    # The leaves of the first tree are Newton's steps from there
    tree, leaf = model.estimators_[0, 0], model.apply(DATA.X)[:, 0]
    gradient, hessian = np.empty((1, 300)), np.empty((1, 300))
    model.loss_.derivatives(y, np.full((1, 300), model.ensemble_.base[0]), gradient, hessian)
    for node in np.unique(leaf):
        own = leaf == node
        step = -(DATA.weight * gradient[0])[own].sum() / (DATA.weight * hessian[0])[own].sum()
        np.testing.assert_allclose(tree.tree_.value[node, 0, 0], step, rtol=1e-9)


def test_huber_steps_from_the_median() -> None:
    model = model_of("huber", n_estimators=1, alpha=0.8).fit(DATA.X, DATA.number)
    residual = DATA.number - np.median(DATA.number)
    delta = np.quantile(np.abs(residual), 0.8, method="averaged_inverted_cdf")
    assert model.loss_.delta == pytest.approx(delta)
    leaf = model.apply(DATA.X)[:, 0]
    for node in np.unique(leaf):
        own = residual[leaf == node]
        step = np.median(own) + np.clip(own - np.median(own), -delta, delta).mean()
        assert model.estimators_[0, 0].tree_.value[node, 0, 0] == pytest.approx(step)


def test_binomial_leaves_in_both_forms_of_the_texts() -> None:
    """Example 10 of the specification: half log-odds with y in {-1, 1}, and log-odds, are the same model."""
    model = GradientBoostingClassifier(n_estimators=5, learning_rate=0.5).fit(DATA.X, DATA.two)
    sign = 2.0 * DATA.two - 1.0
    half = np.full(300, 0.5 * np.log((1 + sign.mean()) / (1 - sign.mean())))
    for stage, score in enumerate(model.staged_decision_function(DATA.X)):
        response = 2 * sign / (1 + np.exp(2 * sign * half))  # 000 eq. 22
        residual = DATA.two - expit(2 * half)
        leaf = model.apply(DATA.X)[:, stage, 0]
        step = np.empty(300)
        for node in np.unique(leaf):
            own = leaf == node
            size = np.abs(response[own])
            step[own] = response[own].sum() / (size * (2 - size)).sum()  # 000 eq. 23
            share = expit(2 * half[own])
            np.testing.assert_allclose(2 * step[own][0], residual[own].sum() / (share * (1 - share)).sum())
        half += 0.5 * step
        np.testing.assert_allclose(expit(2 * half), model.loss_.response(score.T)[0])
        np.testing.assert_allclose(2 * half, score[:, 0], atol=1e-10)


def test_multinomial_leaves_have_friedmans_factor() -> None:
    model = GradientBoostingClassifier(n_estimators=2).fit(DATA.X, DATA.three)
    share = next(model.staged_predict_proba(DATA.X))
    for k in range(3):
        residual, leaf = (DATA.three == k) - share[:, k], model.apply(DATA.X)[:, 1, k]
        for node in np.unique(leaf):
            own = residual[leaf == node]
            step = 2 / 3 * own.sum() / (np.abs(own) * (1 - np.abs(own))).sum()
            assert model.estimators_[1, k].tree_.value[node, 0, 0] == pytest.approx(step)


def test_the_learning_rate_may_be_a_function() -> None:
    norms = []

    def rate(stage: int, norm: float) -> float:
        norms.append(norm)
        return 1.0 / (2 + stage)

    model = GradientBoostingRegressor(n_estimators=4, learning_rate=rate).fit(DATA.X, DATA.number)
    np.testing.assert_allclose(model.learning_rates_, [1 / 2, 1 / 3, 1 / 4, 1 / 5])
    np.testing.assert_allclose(norms[1:], np.sqrt(model.train_score_[:-1]))
    listed = GradientBoostingRegressor(n_estimators=4, learning_rate=[1 / 2, 1 / 3, 1 / 4, 1 / 5]).fit(
        DATA.X, DATA.number
    )
    np.testing.assert_array_equal(listed.predict(DATA.X), model.predict(DATA.X))


def test_a_learning_rate_of_zero_leaves_the_start() -> None:
    model = GradientBoostingRegressor(n_estimators=2, learning_rate=0.0).fit(DATA.X, DATA.number)
    np.testing.assert_allclose(model.predict(DATA.X), DATA.number.mean())


def test_init_by_an_estimator_of_logarithmic_scores() -> None:
    y = DATA.target("poisson")
    init = make_pipeline(StandardScaler(), LinearRegression())
    with pytest.warns(InitWarning, match="init=Pipeline predicts -"):
        model = model_of("poisson", init=init, n_estimators=10).fit(DATA.X, y)
    assert model.init_ is not init
    first = model.init_.predict(DATA.X)
    first = np.where(first > 0, first, y.mean() / 100)
    score = np.log(first) + sum(0.1 * tree.predict(DATA.X) for tree in model.estimators_[:, 0])
    np.testing.assert_allclose(model.predict(DATA.X), np.exp(score))


class NoWeights:
    """An estimator that knows no weights and predicts what it is told to."""

    def __init__(self, said: Any = 1.0) -> None:
        self.said = said

    def fit(self, X: Any, y: Any) -> NoWeights:
        return self

    def predict(self, X: Any) -> Any:
        return np.full(len(X), self.said)

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), 0.5)


def test_init_is_asked_for_what_it_can() -> None:
    model = GradientBoostingRegressor(init=NoWeights(), n_estimators=2).fit(DATA.X, DATA.number)
    np.testing.assert_allclose(next(model.staged_predict(DATA.X)) - 0.1 * model.estimators_[0, 0].predict(DATA.X), 1.0)
    with pytest.raises(ParameterError, match=r"init=NoWeights does not support sample weights.*fit without weights"):
        model.fit(DATA.X, DATA.number, DATA.weight)
    with pytest.raises(InputError, match=r"init=NoWeights predicts \[nan\] for row 0"):
        GradientBoostingRegressor(init=NoWeights(np.nan)).fit(DATA.X, DATA.number)
    with pytest.raises(InputError, match=r"probabilities of shape \(300, 2\), but y has 3 classes"):
        GradientBoostingClassifier(init=NoWeights()).fit(DATA.X, DATA.three)
    assert GradientBoostingClassifier(init=NoWeights()).fit(DATA.X, DATA.two).score(DATA.X, DATA.two) > 0.9


def test_rows_of_weight_zero_do_not_reach_init() -> None:
    weight = np.where(np.arange(300) < 100, 0.0, DATA.weight)
    model = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3).fit(DATA.X, DATA.number, weight)
    rest = GradientBoostingRegressor(init=LinearRegression(), n_estimators=3)
    rest.fit(DATA.X[100:], DATA.number[100:], weight[100:])
    np.testing.assert_array_equal(model.predict(DATA.X), rest.predict(DATA.X))


@pytest.mark.parametrize(("loss", "n_classes"), [*((loss, 2) for loss in LOSSES), ("log_loss", 3)])
def test_the_link_of_a_loss_undoes_its_response(loss: str, n_classes: int) -> None:
    options = {"n_classes": n_classes} if loss == "log_loss" else {}
    own = make_loss(loss, **options)
    score = np.random.default_rng(0).normal(size=(own.n_scores, 50))
    centred = score - score.mean(axis=0) if own.n_scores > 1 else score
    np.testing.assert_allclose(own.link(own.response(score)), centred, atol=1e-12)
    assert np.isfinite(own.link(np.zeros((own.n_scores, 1)))).all()
    assert np.isfinite(own.link(np.ones((own.n_scores, 1)))).all()


def test_weights_of_classes_decide_but_do_not_distort() -> None:
    data = make_data(n=2000)
    rare = data.two & (np.random.default_rng(0).random(2000) < 0.15)
    plain = GradientBoostingClassifier(n_estimators=40, max_depth=2).fit(data.X, rare)
    balanced = GradientBoostingClassifier(n_estimators=40, max_depth=2, class_weight="balanced").fit(data.X, rare)
    assert balanced.predict(data.X).mean() > 2 * plain.predict(data.X).mean()
    assert balanced.predict_proba(data.X)[:, 1].mean() == pytest.approx(rare.mean(), rel=0.1)
    shifted = balanced.set_params(undo_class_weight=False).predict_proba(data.X)[:, 1]
    assert shifted.mean() > 2 * rare.mean()
    np.testing.assert_array_equal(balanced.predict(data.X), shifted >= 0.5)
    given = GradientBoostingClassifier(n_estimators=5, class_weight={0: 1.0, 1: 3.0}).fit(data.X, rare)
    weighted = GradientBoostingClassifier(n_estimators=5).fit(data.X, rare, np.where(rare, 3.0, 1.0))
    np.testing.assert_array_equal(given.decision_function(data.X), weighted.decision_function(data.X))
