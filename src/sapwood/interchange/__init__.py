"""Models from other libraries, and models for other programs, each checked row by row at every boundary."""

from sapwood.interchange.sources.lightgbm.from_lightgbm import from_lightgbm
from sapwood.interchange.sources.sklearn.from_sklearn import from_sklearn
from sapwood.interchange.sources.xgboost.from_xgboost import from_xgboost
from sapwood.interchange.targets.c.to_c import to_c
from sapwood.interchange.targets.onnx.to_onnx import to_onnx
from sapwood.interchange.targets.python.to_python import to_python
from sapwood.interchange.targets.sql.to_sql import to_sql
from sapwood.interchange.targets.xgboost.to_xgboost import to_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost", "to_c", "to_onnx", "to_python", "to_sql", "to_xgboost"]
