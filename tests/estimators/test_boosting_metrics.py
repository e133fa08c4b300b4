"""Which metrics may watch a model, and which of their rounds is the best."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, get_scorer, make_scorer, r2_score, roc_auc_score

from sapwood import (
    NewtonBoostingClassifier,
    NewtonBoostingRanker,
    NewtonBoostingRegressor,
    cross_validate_boosting,
)
from sapwood.errors import InputError, MetricDirectionWarning, ParameterError

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 5))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400)
Y = (SCORE > 0.4).astype(int)
THREE = np.digitize(SCORE, [-0.7, 0.7])
TRAIN, TEST = np.arange(250), np.arange(250, 400)


def fit(kind: Any, y: Any, metric: Any, **more: Any) -> Any:
    parameters = {"recipe": "xgboost", "n_estimators": 25, "max_depth": 3, "n_jobs": 1, **more}
    return kind(eval_metric=metric, **parameters).fit(X[TRAIN], y[TRAIN], eval_set=[(X[TEST], y[TEST])])


def curve(model: Any) -> list[float]:
    *_, found = model.evals_result()["validation_0"].values()
    return found


class TestDirection:
    @pytest.mark.parametrize(
        "metric", [roc_auc_score, make_scorer(roc_auc_score, response_method="predict_proba"), "roc_auc"]
    )
    def test_an_area_is_maximised(self, metric):
        ours = fit(NewtonBoostingClassifier, Y, "auc", early_stopping_rounds=8)
        model = fit(NewtonBoostingClassifier, Y, metric, early_stopping_rounds=8)
        assert model.best_iteration_ == ours.best_iteration_ > 0
        assert model.best_score_ == pytest.approx(max(curve(ours)))

    def test_shares_are_those_of_what_predict_says(self):
        model = fit(NewtonBoostingClassifier, Y, accuracy_score, scale_pos_weight=5.0)
        expected = [np.mean(said == Y[TEST]) for said in model.staged_predict(X[TEST])]
        np.testing.assert_allclose(curve(model), expected)
        assert model.best_score_ == max(expected)

    def test_of_numbers_and_of_losses(self):
        model = fit(NewtonBoostingRegressor, SCORE, r2_score)
        assert model.best_score_ == pytest.approx(max(r2_score(SCORE[TEST], p) for p in model.staged_predict(X[TEST])))
        negative = fit(NewtonBoostingClassifier, THREE, get_scorer("neg_log_loss"))
        positive = fit(NewtonBoostingClassifier, THREE, "mlogloss")
        np.testing.assert_allclose(curve(negative), np.negative(curve(positive)))
        assert negative.best_iteration_ == positive.best_iteration_

    def test_a_function_of_unknown_direction_is_said_to_be_minimised(self):
        def gini(y_true: Any, y_pred: Any) -> float:
            return 2 * float(roc_auc_score(y_true, y_pred)) - 1

        with pytest.warns(
            MetricDirectionWarning, match=r"eval_metric=gini .*minimised.*gini\.greater_is_better"
        ) as got:
            fit(NewtonBoostingClassifier, Y, gini, early_stopping_rounds=3)
        assert len(got) == 1
        assert got[0].filename == __file__
        with pytest.warns(MetricDirectionWarning, match="metric=gini") as got:
            cross_validate_boosting(NewtonBoostingClassifier(recipe="xgboost", n_estimators=2), X, Y, metric=gini, cv=3)
        assert len(got) == 1
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit(NewtonBoostingClassifier, Y, gini)  # it decides nothing
            fit(NewtonBoostingClassifier, Y, [gini, "auc"], early_stopping_rounds=3)
            gini.greater_is_better = True  # type: ignore[attr-defined]
            model = fit(NewtonBoostingClassifier, Y, gini, early_stopping_rounds=8)
        assert model.best_iteration_ == fit(NewtonBoostingClassifier, Y, "auc", early_stopping_rounds=8).best_iteration_

    def test_lightgbms_form_is_answered(self):
        def gini(y_true: Any, y_pred: Any) -> Any:
            return "gini", 0.5, True

        with pytest.raises(ParameterError, match=r"LightGBM's form.*gini\.greater_is_better = True"):
            fit(NewtonBoostingClassifier, Y, gini)


class TestArguments:
    def test_weights_are_given_to_those_who_need_them(self):
        def error(y_true: Any, y_pred: Any, weight: Any) -> float:
            return float(np.average(np.abs(y_true - y_pred), weights=weight))

        weight = rng.uniform(0.5, 2, len(TEST))
        model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=3, eval_metric=["mae", error])
        model.fit(X, SCORE, eval_set=[(X[TEST], SCORE[TEST])], sample_weight_eval_set=[weight])
        curves = model.evals_result()["validation_0"]
        np.testing.assert_allclose(curves["error"], curves["mae"])

    def test_a_scorers_arguments_are_refused(self):
        def own(estimator: Any, X: Any, y: Any) -> float:
            return 0.0

        with pytest.raises(ParameterError, match=r"own takes \(estimator, X, y\).*make_scorer"):
            fit(NewtonBoostingRegressor, SCORE, own)

    def test_an_objective_of_three_arguments_is_refused(self):
        def objective(y_true: Any, y_pred: Any, weight: Any) -> Any:
            return (y_pred - y_true) * weight, weight

        with pytest.raises(ParameterError, match=r"'objective' takes \(y_true, y_pred, weight\).*without them"):
            NewtonBoostingRegressor(recipe="xgboost", objective=objective).fit(X, SCORE)


class TestKinds:
    @pytest.mark.parametrize("metric", ["mlogloss", "merror", "logloss", "error", "map", "ndcg@5"])
    def test_of_numbers(self, metric):
        with pytest.raises(
            ParameterError, match=r"is for .*, but NewtonBoostingRegressor predicts numbers. Use 'rmse'"
        ):
            fit(NewtonBoostingRegressor, SCORE, metric)

    @pytest.mark.parametrize(
        ("metric", "y", "words"),
        [
            ("ndcg", Y, "is for rankings, but .* predicts two classes. Use 'rmse', 'mae', 'logloss'"),
            ("poisson-nloglik", Y, "is for numbers"),
            ("auc", THREE, "predicts more than two classes. Use 'mlogloss', 'merror', 'loss'"),
            ("rmse", THREE, "predicts more than two classes"),
            ("logloss", THREE, "is for two classes"),
        ],
    )
    def test_of_classes(self, metric, y, words):
        with pytest.raises(ParameterError, match=words):
            fit(NewtonBoostingClassifier, y, metric)

    def test_of_rankings_and_quantiles(self):
        ranker = NewtonBoostingRanker(recipe="xgboost", n_estimators=1, eval_metric="rmse")
        with pytest.raises(ParameterError, match=r"predicts rankings. Use 'ndcg', 'map', 'loss'"):
            ranker.fit(X, THREE, eval_set=[(X, THREE)])
        with pytest.raises(ParameterError, match=r"predicts several quantiles. Use 'quantile', 'loss'"):
            fit(NewtonBoostingRegressor, SCORE, "mae", objective="quantile", quantile_alpha=[0.1, 0.9])

    @pytest.mark.parametrize(
        ("metric", "words"),
        [
            ("auc", "compares rows of 0 and of 1"),
            ("aucpr", "compares rows of 0 and of 1"),
            ("poisson-nloglik", "needs numbers of at least 0"),
            ("tweedie-nloglik@1.3", "needs numbers of at least 0"),
            ("gamma-nloglik", "needs numbers of at least 0"),
            ("gamma-deviance", "needs numbers of at least 0"),
        ],
    )
    def test_of_targets(self, metric, words):
        with pytest.raises(InputError, match=rf"y holds -?\d.*{words}"):
            fit(NewtonBoostingRegressor, SCORE, metric)

    def test_an_area_may_watch_numbers_that_are_0_and_1(self):
        model = fit(NewtonBoostingRegressor, Y, "auc")
        assert curve(model)[-1] == pytest.approx(roc_auc_score(Y[TEST], model.predict(X[TEST])))

    def test_quantiles_are_those_of_the_model(self):
        for quantiles in (0.9, [0.1, 0.9]):
            given = {"objective": "quantile", "quantile_alpha": quantiles}
            model = fit(NewtonBoostingRegressor, SCORE, ["loss", "quantile"], **given)
            loss, own = model.evals_result()["validation_0"].values()
            if quantiles == 0.9:
                np.testing.assert_allclose(own, loss)
            name = f"quantile@{str(quantiles).strip('[]')}"
            assert own == curve(fit(NewtonBoostingRegressor, SCORE, name, **given))


def test_a_cross_validation_keeps_all_metrics():
    model = NewtonBoostingClassifier(recipe="xgboost", n_estimators=5)
    both = cross_validate_boosting(model, X, THREE, metric=["merror", "mlogloss"], cv=3)
    assert both.metric == "mlogloss"
    for name in ("merror", "mlogloss"):
        alone = cross_validate_boosting(model, X, THREE, metric=name, cv=3)
        np.testing.assert_array_equal(both.curves["test"][name].values, alone.test_curve.values)
        np.testing.assert_array_equal(both.curves["train"][name].values, alone.train_curve.values)
    assert both.curves["test"]["mlogloss"] is both.test_curve
    assert list(both.estimators[0].evals_result()["test"]) == ["merror", "mlogloss"]
