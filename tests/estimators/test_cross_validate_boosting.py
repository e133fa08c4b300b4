from __future__ import annotations

import io
import math
import signal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.model_selection import GroupKFold, KFold, RepeatedKFold, ShuffleSplit, StratifiedKFold, TimeSeriesSplit

import sapwood
from sapwood import (
    BoostingCV,
    DecisionTreeClassifier,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRanker,
    NewtonBoostingRegressor,
    SapwoodError,
    cross_validate_boosting,
)
from sapwood.boosting.cross_validation import FoldCurve, within_one_error
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, place_rows
from sapwood.boosting.history import best_of
from sapwood.boosting.rounds import Rounds
from sapwood.codes.binned import bin_table, find_bins
from sapwood.estimators.boosting_task import BoostingNumbers
from sapwood.progress_bar import ProgressBar
from sapwood.row_parts.rows import LocalRows
from sapwood.table.table import Table


@pytest.fixture(scope="module")
def numbers():
    """Few distinct values, so that the bins of any fold are those of all rows."""
    random = np.random.default_rng(0)
    X = random.integers(0, 12, (400, 4)).astype(np.float64)
    y = 2 * X[:, 0] + X[:, 1] * X[:, 2] / 5 + random.normal(0, 2, 400)
    X[random.random((400, 4)) < 0.05] = np.nan
    return X, y


@pytest.fixture(scope="module")
def classes(numbers):
    X, y = numbers
    return X, np.array(["low", "mid", "top"])[np.digitize(y, [12, 25])]


def regressor(**parameters):
    return NewtonBoostingRegressor(
        recipe="xgboost", **{"n_estimators": 12, "max_depth": 3, "random_state": 0, **parameters}
    )


def classifier(**parameters):
    return NewtonBoostingClassifier(
        recipe="xgboost", **{"n_estimators": 12, "max_depth": 3, "random_state": 0, **parameters}
    )


def rmse(y, predicted, weight=None):
    """From sums of fractions, rounded once."""
    weights = np.ones(len(y)) if weight is None else weight
    total = sum(map(Fraction, (weights * (y - predicted) ** 2).tolist()))
    return math.sqrt(total / sum(map(Fraction, weights.tolist())))


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"objective": "absolute_error"},
        {"objective": "huber"},
        {"objective": "absolute_error", "leaf_rows": "all"},
        {"objective": "quantile", "quantile_alpha": [0.2, 0.8], "multi_strategy": "multi_output_tree"},
        {"grow_policy": "lossguide", "max_leaves": 5},
        {"colsample_bynode": 0.5},
        {"base_score": 3.0},
        {"learning_rate": [0.5, 0.1]},
        {"min_child_samples": 9},
        {"tree_method": "exact"},
        {"tree_method": "approx", "max_bin": 6},
    ],
)
def test_each_fold_is_the_model_fitted_to_its_rows_bit_for_bit(numbers, parameters):
    X, y = numbers
    result = cross_validate_boosting(regressor(**parameters), X, y, cv=3)
    for model, (train, test) in zip(result.estimators, result.splits, strict=True):
        alone = regressor(**parameters | {"n_estimators": result.best_n_rounds}).fit(X[train], y[train])
        assert_array_equal(alone.predict(X), model.predict(X))
        assert_array_equal(alone.predict(X[test]), result.oof_prediction[test])


