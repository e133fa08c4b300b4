"""What tests of Newton boosting share: a small table, short names, and when two models are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from sapwood import NewtonBoostingClassifier, NewtonBoostingRegressor

rng = np.random.default_rng(2)
X = rng.normal(size=(300, 4))
NUMBERS = X[:, 0] + X[:, 1] ** 2 + 0.3 * rng.normal(size=300)
Y = (NUMBERS > 1.2).astype(int)
THREE = np.digitize(NUMBERS, [0.0, 1.5])


METHODS = ("hist", "approx", "exact")


def classifier(**parameters: Any) -> NewtonBoostingClassifier:
    return NewtonBoostingClassifier(recipe="xgboost", **{"n_estimators": 15, "n_jobs": 1, **parameters})


def regressor(**parameters: Any) -> NewtonBoostingRegressor:
    return NewtonBoostingRegressor(recipe="xgboost", **{"n_estimators": 15, "n_jobs": 1, **parameters})


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
