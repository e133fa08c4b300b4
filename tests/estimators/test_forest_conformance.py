"""Every check scikit-learn has for estimators passes for forests, bagging and AdaBoost.

Only one is expected to fail, as for scikit-learn's own: bags of as many draws as rows grow when rows are repeated, and
not when they are weighted. Where max_samples tells the number of draws, it passes.
"""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.utils.estimator_checks import parametrize_with_checks

from sapwood import (
    AdaBoostClassifier,
    AdaBoostRegressor,
    BaggingClassifier,
    BaggingRegressor,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)

FORESTS = (RandomForestClassifier, RandomForestRegressor, ExtraTreesClassifier, ExtraTreesRegressor)
OTHERS = (BaggingClassifier, BaggingRegressor, AdaBoostClassifier, AdaBoostRegressor)
ESTIMATORS = [
    *(kind(n_estimators=5) for kind in (*FORESTS, *OTHERS)),
    RandomForestClassifier(5, max_bins=None, n_jobs=2),
    ExtraTreesRegressor(5, bootstrap=True, max_bins=16, feature_sampling="tree"),
    AdaBoostClassifier(n_estimators=5, learning_rate=0.5),
    RandomForestClassifier(5, max_samples=60),
    RandomForestRegressor(5, max_samples=60),
    BaggingClassifier(n_estimators=5, max_samples=60),
    BaggingRegressor(n_estimators=5, max_samples=60),
]
REPEATED = ("check_sample_weight_equivalence_on_dense_data", "check_sample_weight_equivalence_on_sparse_data")


def expected_to_fail(estimator: BaseEstimator) -> dict[str, str]:
    by_rows = getattr(estimator, "bootstrap", False) and estimator.max_samples is None
    return dict.fromkeys(REPEATED if by_rows else (), "repeated rows are drawn more often, weighted ones are not")


@pytest.mark.filterwarnings("default")  # scikit-learn's own checks warn about skipped ones
@parametrize_with_checks(ESTIMATORS, expected_failed_checks=expected_to_fail)
def test_scikit_learn_accepts_the_estimator(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("default")
@parametrize_with_checks(
    [BaggingClassifier(GaussianNB(), 3), BaggingRegressor(Ridge(), 3)], expected_failed_checks=expected_to_fail
)
def test_members_of_other_kinds(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)
