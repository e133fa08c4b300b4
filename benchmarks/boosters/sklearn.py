"""scikit-learn."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boosters.base import BINS, DEPTH, RATE, EstimatorBooster, Settings


class ScikitLearn(EstimatorBooster):
    """Its histogram boosting; OMP_NUM_THREADS sets the threads, there is no parameter."""

    name = "scikit-learn"
    module = "sklearn"

    def prepare(self, X: Any) -> Any:
        """It takes no more levels than bins: columns of more levels become numbers, in the order of the levels."""
        if not isinstance(X, pd.DataFrame):
            return X
        names = [name for name in X.select_dtypes("category") if len(X[name].cat.categories) > BINS]
        numbers = {name: X[name].cat.codes.astype(np.float32).replace(-1, np.nan) for name in names}
        return X.assign(**numbers)

    def fit(self, X: Any, y: NDArray, settings: Settings) -> Any:
        from sklearn.ensemble import HistGradientBoostingClassifier

        return HistGradientBoostingClassifier(
            max_iter=settings.rounds,
            learning_rate=RATE,
            max_leaf_nodes=settings.leaves,
            max_depth=None if settings.leaves else DEPTH,
            max_bins=BINS,
            min_samples_leaf=settings.min_rows,
            l2_regularization=0.0,
            categorical_features="from_dtype",
            early_stopping=False,
        ).fit(X, y)

    def count_leaves(self, model: Any) -> float:
        return float(np.mean([tree.get_n_leaf_nodes() for trees in model._predictors for tree in trees]))
