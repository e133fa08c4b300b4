"""hessboost, which takes XGBoost's parameters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boosters.base import Booster, Settings
from boosters.xgboost import newton_parameters


class Hessboost(Booster):
    """Categorical columns of a frame are categories without being asked."""

    name = "hessboost"
    module = "hessboost"

    def fit(self, X: Any, y: NDArray, settings: Settings) -> Any:
        import hessboost

        return hessboost.train(newton_parameters(settings), hessboost.DMatrix(X, y), settings.rounds)

    def predict(self, model: Any, X: Any) -> NDArray:
        return model.predict(X)

    def count_leaves(self, model: Any) -> float:
        return float(np.mean([np.sum(np.asarray(tree.left) < 0) for tree in model.model_info().trees]))
