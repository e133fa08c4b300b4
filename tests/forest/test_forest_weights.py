"""Laws of weights in forests and bagging: they are probabilities of draws, and their scale does not matter."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import Ridge

from sapwood import (
    BaggingClassifier,
    BaggingRegressor,
    DecisionTreeRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 6))
NUMBERS = X[:, 0] + X[:, 1] ** 2 + 0.3 * RNG.normal(size=300)
CLASSES = np.digitize(NUMBERS, [0.3, 1.5])

FORESTS: dict[str, Any] = {
    "random forest of classes": RandomForestClassifier(8, random_state=0),
    "random forest of numbers": RandomForestRegressor(8, random_state=0, max_bins=None),
    "absolute error": RandomForestRegressor(3, random_state=0, criterion="absolute_error"),
    "half of the rows": RandomForestClassifier(8, random_state=0, max_samples=0.5, max_bins=16),
    "balanced": RandomForestClassifier(8, random_state=0, class_weight="balanced_subsample"),
    "extra trees of classes": ExtraTreesClassifier(8, random_state=0),
    "extra trees of numbers": ExtraTreesRegressor(8, random_state=0),
    "drawn extra trees": ExtraTreesClassifier(8, random_state=0, bootstrap=True),
    "bagging": BaggingRegressor(n_estimators=8, random_state=0),
    "bagging without replacement": BaggingClassifier(n_estimators=8, random_state=0, bootstrap=False, max_samples=0.6),
    "bagging of others": BaggingRegressor(Ridge(), 8, random_state=0),
}


def said(forest: Any, weight: Any) -> Any:
    y = NUMBERS if hasattr(forest, "predict_interval") else CLASSES
    fitted = clone(forest).fit(X, y, sample_weight=weight)
    samples = np.array(fitted.estimators_samples_)
    return samples, fitted.predict(X) if y is NUMBERS else fitted.predict_proba(X)


@pytest.mark.parametrize("forest", FORESTS.values(), ids=FORESTS)
@pytest.mark.parametrize("constant", [2.0, 5, 10, 11, 0.1, 1e-9, 1e12])
def test_a_constant_weight_changes_nothing(forest: Any, constant: float) -> None:
    for ours, theirs in zip(said(forest, np.full(300, constant)), said(forest, None), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("forest", FORESTS.values(), ids=FORESTS)
@pytest.mark.parametrize("factor", [0.5, 1024.0, 2.0**-40])
def test_weights_times_a_power_of_two_give_the_same_forest(forest: Any, factor: float) -> None:
    for weight in (RNG.integers(1, 5, 300).astype(float), RNG.random(300) + 0.01):
        for ours, theirs in zip(said(forest, factor * weight), said(forest, weight), strict=True):
            if forest is FORESTS["bagging of others"]:
                np.testing.assert_allclose(ours, theirs)
            else:
                np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("name", [name for name in FORESTS if "extra trees of" not in name])
@pytest.mark.parametrize("factor", [100.0, 0.1, 1 / 3])
def test_draws_are_the_same_for_any_factor(name: str, factor: float) -> None:
    """Rounding can move a draw only if it falls on the border of two rows."""
    weight = RNG.integers(1, 5, 300).astype(float)
    ours, theirs = said(FORESTS[name], factor * weight), said(FORESTS[name], weight)
    np.testing.assert_array_equal(ours[0], theirs[0])
    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-9)


def test_the_out_of_bag_score_does_not_depend_on_a_constant() -> None:
    forest = RandomForestRegressor(40, random_state=0, oob_score=True)
    plain = clone(forest).fit(X, NUMBERS)
    for constant in (2.0, 5.0, 11.0):
        weighted = clone(forest).fit(X, NUMBERS, sample_weight=np.full(300, constant))
        assert weighted.oob_score_ == plain.oob_score_


def test_rows_are_drawn_by_weight() -> None:
    weight = np.repeat([1.0, 2.0, 7.0], 100)
    forest = RandomForestRegressor(200, random_state=0).fit(X, NUMBERS, sample_weight=weight)
    drawn = np.concatenate(forest.estimators_samples_)
    assert len(drawn) == 200 * 300
    shares = np.bincount(drawn // 100) / len(drawn)
    np.testing.assert_allclose(shares, [0.1, 0.2, 0.7], atol=0.005)


@pytest.mark.parametrize(
    "forest",
    [
        RandomForestRegressor(6, random_state=0, max_samples=200, max_bins=None),
        BaggingRegressor(DecisionTreeRegressor(min_samples_leaf=1), 6, random_state=0, max_samples=200),
        ExtraTreesRegressor(6, random_state=0),
    ],
)
def test_a_row_of_weight_three_is_three_rows_where_the_number_of_draws_is_given(forest: Any) -> None:
    weight = np.random.default_rng(1).integers(0, 40, 300)
    repeated = np.repeat(np.arange(300), weight)
    ours = clone(forest).fit(X, NUMBERS, sample_weight=weight)
    theirs = clone(forest).fit(X[repeated], NUMBERS[repeated])
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))
