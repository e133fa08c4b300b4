"""Every check scikit-learn has for estimators passes for Newton boosting, with no expected failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from sapwood import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor

SAMPLED = {"subsample": 0.9, "colsample_bynode": 0.8, "random_state": 0}
ESTIMATORS = [
    NewtonBoostingClassifier(n_estimators=10, n_jobs=1),
    NewtonBoostingClassifier(n_estimators=10, grow_policy="lossguide", max_leaves=8, class_weight="balanced", n_jobs=2),
    NewtonBoostingClassifier(n_estimators=8, min_child_samples=2, reg_alpha=0.01, gamma=0.01, base_score=0.5, n_jobs=1),
    NewtonBoostingRegressor(n_estimators=10, n_jobs=1),
    NewtonBoostingRegressor(n_estimators=10, grow_policy="lossguide", max_leaves=8, n_jobs=2),
    NewtonBoostingRegressor(n_estimators=10, objective="absolute_error", n_jobs=1),
    NewtonBoostingRegressor(n_estimators=10, tree_method="exact", n_jobs=1),
    NewtonBoostingRegressor(n_estimators=10, multi_strategy="multi_output_tree", random_state=0, n_jobs=2),
    NewtonBoostingClassifier(n_estimators=10, tree_method="approx", n_jobs=1),
    NewtonBoostingClassifier(n_estimators=10, grow_policy="symmetric", n_jobs=2),
    NewtonBoostingRegressor(n_estimators=10, linear_tree=True, n_jobs=2),
    NewtonBoostingClassifier(n_estimators=10, linear_tree=True, n_jobs=1),
    NewtonBoostingRegressor(n_estimators=10, target_statistics=True, max_cat_to_onehot=1, n_jobs=2),
    NewtonBoostingClassifier(n_estimators=10, target_statistics=True, max_cat_to_onehot=1, n_jobs=1),
    NewtonBoostingRanker(n_estimators=5, n_jobs=1),
    NewtonBoostingRanker(n_estimators=5, grow_policy="lossguide", max_leaves=4, n_jobs=2),
    NewtonBoostingRanker(n_estimators=5, **SAMPLED, n_jobs=1),
]


@pytest.mark.filterwarnings("default")  # scikit-learn's own checks warn about skipped ones
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_the_estimator(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)
