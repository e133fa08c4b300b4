"""Numbers of every size a float can have, against exact arithmetic."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sapwood as sw
from oracle.exact import error_of_groups, fractions, least_error_of_a_stump, weighted_mean
from sapwood.errors import InputError

Floats = NDArray[np.float64]
LARGEST, LEAST = np.finfo(np.float64).max, 5e-324

NUMBERS: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "ordinary": lambda rng, n: rng.normal(size=n),
    "huge": lambda rng, n: rng.normal(size=n) * 1e300,
    "at the ends": lambda rng, n: rng.choice([LARGEST, -LARGEST, 0.0, 1e308], n),
    "subnormal": lambda rng, n: rng.integers(0, 9, n) * LEAST,
    "small": lambda rng, n: rng.normal(size=n) * 1e-300,
    "whole, far from zero": lambda rng, n: 1e15 + rng.integers(0, 5, n),
    "far from zero": lambda rng, n: 1e12 + rng.normal(size=n) * 1e-2,
    "neighbours": lambda rng, n: 1.0 + rng.integers(0, 4, n) * 2.0**-52,
    "of every size": lambda rng, n: 10.0 ** rng.uniform(-300, 300, n),
    "one of them huge": lambda rng, n: np.where(np.arange(n) == 0, 1e300, rng.normal(size=n)),
}


def groups_of(said: NDArray[Any]) -> list[NDArray[np.intp]]:
    return [np.flatnonzero(said == value) for value in np.unique(said)]


def check_means(predicted: Floats, y: Floats, weight: Floats, groups: list[NDArray[np.intp]], bits: int) -> None:
    """A leaf's value is the mean of its rows, but for the last bits of the largest of them."""
    for rows in groups:
        mean = weighted_mean(fractions(y[rows]), fractions(weight[rows]))
        largest = max(map(abs, fractions(y)))
        assert abs(Fraction(float(predicted[rows[0]])) - mean) <= largest * Fraction(1, 2**bits) + Fraction(LEAST)


@pytest.mark.parametrize("cells", NUMBERS)
@pytest.mark.parametrize("targets", NUMBERS)
def test_a_tree_finds_the_best_split_whatever_the_size_of_numbers(cells: str, targets: str) -> None:
    rng = np.random.default_rng([list(NUMBERS).index(cells), list(NUMBERS).index(targets)])
    for _ in range(3):
        n = int(rng.integers(5, 25))
        x, y, weight = NUMBERS[cells](rng, n), NUMBERS[targets](rng, n), rng.choice([0.5, 1.0, 2.0], n)
        tree = sw.DecisionTreeRegressor(max_depth=1).fit(x[:, None], y, sample_weight=weight)
        groups = groups_of(tree.apply(x[:, None]))
        total = error_of_groups([np.arange(n)], y, weight)
        excess = error_of_groups(groups, y, weight) - least_error_of_a_stump(x, y, weight)
        assert excess <= total * Fraction(1e-9)
        check_means(tree.predict(x[:, None]), y, weight, groups, 50)


@pytest.mark.parametrize("method", ["hist", "exact", "friedman"])
@pytest.mark.parametrize("targets", NUMBERS)
def test_boosting_finds_the_best_split_or_refuses_the_size_of_numbers(method: str, targets: str) -> None:
    rng = np.random.default_rng(list(NUMBERS).index(targets))
    options: dict[str, Any] = {"n_estimators": 1, "learning_rate": 1.0, "max_depth": 1}
    if method == "friedman":
        model: Any = sw.GradientBoostingRegressor(**options)
    else:
        model = sw.NewtonBoostingRegressor(**options, reg_lambda=0.0, tree_method=method)
    for _ in range(3):
        n = int(rng.integers(8, 30))
        x, y, weight = rng.normal(size=n), NUMBERS[targets](rng, n), np.ones(n)
        if not 1e-100 < np.abs(y).max() < 1e140:
            with pytest.raises(InputError, match="by a constant"):
                model.fit(x[:, None], y)
            continue
        model.fit(x[:, None], y)
        predicted = model.predict(x[:, None])
        groups = groups_of(predicted)
        total = error_of_groups([np.arange(n)], y, weight)
        excess = error_of_groups(groups, y, weight) - least_error_of_a_stump(x, y, weight)
        assert excess <= total * Fraction(1e-6)
        check_means(predicted, y, weight, groups, 30)


@pytest.mark.parametrize(
    "kind", [sw.RandomForestRegressor, sw.ExtraTreesRegressor, sw.BaggingRegressor, sw.AdaBoostRegressor]
)
def test_ensembles_refuse_numbers_whose_sums_overflow(kind: Any) -> None:
    X, y = np.arange(20.0)[:, None], np.linspace(-1.0, 1.0, 20)
    with pytest.raises(InputError, match=r"y reaches 1e\+308.*Divide y by a constant"):
        kind(n_estimators=3, random_state=0).fit(X, y * 1e308)
    large = kind(n_estimators=3, random_state=0).fit(X, y * 2.0**1000).predict(X)
    assert np.isfinite(large).all()
    assert np.abs(large).max() <= 2.0**1000


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1.0, 1e30, 1e290])
def test_a_classifier_does_not_see_the_scale_of_weights(scale: float) -> None:
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(200, 3)), rng.integers(1, 5, 200).astype(float)
    y = (X[:, 0] + rng.normal(size=200) * 0.3 > 0).astype(int)
    plain = sw.DecisionTreeClassifier(max_depth=4).fit(X, y, sample_weight=weight)
    scaled = sw.DecisionTreeClassifier(max_depth=4).fit(X, y, sample_weight=weight * scale)
    assert np.array_equal(plain.tree_.feature, scaled.tree_.feature)
    assert np.allclose(plain.predict_proba(X), scaled.predict_proba(X), rtol=1e-12, atol=0)


@pytest.mark.parametrize("cells", NUMBERS)
def test_prediction_compares_cells_exactly(cells: str) -> None:
    """Codes, compiled descents and single rows agree with plain comparison at thresholds and their neighbours."""
    rng = np.random.default_rng(1)
    x = NUMBERS[cells](rng, 60)
    y = np.argsort(np.argsort(x, kind="stable"), kind="stable") % 5 * 1.0
    model = sw.RandomForestRegressor(n_estimators=4, max_bins=None, max_features=1.0, random_state=0).fit(x[:, None], y)
    cuts = np.unique(np.concatenate([tree.tree_.threshold[tree.tree_.feature >= 0] for tree in model.estimators_]))
    near = np.concatenate([cuts, np.nextafter(cuts, np.inf), np.nextafter(cuts, -np.inf)])
    rows = near[np.isfinite(near)][:, None]
    together = model.predict(rows)
    assert np.array_equal(together, [model.predict_one(row) for row in rows])
    assert np.array_equal(together, np.mean([tree.predict(rows) for tree in model.estimators_], axis=0))
