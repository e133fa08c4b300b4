"""LightGBM."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from predictors.base import Call, OwnPredictor, as_is


class LightGBM(OwnPredictor):
    """`Booster.predict`."""

    name = "LightGBM"
    package = "lightgbm"
    sources = ("lightgbm",)

    def predict(self, X: Any) -> Any:
        return self.model.predict(X, num_threads=self.task.threads)

    def calls(self) -> Sequence[Call]:
        """Its Python interface has nothing for single rows; its C interface has, and ctypes gets there."""
        return [
            Call("Booster.predict", as_is, self.predict),
            Call("C interface for single rows", lambda row: row[0].copy(), _fast_call(self.model, self.task.n_columns)),
        ]


def _fast_call(model: Any, n_columns: int) -> Callable[[NDArray[np.float32]], float]:
    from lightgbm.basic import _LIB, _safe_call

    ready, length, out = ctypes.c_void_p(), ctypes.c_int64(), (ctypes.c_double * 1)()
    normal, start, all_rounds, float32 = 0, 0, -1, 0
    settings = (normal, start, all_rounds, float32, ctypes.c_int32(n_columns), b"num_threads=1")
    _safe_call(_LIB.LGBM_BoosterPredictForMatSingleRowFastInit(model._handle, *settings, ctypes.byref(ready)))
    ask, where = _LIB.LGBM_BoosterPredictForMatSingleRowFast, ctypes.byref(length)

    def predict(row: NDArray[np.float32]) -> float:
        _safe_call(ask(ready, ctypes.c_void_p(row.ctypes.data), where, out))
        return out[0]

    return predict
