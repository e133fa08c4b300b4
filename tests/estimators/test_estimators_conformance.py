"""Every check scikit-learn has for estimators passes, with no expected failures."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from sklearn.base import BaseEstimator
from sklearn.utils.estimator_checks import parametrize_with_checks

from sapwood import DecisionTreeClassifier, DecisionTreeRegressor

PARAMETERS = (
    {},
    {"max_bins": 16},
    {"splitter": "random", "random_state": 0},
)
ESTIMATORS = [kind(**given) for kind in (DecisionTreeClassifier, DecisionTreeRegressor) for given in PARAMETERS] + [
    DecisionTreeClassifier(max_leaf_nodes=8, criterion="entropy", n_jobs=2),
    DecisionTreeRegressor(max_leaf_nodes=8, criterion="absolute_error", n_jobs=2),
]


@pytest.mark.filterwarnings("default")  # scikit-learn's own checks warn about skipped ones
@parametrize_with_checks(ESTIMATORS)
def test_scikit_learn_accepts_the_estimator(estimator: BaseEstimator, check: Callable[[BaseEstimator], None]) -> None:
    check(estimator)
