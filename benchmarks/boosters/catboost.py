"""CatBoost."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from boosters.base import BINS, DEPTH, RATE, EstimatorBooster, Settings

_DEEPEST = 16  # it allows no more


class CatBoost(EstimatorBooster):
    """Symmetric trees, what it is built for; where leaves are limited, its leaf-wise ones."""

    name = "CatBoost"
    module = "catboost"

    def prepare(self, X: Any) -> Any:
        """It refuses missing categories: they become a level."""
        if not isinstance(X, pd.DataFrame):
            return X
        names = X.select_dtypes("category").columns
        return X.assign(**{name: X[name].astype(object).fillna("missing").astype("category") for name in names})

    def fit(self, X: Any, y: NDArray, settings: Settings) -> Any:
        import catboost

        names = list(X.select_dtypes("category").columns) if isinstance(X, pd.DataFrame) else None
        data = catboost.Pool(X, y, cat_features=names, thread_count=settings.threads)
        return catboost.CatBoostClassifier(**_parameters(settings)).fit(data)

    def count_leaves(self, model: Any) -> float:
        return float(np.mean(model.get_tree_leaf_counts()))


def _parameters(settings: Settings) -> dict[str, Any]:
    growth = {"depth": DEPTH}
    if settings.leaves:
        limits = {"max_leaves": settings.leaves, "min_data_in_leaf": settings.min_rows}
        growth = {"grow_policy": "Lossguide", "depth": _DEEPEST, **limits}
    return {
        **growth,
        "iterations": settings.rounds,
        "learning_rate": RATE,
        "border_count": BINS - 1,
        "l2_leaf_reg": 0.0,
        "loss_function": "Logloss" if settings.is_binary else "MultiClass",
        "boosting_type": "Plain",
        "bootstrap_type": "No",
        "random_strength": 0,
        "leaf_estimation_iterations": 1,
        "thread_count": settings.threads,
        "allow_writing_files": False,
        "verbose": False,
    }
