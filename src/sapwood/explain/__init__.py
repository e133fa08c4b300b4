"""Why a model predicts what it predicts, and what would change it."""

from sapwood.explain.counterfactual.counterfactual import Change, Counterfactual, counterfactual
from sapwood.explain.decision_path import DecisionPath, TreePath, decision_path
from sapwood.explain.dependence.partial_dependence import PartialDependence, partial_dependence
from sapwood.explain.diff.diff import diff
from sapwood.explain.diff.model_diff import ModelDiff
from sapwood.explain.importance.importance import Importance, importance
from sapwood.explain.rules import Rule, Rules, trees_as_rules
from sapwood.explain.shap.shap_result import ShapInteractions, ShapValues
from sapwood.explain.shap.shap_values import shap_interaction_values, shap_values

__all__ = [
    "Change",
    "Counterfactual",
    "DecisionPath",
    "Importance",
    "ModelDiff",
    "PartialDependence",
    "Rule",
    "Rules",
    "ShapInteractions",
    "ShapValues",
    "TreePath",
    "counterfactual",
    "decision_path",
    "diff",
    "importance",
    "partial_dependence",
    "shap_interaction_values",
    "shap_values",
    "trees_as_rules",
]
