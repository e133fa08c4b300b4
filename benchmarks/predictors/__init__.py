"""The ways to predict that `bench_predict.py` compares."""

from __future__ import annotations

from predictors.base import Call, Predictor, Task
from predictors.catboost import CatBoost
from predictors.intelex import Intelex, OneDal
from predictors.lightgbm import LightGBM
from predictors.lleaves import Lleaves
from predictors.onnx import OnnxRuntime
from predictors.sapwood import Sapwood
from predictors.sklearn import ScikitLearn
from predictors.treelite import Tl2cgen, Treelite
from predictors.xgboost import XGBoost, XGBoostMatrix

__all__ = ["PREDICTORS", "Call", "Predictor", "Task"]

PREDICTORS: dict[str, type[Predictor]] = {
    "xgboost": XGBoost,
    "xgboost-dmatrix": XGBoostMatrix,
    "lightgbm": LightGBM,
    "catboost": CatBoost,
    "sklearn": ScikitLearn,
    "onedal": OneDal,
    "intelex": Intelex,
    "onnx": OnnxRuntime,
    "treelite": Treelite,
    "tl2cgen": Tl2cgen,
    "lleaves": Lleaves,
    "sapwood": Sapwood,
}
