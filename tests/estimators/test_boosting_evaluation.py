"""Rows to watch: metrics after each round, early stopping, the best round, callbacks, time limits and reports."""

from __future__ import annotations

import os
import re
import signal
from typing import Any

import numpy as np
import pytest
from newton_cases import METHODS
from numpy.typing import NDArray
from sklearn import metrics

from sapwood import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor
from sapwood.estimators.validation_sets import hold_out

rng = np.random.default_rng(1)
X = rng.normal(size=(400, 5))
SCORE = X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=400)
Y = (SCORE > 0.4).astype(int)
THREE = np.digitize(SCORE, [-0.7, 0.7])
TRAIN, TEST = np.arange(250), np.arange(250, 400)
FAST = {"n_jobs": 1, "learning_rate": 0.5, "max_depth": 3}


def classifier(**parameters: Any) -> NewtonBoostingClassifier:
    return NewtonBoostingClassifier(recipe="xgboost", **{**FAST, "n_estimators": 60, **parameters})


def regressor(**parameters: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(recipe="xgboost", **{**FAST, "n_estimators": 60, **parameters})


def watched(y: NDArray[Any] = Y) -> dict[str, Any]:
    return {"eval_set": [(X[TEST], y[TEST])]}


class TestMetrics:
    @pytest.mark.parametrize("method", METHODS)
    def test_curves_are_those_of_staged_predictions(self, method):
        model = classifier(n_estimators=12, eval_metric=["logloss", "error", "auc"], tree_method=method)
        model.fit(X[TRAIN], Y[TRAIN], eval_set=[(X[TRAIN], Y[TRAIN]), (X[TEST], Y[TEST])])
        result = model.evals_result()
        assert result is model.evals_result_
        assert list(result) == ["validation_0", "validation_1"]
        assert list(result["validation_1"]) == ["logloss", "error", "auc"]
        for rows, curves in zip((TRAIN, TEST), result.values(), strict=True):
            staged = [p[:, 1] for p in model.staged_predict_proba(X[rows])]
            expected = [metrics.log_loss(Y[rows], p) for p in staged]
            np.testing.assert_allclose(curves["logloss"], expected, rtol=1e-10)
            np.testing.assert_allclose(curves["auc"], [metrics.roc_auc_score(Y[rows], p) for p in staged], rtol=1e-10)
            said = list(model.staged_predict(X[rows]))
            np.testing.assert_allclose(curves["error"], [np.mean(p != Y[rows]) for p in said], rtol=1e-10)

    def test_of_more_classes(self):
        model = classifier(n_estimators=8, eval_metric=["mlogloss", "merror"]).fit(X, THREE, eval_set=[(X, THREE)])
        curves = model.evals_result()["validation_0"]
        expected = [metrics.log_loss(THREE, p) for p in model.staged_predict_proba(X)]
        np.testing.assert_allclose(curves["mlogloss"], expected, rtol=1e-10)
        assert curves["merror"][-1] == pytest.approx(np.mean(model.predict(X) != THREE))

    @pytest.mark.parametrize(
        ("objective", "metric"),
        [("squared_error", "rmse"), ("absolute_error", "mae"), ("huber", "mae"), ("poisson", "loss")],
    )
    def test_a_default_for_each_objective(self, objective, metric):
        model = regressor(n_estimators=3, objective=objective).fit(X, Y, eval_set=[(X, Y)])
        assert list(model.evals_result()["validation_0"]) == [metric]

    def test_weights_of_evaluation_sets(self):
        weight = rng.uniform(0, 3, size=len(TEST))
        model = regressor(n_estimators=5, eval_metric="rmse")
        model.fit(
            X[TRAIN],
            SCORE[TRAIN],
            eval_set=[(X[TEST], SCORE[TEST]), (X[TEST], SCORE[TEST])],
            sample_weight_eval_set=[None, weight],
        )
        error = (model.predict(X[TEST]) - SCORE[TEST]) ** 2
        curves = model.evals_result()
        assert curves["validation_0"]["rmse"][-1] == pytest.approx(np.sqrt(error.mean()))
        assert curves["validation_1"]["rmse"][-1] == pytest.approx(np.sqrt(np.average(error, weights=weight)))

    def test_a_function_gets_vectors_or_matrices(self):
        seen = []

        def largest_error(y: NDArray[Any], predicted: NDArray[Any]) -> float:
            seen.append((y.shape, predicted.shape))
            return float(np.abs(y - (predicted if predicted.ndim == 1 else predicted[:, 0])).max())

        model = regressor(n_estimators=2, eval_metric=largest_error).fit(X, SCORE, eval_set=[(X, SCORE)])
        curve = model.evals_result()["validation_0"]["largest_error"]
        assert curve[-1] == pytest.approx(np.abs(model.predict(X) - SCORE).max())
        classifier(n_estimators=1, eval_metric=largest_error).fit(X, Y, eval_set=[(X, Y)])
        classifier(n_estimators=1, eval_metric=largest_error).fit(X, THREE, eval_set=[(X, THREE)])
        assert seen == [((400,), (400,))] * 3 + [((400,), (400, 3))]

    def test_functions_say_whether_more_is_better(self):
        def share_right(y: NDArray[Any], p: NDArray[Any]) -> float:
            return float(np.mean((p > 0.5) == y))

        share_right.greater_is_better = True  # type: ignore[attr-defined]
        model = classifier(eval_metric=share_right, early_stopping_rounds=5).fit(X[TRAIN], Y[TRAIN], **watched())
        curve = model.evals_result()["validation_0"]["share_right"]
        assert model.best_score_ == max(curve)
        assert model.best_iteration_ == int(np.argmax(curve))

    def test_evaluation_sets_do_not_change_the_model(self):
        plain = classifier(n_estimators=5).fit(X[TRAIN], Y[TRAIN])
        other = classifier(n_estimators=5).fit(X[TRAIN], Y[TRAIN], **watched())
        np.testing.assert_array_equal(plain.decision_function(X), other.decision_function(X))


class TestClassWeights:
    """Metrics look at what `predict_proba` says, and rows count by their own weight."""

    @pytest.mark.parametrize("y", [Y, THREE])
    @pytest.mark.parametrize("undo", [True, False])
    def test_of_evaluation_sets(self, y, undo):
        metric = "logloss" if y is Y else "mlogloss"
        model = classifier(n_estimators=5, class_weight={0: 5.0}, undo_class_weight=undo, eval_metric=metric)
        model.fit(X[TRAIN], y[TRAIN], eval_set=[(X[TEST], y[TEST])])
        expected = metrics.log_loss(y[TEST], model.predict_proba(X[TEST]))
        assert model.evals_result()["validation_0"][metric][-1] == pytest.approx(expected)

    @pytest.mark.parametrize("method", METHODS)
    def test_of_rows_held_out(self, method):
        weight = rng.uniform(0.5, 2, size=len(X))
        given = {"scale_pos_weight": 7.0, "validation_fraction": 0.3, "random_state": 0, "tree_method": method}
        model = classifier(n_estimators=3, eval_metric=["error", "logloss"], **given).fit(X, Y, sample_weight=weight)
        rows = hold_out(len(X), 0.3, Y.astype(float), None, seed=0)
        curves = model.evals_result()["validation"]
        expected = metrics.log_loss(Y[rows], model.predict_proba(X[rows]), sample_weight=weight[rows])
        assert curves["logloss"][-1] == pytest.approx(expected)
        wrong = model.predict(X[rows]) != Y[rows]
        assert curves["error"][-1] == pytest.approx(np.average(wrong, weights=weight[rows]))

    def test_a_function_of_the_users_own_is_read_as_log_odds(self):
        def objective(y: NDArray[Any], score: NDArray[Any]) -> Any:
            p = 1 / (1 + np.exp(-score))
            return p - y, p * (1 - p)

        model = classifier(n_estimators=5, objective=objective, eval_metric="logloss").fit(X, Y, eval_set=[(X, Y)])
        expected = metrics.log_loss(Y, model.predict_proba(X))
        assert model.evals_result()["validation_0"]["logloss"][-1] == pytest.approx(expected)


class TestEarlyStopping:
    def test_everything_uses_the_best_round(self):
        model = classifier(n_estimators=200, early_stopping_rounds=7).fit(X[TRAIN], Y[TRAIN], **watched())
        curve = model.evals_result()["validation_0"]["logloss"]
        best = int(np.argmin(curve))
        assert model.best_iteration == model.best_iteration_ == best
        assert model.best_score == model.best_score_ == curve[best]
        assert len(curve) == best + 1 + 7 == model.n_estimators_ == model.n_iter_ < 200
        assert model.stopped_reason_ == "no better round for early_stopping_rounds=7"
        assert model.best_n_rounds_ == best + 1
        short = classifier(n_estimators=best + 1).fit(X[TRAIN], Y[TRAIN])
        for method in ("predict", "predict_proba", "decision_function", "predict_log_proba", "apply"):
            np.testing.assert_array_equal(getattr(model, method)(X), getattr(short, method)(X))
        for method in ("staged_predict", "staged_predict_proba", "staged_decision_function"):
            staged = list(getattr(model, method)(X))
            assert len(staged) == best + 1
            np.testing.assert_array_equal(staged[-1], list(getattr(short, method)(X))[-1])
        np.testing.assert_array_equal(model.feature_importances_, short.feature_importances_)
        assert model.apply(X).shape == (400, best + 1)

    def test_n_rounds_overrules_it(self):
        model = classifier(early_stopping_rounds=5).fit(X[TRAIN], Y[TRAIN], **watched())
        whole = classifier(n_estimators=model.n_estimators_).fit(X[TRAIN], Y[TRAIN])
        np.testing.assert_array_equal(model.predict_proba(X, n_rounds=model.n_estimators_), whole.predict_proba(X))
        for n in (1, 3):
            np.testing.assert_array_equal(model.predict(X, n_rounds=n), list(whole.staged_predict(X))[n - 1])
            np.testing.assert_array_equal(model.apply(X, n_rounds=n), whole.apply(X)[:, :n])
            assert len(list(model.staged_predict_proba(X, n_rounds=n))) == n

    def test_the_last_metric_of_the_last_set_decides(self):
        sets = [(X[TEST], Y[TEST]), (X[TRAIN], Y[TRAIN])]
        model = classifier(n_estimators=30, early_stopping_rounds=3, eval_metric=["auc", "logloss"])
        model.fit(X[TRAIN], Y[TRAIN], eval_set=sets)
        assert model.best_score_ == min(model.evals_result()["validation_1"]["logloss"])
        assert model.n_estimators_ == 30  # the training loss always falls

    def test_larger_may_be_better(self):
        model = classifier(eval_metric="auc", early_stopping_rounds=5).fit(X[TRAIN], Y[TRAIN], **watched())
        curve = model.evals_result()["validation_0"]["auc"]
        assert model.best_iteration_ == int(np.argmax(curve))

    def test_without_it_the_best_round_is_told_but_not_used(self):
        model = classifier(n_estimators=50).fit(X[TRAIN], Y[TRAIN], **watched())
        assert model.best_iteration < 49
        assert model.best_n_rounds_ == model.n_estimators_ == 50
        assert model.stopped_reason_ == "all rounds done"

    @pytest.mark.parametrize(("y", "kind"), [(Y, classifier), (THREE, classifier), (SCORE, regressor)])
    def test_on_rows_held_out(self, y, kind):
        model = kind(n_estimators=100, early_stopping_rounds=5, validation_fraction=0.25, random_state=3).fit(X, y)
        assert list(model.evals_result()) == ["validation"]
        assert model.n_estimators_ < 100
        assert model.best_n_rounds_ == model.best_iteration_ + 1 == model.n_estimators_ - 5
        again = kind(n_estimators=100, early_stopping_rounds=5, validation_fraction=0.25, random_state=3).fit(X, y)
        np.testing.assert_array_equal(model.predict(X), again.predict(X))

    def test_rows_held_out_do_not_train(self):
        """The tree's root counts the other rows only, and classes are represented alike."""
        model = classifier(n_estimators=2, validation_fraction=0.25, random_state=0).fit(X, Y)
        assert model.ensemble_.rounds[0][0].n_node_samples[0] == 300
        share = 1 / (1 + np.exp(-model.ensemble_.base[0]))
        assert share == pytest.approx(Y.mean(), abs=0.005)

    def test_an_evaluation_set_comes_before_rows_held_out(self):
        model = classifier(n_estimators=2, validation_fraction=0.25).fit(X[TRAIN], Y[TRAIN], **watched())
        assert list(model.evals_result()) == ["validation_0"]
        assert model.ensemble_.rounds[0][0].n_node_samples[0] == len(TRAIN)

    def test_few_rows_of_a_class_are_held_out_as_they_come(self):
        y = np.zeros(400, dtype=int)
        y[7] = 1
        model = classifier(n_estimators=2, validation_fraction=0.25, random_state=0).fit(X, y)
        assert model.n_estimators_ == 2

    def test_a_refit_without_it_forgets_the_best_round(self):
        model = classifier(early_stopping_rounds=3).fit(X[TRAIN], Y[TRAIN], **watched())
        model.set_params(early_stopping_rounds=None, n_estimators=20).fit(X[TRAIN], Y[TRAIN])
        assert model.best_n_rounds_ == 20
        assert not hasattr(model, "best_iteration_")
        assert not hasattr(model, "best_score")


class TestRankings:
    """Queries are held out as a whole."""

    def test_of_rows_held_out(self):
        sizes = np.full(40, 10)
        grades = np.digitize(SCORE, [-1, 0, 1])
        model = NewtonBoostingRanker(
            recipe="xgboost",
            n_estimators=40,
            max_depth=2,
            validation_fraction=0.25,
            early_stopping_rounds=5,
            random_state=0,
            n_jobs=1,
        ).fit(X, grades, group=sizes)
        assert model.ensemble_.rounds[0][0].n_node_samples[0] == 300
        rows = hold_out(400, 0.25, None, sizes, seed=0)
        assert len(rows) == 100
        assert model.best_score_ == max(model.evals_result()["validation"]["ndcg"])
        in_order = model.predict(X[rows]) - 1e-9 * np.arange(100)  # ties are in the order of the rows
        expected = metrics.ndcg_score(2.0 ** grades[rows].reshape(10, 10) - 1, in_order.reshape(10, 10))
        assert model.best_score_ == pytest.approx(expected)
        assert model.score(X[rows], grades[rows], group=sizes[:10]) == pytest.approx(expected)


class TestProgress:
    def test_callbacks_are_told_and_may_stop(self):
        told = []

        def watch(progress: Any) -> bool:
            told.append((progress.round, progress.n_rounds, progress.best_round, progress.ensemble.n_rounds))
            assert progress.seconds >= 0
            assert len(progress.history["validation_0"]["logloss"]) == progress.round
            return progress.round == 4

        model = classifier(callbacks=[watch]).fit(X[TRAIN], Y[TRAIN], **watched())
        assert [part[0] for part in told] == [1, 2, 3, 4]
        assert {part[1] for part in told} == {60}
        assert [part[3] for part in told] == [1, 2, 3, 4]
        assert model.n_estimators_ == 4
        assert model.stopped_reason_ == "a callback asked to stop"
        same = classifier(n_estimators=4).fit(X[TRAIN], Y[TRAIN])
        np.testing.assert_array_equal(model.predict_proba(X), same.predict_proba(X))

    def test_errors_of_callbacks_are_the_users(self):
        def fail(progress: Any) -> None:
            raise RuntimeError("mine")

        with pytest.raises(RuntimeError, match="mine"):
            classifier(callbacks=[fail]).fit(X, Y)

    def test_a_time_limit(self):
        model = classifier(n_estimators=100_000, max_seconds=0.2).fit(X, Y)
        assert 0 < model.n_estimators_ < 100_000
        assert model.stopped_reason_ == "max_seconds=0.2 reached"
        assert model.predict(X).shape == (400,)

    @pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
    def test_signals_leave_a_usable_model(self, number):
        def interrupt(progress: Any) -> None:
            if progress.round == 3:
                os.kill(os.getpid(), number)

        before = signal.getsignal(signal.SIGINT)  # ignored in background jobs of a shell
        model = classifier(callbacks=[interrupt])
        with pytest.warns(UserWarning, match="interrupted"):
            model.fit(X, Y)
        assert model.n_estimators_ in (3, 4)
        assert model.stopped_reason_ == f"interrupted by {number.name}"
        assert model.predict(X).shape == (400,)
        assert signal.getsignal(signal.SIGINT) is before

    def test_verbose_prints_every_so_many_rounds(self, capsys):
        classifier(n_estimators=5, verbose=2).fit(X[TRAIN], Y[TRAIN], **watched())
        lines = capsys.readouterr().err.splitlines()
        assert [line.split()[0] for line in lines] == ["2/5", "4/5", "5/5"]
        assert all(re.search(r"validation_0-logloss \d\.\d{5}", line) for line in lines)
        classifier(n_estimators=3, verbose=True).fit(X, Y)
        assert len(capsys.readouterr().err.splitlines()) == 3
        classifier(n_estimators=3).fit(X, Y)
        assert capsys.readouterr() == ("", "")


class TestContinuing:
    @pytest.mark.parametrize(
        "parameters",
        [
            {},
            {"subsample": 0.7, "random_state": 4},
            {"colsample_bytree": 0.6, "colsample_bylevel": 0.8, "colsample_bynode": 0.7, "random_state": 4},
            {"subsample": 0.5, "sampling_method": "gradient_based", "random_state": 4},
            {"grow_policy": "lossguide", "max_leaves": 6, "max_depth": 0},
            {"learning_rate": [0.5 / (t + 1) for t in range(60)]},
            {"learning_rate": lambda t: 0.5 * 0.95**t},
            {"tree_method": "exact", "subsample": 0.7, "random_state": 4},
            {"tree_method": "approx", "colsample_bynode": 0.7, "random_state": 4},
        ],
        ids=lambda parameters: "+".join(parameters) or "plain",
    )
    @pytest.mark.parametrize("y", [Y, THREE, SCORE], ids=["two", "three", "numbers"])
    def test_thirty_and_thirty_are_sixty(self, y, parameters):
        kind = regressor if y is SCORE else classifier
        whole = kind(**parameters).fit(X, y)
        first = kind(n_estimators=30, **parameters).fit(X, y)
        both = kind(n_estimators=30, **parameters).fit(X, y, init_model=first)
        assert both.n_estimators_ == 60
        assert first.n_estimators_ == 30
        for ours, theirs in zip(both.ensemble_.rounds, whole.ensemble_.rounds, strict=True):
            for tree, other in zip(ours, theirs, strict=True):
                for name, array in tree.arrays().items():
                    assert array.tobytes() == other.arrays()[name].tobytes(), name
        assert both.predict(X, output_margin=True).tobytes() == whole.predict(X, output_margin=True).tobytes()

    def test_a_model_continues_itself(self):
        model = classifier(n_estimators=5).fit(X, Y)
        model.fit(X, Y, init_model=model)
        assert model.n_estimators_ == 10

    def test_on_other_rows(self):
        first = classifier(n_estimators=10).fit(X[TRAIN], Y[TRAIN])
        both = classifier(n_estimators=10).fit(X[TEST], Y[TEST], init_model=first, eval_set=[(X[TEST], Y[TEST])])
        np.testing.assert_array_equal(both.predict_proba(X, n_rounds=10), first.predict_proba(X))
        curve = both.evals_result()["validation_0"]["logloss"]
        assert len(curve) == 10
        assert curve[-1] < metrics.log_loss(Y[TEST], first.predict_proba(X[TEST]))
        assert 10 <= both.best_iteration_ < 20

    def test_rows_may_lack_a_class_and_have_weight_zero(self):
        first = classifier(n_estimators=5).fit(X, THREE)
        rows = THREE != 1
        weight = np.ones(rows.sum())
        weight[::3] = 0
        both = classifier(n_estimators=5).fit(X[rows], THREE[rows], weight, init_model=first)
        np.testing.assert_array_equal(both.classes_, [0, 1, 2])
        kept = np.flatnonzero(rows)[weight > 0]
        same = classifier(n_estimators=5).fit(X[kept], THREE[kept], init_model=first)
        np.testing.assert_array_equal(both.predict_proba(X), same.predict_proba(X))

    def test_after_early_stopping_from_the_best_round(self):
        first = classifier(early_stopping_rounds=3).fit(X[TRAIN], Y[TRAIN], **watched())
        both = classifier(n_estimators=4).fit(X[TRAIN], Y[TRAIN], init_model=first)
        assert both.n_estimators_ == first.best_n_rounds_ + 4
        whole = classifier(n_estimators=both.n_estimators_).fit(X[TRAIN], Y[TRAIN])
        np.testing.assert_array_equal(both.decision_function(X), whole.decision_function(X))