@pytest.mark.parametrize(
    "parameters",
    [{}, {"class_weight": "balanced"}, {"multi_strategy": "multi_output_tree"}, {"leaf_rows": "all"}],
)
def test_folds_of_classes_are_the_models_fitted_to_their_rows(classes, parameters):
    X, y = classes
    result = cross_validate_boosting(classifier(**parameters), X, y, cv=3)
    assert_array_equal([np.unique(y[test]).tolist() for _, test in result.splits], [["low", "mid", "top"]] * 3)
    for model, (train, test) in zip(result.estimators, result.splits, strict=True):
        alone = classifier(**parameters, n_estimators=result.best_n_rounds).fit(X[train], y[train])
        assert_array_equal(alone.predict_proba(X), model.predict_proba(X))
        assert_array_equal(alone.predict_proba(X[test]), result.oof_probability[test])
        assert_array_equal(alone.predict(X[test]), result.oof_prediction[test])


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"loss": "huber"},
        {"loss": "absolute_error"},
        {"init": "zero"},
        {"min_samples_leaf": 0.05, "line_search": True},
    ],
)
def test_gradient_boosting_advances_in_folds_too(numbers, parameters):
    X, y = numbers
    parameters = {"n_estimators": 12, "random_state": 0, "n_iter_no_change": 3, **parameters}
    result = cross_validate_boosting(GradientBoostingRegressor(**parameters), X, y, cv=3, refit=True)
    assert result.test_curve.n_rounds == 12
    parameters |= {"n_estimators": result.best_n_rounds, "n_iter_no_change": None}
    for model, (train, test) in zip(result.estimators, result.splits, strict=True):
        alone = GradientBoostingRegressor(**parameters).fit(X[train], y[train])
        assert_array_equal(alone.predict(X), model.predict(X))
        assert_array_equal(alone.predict(X[test]), result.oof_prediction[test])
        assert model.estimators_.shape == (result.best_n_rounds, 1)
    assert_array_equal(result.refit_.predict(X), GradientBoostingRegressor(**parameters).fit(X, y).predict(X))


def test_gradient_boosting_of_classes(classes):
    X, y = classes
    result = cross_validate_boosting(GradientBoostingClassifier(n_estimators=8, random_state=0), X, y, cv=3)
    for train, test in result.splits:
        alone = GradientBoostingClassifier(n_estimators=result.best_n_rounds, random_state=0).fit(X[train], y[train])
        assert alone.predict_proba(X[test]) == pytest.approx(result.oof_probability[test])
        assert_array_equal(alone.predict(X[test]), result.oof_prediction[test])
    with pytest.raises(SapwoodError, match="init=DecisionTreeClassifier is an estimator"):
        cross_validate_boosting(GradientBoostingClassifier(init=DecisionTreeClassifier()), X, y)


def test_rounds_driven_by_hand_give_the_same_scores_and_curve(numbers):
    """With drawn rows too: draws depend on the numbers of rows in the whole table."""
    X, y = numbers
    estimator = regressor(subsample=0.6, sampling_method="gradient_based", max_bin=7)
    result = cross_validate_boosting(estimator, X, y, cv=4)
    table = Table.from_any(X)
    binned = bin_table(table, find_bins(table, 7))
    for fold, (train, test) in enumerate(result.splits):
        weight = np.zeros(len(y))
        weight[train] = 1.0
        estimator._seed = 0
        rows = Rows(table, y, weight)
        setup = estimator._setup(rows, estimator._loss(rows, BoostingNumbers()))
        base = setup.loss.start(LocalRows.of(y[train], weight[train]))
        score = np.full((1, len(y)), base[0])
        shards = place_rows(binned, y, weight, score, train, setup.loss, setup.rounds)
        rounds = Rounds(binned, table.schema.n_levels, setup.loss, setup.rounds, Ensemble(base), shards)
        for t in range(12):
            rounds.advance(0.3)
            assert result.test_curve.values[fold, t] == rmse(y[test], rounds.score[0, test])
            assert result.train_curve.values[fold, t] == rmse(y[train], rounds.score[0, train])
            if t == result.best_round:
                assert_array_equal(rounds.score[0, test], result.oof_prediction[test])


def test_held_out_rows_have_no_influence_at_all(numbers):
    X, y = numbers
    folds = [(np.arange(100, 400), np.arange(100)), (np.arange(300), np.arange(300, 400))]
    wild = y.copy()
    wild[:100] *= 1e6
    tame, mad = (cross_validate_boosting(regressor(), X, target, cv=folds) for target in (y, wild))
    n = min(tame.best_n_rounds, mad.best_n_rounds)
    first, second = (r.estimators[0].predict(X, n_rounds=n) for r in (tame, mad))
    assert_array_equal(first, second)


