"""Every mistake with the data of Newton boosting ends in an error that names the culprit and offers a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from bad_boosting import (
    FRAME,
    GRADES,
    NUMBERS,
    QUERIES,
    Case,
    Classifier,
    Ranker,
    Regressor,
    X,
    Y,
    check,
    fit,
    rank,
    regress,
    returning,
    watch,
)
from sklearn.exceptions import NotFittedError

from sapwood import SapwoodError

OBJECTIVES: dict[str, tuple[Any, str]] = {
    "nothing": (None, "'objective' returned NoneType.*return gradient, hessian"),
    "one array": (lambda y, s: s - y, "'objective' returned ndarray of length 30"),
    "three arrays": (lambda y, s: (s, s, s), "'objective' returned tuple of length 3"),
    "text": (("up", "down"), "'objective' returned a gradient of dtype"),
    "strings": (lambda y, s: (s.astype(str), s), "'objective' returned a gradient of dtype"),
    "too short": (lambda y, s: (s[:5], s[:5]), r"'objective' returned a gradient of shape \(5,\).*\(30,\)"),
    "a scalar": (lambda y, s: (s - y, 1.0), r"'objective' returned a hessian of shape \(\)"),
    "a matrix": (lambda y, s: (np.ones((30, 2)), np.ones((30, 2))), r"shape \(30, 2\)"),
    "NaN": (lambda y, s: (s - y + np.where(y == y[3], np.nan, 0), s + 1), "returned nan as the gradient of row"),
    "infinity": (lambda y, s: (s - y, np.full(30, np.inf)), "returned inf as the hessian of row 0"),
}

METRICS: dict[str, tuple[Any, str]] = {
    "None": (None, "'metric' returned None"),
    "NaN": (np.nan, "'metric' returned nan"),
    "text": ("good", "'metric' returned 'good'"),
    "a pair": (("mine", 0.5), r"'metric' returned \('mine', 0.5\)"),
    "an array": (np.zeros(3), "'metric' returned array"),
}

FITTING: dict[str, Case] = {
    "unknown parameter": (lambda: Regressor(eta=0.1), TypeError, "'eta'"),
    "misspelt parameter": (lambda: Regressor(n_estimator=10), TypeError, "Did you mean 'n_estimators'"),
    "parameter by position": (lambda: Regressor(10), TypeError, "position"),
    "y is missing": (lambda: Regressor().fit(X, None), ValueError, "target y is None"),
    "y is missing in rankings": (lambda: Ranker().fit(X, None, group=QUERIES), ValueError, "target y is None"),
    "y is too short": (lambda: regress(NUMBERS[:5]), ValueError, r"\[30, 5\].*y must have"),
    "y has NaN": (lambda: regress(np.where(np.arange(30) == 4, np.nan, NUMBERS)), ValueError, "y contains NaN.*row 4"),
    "y has infinity": (lambda: regress(np.where(np.arange(30) == 4, np.inf, NUMBERS)), ValueError, "infinity.*row 4"),
    "y has NaN in its second column": (
        lambda: regress(np.c_[NUMBERS, np.where(np.arange(30) == 4, np.nan, NUMBERS)]),
        ValueError,
        "Column 1 of y: .*NaN.*row 4",
    ),
    "classes in two columns": (lambda: fit(y=np.c_[Y, Y]), ValueError, "y has 2 columns"),
    "grades in two columns": (lambda: fit(y=np.c_[Y, Y], kind=Ranker), ValueError, "y has 2 columns"),
    "y holds words": (lambda: regress(["a"] * 30), ValueError, "y holds 'a' in row 0"),
    "y is continuous": (lambda: fit(y=NUMBERS), ValueError, "y holds .* in row 0"),
    "one class": (lambda: fit(y=np.ones(30, dtype=int)), ValueError, "y has one class, 1"),
    "one class of weight": (
        lambda: fit(given={"sample_weight": Y.astype(float)}),
        ValueError,
        "y has one class, 1",
    ),
    "negative counts": (
        lambda: regress(NUMBERS - 3, objective="poisson"),
        ValueError,
        "y holds -.*in row .*'poisson' needs numbers of at least 0",
    ),
    "no counts": (lambda: regress(np.zeros(30), objective="poisson"), ValueError, "All of y is 0"),
    "zero amounts": (lambda: regress(np.arange(30.0), objective="gamma"), ValueError, "y holds 0.0 in row 0.*above 0"),
    "negative amounts": (lambda: regress(-(NUMBERS**2), objective="tweedie"), ValueError, "y holds .*'tweedie'"),
    "negative grades": (lambda: fit(y=GRADES - 1, kind=Ranker), ValueError, "y holds -1.* in row 0.*grades"),
    "huge grades": (lambda: fit(y=GRADES * 20, kind=Ranker), ValueError, "y holds 40.* in row 2.*grades"),
    "weights zero": (lambda: regress(given={"sample_weight": np.zeros(30)}), ValueError, "sample_weight is zero"),
    "weights short": (lambda: regress(given={"sample_weight": np.ones(3)}), ValueError, "sample_weight.shape"),
    "weights negative": (lambda: regress(given={"sample_weight": -np.ones(30)}), ValueError, "sample_weight.*negative"),
    "weights of text": (lambda: regress(given={"sample_weight": ["a"] * 30}), TypeError, "sample_weight cannot"),
    "weights tiny": (
        lambda: regress(given={"sample_weight": np.full(30, 1e-300)}),
        ValueError,
        "sample_weight is at most 1e-300",
    ),
    "weights huge": (
        lambda: fit(given={"sample_weight": np.full(30, 1e200)}),
        ValueError,
        r"sample_weight 1e\+200: squares.*Divide",
    ),
    "targets huge": (lambda: regress(NUMBERS * 1e160), ValueError, r"y reaches .*e\+160.*Divide"),
    "three classes and one weight": (
        lambda: fit(y=GRADES, scale_pos_weight=2.0),
        ValueError,
        "scale_pos_weight=2.0.*y has 3.*class_weight",
    ),
    "three classes of AdaBoost": (
        lambda: fit(y=GRADES, objective="exponential"),
        ValueError,
        "objective='exponential'.*y has 3.*log_loss",
    ),
    "monotone for three classes": (
        lambda: fit(y=GRADES, monotone_constraints=[1, 0, 0]),
        ValueError,
        "monotone_constraints=.*3 classes",
    ),
    "monotone category": (
        lambda: fit(FRAME, monotone_constraints={"colour": 1}),
        ValueError,
        "monotone_constraints.*category column 'colour'",
    ),
    "monotone misspelt": (
        lambda: fit(FRAME, monotone_constraints={"sped": 1}),
        ValueError,
        "names the column 'sped'.*Did you mean 'speed'",
    ),
    "objective for three classes": (
        lambda: fit(y=GRADES, objective=lambda y, s: (s[:, 0] - y, np.ones(30))),
        ValueError,
        r"shape \(30,\).*\(30, 3\)",
    ),
    "loss of a function": (
        lambda: watch((X, NUMBERS), kind=Regressor, objective=lambda y, s: (s - y, np.ones_like(y))),
        ValueError,
        "metric 'loss'.*Pass an eval_metric",
    ),
    "metric of classes": (
        lambda: watch((X, NUMBERS), kind=Regressor, eval_metric="auc"),
        ValueError,
        "'auc'",
    ),
    "metric of one class": (
        lambda: watch((X[Y == 1], Y[Y == 1]), eval_metric="auc"),
        ValueError,
        "'auc' needs rows of the classes 0 and 1",
    ),
    "metric of two classes": (
        lambda: fit(y=GRADES, given={"eval_set": [(X, GRADES)]}, eval_metric="logloss"),
        ValueError,
        "'logloss'.*mlogloss",
    ),
}

EVALUATION: dict[str, Case] = {
    "a table": (lambda: fit(given={"eval_set": FRAME}), TypeError, "eval_set is a DataFrame.*Pass a list"),
    "a dictionary": (lambda: fit(given={"eval_set": {"test": X}}), ValueError, r"eval_set\['test'\] is a ndarray"),
    "a number": (lambda: fit(given={"eval_set": 0.1}), TypeError, "eval_set is a float"),
    "tables only": (lambda: watch(X), ValueError, r"eval_set\[0\] is a ndarray, not a pair"),
    "triples": (lambda: watch((X, Y, Y)), ValueError, r"eval_set\[0\] is a tuple of length 3"),
    "other columns": (lambda: watch((X, Y), (X[:, :2], Y)), ValueError, r"eval_set\[1\]: X has 2 features"),
    "other rows": (lambda: watch((X, Y[:5])), ValueError, r"eval_set\[0\]: .*\[30, 5\]"),
    "unknown class": (lambda: watch((X, Y + 1)), ValueError, r"eval_set\[0\]: y has the class 2.*0, 1"),
    "classes as words": (lambda: watch((X, ["no"] * 30)), ValueError, r"eval_set\[0\]: y has the class 'no'"),
    "no target": (lambda: watch((X, None)), ValueError, r"eval_set\[0\]: .*y is None"),
    "target with NaN": (
        lambda: watch((X, np.full(30, np.nan)), kind=Regressor),
        ValueError,
        r"eval_set\[0\]: .*NaN",
    ),
    "negative counts": (
        lambda: watch((X, NUMBERS - 3), kind=Regressor, objective="poisson", base_score=1.0),
        ValueError,
        r"y holds",
    ),
    "nothing to watch": (
        lambda: fit(given={"eval_set": []}, early_stopping_rounds=3),
        ValueError,
        "early_stopping_rounds=3 needs a validation set",
    ),
    "weights without sets": (
        lambda: fit(given={"sample_weight_eval_set": [np.ones(30)]}),
        ValueError,
        "sample_weight_eval_set is given without eval_set",
    ),
    "too many weights": (
        lambda: fit(given={"eval_set": [(X, Y)], "sample_weight_eval_set": [None, None]}),
        ValueError,
        "sample_weight_eval_set has 2 elements.*1 pairs",
    ),
    "weights not in a list": (
        lambda: fit(given={"eval_set": [(X, Y)], "sample_weight_eval_set": np.ones(30)}),
        ValueError,
        "sample_weight_eval_set is a ndarray",
    ),
    "negative weights": (
        lambda: fit(given={"eval_set": [(X, Y)], "sample_weight_eval_set": [-np.ones(30)]}),
        ValueError,
        r"eval_set\[0\]: .*negative",
    ),
}

RANKING: dict[str, Case] = {
    "sizes do not add up": (lambda: rank(group=[10, 10]), ValueError, "group adds up to 20 rows, but X has 30"),
    "sizes of zero": (lambda: rank(group=[0, 30]), ValueError, r"group=\[0, 30\]"),
    "sizes in floats": (lambda: rank(group=[10.5, 19.5]), ValueError, "group=.*whole numbers"),
    "sizes in words": (lambda: rank(group="10,20"), ValueError, "group='10,20'"),
    "both": (lambda: rank(group=QUERIES, qid=np.zeros(30)), ValueError, "Both group and qid.*Pass one"),
    "labels apart": (lambda: rank(qid=[1, 2] * 15), ValueError, "qid returns to the query 1 in row 2"),
    "too few labels": (lambda: rank(qid=np.zeros(5)), ValueError, r"qid has shape \(5,\)"),
    "missing labels": (lambda: rank(qid=np.full(30, np.nan)), ValueError, "qid holds NaN in row 0"),
    "weights of rows or queries": (
        lambda: rank(group=QUERIES, query_weight=[1, 2, 3]),
        ValueError,
        "query_weight has 3 elements.*2 queries",
    ),
    "weights zero": (lambda: rank(group=QUERIES, query_weight=[0, 0]), ValueError, "query_weight: .*zero"),
    "watched sizes": (
        lambda: rank(group=QUERIES, eval_set=[(X, GRADES)], eval_group=[[10, 10]]),
        ValueError,
        r"eval_group\[0\] adds up to 20",
    ),
    "watched labels": (
        lambda: rank(group=QUERIES, eval_set=[(X, GRADES)], eval_qid=[[1, 2] * 15]),
        ValueError,
        r"eval_qid\[0\] returns to the query 1",
    ),
    "watched sizes not in a list": (
        lambda: rank(group=QUERIES, eval_set=[(X, GRADES)], eval_group=np.array([10, 20])),
        ValueError,
        "eval_group is a ndarray.*1 pairs",
    ),
    "watched sizes without sets": (lambda: rank(group=QUERIES, eval_group=[[30]]), ValueError, "eval_group is a list"),
    "negative grades are watched": (
        lambda: rank(eval_set=[(X, GRADES - 1)]),
        ValueError,
        r"eval_set\[0\]: y holds -1.*grades",
    ),
    "one query held out": (
        lambda: fit(y=GRADES, kind=Ranker, validation_fraction=0.5),
        ValueError,
        "validation_fraction=0.5 of 1 query",
    ),
}


def continued(start: Any, X: Any = X, y: Any = Y, **parameters: Any) -> Any:
    return fit(X, y, given={"init_model": start}, **parameters)


CONTINUING: dict[str, Case] = {
    "not fitted": (lambda: continued(Classifier()), NotFittedError, "init_model: .*not fitted"),
    "no file": (lambda: continued("model.json"), ValueError, "init_model: path='model.json' cannot be read"),
    "no model": (lambda: continued(3), ValueError, "init_model is a int.*Pass the fitted estimator"),
    "another kind": (lambda: continued(regress()), ValueError, "init_model is a NewtonBoostingRegressor"),
    "other classes": (lambda: continued(fit(), y=Y + 1), ValueError, "y has the class 2.*0, 1"),
    "more columns": (lambda: continued(fit(), X=np.c_[X, X]), ValueError, "X has 6 features.*expecting 3"),
    "other columns": (
        lambda: continued(fit(FRAME), X=FRAME.rename(columns={"age": "Age"})),
        ValueError,
        "X lacks.*'age'",
    ),
    "other levels": (lambda: continued(fit(FRAME), X=FRAME.assign(colour="pink")), ValueError, "'colour'.*'pink'"),
    "another loss": (
        lambda: continued(regress(), y=NUMBERS, kind=Regressor, objective="absolute_error"),
        ValueError,
        "init_model was trained with the loss Squared.*Absolute",
    ),
    "other quantiles": (
        lambda: continued(
            regress(objective="quantile", quantile_alpha=[0.1, 0.9]), y=NUMBERS, kind=Regressor, objective="quantile"
        ),
        ValueError,
        "init_model was trained with the loss Quantile.*0.1, 0.9",
    ),
}

PREDICTION: dict[str, Case] = {
    "too few columns": (lambda: fit().predict(X[:, :1]), ValueError, "X has 1 features.*expecting 3"),
    "too many columns": (lambda: fit().apply(np.c_[X, X]), ValueError, "X has 6 features.*expecting 3"),
    "no rows": (lambda: regress().predict(X[:0]), ValueError, "at least one row in X"),
    "a vector": (lambda: fit().predict_proba(X[0]), ValueError, "X must have rows and columns"),
    "None": (lambda: regress().predict(None), TypeError, "X is None"),
    "a column is absent": (lambda: fit(FRAME).predict(FRAME[["age", "speed"]]), ValueError, "X lacks.*'colour'"),
    "numbers for categories": (lambda: fit(FRAME).predict(FRAME.assign(colour=1.0)), ValueError, "'colour' of X"),
    "an unseen level": (
        lambda: fit(FRAME, unseen="error").predict(FRAME.assign(colour="pink")),
        ValueError,
        "'colour' of X.*'pink'.*row 0",
    ),
    "no rounds": (lambda: fit().predict(X, n_rounds=0), ValueError, "n_rounds=0.*n_rounds=1"),
    "too many rounds": (lambda: fit().predict_proba(X, n_rounds=3), ValueError, "n_rounds=3.*n_rounds=2"),
    "negative rounds": (lambda: regress().predict(X, n_rounds=-1), ValueError, "n_rounds=-1"),
    "half a round": (lambda: fit().decision_function(X, n_rounds=1.5), ValueError, "n_rounds=1.5"),
    "rounds in words": (lambda: fit().apply(X, n_rounds="all"), ValueError, "n_rounds='all'"),
    "too many stages": (lambda: regress().staged_predict(X, n_rounds=3), ValueError, "n_rounds=3"),
    "rounds of a range": (lambda: fit().predict(X, n_rounds=(0, 2)), ValueError, r"n_rounds=\(0, 2\)"),
    "ranking rounds": (lambda: rank().predict(X, n_rounds=9), ValueError, "n_rounds=9"),
    "ranking score": (lambda: rank().score(X, GRADES, group=[5]), ValueError, "group adds up to 5 rows"),
    "bad unseen after fit": (lambda: fit().set_params(unseen="x").predict(X), ValueError, "unseen='x'"),
    "bad n_jobs after fit": (lambda: fit().set_params(n_jobs=0).predict(X), ValueError, "n_jobs=0"),
}

UNFITTED: dict[str, Callable[[Any], Any]] = {
    "predict": lambda model: model.predict(X),
    "apply": lambda model: model.apply(X),
    "staged_predict": lambda model: model.staged_predict(X),
    "evals_result": lambda model: model.evals_result(),
    "best_n_rounds_": lambda model: model.best_n_rounds_,
    "feature_importances_": lambda model: model.feature_importances_,
    "score": lambda model: model.score(X, Y),
}


@pytest.mark.parametrize("case", OBJECTIVES.values(), ids=OBJECTIVES)
@pytest.mark.parametrize("kind", [Classifier, Regressor, Ranker])
def test_objectives(case: tuple[Any, str], kind: Any) -> None:
    answer, words = case
    y = {Classifier: Y, Regressor: NUMBERS, Ranker: GRADES}[kind]
    check(lambda: fit(y=y, kind=kind, objective=returning(answer)), ValueError, words)


@pytest.mark.parametrize("case", METRICS.values(), ids=METRICS)
def test_metrics(case: tuple[Any, str]) -> None:
    answer, words = case

    def metric(y: Any, predicted: Any) -> Any:
        return answer

    check(lambda: watch((X, Y), eval_metric=metric), ValueError, words)


@pytest.mark.parametrize("case", FITTING.values(), ids=FITTING)
def test_fitting(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("case", EVALUATION.values(), ids=EVALUATION)
def test_evaluation_sets(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("case", RANKING.values(), ids=RANKING)
def test_ranking(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("case", CONTINUING.values(), ids=CONTINUING)
def test_continuing(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("case", PREDICTION.values(), ids=PREDICTION)
def test_prediction(case: Case) -> None:
    check(*case)


@pytest.mark.parametrize("use", UNFITTED.values(), ids=UNFITTED)
@pytest.mark.parametrize("kind", [Classifier, Regressor, Ranker])
def test_use_before_fit(kind: Any, use: Callable[[Any], Any]) -> None:
    check(lambda: use(kind()), NotFittedError, "Call 'fit'")


@pytest.mark.parametrize("use", ["predict_proba", "predict_log_proba", "decision_function", "staged_predict_proba"])
def test_probabilities_before_fit(use: str) -> None:
    check(lambda: getattr(Classifier(), use)(X), NotFittedError, "Call 'fit'")


def test_the_best_round_is_unknown_where_nothing_was_watched() -> None:
    for model in (Classifier(), fit()):
        for name in ("best_iteration", "best_score", "best_iteration_", "best_score_"):
            assert not hasattr(model, name)


def test_a_failed_fit_leaves_the_model_as_it_was() -> None:
    model = fit(FRAME, given={"eval_set": [(FRAME, Y)]})
    before, predicted = dict(vars(model)), model.predict_proba(FRAME)

    def objective(y: Any, score: Any) -> Any:
        return score, np.full(score.shape, np.nan)

    attempts: list[Callable[[], Any]] = [
        lambda: model.fit(X, GRADES[:2]),
        lambda: model.fit(X, GRADES, sample_weight=np.zeros(30)),
        lambda: model.fit(X, GRADES, eval_set=[(X[:, :1], GRADES)]),
        lambda: model.set_params(monotone_constraints=[1]).fit(X, GRADES),
        lambda: model.set_params(monotone_constraints=None, objective=objective).fit(X, GRADES),
    ]
    for attempt in attempts:
        with pytest.raises(SapwoodError):
            attempt()
        fitted = {name: value for name, value in vars(model).items() if name not in model.get_params()}
        assert fitted == {name: value for name, value in before.items() if name not in model.get_params()}
        np.testing.assert_array_equal(model.predict_proba(FRAME), predicted)
