"""What Newton boosting learns: objectives, weights of classes, starts, samples, and its place in scikit-learn."""

from __future__ import annotations

import copy
import pickle
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sapwood import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor
from sapwood.estimators.newton_base import documented

rng = np.random.default_rng(2)
X = rng.normal(size=(300, 4))
NUMBERS = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=300)
Y = (NUMBERS > 1.2).astype(int)
THREE = np.digitize(NUMBERS, [0.0, 1.5])


def classifier(**parameters: Any) -> NewtonBoostingClassifier:
    return NewtonBoostingClassifier(**{"n_estimators": 15, "n_jobs": 1, **parameters})


def regressor(**parameters: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(**{"n_estimators": 15, "n_jobs": 1, **parameters})


def trees(model: Any) -> list[Any]:
    return [tree for own in model.ensemble_.rounds for tree in own]


def same(ours: Any, theirs: Any) -> bool:
    """Whether two models are equal to the last bit."""
    pairs = zip(trees(ours), trees(theirs), strict=True)
    return ours.ensemble_.base.tobytes() == theirs.ensemble_.base.tobytes() and all(
        array.tobytes() == other.arrays()[name].tobytes()
        for tree, other in pairs
        for name, array in tree.arrays().items()
    )


class TestTextbook:
    """Example 5 of the specification."""

    x = np.array([[12.5], [17.5], [28.5], [31.5]])
    y = np.array([-10.0, 7.0, 8.0, -7.0])
    given: ClassVar = {
        "learning_rate": 0.3,
        "reg_lambda": 0.0,
        "min_child_weight": 0.0,
        "base_score": 0.5,
        "n_estimators": 1,
    }

    def test_first_split_and_its_gain(self):
        model = regressor(**self.given, max_depth=1).fit(self.x, self.y)
        tree = model.ensemble_.rounds[0][0]
        assert tree.threshold[0] == 15.0
        gain = tree.compute_feature_importances(normalize=False)[0] * tree.weighted_n_node_samples[0]
        assert 2 * gain == pytest.approx(120.33, abs=0.005)
        np.testing.assert_allclose(tree.value[1:, 0, 0] / 0.3, [-10.5, 6.5 / 3], rtol=1e-12)

    def test_finished_tree(self):
        model = regressor(**self.given, max_depth=2).fit(self.x, self.y)
        np.testing.assert_allclose(model.predict(self.x), [-2.65, 2.6, 2.6, -1.75], rtol=1e-12)
        leaves = np.unique(trees(model)[0].value[trees(model)[0].is_leaf].ravel() / 0.3)
        np.testing.assert_allclose(leaves, [-10.5, -7.5, 7.0], rtol=1e-12)

    def test_deeper_than_the_book(self):
        model = regressor(**self.given, max_depth=3).fit(self.x, self.y)
        np.testing.assert_allclose(model.predict(self.x), 0.5 + 0.3 * (self.y - 0.5), rtol=1e-12)

    def test_gamma_prunes_from_the_leaves(self):
        """Gains are half of the book's: 60.17 at the root, 70.04 below it."""
        finished = regressor(**self.given, gamma=60.5, max_depth=2).fit(self.x, self.y)
        assert trees(finished)[0].node_count == 5  # the root's split is too weak, but the one below it is not
        assert trees(regressor(**self.given, gamma=75.0, max_depth=2).fit(self.x, self.y))[0].node_count == 1


class TestStart:
    def test_half(self):
        model = classifier(base_score=0.5).fit(X, Y)
        np.testing.assert_allclose(model.ensemble_.base, [0.0], atol=1e-12)
        assert regressor(base_score=0.5).fit(X, NUMBERS).ensemble_.base == [0.5]
        np.testing.assert_array_equal(classifier(base_score=0.5).fit(X, THREE).ensemble_.base, np.zeros(3))

    def test_the_best_constant(self):
        assert regressor().fit(X, NUMBERS).ensemble_.base == pytest.approx(NUMBERS.mean())
        assert expit(classifier().fit(X, Y).ensemble_.base[0]) == pytest.approx(Y.mean())
        assert np.exp(regressor(objective="poisson").fit(X, THREE).ensemble_.base[0]) == pytest.approx(THREE.mean())

    @pytest.mark.parametrize(("objective", "score"), [("poisson", 2.0), ("huber", 2.0), ("quantile", -3.0)])
    def test_on_the_scale_of_predictions(self, objective, score):
        model = regressor(objective=objective, base_score=score).fit(X, THREE + 0.5)
        said = model.loss_.response(model.ensemble_.base[:, None])
        assert said == pytest.approx(score)


class TestObjectives:
    def test_custom_logistic_is_the_built_in_one(self):
        def logistic(y: NDArray[Any], score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
            p = expit(score)
            return p - y, p * (1 - p)

        ours = classifier(objective=logistic, base_score=0.0).fit(X, Y)
        built_in = classifier(base_score=0.5).fit(X, Y)
        np.testing.assert_allclose(ours.predict_proba(X), built_in.predict_proba(X), atol=1e-9)
        np.testing.assert_array_equal(ours.predict(X), built_in.predict(X))

    def test_custom_squares_are_the_built_in_ones(self):
        ours = regressor(objective=lambda y, s: (s - y, np.ones_like(y)), base_score=float(NUMBERS.mean()))
        np.testing.assert_array_equal(ours.fit(X, NUMBERS).predict(X), regressor().fit(X, NUMBERS).predict(X))

    def test_custom_multinomial_is_the_built_in_one(self):
        def multinomial(y: NDArray[Any], score: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
            assert score.shape == (300, 3)
            p = np.exp(score - score.max(axis=1, keepdims=True))
            p /= p.sum(axis=1, keepdims=True)
            return p - (y[:, None] == np.arange(3)), p * (1 - p)

        ours = classifier(objective=multinomial).fit(X, THREE)
        built_in = classifier(base_score=0.5).fit(X, THREE)
        np.testing.assert_allclose(ours.predict_proba(X), built_in.predict_proba(X), atol=1e-9)

    def test_weights_work_with_a_custom_objective(self):
        weight = rng.integers(0, 4, size=300).astype(float)
        given = {"objective": lambda y, s: (s - y, np.ones_like(y))}
        rows = np.repeat(np.arange(300), weight.astype(int))
        np.testing.assert_allclose(
            regressor(**given).fit(X, NUMBERS, weight).predict(X),
            regressor(**given).fit(X[rows], NUMBERS[rows]).predict(X),
            atol=1e-9,
        )

    @pytest.mark.parametrize("objective", ["poisson", "gamma", "tweedie", "count:poisson", "reg:gamma", "reg:tweedie"])
    def test_counts_and_amounts_are_predicted_above_zero(self, objective):
        y = rng.gamma(1.0, np.exp(X[:, 0]))
        if objective not in ("gamma", "reg:gamma"):
            y = np.where(y < 0.3, 0.0, np.round(y))
        model = regressor(objective=objective).fit(X, y)
        said = model.predict(X)
        assert (said > 0).all()
        np.testing.assert_allclose(np.log(said), model.predict(X, output_margin=True), rtol=1e-12)
        assert np.corrcoef(np.log(said), X[:, 0])[0, 1] > 0.7
        assert said.mean() == pytest.approx(y.mean(), rel=0.25)

    @pytest.mark.parametrize("objective", ["absolute_error", "huber", "quantile", "reg:absoluteerror"])
    def test_robust_losses_do_not_mind_outliers(self, objective):
        y = NUMBERS.copy()
        y[::30] = 1e6
        said = regressor(objective=objective, n_estimators=60).fit(X, y).predict(X)
        clean = np.arange(300) % 30 != 0
        assert np.median(np.abs(said - NUMBERS)[clean]) < 0.5

    def test_quantiles_cannot_cross(self):
        model = regressor(objective="quantile", quantile_alpha=[0.9, 0.1, 0.5], n_estimators=40).fit(X, NUMBERS)
        said = model.predict(rng.normal(size=(2000, 4)) * 2)
        assert said.shape == (2000, 3)
        assert (said[:, 1] <= said[:, 2]).all()
        assert (said[:, 2] <= said[:, 0]).all()
        covered = model.predict(X)
        assert np.mean(covered[:, 0] >= NUMBERS) == pytest.approx(0.9, abs=0.08)
        assert np.mean(covered[:, 1] >= NUMBERS) == pytest.approx(0.1, abs=0.08)
        assert model.apply(X).shape == (300, 40, 3)

    def test_exponential_loss_orders_as_the_logistic_one(self):
        model = classifier(objective="exponential").fit(X, Y)
        other = classifier().fit(X, Y)
        assert np.mean(model.predict(X) == other.predict(X)) > 0.97
        np.testing.assert_allclose(model.predict_proba(X)[:, 1], expit(2 * model.decision_function(X)), rtol=1e-12)

    def test_names_of_xgboost(self):
        for name, other in (("reg:squarederror", "squared_error"), ("reg:quantileerror", "quantile")):
            assert same(regressor(objective=name).fit(X, NUMBERS), regressor(objective=other).fit(X, NUMBERS))
        assert same(classifier(objective="binary:logistic").fit(X, Y), classifier(objective="log_loss").fit(X, Y))
        for name in ("multi:softprob", "multi:softmax"):
            assert same(classifier(objective=name).fit(X, THREE), classifier().fit(X, THREE))


class TestClassWeights:
    def test_probabilities_have_the_base_rate_of_the_data(self):
        rare = (NUMBERS > 2.5).astype(int)
        plain = classifier().fit(X, rare).predict_proba(X)[:, 1].mean()
        for weights in ({"class_weight": "balanced"}, {"class_weight": {1: 20.0}}, {"scale_pos_weight": 20.0}):
            undone = classifier(**weights).fit(X, rare)
            kept = classifier(**weights, undo_class_weight=False).fit(X, rare)
            assert same(undone, kept)
            assert undone.predict_proba(X)[:, 1].mean() == pytest.approx(plain, rel=0.25)
            assert kept.predict_proba(X)[:, 1].mean() > 1.05 * plain
            np.testing.assert_array_equal(undone.predict(X), kept.predict(X))

    def test_the_undoing_is_exact(self):
        model = classifier(class_weight={0: 2.0, 2: 6.0}).fit(X, THREE)
        raw = copy.copy(model).set_params(undo_class_weight=False).predict_proba(X)
        expected = raw / [2.0, 1.0, 6.0]
        np.testing.assert_allclose(model.predict_proba(X), expected / expected.sum(axis=1, keepdims=True), rtol=1e-12)

    def test_a_weight_is_a_sample_weight(self):
        ours = classifier(class_weight={1: 3.0}).fit(X, Y)
        theirs = classifier().fit(X, Y, sample_weight=np.where(Y == 1, 3.0, 1.0))
        assert same(ours, theirs)
        assert same(classifier(scale_pos_weight=3.0).fit(X, Y), theirs)

    def test_balanced(self):
        ours = classifier(class_weight="balanced").fit(X, THREE)
        share = np.bincount(THREE) / len(THREE)
        theirs = classifier().fit(X, THREE, sample_weight=1 / (3 * share[THREE]))
        np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-9)

    def test_labels_of_any_type(self):
        names = np.array(["low", "mid", "top"])[THREE]
        model = classifier(class_weight={"top": 2.0}).fit(X, names)
        np.testing.assert_array_equal(model.classes_, ["low", "mid", "top"])
        assert set(model.predict(X)) == {"low", "mid", "top"}
        assert same(model, classifier(class_weight={2: 2.0}).fit(X, THREE))

    def test_a_class_of_weight_zero_remains_a_class(self):
        model = classifier(class_weight={1: 0.0}).fit(X, THREE)
        np.testing.assert_array_equal(model.classes_, [0, 1, 2])
        assert (model.predict_proba(X)[:, 1] < 1e-6).all()
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


class TestWeights:
    @pytest.mark.parametrize("y", [NUMBERS, Y, THREE], ids=["numbers", "two", "three"])
    def test_a_weight_of_zero_is_removal(self, y):
        make = regressor if y is NUMBERS else classifier
        weight = rng.uniform(0.5, 2, size=300)
        weight[rng.random(300) < 0.3] = 0.0
        used = weight > 0
        assert same(make().fit(X, y, weight), make().fit(X[used], y[used], weight[used]))

    def test_a_class_without_weight_is_no_class(self):
        model = classifier().fit(X, THREE, sample_weight=(THREE != 1).astype(float))
        np.testing.assert_array_equal(model.classes_, [0, 2])
        assert model.predict_proba(X).shape == (300, 2)

    def test_a_scale_of_weights_changes_only_the_penalty(self):
        plain = regressor(reg_lambda=0.0, min_child_weight=0.0).fit(X, NUMBERS)
        heavy = regressor(reg_lambda=0.0, min_child_weight=0.0).fit(X, NUMBERS, np.full(300, 1024.0))
        np.testing.assert_array_equal(plain.predict(X), heavy.predict(X))


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
        for parameters in ({}, {"grow_policy": "lossguide", "max_leaves": 20}, {"subsample": 0.6, "random_state": 1}):
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

    @pytest.mark.parametrize("kind", [NewtonBoostingClassifier, NewtonBoostingRegressor, NewtonBoostingRanker])
    def test_every_parameter_is_documented(self, kind):
        names = set(kind().get_params())
        assert names == set(kind.rules)
        assert [name for name in names if name not in (kind.__doc__ or "")] == []

    def test_docstrings_may_be_stripped(self):
        """Under python -OO there are none."""
        assert documented(type("Bare", (), {"__doc__": None})).__doc__ is None
