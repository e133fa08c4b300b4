"""The libraries that `bench_boosting.py` compares."""

from __future__ import annotations

from boosters.base import Booster, Settings, first_rows
from boosters.catboost import CatBoost
from boosters.hessboost import Hessboost
from boosters.lightgbm import LightGBM, QuantizedLightGBM
from boosters.sapwood import Sapwood
from boosters.sklearn import ScikitLearn
from boosters.xgboost import XGBoost

__all__ = ["BOOSTERS", "Booster", "Settings", "first_rows"]

BOOSTERS: dict[str, type[Booster]] = {
    "xgboost": XGBoost,
    "lightgbm": LightGBM,
    "lightgbm-quantized": QuantizedLightGBM,
    "catboost": CatBoost,
    "sklearn": ScikitLearn,
    "hessboost": Hessboost,
    "sapwood": Sapwood,
}