@pytest.mark.filterwarnings("ignore::sapwood.errors.DataDriftWarning")
def test_categories_missing_values_and_unseen_levels():
    random = np.random.default_rng(1)
    n = 300
    frame = pd.DataFrame(
        {
            "colour": random.choice(["red", "blue", None], n),
            "when": pd.date_range("2024-01-01", periods=n),
            "size": np.where(random.random(n) < 0.2, np.nan, random.normal(size=n)),
            "rare": ["only once" if i == 7 else "often" for i in range(n)],
        }
    )
    y = (frame["colour"] == "red") * 2.0 + frame["size"].fillna(1) + random.normal(0, 0.1, n)
    result = cross_validate_boosting(regressor(), frame, y, cv=3)
    for model, (_, test) in zip(result.estimators, result.splits, strict=True):
        assert_array_equal(model.predict(frame.iloc[test]), result.oof_prediction[test])
        assert model.predict(frame.assign(colour="green")).shape == (n,)
        assert list(model.feature_names_in_) == list(frame.columns)
    assert rmse(y, result.oof_prediction) < 0.6


@pytest.mark.parametrize("larger", [False, True])
def test_best_rounds_by_brute_force(classes, larger):
    X, y = classes
    y = y == "low"
    metric = "auc" if larger else "logloss"
    results = {rule: cross_validate_boosting(classifier(), X, y, metric=metric, rule=rule) for rule in ("min", "1se")}
    values = results["min"].test_curve.values
    assert values.shape == (5, 12)
    means = [sum(values[:, t]) / 5 for t in range(12)]
    errors = [np.sqrt(sum((values[:, t] - means[t]) ** 2) / 4) / np.sqrt(5) for t in range(12)]
    assert results["min"].test_curve.mean == pytest.approx(means)
    assert results["min"].test_curve.standard_error == pytest.approx(errors)
    sign = -1 if larger else 1
    best = min(range(12), key=lambda t: sign * means[t])
    assert results["min"].best_round == results["1se"].top_round == best
    simplest = next(t for t in range(12) if sign * means[t] <= sign * means[best] + errors[best])
    assert results["1se"].best_round == simplest <= best
    assert results["1se"].estimators[0].ensemble_.n_rounds == simplest + 1
    assert results["1se"].larger_is_better == larger


def test_the_one_standard_error_rule_by_hand():
    # means 4, 3, 2, 2.5; at the best round the folds are 1 and 3, so the standard error is sqrt(2) / sqrt(2) = 1
    curve = FoldCurve(np.array([[3.0, 2.5, 1.0, 2.0], [5.0, 3.5, 3.0, 3.0]]))
    assert curve.mean.tolist() == [4.0, 3.0, 2.0, 2.5]
    assert curve.standard_error[2] == 1.0
    assert best_of(curve.mean, False) == 2
    assert within_one_error(curve, 2, False) == 1  # 3 <= 2 + 1
    raised = FoldCurve(-curve.values)
    assert within_one_error(raised, best_of(raised.mean, True), True) == 1


def test_every_row_is_predicted_by_the_fold_that_did_not_train_on_it(numbers):
    X, y = numbers
    result = cross_validate_boosting(regressor(), X, y, cv=KFold(4, shuffle=True, random_state=3))
    assert (result.oof_count == 1).all()
    for i in range(0, 400, 37):
        (own,) = [k for k, (_, test) in enumerate(result.splits) if i in test]
        assert i not in result.splits[own][0]
        assert result.oof_prediction[i] == result.estimators[own].predict(X[i : i + 1])[0]
    assert rmse(y[result.splits[0][1]], result.oof_prediction[result.splits[0][1]]) == pytest.approx(
        result.test_curve.values[0, result.best_round]
    )


