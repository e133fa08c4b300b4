"""Sapwood: every classic tree method of machine learning on one engine."""

from sapwood.errors import SapwoodError
from sapwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor

__version__ = "0.1.0"

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "SapwoodError",
    "__version__",
]
