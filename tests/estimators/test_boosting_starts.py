"""Fits that would be useless without a word: starts below zero, weights too small for any split."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier as TheirAdaBoost
from sklearn.linear_model import LinearRegression, PoissonRegressor
from sklearn.metrics import mean_poisson_deviance

from sapwood import (
    GradientBoostingRegressor,
    NewtonBoostingClassifier,
    NewtonBoostingRegressor,
    cross_validate_boosting,
)
from sapwood.errors import InitWarning, NoSplitWarning

rng = np.random.RandomState(0)
B = rng.rand(500, 2)
MEAN = np.exp(3 * B[:, 0]) * 0.1
COUNTS = rng.poisson(MEAN) * 1.0


class TestStarts:
    @pytest.mark.parametrize("loss", ["poisson", "tweedie", "gamma"])
    def test_rows_come_back_from_a_start_below_zero(self, loss):
        y = COUNTS + (0.01 if loss == "gamma" else 0.0)
        assert LinearRegression().fit(B, y).predict(B).min() < 0
        model = GradientBoostingRegressor(loss=loss, init=LinearRegression())
        with pytest.warns(InitWarning, match=r"init=LinearRegression predicts -0\.\d+ for row \d+, .*PoissonRegressor"):
            model.fit(B, y)
        said = model.predict(B)
        assert said.min() > 1e-4 * y.mean()
        if loss != "gamma":
            assert mean_poisson_deviance(MEAN, said) < 0.6 * mean_poisson_deviance(MEAN, np.full(len(y), y.mean()))

    def test_a_start_above_zero_needs_no_word(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = GradientBoostingRegressor(loss="poisson", init=PoissonRegressor()).fit(B, COUNTS)
            GradientBoostingRegressor(init=LinearRegression(), n_estimators=2).fit(B, COUNTS)  # any number will do
        assert model.predict(B).min() > 0

    def test_what_was_clipped_in_training_is_clipped_at_prediction(self):
        model = GradientBoostingRegressor(loss="poisson", init=LinearRegression(), n_estimators=5)
        with pytest.warns(InitWarning):
            model.fit(B, COUNTS)
        far = np.array([[-100.0, 0.5]])
        leaf = sum(tree.value[Ellipsis, 0][tree_leaf] for tree_leaf, tree in _leaves(model, far))
        assert model.predict(far) == pytest.approx(1e-2 * COUNTS.mean() * np.exp(leaf).item())


def _leaves(model: GradientBoostingRegressor, X: np.ndarray) -> list:
    trees = [tree for (tree,) in model.ensemble_.rounds]
    return list(zip(model.apply(X)[0].tolist(), trees, strict=True))


class TestMinChildWeight:
    def test_weights_too_small_for_any_split(self):
        model = NewtonBoostingRegressor(recipe="xgboost", n_estimators=5)
        small = np.full(500, 1e-6)
        with pytest.warns(NoSplitWarning, match=r"min_child_weight=1\.0 .*have 0\.0005\. Use .* such as 1e-6") as got:
            model.fit(B, COUNTS, sample_weight=small)
        assert len(got) == 1
        assert got[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.set_params(min_child_weight=1e-6, reg_lambda=0).fit(B, COUNTS, sample_weight=small)
        assert model.score(B, COUNTS) > 0.3

    def test_learners_of_adaboost(self):
        y = (COUNTS > 0).astype(int)
        learner = NewtonBoostingClassifier(recipe="xgboost", n_estimators=5)
        with pytest.warns(NoSplitWarning):
            TheirAdaBoost(learner, n_estimators=2).fit(B, y)

    def test_a_cross_validation(self):
        with pytest.warns(NoSplitWarning) as got:
            cross_validate_boosting(
                NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, min_child_weight=1e6), B, COUNTS, cv=2
            )
        assert len(got) == 1

    def test_other_reasons_for_no_split_need_no_word(self):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            NewtonBoostingRegressor(recipe="xgboost", n_estimators=2).fit(np.zeros((50, 1)), np.arange(50.0))
            NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, gamma=1e9).fit(B, COUNTS)
            NewtonBoostingRegressor(recipe="xgboost", n_estimators=2, min_child_samples=500).fit(B, COUNTS)