def test_rows_held_out_often_are_averaged_and_others_have_no_prediction(classes):
    X, y = classes
    often = cross_validate_boosting(classifier(), X, y, cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert (often.oof_count == 2).all()
    holders = [m for m, (_, test) in zip(often.estimators, often.splits, strict=True) if 5 in test]
    mean = np.mean([m.predict_proba(X[5:6])[0] for m in holders], axis=0)
    assert often.oof_probability[5] == pytest.approx(mean)
    some = cross_validate_boosting(classifier(), X, y, cv=ShuffleSplit(2, test_size=0.2, random_state=0))
    never = some.oof_count == 0
    assert never.any()
    assert all(label is None for label in some.oof_prediction[never])
    assert set(some.oof_prediction[~never]) <= {"low", "mid", "top"}
    assert np.isnan(some.oof_probability[never]).all()
    later = cross_validate_boosting(regressor(), X, np.arange(400.0), cv=TimeSeriesSplit(3))
    assert np.isnan(later.oof_prediction[:100]).all()
    assert np.isfinite(later.oof_prediction[100:]).all()


def test_weights_count_in_training_and_in_the_metric(numbers):
    X, y = numbers
    weight = np.random.default_rng(5).integers(1, 4, len(y)).astype(np.float64)
    result = cross_validate_boosting(regressor(), X, y, cv=3, sample_weight=weight)
    n = result.best_n_rounds
    for fold, (train, test) in enumerate(result.splits):
        alone = regressor(n_estimators=n).fit(X[train], y[train], sample_weight=weight[train])
        assert_array_equal(alone.predict(X[test]), result.oof_prediction[test])
        assert result.test_curve.values[fold, n - 1] == rmse(y[test], alone.predict(X[test]), weight[test])
        assert result.train_curve.values[fold, n - 1] == rmse(y[train], alone.predict(X[train]), weight[train])


def test_rows_of_weight_zero_might_as_well_not_be_there(classes):
    X, y = classes
    weight = np.ones(400)
    weight[::5] = 0.0
    weight[y == "top"] = 0.0
    used = np.flatnonzero(weight)
    folds = list(StratifiedKFold(3).split(X, weight))
    position = {row: i for i, row in enumerate(used)}
    fewer = [tuple(np.array([position[row] for row in part if row in position]) for part in fold) for fold in folds]
    whole = cross_validate_boosting(classifier(), X, y, cv=folds, sample_weight=weight)
    less = cross_validate_boosting(classifier(), X[used], y[used], cv=fewer)
    assert whole.estimators[0].classes_.tolist() == ["low", "mid"]
    assert_array_equal(whole.test_curve.values, less.test_curve.values)
    assert_array_equal(whole.oof_probability[used], less.oof_probability)
    assert (whole.oof_count == 1).all()


def test_the_refitted_estimator_is_trained_on_all_rows_for_the_best_number_of_rounds(numbers):
    X, y = numbers
    result = cross_validate_boosting(
        regressor(early_stopping_rounds=3, validation_fraction=0.2), X, y, refit=True, rule="1se"
    )
    alone = regressor(n_estimators=result.best_n_rounds).fit(X, y)
    assert_array_equal(result.refit_.predict(X), alone.predict(X))
    assert result.refit_.n_estimators_ == result.best_n_rounds
    assert cross_validate_boosting(regressor(n_estimators=2), X, y).refit_ is None


def test_it_stops_when_the_mean_is_not_better_for_a_while(numbers):
    X, y = numbers
    result = cross_validate_boosting(regressor(n_estimators=300, learning_rate=0.7), X, y, early_stopping_rounds=4)
    assert result.test_curve.n_rounds == result.best_round + 5 < 300
    assert result.stopped_reason == "no better round for early_stopping_rounds=4"
    own = cross_validate_boosting(regressor(n_estimators=300, learning_rate=0.7, early_stopping_rounds=4), X, y)
    assert_array_equal(own.test_curve.values, result.test_curve.values)
    full = cross_validate_boosting(regressor(n_estimators=result.test_curve.n_rounds, learning_rate=0.7), X, y)
    assert_array_equal(full.test_curve.values, result.test_curve.values)


def test_time_interrupts_and_callbacks_end_it_with_a_result(numbers):
    X, y = numbers
    told = []

    def stop(progress):
        told.append((progress.round, progress.n_rounds, progress.history["test"]["rmse"][-1], len(progress.folds)))
        return progress.round == 3

    result = cross_validate_boosting(regressor(callbacks=[stop]), X, y, cv=2)
    assert result.stopped_reason == "a callback asked to stop"
    assert told == [(t + 1, 12, result.test_curve.mean[t], 2) for t in range(3)]
    quick = cross_validate_boosting(regressor(n_estimators=10**6, max_seconds=0.01), X, y, cv=2)
    assert quick.stopped_reason == "max_seconds=0.01 reached"

    def interrupt(progress):
        if progress.round == 2:
            signal.raise_signal(signal.SIGINT)

    with pytest.warns(UserWarning, match="interrupted by SIGINT after 2 rounds"):
        broken = cross_validate_boosting(regressor(callbacks=[interrupt]), X, y, cv=2)
    assert broken.test_curve.n_rounds == 2
    assert broken.estimators[0].predict(X).shape == (400,)


def test_the_number_of_threads_changes_nothing(numbers):
    X, y = numbers
    one, many = (cross_validate_boosting(regressor(), X, y, n_jobs=n, cv=3) for n in (1, 4))
    assert_array_equal(one.test_curve.values, many.test_curve.values)
    assert_array_equal(one.oof_prediction, many.oof_prediction)


def test_functions_of_the_user(numbers):
    X, y = numbers

    def squares(truth, score):
        return score - truth, np.ones_like(score)

    def closeness(truth, predicted):
        return -np.abs(truth - predicted).mean()

    closeness.greater_is_better = True
    result = cross_validate_boosting(regressor(objective=squares, learning_rate=lambda t: 0.5), X, y, metric=closeness)
    assert result.metric == "closeness"
    assert result.larger_is_better
    assert result.test_curve.mean[-1] > result.test_curve.mean[0]


def test_several_quantiles_have_a_column_each(numbers):
    X, y = numbers
    result = cross_validate_boosting(regressor(objective="quantile", quantile_alpha=[0.1, 0.9]), X, y, cv=2)
    assert result.oof_prediction.shape == (400, 2)
    assert (result.oof_prediction[:, 0] <= result.oof_prediction[:, 1]).all()
    assert result.metric == "loss"


def test_groups_stay_together_and_queries_are_groups(numbers):
    X, y = numbers
    groups = np.repeat(np.arange(40), 10)
    result = cross_validate_boosting(regressor(), X, y, groups=groups, cv=4)
    assert all(not set(groups[train]) & set(groups[test]) for train, test in result.splits)
    grades = np.clip(y / 10, 0, 4).astype(int)
    ranker = NewtonBoostingRanker(recipe="xgboost", n_estimators=5, random_state=0)
    ranked = cross_validate_boosting(ranker, X, grades, groups=groups, cv=4, refit=True)
    assert ranked.metric == "ndcg"
    assert ranked.larger_is_better
    train, test = ranked.splits[0]
    n = ranked.best_n_rounds
    alone = NewtonBoostingRanker(recipe="xgboost", n_estimators=n, random_state=0).fit(
        X[train], grades[train], qid=groups[train]
    )
    assert_array_equal(alone.predict(X[test]), ranked.oof_prediction[test])
    assert ranked.refit_.predict(X).shape == (400,)
    with pytest.raises(SapwoodError, match="needs groups"):
        cross_validate_boosting(ranker, X, grades)
    with pytest.raises(SapwoodError, match="part of the query"):
        cross_validate_boosting(ranker, X, grades, groups=groups, cv=list(KFold(3).split(X)))
    with pytest.raises(SapwoodError, match="must stand together"):
        cross_validate_boosting(ranker, X, grades, groups=groups % 7, cv=GroupKFold(3))


@pytest.mark.parametrize(
    ("cv", "message"),
    [
        (1, "cv=1 is not allowed"),
        (401, "cannot divide these rows"),
        ("five", "cv='five' cannot divide"),
        ([([0, 1], [2])], r"gives 1 fold\(s\)"),
        ([([0, 1], [2]), ([0, 1], [])], "test rows of fold 2 of cv are"),
        ([([0, 1], [2]), ([0, 1], [1])], "Fold 2 of cv trains on row 1 and tests on it too"),
        ([([0, 0], [2]), ([0, 1], [3])], "hold row 0 twice"),
        ([([0, 400], [2]), ([0, 1], [3])], "hold 400, but X has 400 rows"),
        ([([0, 1], [-1]), ([0, 1], [3])], "hold -1"),
        ([([0.5, 1], [2]), ([0, 1], [3])], "not a whole number"),
        ([[0], [1]], "cannot divide these rows"),
    ],
)
def test_folds_that_cannot_be_used(numbers, cv, message):
    with pytest.raises(SapwoodError, match=message):
        cross_validate_boosting(regressor(), *numbers, cv=cv)


def test_masks_are_folds_too(numbers):
    first = np.arange(400) < 200
    result = cross_validate_boosting(regressor(n_estimators=2), *numbers, cv=[(first, ~first), (~first, first)])
    assert_array_equal(result.splits[0][1], np.arange(200, 400))


def test_a_fold_without_a_class_is_named(classes):
    X, y = classes
    folds = [(np.flatnonzero(y != "top"), np.flatnonzero(y == "top")), (np.arange(200), np.arange(200, 400))]
    with pytest.raises(SapwoodError, match="Fold 1 of cv has no row of the class 'top' to train on"):
        cross_validate_boosting(classifier(), X, y, cv=folds)
    binary = y == "low"
    folds = [(np.arange(200, 400), np.arange(200)), (np.arange(200), np.flatnonzero(binary)[-20:])]
    with pytest.raises(
        SapwoodError, match="Fold 2 of the cross-validation: The metric 'auc' needs rows of the classes"
    ):
        cross_validate_boosting(classifier(), X, binary, cv=folds, metric="auc")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"rule": "2se"}, "rule='2se' is not allowed"),
        ({"early_stopping_rounds": 0}, "early_stopping_rounds=0"),
        ({"metric": "rsme"}, "rsme"),
        ({"groups": [1, 2]}, r"groups has shape \(2,\)"),
        ({"sample_weight": np.r_[np.zeros(200), np.ones(200)], "cv": 2}, "fold 1 of cv tests on have a weight of zero"),
        ({"refit": "yes"}, "refit='yes'"),
        ({"verbose": -1}, "verbose=-1"),
    ],
)
def test_arguments_that_cannot_be_used(numbers, arguments, message):
    with pytest.raises(SapwoodError, match=message):
        cross_validate_boosting(regressor(), *numbers, **arguments)


