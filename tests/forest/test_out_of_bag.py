"""Out of bag: predictions, curve, stopping, importances, quantiles, intervals, proximity."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from forest_cases import frame, signal

from sapwood import RandomForestClassifier, RandomForestRegressor, tune_by_oob
from sapwood.errors import InputError, InputTypeError, ParameterError
from sapwood.forest.out_of_bag import WINDOW, first_flat, is_flat

X = frame(300)
NUMBERS = signal(X)
THREE = np.digitize(NUMBERS, [0.0, 1.5])


def outside(model: Any, t: int) -> Any:
    return np.setdiff1d(np.arange(len(X)), model.estimators_samples_[t])


def test_predictions_out_of_bag_are_those_of_the_trees_that_did_not_see_a_row() -> None:
    model = RandomForestClassifier(40, random_state=0, oob_score=True, prior_weight=0.0).fit(X, THREE)
    sums, counts = np.zeros((len(X), 3)), np.zeros(len(X))
    errors = []
    for t, tree in enumerate(model.estimators_):
        rows = outside(model, t)
        sums[rows] += tree.predict_proba(X.iloc[rows])
        counts[rows] += 1
        seen = counts > 0
        errors.append(np.mean(sums[seen].argmax(axis=1) != THREE[seen]))
    np.testing.assert_allclose(model.oob_decision_function_, sums / counts[:, None])
    np.testing.assert_allclose(model.oob_curve_, errors)
    assert model.oob_score_ == pytest.approx(1.0 - errors[-1])


def test_numbers_out_of_bag() -> None:
    model = RandomForestRegressor(40, random_state=0, oob_score=True).fit(X, NUMBERS)
    sums, counts = np.zeros(len(X)), np.zeros(len(X))
    for t, tree in enumerate(model.estimators_):
        rows = outside(model, t)
        sums[rows] += tree.predict(X.iloc[rows])
        counts[rows] += 1
    np.testing.assert_allclose(model.oob_prediction_, sums / counts)
    residual = NUMBERS - sums / counts
    assert model.oob_curve_[-1] == pytest.approx(np.mean(residual**2))
    assert model.oob_score_ == pytest.approx(1.0 - np.sum(residual**2) / np.sum((NUMBERS - NUMBERS.mean()) ** 2))


def test_a_score_of_ones_own() -> None:
    def share(truth: Any, predicted: Any) -> float:
        return float(np.mean(truth == predicted)) - 1.0

    model = RandomForestClassifier(30, random_state=0, oob_score=share).fit(X, THREE)
    assert model.oob_score_ == pytest.approx(-model.oob_curve_[-1])


def test_flat_curves() -> None:
    falling, level = np.linspace(2.0, 1.0, 60).tolist(), [1.0] * 60
    assert not is_flat(falling, 0.005)
    assert is_flat(falling, 0.5)
    assert not is_flat(level[: 2 * WINDOW - 1], 0.005)
    assert first_flat(level, 0.0) == 2 * WINDOW
    assert first_flat(falling, 0.0) is None
    assert first_flat(falling + level, 0.005) == 60 + 2 * WINDOW - 12 or first_flat(falling + level, 0.005) > 60


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_growth_ends_when_the_curve_is_flat(n_jobs: int) -> None:
    model = RandomForestClassifier(500, random_state=0, oob_stop=True, oob_tol=0.02, n_jobs=n_jobs).fit(X, THREE)
    n = len(model.forest_)
    assert n == 2 * WINDOW or not is_flat(model.oob_curve_[:-1].tolist(), 0.02)
    assert is_flat(model.oob_curve_.tolist(), 0.02)
    assert n < 500
    assert model.stopped_reason_ == f"the out-of-bag error was flat after {n} trees"


def test_tuning_without_cross_validation() -> None:
    forest = RandomForestClassifier(60, random_state=0)
    choice = tune_by_oob(forest, X, THREE, max_features=[1, 3], min_samples_leaf=[1, 20], oob_tol=0.05)
    assert len(choice.trials) == 4
    assert choice.best.error == min(trial.error for trial in choice.trials)
    assert choice.forest.get_params()["max_features"] == choice.best.max_features
    assert choice.forest.oob_curve_[choice.best.n_trees - 1] == choice.best.error
    assert "<- chosen" in str(choice)
    with pytest.raises(ParameterError, match="max_features='no'"):
        tune_by_oob(forest, X, THREE, max_features=["no"])
    with pytest.raises(ParameterError, match="takes a random forest"):
        tune_by_oob(object(), X, THREE)


def test_permutation_importance_of_each_tree() -> None:
    rng = np.random.default_rng(0)
    cells = rng.normal(size=(400, 4))
    y = (cells[:, 0] + 0.5 * cells[:, 1] > 0).astype(int)
    model = RandomForestClassifier(30, random_state=0, max_depth=5).fit(cells, y)
    found = model.permutation_importance(cells, y)
    assert found.increase.shape == (30, 4)
    assert found.mean.argmax() == 0
    assert found.mean[1] > found.mean[2:].max()
    assert found.z[0] > 5
    assert abs(found.z[3]) < 4
    np.testing.assert_allclose(found.standard_error, found.increase.std(axis=0, ddof=1) / np.sqrt(30))
    t, rows = 4, np.setdiff1d(np.arange(400), model.estimators_samples_[4])
    shuffled = cells[rows].copy()
    shuffled[:, 1] = shuffled[np.random.default_rng([0, t, 1]).permutation(len(rows)), 1]
    tree = model.estimators_[t]
    expected = tree.score(cells[rows], y[rows]) - tree.score(shuffled, y[rows])
    assert found.increase[t, 1] == pytest.approx(expected)
    assert "increase of error" in str(found)


def test_groups_of_columns_are_shuffled_together() -> None:
    model = RandomForestRegressor(20, random_state=0).fit(X, NUMBERS)
    found = model.permutation_importance(X, NUMBERS, groups={"both": ["a", "b"], "rest": ["e"]}, n_repeats=2)
    alone = model.permutation_importance(X, NUMBERS)
    assert found.names == ("both", "rest")
    assert found.mean[0] > alone.mean[:2].max()
    with pytest.raises(InputError, match="not columns"):
        model.permutation_importance(X, NUMBERS, groups={"both": ["nothing"]})
    for rows in (np.arange(10), np.arange(300)[::-1]):
        with pytest.raises(InputError, match="not the 300 rows that the forest was fitted"):
            model.permutation_importance(X.iloc[rows], NUMBERS[rows])
    with pytest.raises(InputTypeError, match="dictionary"):
        model.permutation_importance(X, NUMBERS, groups=[["a", "b"]])
    with pytest.raises(ParameterError, match="bootstrap=True"):
        RandomForestRegressor(2, bootstrap=False).fit(X, NUMBERS).permutation_importance(X, NUMBERS)


def test_quantiles_of_the_targets_in_the_leaves() -> None:
    model = RandomForestRegressor(15, random_state=0, keep_targets=True, min_samples_leaf=5).fit(X, NUMBERS)
    quantiles = np.array([0.1, 0.5, 0.93])
    found = model.predict_quantiles(X, quantiles)
    leaves, weights = model.apply(X), np.zeros((len(X), len(X)))
    for t, rows in enumerate(model.estimators_samples_):
        together = leaves[:, t][:, None] == leaves[rows, t]
        np.add.at(weights.T, rows, (together / together.sum(axis=1, keepdims=True)).T / 15)
    np.testing.assert_allclose(weights @ NUMBERS, model.predict(X))  # the mean of the distribution is the prediction
    order = np.argsort(NUMBERS)
    ends = np.cumsum(weights[:, order], axis=1)
    expected = [[NUMBERS[order][np.argmax(row >= q - 1e-9)] for q in quantiles] for row in ends]
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(found, model.set_params(n_jobs=3).predict_quantiles(X, quantiles))


def test_quantiles_need_targets() -> None:
    model = RandomForestRegressor(3, random_state=0).fit(X, NUMBERS)
    with pytest.raises(ParameterError, match="keep_targets=True"):
        model.predict_quantiles(X)
    kept = RandomForestRegressor(3, random_state=0, keep_targets=True).fit(X, np.column_stack([NUMBERS, NUMBERS]))
    assert kept.predict_quantiles(X, [0.5]).shape == (300, 2, 1)
    assert kept.predict_quantiles(X, 0.5).shape == (300, 2)
    for bad in (0.0, [0.5, 2.0], "half", []):
        with pytest.raises(InputError, match="quantiles="):
            kept.predict_quantiles(X, bad)


def test_intervals_from_residuals_out_of_bag() -> None:
    model = RandomForestRegressor(60, random_state=0, oob_score=True).fit(X, NUMBERS)
    found = model.predict_interval(X, 0.8)
    residuals = np.sort(NUMBERS - model.oob_prediction_)
    below = int(np.floor(0.1 * 301)) - 1
    np.testing.assert_allclose(found[:, 0], model.predict(X) + residuals[below])
    np.testing.assert_allclose(found[:, 1], model.predict(X) + residuals[-1 - below])
    with pytest.raises(InputError, match="needs at least"):
        model.predict_interval(X, 0.999999)
    with pytest.raises(ParameterError, match="oob_score=True"):
        RandomForestRegressor(3).fit(X, NUMBERS).predict_interval(X)


def test_proximity_is_the_share_of_common_leaves() -> None:
    model = RandomForestClassifier(12, random_state=0, min_samples_leaf=10).fit(X, THREE)
    leaves = model.apply(X)
    expected = (leaves[:, None] == leaves[None]).mean(axis=2)
    np.testing.assert_allclose(model.proximity(X).toarray(), expected)
    np.testing.assert_allclose(model.proximity(X.iloc[:7], X).toarray(), expected[:7])
    nearest = model.proximity(X, k=5)
    assert (np.diff(nearest.indptr) == 5).all()
    np.testing.assert_allclose(nearest.max(axis=1).toarray().ravel(), 1.0)
    np.testing.assert_allclose(np.sort(nearest[3].data), np.sort(expected[3])[-5:])


def test_rows_in_every_bag_have_no_prediction() -> None:
    with pytest.warns(UserWarning, match="rows were in the bag of every tree"):
        model = RandomForestRegressor(1, random_state=0, oob_score=True).fit(X, NUMBERS)
    seen = np.isin(np.arange(300), model.estimators_samples_[0])
    np.testing.assert_array_equal(np.isnan(model.oob_prediction_), seen)


def test_the_error_is_weighted_by_rows_and_not_by_classes() -> None:
    two = (THREE > 0).astype(int)
    model = RandomForestClassifier(90, random_state=0, oob_score=True, class_weight={0: 4, 1: 1}).fit(X, two)
    wrong = model.oob_decision_function_.argmax(axis=1) != two
    assert model.oob_score_ == pytest.approx(1.0 - np.mean(wrong))
    weight = np.where(two == 1, 1.5, 3.0)
    model = RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, two, sample_weight=weight)
    wrong = model.oob_decision_function_.argmax(axis=1) != two
    assert model.oob_score_ == pytest.approx(1.0 - np.average(wrong, weights=weight))
    assert model.oob_curve_[-1] == pytest.approx(1.0 - model.oob_score_)


def test_outputs_are_right_together() -> None:
    both = np.column_stack([THREE > 0, THREE > 1]).astype(int)
    model = RandomForestClassifier(60, random_state=0, oob_score=True).fit(X, both)
    assert model.oob_decision_function_.shape == (300, 2, 2)
    right = model.oob_decision_function_.argmax(axis=1) == both
    assert model.oob_score_ == pytest.approx(np.mean(right.all(axis=1)))


def test_no_row_out_of_bag() -> None:
    with pytest.warns(UserWarning, match="1 row was in the bag of every tree"):
        model = RandomForestClassifier(3, random_state=0, oob_score=True).fit(X.iloc[:1], THREE[:1])
    assert np.isnan(model.oob_score_)


def test_proximity_of_no_neighbours_is_refused() -> None:
    model = RandomForestClassifier(2, random_state=0).fit(X, THREE)
    with pytest.raises(ParameterError, match="k=0"):
        model.proximity(X, k=0)
