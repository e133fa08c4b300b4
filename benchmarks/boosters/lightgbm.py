"""LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from boosters.base import BINS, DEPTH, MIN_HESSIAN, RATE, Booster, Settings


class LightGBM(Booster):
    """Plain gradients. It grows leaf by leaf; with room for every leaf that becomes full growth to a depth."""

    name = "LightGBM"
    module = "lightgbm"
    variants = ({"force_row_wise": True}, {"force_col_wise": True})

    def fit(self, X: Any, y: NDArray, settings: Settings) -> Any:
        import lightgbm

        parameters = {**self._parameters(settings), **self.variant}
        return lightgbm.train(parameters, lightgbm.Dataset(X, y, params=parameters), settings.rounds)

    def predict(self, model: Any, X: Any) -> NDArray:
        return model.predict(X)

    def count_leaves(self, model: Any) -> float:
        return float(np.mean([tree["num_leaves"] for tree in model.dump_model()["tree_info"]]))

    def _parameters(self, settings: Settings) -> dict[str, Any]:
        task = {"objective": "binary"} if settings.is_binary else {"num_class": settings.n_classes}
        return {
            "objective": "multiclass",
            **task,
            "num_leaves": settings.leaves or 2**DEPTH,
            "max_depth": -1 if settings.leaves else DEPTH,
            "max_bin": BINS,
            "learning_rate": RATE,
            "min_sum_hessian_in_leaf": MIN_HESSIAN,
            "min_data_in_leaf": settings.min_rows,
            "feature_pre_filter": False,
            "lambda_l2": 0.0,
            "num_threads": settings.threads,
            "verbosity": -1,
        }


class QuantizedLightGBM(LightGBM):
    """Gradients rounded to four levels; leaf values from the exact ones, as its authors advise."""

    name = "LightGBM quantized"

    def _parameters(self, settings: Settings) -> dict[str, Any]:
        rounding = {"use_quantized_grad": True, "num_grad_quant_bins": 4, "quant_train_renew_leaf": True}
        return {**super()._parameters(settings), **rounding}
