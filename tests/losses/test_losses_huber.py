"""Huber's loss in boosting: outliers must not decide."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sapwood import GradientBoostingRegressor, NewtonBoostingRegressor
from sapwood.errors import ParameterError
from sapwood.losses import Huber


def table(seed: int, share: int = 20) -> Any:
    """Rows, the truth, and targets of which one in `share` is 20 too large."""
    rng = np.random.RandomState(seed)
    X = rng.randint(0, 100, (1500, 5)) * 1.0
    truth = X[:, 0] / 50 + np.sin(X[:, 1] / 10)
    y = truth + 0.3 * rng.randn(1500)
    y[::share] += 20
    return X, truth, y


def error(model: Any, seed: int, scale: float = 1.0) -> float:
    X, truth, y = table(seed)
    model.fit(X[:1000], scale * y[:1000])
    return float(np.abs(model.predict(X[1000:]) / scale - truth[1000:]).mean())


@pytest.mark.parametrize("seed", [0, 1])
def test_newton_boosting_is_as_robust_as_gradient_boosting(seed: int) -> None:
    friedman = error(GradientBoostingRegressor(loss="huber"), seed)
    assert error(NewtonBoostingRegressor(recipe="xgboost", objective="huber"), seed) < 1.4 * friedman < 0.3
    same_trees = {"max_depth": 3, "learning_rate": 0.1}
    assert error(NewtonBoostingRegressor(recipe="xgboost", objective="huber", **same_trees), seed) < friedman
    assert error(NewtonBoostingRegressor(recipe="xgboost"), seed) > 1.0


def test_the_unit_of_the_target_does_not_matter() -> None:
    model = NewtonBoostingRegressor(recipe="xgboost", objective="huber", n_estimators=50)
    assert error(model, 0, scale=1024.0) == pytest.approx(error(model, 0), rel=1e-6)


def test_no_leaf_moves_further_than_delta() -> None:
    X, _, y = table(0)
    model = NewtonBoostingRegressor(
        recipe="xgboost", objective="huber", huber_delta=0.7, learning_rate=1.0, n_estimators=3
    ).fit(X, y)
    for (tree,) in model.ensemble_.rounds:
        assert np.abs(tree.value).max() <= 0.7
    assert model.loss_.delta == 0.7


def test_a_leaf_is_the_shrunk_mean_of_clipped_residuals() -> None:
    x, y = np.array([[0.0], [0.0], [0.0], [1.0]]), np.array([-9.0, -1.0, 1.0, 50.0])
    model = NewtonBoostingRegressor(
        recipe="xgboost",
        objective="huber",
        huber_delta=2.0,
        base_score=0.0,
        n_estimators=1,
        learning_rate=1.0,
        reg_lambda=1.0,
    )
    np.testing.assert_allclose(model.fit(x, y).predict([[0.0], [1.0]]), [(-2 - 1 + 1) / 4, 2 / 2])


def test_what_is_watched() -> None:
    X, _, y = table(0)
    for delta, name in ((None, "mae"), (1.0, "loss")):
        model = NewtonBoostingRegressor(recipe="xgboost", objective="huber", huber_delta=delta, n_estimators=2)
        assert list(model.fit(X, y, eval_set=[(X, y)]).evals_result()["validation_0"]) == [name]
    with pytest.raises(ParameterError, match=r"another loss in each round. Use 'mae'"):
        NewtonBoostingRegressor(recipe="xgboost", objective="huber", eval_metric="loss").fit(X, y, eval_set=[(X, y)])


def test_the_options_make_the_same_loss() -> None:
    for loss in (Huber(0.5), Huber(quantile=0.8), Huber(0.5, newton=True)):
        assert Huber(**loss.options()).__dict__ == loss.__dict__
