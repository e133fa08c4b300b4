"""Models from other libraries, and models for other programs, each checked row by row at every boundary."""

from sapwood.interchange.from_lightgbm import from_lightgbm
from sapwood.interchange.from_sklearn import from_sklearn
from sapwood.interchange.from_xgboost import from_xgboost
from sapwood.interchange.to_c import to_c
from sapwood.interchange.to_onnx import to_onnx
from sapwood.interchange.to_python import to_python
from sapwood.interchange.to_sql import to_sql
from sapwood.interchange.to_xgboost import to_xgboost

__all__ = ["from_lightgbm", "from_sklearn", "from_xgboost", "to_c", "to_onnx", "to_python", "to_sql", "to_xgboost"]
