"""Models of Newton boosting: samples, limits, odd data, and their place in scikit-learn."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import numpy as np
import pytest
from newton_cases import METHODS, NUMBERS, THREE, X, Y, classifier, regressor, rng, same, trees
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sapwood.errors import NoSplitWarning


class TestSamples:
    @pytest.mark.parametrize(
        "parameters",
        [
            {"subsample": 0.5},
            {"subsample": 0.5, "sampling_method": "gradient_based"},
            {"colsample_bytree": 0.5},
            {"colsample_bylevel": 0.5},
            {"colsample_bynode": 0.5},
        ],
        ids="+".join,
    )
    def test_draws_depend_on_the_seed_alone(self, parameters):
        first, again, other = (
            classifier(**parameters, random_state=seed, n_jobs=n_jobs).fit(X, Y)
            for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
        )
        assert same(first, again)
        assert not same(first, other)
        assert first.score(X, Y) > 0.9

    def test_generators_are_seeds_too(self):
        a, b = (regressor(subsample=0.5, random_state=np.random.RandomState(5)).fit(X, NUMBERS) for _ in range(2))
        assert same(a, b)
        a, b = (regressor(subsample=0.5, random_state=np.random.default_rng(5)).fit(X, NUMBERS) for _ in range(2))
        assert same(a, b)

    def test_columns_are_drawn_by_weight(self):
        model = regressor(colsample_bytree=0.25, feature_weights=[1.0, 0.0, 0.0, 0.0], random_state=0).fit(X, NUMBERS)
        assert model.feature_importances_.tolist() == [1.0, 0.0, 0.0, 0.0]
        by_number = regressor(colsample_bytree=0.25, feature_weights={1: 0, 2: 0, 3: 0}, random_state=0).fit(X, NUMBERS)
        assert same(model, by_number)

    def test_one_column_each(self):
        model = regressor(colsample_bytree=0.25, n_estimators=30, random_state=0).fit(X, NUMBERS)
        used = [set(tree.feature[~tree.is_leaf]) for tree in trees(model)]
        assert all(len(own) <= 1 for own in used)
        assert set().union(*used) == {0, 1, 2, 3}

    def test_rows_of_each_tree(self):
        model = regressor(subsample=0.5, random_state=0).fit(X, NUMBERS)
        counts = [tree.n_node_samples[0] for tree in trees(model)]
        assert np.mean(counts) == pytest.approx(150, abs=15)


class TestLimits:
    def test_depth_and_leaves(self):
        for depth in (1, 2, 5):
            assert max(tree.max_depth for tree in trees(regressor(max_depth=depth).fit(X, NUMBERS))) == depth
        for policy in ("depthwise", "lossguide"):
            model = regressor(max_leaves=7, max_depth=0, grow_policy=policy).fit(X, NUMBERS)
            assert {tree.n_leaves for tree in trees(model)} == {7}
        assert max(tree.max_depth for tree in trees(regressor(max_depth=None).fit(X, NUMBERS))) > 6

    def test_leaf_by_leaf_without_limits_is_level_by_level(self):
        one = regressor(max_depth=4, grow_policy="lossguide").fit(X, NUMBERS)
        other = regressor(max_depth=4).fit(X, NUMBERS)
        np.testing.assert_array_equal(one.predict(X), other.predict(X))

    def test_rows_and_hessian_of_leaves(self):
        model = classifier(min_child_samples=12, min_child_weight=0.0).fit(X, Y)
        assert min(tree.n_node_samples.min() for tree in trees(model)) >= 12
        model = classifier(min_child_weight=4.0).fit(X, Y)
        assert min(tree.weighted_n_node_samples[tree.is_leaf].min() for tree in trees(model)) >= 4.0 - 1e-9

    def test_largest_step(self):
        model = regressor(max_delta_step=0.25, learning_rate=1.0).fit(X, NUMBERS)
        assert max(np.abs(tree.value[tree.is_leaf]).max() for tree in trees(model)) == 0.25

    def test_penalties_shrink_leaves(self):
        def largest_leaf(**parameters: Any) -> float:
            return float(np.abs(trees(regressor(max_depth=3, **parameters).fit(X, NUMBERS))[0].value).max())

        assert largest_leaf(reg_lambda=20.0) < largest_leaf()
        assert largest_leaf(reg_alpha=20.0) < largest_leaf()

    def test_rates_of_each_round(self):
        model = regressor(learning_rate=[1.0, 0.5], max_depth=2).fit(X, NUMBERS)
        same_as = regressor(learning_rate=lambda t: 1.0 if t == 0 else 0.5, max_depth=2).fit(X, NUMBERS)
        assert same(model, same_as)
        seen = []

        def by_gradient(t: int, norm: float) -> float:
            seen.append(norm)
            return 0.5

        regressor(learning_rate=by_gradient).fit(X, NUMBERS)
        assert len(seen) == 15
        assert seen[0] == pytest.approx(NUMBERS.std())
        assert seen[-1] < 0.2 * seen[0]

    def test_importances_are_shares_of_the_gain(self):
        model = regressor(n_estimators=1, max_depth=1, reg_lambda=0.0).fit(X, NUMBERS)
        tree = trees(model)[0]
        assert model.feature_importances_[tree.feature[0]] == 1.0
        left = X[:, tree.feature[0]] <= tree.threshold[0]
        residual = NUMBERS - NUMBERS.mean()
        gain = 0.5 * sum(residual[side].sum() ** 2 / side.sum() for side in (left, ~left))
        assert model.ensemble_.gains(4).sum() == pytest.approx(gain)
        model = regressor(n_estimators=30).fit(X, NUMBERS)
        assert model.feature_importances_.sum() == pytest.approx(1.0)
        assert set(np.argsort(model.feature_importances_)[2:]) == {0, 1}
        assert not regressor().fit(X, np.ones(300)).feature_importances_.any()


class TestMethods:
    @pytest.mark.parametrize("policy", ["depthwise", "lossguide"])
    def test_few_values_lose_nothing_by_bins(self, policy):
        """Thresholds differ, but the rows of training are parted in the same way."""
        x = np.round(X, 1)
        given = {"grow_policy": policy, "max_leaves": 12, "min_child_samples": 3}
        bins, exact = (regressor(tree_method=method, **given).fit(x, NUMBERS) for method in ("hist", "exact"))
        np.testing.assert_allclose(bins.predict(x), exact.predict(x), atol=1e-9)
        np.testing.assert_allclose(bins.feature_importances_, exact.feature_importances_, atol=1e-9)

    def test_exact_splits_any_number_of_values(self):
        x = np.random.default_rng(0).permutation(2000)[:, None].astype(float)
        y = (x[:, 0] > 1234.5).astype(float)
        model = regressor(tree_method="exact", max_depth=1, n_estimators=1, learning_rate=1.0, reg_lambda=0.0).fit(x, y)
        assert trees(model)[0].threshold[0] == 1234.5
        np.testing.assert_allclose(model.predict(x), y, atol=1e-12)

    def test_approximate_bins_follow_the_hessian(self):
        """Few bins, and a step among rows that weigh most."""
        x = np.linspace(0, 1, 2000)[:, None]
        weight = np.where(x[:, 0] > 0.9, 1000.0, 1.0)
        y = (x[:, 0] > 0.97).astype(float)
        given = {"max_bin": 8, "n_estimators": 20, "max_depth": 2}
        plain, approximate = (regressor(tree_method=method, **given).fit(x, y, weight) for method in ("hist", "approx"))
        assert approximate.score(x, y, weight) > plain.score(x, y, weight) + 0.2

    @pytest.mark.parametrize("method", METHODS)
    def test_of_classes_and_quality(self, method):
        x, y = load_iris(return_X_y=True)
        assert cross_val_score(classifier(tree_method=method), x, y, cv=3).mean() > 0.9
        assert same(classifier().fit(x, y), classifier(tree_method="auto").fit(x, y))


class TestOddData:
    def test_a_constant_target(self):
        model = regressor().fit(X, np.full(300, 3.5))
        np.testing.assert_array_equal(model.predict(X), 3.5)

    @pytest.mark.parametrize("objective", ["absolute_error", "huber", "quantile", "poisson", "gamma", "tweedie"])
    def test_a_constant_target_of_other_losses(self, objective):
        np.testing.assert_allclose(regressor(objective=objective).fit(X, np.full(300, 3.5)).predict(X), 3.5)

    def test_one_row_of_each_class(self):
        model = classifier(min_child_weight=0.0).fit(np.eye(3), ["a", "b", "c"])
        np.testing.assert_array_equal(model.predict(np.eye(3)), ["a", "b", "c"])
        with pytest.warns(NoSplitWarning):
            assert classifier().fit([[0.0], [1.0]], [0, 1]).predict_proba([[0.0]]).shape == (1, 2)

    def test_one_row(self):
        assert regressor().fit([[1.0, 2.0]], [7.0]).predict([[0.0, 0.0]]) == [7.0]

    def test_constant_repeated_and_missing_columns(self):
        wide = np.c_[np.ones(300), X, X[:, 0], np.full(300, np.nan), np.zeros(300)]
        model, plain = regressor().fit(wide, NUMBERS), regressor().fit(X, NUMBERS)
        np.testing.assert_array_equal(model.predict(wide), plain.predict(X))
        assert model.feature_importances_[[0, 5, 6, 7]].tolist() == [0.0] * 4
        assert not regressor().fit(np.full((300, 2), np.nan), NUMBERS).feature_importances_.any()

    def test_infinite_values_are_ordinary(self):
        x = X.copy()
        x[:40, 0], x[40:80, 0] = np.inf, -np.inf
        model = regressor(n_estimators=30).fit(x, np.where(np.isinf(x[:, 0]), np.sign(x[:, 0]), 0.0))
        np.testing.assert_allclose(model.predict(x)[:80], np.repeat([1.0, -1.0], 40), atol=0.01)

    @pytest.mark.parametrize("factor", [1e-9, 1e9])
    def test_targets_of_any_scale(self, factor):
        given = {"reg_lambda": 0.0, "n_estimators": 30}
        plain, scaled = regressor(**given).fit(X, NUMBERS), regressor(**given).fit(X, NUMBERS * factor)
        np.testing.assert_allclose(scaled.predict(X), plain.predict(X) * factor, rtol=1e-6, atol=1e-6 * factor)

    def test_many_distinct_values_are_binned(self):
        x = rng.normal(size=(2000, 2))
        y = np.sin(3 * x[:, 0])
        coarse, fine = (regressor(max_bin=bins, n_estimators=50).fit(x, y).score(x, y) for bins in (4, 255))
        assert coarse < 0.9
        assert fine > 0.99


class TestScikitLearn:
    @pytest.mark.parametrize(
        ("model", "y"),
        [(classifier(), Y), (classifier(class_weight="balanced"), THREE), (regressor(), NUMBERS)],
        ids=["two", "three", "numbers"],
    )
    def test_copies(self, model, y):
        fitted = clone(model).fit(X, y)
        for twin in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted), copy.copy(fitted)):
            assert same(twin, fitted)
            np.testing.assert_array_equal(twin.predict(X), fitted.predict(X))
            if hasattr(fitted, "predict_proba"):
                np.testing.assert_array_equal(twin.predict_proba(X), fitted.predict_proba(X))
        fresh = clone(fitted)
        assert not hasattr(fresh, "ensemble_")
        assert same(fresh.fit(X, y), fitted)

    def test_a_pickle_holds_each_tree_once(self):
        model = regressor().fit(X, NUMBERS)
        before = len(pickle.dumps(model))
        model.predict(X)
        assert len(pickle.dumps(model)) == pytest.approx(before, abs=200)

    def test_early_stopping_survives_a_pickle(self):
        model = classifier(n_estimators=50, early_stopping_rounds=3, validation_fraction=0.3, random_state=0).fit(X, Y)
        twin = pickle.loads(pickle.dumps(model))
        assert twin.best_n_rounds_ == model.best_n_rounds_ < model.n_estimators_
        assert twin.best_iteration == model.best_iteration

    def test_pipelines_and_searches(self):
        x, y = load_iris(return_X_y=True)
        pipeline = make_pipeline(StandardScaler(), classifier())
        assert cross_val_score(pipeline, x, y, cv=3).mean() > 0.9
        search = GridSearchCV(classifier(), {"max_depth": [1, 3], "learning_rate": [0.1, 0.5]}, cv=3).fit(x, y)
        assert search.best_score_ > 0.9
        search = GridSearchCV(regressor(), {"objective": ["squared_error", "huber"]}, cv=3).fit(X, NUMBERS)
        assert search.best_score_ > 0.7

    def test_calibration(self):
        model = CalibratedClassifierCV(classifier(), cv=3).fit(X, Y)
        assert model.predict_proba(X).shape == (300, 2)
        assert model.score(X, Y) > 0.9

    def test_threads_do_not_matter(self):
        x = rng.normal(size=(20_000, 6))
        y = x[:, 0] * x[:, 1] + rng.normal(size=20_000)
        cases: list[dict[str, Any]] = [
            {},
            {"grow_policy": "lossguide", "max_leaves": 20},
            {"subsample": 0.6, "random_state": 1},
            {"tree_method": "exact"},
            {"tree_method": "approx"},
        ]
        for parameters in cases:
            one, two = (regressor(n_estimators=5, n_jobs=n, **parameters).fit(x, y) for n in (1, 2))
            assert same(one, two)
            assert one.predict(x).tobytes() == two.predict(x).tobytes()
        one, two = (classifier(n_estimators=3, n_jobs=n).fit(x, np.digitize(y, [-1, 1])) for n in (1, 2))
        assert same(one, two)
        assert one.predict_proba(x).tobytes() == two.predict_proba(x).tobytes()

    def test_quality_on_known_data(self):
        x, y = load_breast_cancer(return_X_y=True)
        assert cross_val_score(classifier(n_estimators=50), x, y, cv=3).mean() > 0.95
        x, y = load_diabetes(return_X_y=True)
        model = regressor(n_estimators=100, learning_rate=0.1, max_depth=2)
        assert cross_val_score(model, x, y, cv=3).mean() > 0.42

    def test_staged_predictions(self):
        model = classifier().fit(X, Y)
        staged = list(model.staged_predict_proba(X))
        assert len(staged) == 15
        for n in (1, 7, 15):
            np.testing.assert_array_equal(staged[n - 1], model.predict_proba(X, n_rounds=n))
        np.testing.assert_array_equal(
            list(regressor().fit(X, NUMBERS).staged_predict(X))[-1], regressor().fit(X, NUMBERS).predict(X)
        )

    def test_leaves_say_what_is_predicted(self):
        model = classifier().fit(X, THREE)
        leaves = model.apply(X)
        assert leaves.shape == (300, 15, 3)
        score = model.ensemble_.base + sum(
            np.stack([tree.value[leaves[:, t, k], 0, 0] for k, tree in enumerate(own)], axis=1)
            for t, own in enumerate(model.ensemble_.rounds)
        )
        np.testing.assert_allclose(score, model.decision_function(X), rtol=1e-12)
        np.testing.assert_array_equal(model.decision_function(X), model.predict(X, output_margin=True))