def test_only_boosting_can_be_cross_validated(classes):
    with pytest.raises(SapwoodError, match="is not boosting"):
        cross_validate_boosting(DecisionTreeClassifier(), *classes)
    with pytest.raises(SapwoodError, match="max_depth=-1"):
        cross_validate_boosting(classifier(max_depth=-1), *classes)


def test_the_estimator_itself_is_left_alone(numbers):
    estimator = regressor()
    before = dict(vars(estimator))
    result = cross_validate_boosting(estimator, *numbers, metric="mae", verbose=False)
    assert vars(estimator) == before
    assert result.estimators[0].get_params() == estimator.get_params()


def test_it_is_silent_unless_asked(numbers, capfd):
    cross_validate_boosting(regressor(verbose=1), *numbers)
    assert capfd.readouterr() == ("", "")
    cross_validate_boosting(regressor(), *numbers, verbose=5)
    said = capfd.readouterr()
    assert said.out == ""
    assert [line.split()[0] for line in said.err.splitlines()] == ["5/12", "10/12", "12/12"]
    assert "test-rmse" in said.err


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_bar_is_drawn_over_and_over_on_a_terminal(numbers):
    stream = Terminal()
    with ProgressBar(True, stream) as bar:
        regressor(callbacks=[bar], n_estimators=8).fit(*numbers)
    text = stream.getvalue()
    assert text.startswith("\r")
    assert text.endswith("\n")
    assert text.count("\n") == 1
    assert "█" * 30 + " 8/8" in text
    silent = Terminal()
    with ProgressBar(0, silent) as bar:
        regressor(callbacks=[bar], n_estimators=2).fit(*numbers)
    assert silent.getvalue() == ""


