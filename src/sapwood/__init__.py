"""Sapwood: every classic tree method of machine learning on one engine."""

from sapwood.errors import SapwoodError
from sapwood.estimators.pruning import PruningChoice, prune_by_cv
from sapwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
from sapwood.plot import plot_decision_regions, plot_tree
from sapwood.show import explain_row, export_graphviz, export_text

__version__ = "0.1.0"

__all__ = [
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "PruningChoice",
    "SapwoodError",
    "__version__",
    "explain_row",
    "export_graphviz",
    "export_text",
    "plot_decision_regions",
    "plot_tree",
    "prune_by_cv",
]
