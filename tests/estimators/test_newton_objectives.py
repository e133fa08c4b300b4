"""What Newton boosting minimises: the textbook's example, starts, objectives, and weights of classes and rows."""

from __future__ import annotations

import copy
import statistics
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pytest
from newton_cases import METHODS, NUMBERS, THREE, X, Y, classifier, regressor, rng, same, trees
from numpy.typing import NDArray
from scipy.special import expit


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
        ours = regressor(objective=lambda y, s: (s - y, np.ones_like(y)), base_score=statistics.mean(NUMBERS.tolist()))
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
    @pytest.mark.parametrize("method", METHODS)
    def test_a_weight_of_zero_is_removal(self, y, method):
        make = partial(regressor if y is NUMBERS else classifier, tree_method=method)
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
