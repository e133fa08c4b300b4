"""Gradient boosting passes every check scikit-learn has for estimators, with no expected failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from sapwood import GradientBoostingClassifier, GradientBoostingRegressor

ESTIMATORS = [
    GradientBoostingClassifier(n_estimators=10, learning_rate=0.3),
    GradientBoostingRegressor(n_estimators=10, learning_rate=0.3),
    GradientBoostingClassifier(n_estimators=10, learning_rate=0.3, max_leaf_nodes=6, line_search=True, n_jobs=2),
    GradientBoostingRegressor(
        n_estimators=10, learning_rate=0.3, max_leaf_nodes=6, loss="huber", ccp_alpha=1e-6, n_jobs=2
    ),
]


@pytest.mark.filterwarnings("default")  # scikit-learn's own checks warn about skipped ones
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_the_estimator(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)
