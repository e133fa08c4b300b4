"""Sapwood."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boosters.base import BINS, DEPTH, MIN_HESSIAN, RATE, EstimatorBooster, Settings

_ESTIMATOR = "NewtonBoostingClassifier"


class Sapwood(EstimatorBooster):
    """The library all others are here for."""

    name = "Sapwood"
    module = "sapwood"

    def why_absent(self) -> str | None:
        import sapwood

        return None if hasattr(sapwood, _ESTIMATOR) else f"sapwood has no {_ESTIMATOR}"

    def fit(self, X: Any, y: NDArray, settings: Settings) -> Any:
        import sapwood

        return getattr(sapwood, _ESTIMATOR)(
            recipe="xgboost",
            n_estimators=settings.rounds,
            max_depth=0 if settings.leaves else DEPTH,
            grow_policy="lossguide" if settings.leaves else "depthwise",
            max_leaves=settings.leaves or 0,
            learning_rate=RATE,
            max_bin=BINS,
            reg_lambda=0.0,
            min_child_weight=MIN_HESSIAN,
            tree_method="hist",
            n_jobs=settings.threads,
        ).fit(X, y)

    def count_leaves(self, model: Any) -> float:
        return float(np.mean([tree.n_leaves for trees in model.ensemble_.rounds for tree in trees]))
