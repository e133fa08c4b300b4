"""Every check scikit-learn has for estimators passes for forests, bagging and AdaBoost, with no expected failures."""

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
]


@pytest.mark.filterwarnings("default")  # scikit-learn's own checks warn about skipped ones
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_the_estimator(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("default")
@parametrize_with_checks([BaggingClassifier(GaussianNB(), 3), BaggingRegressor(Ridge(), 3)])
def test_members_of_other_kinds(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)
