"""Fits whose models must be the same on every processor. Run as a program, it prints fingerprints as JSON."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

import sapwood

ROWS = 2000
ROUNDS = 300  # so many steps that a last bit somewhere comes to light

Fit = Callable[[], Any]


def fits() -> dict[str, Fit]:
    """What to fit, by name."""
    rng = np.random.default_rng(14)
    X = rng.integers(-1000, 1001, size=(ROWS, 6)) / 400.0  # draws of other distributions ask the system for exp and log
    signal = X[:, 0] + np.where(X[:, 1] > 0.3, X[:, 2], 0.5 * X[:, 3]) + rng.random(ROWS)
    y = {
        "two": (signal > 0.6).astype(int),
        "many": np.searchsorted([-1.0, 0.5, 1.8], signal),
        "number": signal,
        "count": np.floor(signal * signal * rng.random(ROWS)),
        "amount": 0.1 + np.abs(signal * signal * rng.random(ROWS)),
    }
    return dict(_trees(X, y)) | dict(_forests(X, y)) | dict(_newton(X, y)) | dict(_gradient(X, y))


def _fit(model: Any, X: NDArray[Any], y: NDArray[Any], **options: Any) -> Any:
    return model.fit(X, y, **options)


def _trees(X: NDArray[Any], y: dict[str, NDArray[Any]]) -> Iterator[tuple[str, Fit]]:
    weight = {"sample_weight": 0.1 + np.abs(X[:, 5])}  # sums of which the logarithms are many
    classifier, regressor = sapwood.DecisionTreeClassifier, sapwood.DecisionTreeRegressor
    yield "tree, entropy, two classes", partial(_fit, classifier(criterion="entropy"), X, y["two"], **weight)
    yield "tree, entropy, four classes", partial(_fit, classifier(criterion="entropy"), X, y["many"], **weight)
    yield "tree, Poisson", partial(_fit, regressor(criterion="poisson"), X, y["count"], **weight)


def _forests(X: NDArray[Any], y: dict[str, NDArray[Any]]) -> Iterator[tuple[str, Fit]]:
    options: dict[str, Any] = {"n_estimators": 5, "random_state": 0}
    weight = 0.1 + np.abs(X[:, 5])
    forest = sapwood.RandomForestClassifier(criterion="entropy", **options)
    yield "forest, entropy", partial(_fit, forest, X, y["many"])
    extra = sapwood.ExtraTreesRegressor(bootstrap=False, **options)
    yield "extra trees", partial(_fit, extra, X, y["number"], sample_weight=weight)
    options["n_estimators"] = 10
    yield "AdaBoost, classes", partial(_fit, sapwood.AdaBoostClassifier(**options), X, y["many"])
    robust = sapwood.AdaBoostRegressor(loss="exponential", **options)
    yield "AdaBoost, numbers", partial(_fit, robust, X, y["number"])


def _newton(X: NDArray[Any], y: dict[str, NDArray[Any]]) -> Iterator[tuple[str, Fit]]:
    options: dict[str, Any] = {"n_estimators": ROUNDS, "random_state": 0}
    drawn = sapwood.NewtonBoostingClassifier(colsample_bytree=0.7, subsample=0.8, **options)
    yield "Newton, logistic", partial(_fit, drawn, X, y["two"])
    yield "Newton, softmax", partial(_fit, sapwood.NewtonBoostingClassifier(**options), X, y["many"])
    for objective, target in {
        "squared_error": "number",
        "poisson": "count",
        "gamma": "amount",
        "tweedie": "count",
        "huber": "number",
        "quantile": "number",
    }.items():
        model = sapwood.NewtonBoostingRegressor(objective=objective, **options)
        yield f"Newton, {objective}", partial(_fit, model, X, y[target])
    stopped = sapwood.NewtonBoostingClassifier(early_stopping_rounds=5, **options)
    evaluated = {"eval_set": [(X[1500:], y["two"][1500:])]}
    yield "Newton, stopped early", partial(_fit, stopped, X[:1500], y["two"][:1500], **evaluated)
    ranker = sapwood.NewtonBoostingRanker(**options)
    yield "Newton, ranking", partial(_fit, ranker, X, y["many"], group=[20] * (ROWS // 20))


def _gradient(X: NDArray[Any], y: dict[str, NDArray[Any]]) -> Iterator[tuple[str, Fit]]:
    options: dict[str, Any] = {"n_estimators": ROUNDS, "random_state": 0, "subsample": 0.7}
    for loss in ("log_loss", "exponential"):
        model = sapwood.GradientBoostingClassifier(loss=loss, **options)
        yield f"gradient boosting, {loss}", partial(_fit, model, X, y["two"])
    yield (
        "gradient boosting, huber",
        partial(_fit, sapwood.GradientBoostingRegressor(loss="huber", **options), X, y["number"]),
    )


def main(names: list[str]) -> None:
    """Fit the named models, or all."""
    known = fits()
    json.dump({name: sapwood.fingerprint(known[name]()) for name in names or known}, sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1:])