def test_the_curve_is_drawn(numbers):
    mpl = pytest.importorskip("matplotlib")
    mpl.use("Agg")
    import matplotlib.pyplot as plt

    result = cross_validate_boosting(regressor(), *numbers, rule="1se")
    ax = plt.subplots()[1]
    assert result.plot(ax) is ax
    ax.figure.canvas.draw()
    texts = [text.get_text() for text in ax.get_legend().get_texts()]
    assert texts[:2] == ["training rows, mean ± standard error", "held-out rows, mean ± standard error"]
    assert any(text.startswith(f"chosen (1se): {result.best_n_rounds} round") for text in texts)
    assert ax.get_ylabel() == "cross-validated rmse"
    single = cross_validate_boosting(regressor(n_estimators=1), *numbers)
    assert single.plot().get_xlabel() == "rounds"
    plt.close("all")


def test_the_result_says_what_matters(numbers):
    result = cross_validate_boosting(regressor(), *numbers)
    assert isinstance(result, BoostingCV)
    assert repr(result).startswith(f"BoostingCV(rmse {result.best_mean:.6g} ± ")
    assert result.best_standard_error == result.test_curve.standard_error[result.best_round]
    with pytest.raises(AttributeError):
        result.best_round = 3
    assert "cross_validate_boosting" in sapwood.__all__
