"""Sapwood: every classic tree method of machine learning on one engine.

Names are loaded when they are first used, so that `import sapwood` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.compilation.warm import warmup
    from sapwood.errors import SapwoodError
    from sapwood.estimators.adaboost import AdaBoostClassifier, AdaBoostRegressor
    from sapwood.estimators.bagging import BaggingClassifier, BaggingRegressor
    from sapwood.estimators.boosting_cv import BoostingCV, cross_validate_boosting
    from sapwood.estimators.checkpoint import Checkpoint
    from sapwood.estimators.forests import (
        ExtraTreesClassifier,
        ExtraTreesRegressor,
        RandomForestClassifier,
        RandomForestRegressor,
    )
    from sapwood.estimators.gradient import GradientBoostingClassifier, GradientBoostingRegressor
    from sapwood.estimators.model_file import fingerprint, load, save
    from sapwood.estimators.newton import NewtonBoostingClassifier, NewtonBoostingRanker, NewtonBoostingRegressor
    from sapwood.estimators.oob_tuning import OobChoice, tune_by_oob
    from sapwood.estimators.pruning import PruningChoice, prune_by_cv
    from sapwood.estimators.training_plan import plan
    from sapwood.estimators.tree import DecisionTreeClassifier, DecisionTreeRegressor
    from sapwood.explain import diff
    from sapwood.explain.certificate import Certificate
    from sapwood.files.model_loader import load_model
    from sapwood.forest.permutation import PermutationImportance
    from sapwood.plot import (
        plot_calibration,
        plot_confusion_matrix,
        plot_decision_regions,
        plot_importance,
        plot_learning_curves,
        plot_oob_curve,
        plot_partial_dependence,
        plot_pruning,
        plot_shap_summary,
        plot_shap_waterfall,
        plot_tree,
    )
    from sapwood.show import decision_steps, explain_row, export_graphviz, export_text
    from sapwood.table.parsed_text import parse_text

__version__ = "0.1.0"

_HOMES = {
    "AdaBoostClassifier": "sapwood.estimators.adaboost",
    "AdaBoostRegressor": "sapwood.estimators.adaboost",
    "BaggingClassifier": "sapwood.estimators.bagging",
    "BaggingRegressor": "sapwood.estimators.bagging",
    "BoostingCV": "sapwood.estimators.boosting_cv",
    "Certificate": "sapwood.explain.certificate",
    "Checkpoint": "sapwood.estimators.checkpoint",
    "DecisionTreeClassifier": "sapwood.estimators.tree",
    "DecisionTreeRegressor": "sapwood.estimators.tree",
    "ExtraTreesClassifier": "sapwood.estimators.forests",
    "ExtraTreesRegressor": "sapwood.estimators.forests",
    "GradientBoostingClassifier": "sapwood.estimators.gradient",
    "GradientBoostingRegressor": "sapwood.estimators.gradient",
    "NewtonBoostingClassifier": "sapwood.estimators.newton",
    "NewtonBoostingRanker": "sapwood.estimators.newton",
    "NewtonBoostingRegressor": "sapwood.estimators.newton",
    "OobChoice": "sapwood.estimators.oob_tuning",
    "PermutationImportance": "sapwood.forest.permutation",
    "PruningChoice": "sapwood.estimators.pruning",
    "RandomForestClassifier": "sapwood.estimators.forests",
    "RandomForestRegressor": "sapwood.estimators.forests",
    "SapwoodError": "sapwood.errors",
    "cross_validate_boosting": "sapwood.estimators.boosting_cv",
    "decision_steps": "sapwood.show",
    "diff": "sapwood.explain",
    "explain_row": "sapwood.show",
    "export_graphviz": "sapwood.show",
    "export_text": "sapwood.show",
    "fingerprint": "sapwood.estimators.model_file",
    "load": "sapwood.estimators.model_file",
    "load_model": "sapwood.files.model_loader",
    "parse_text": "sapwood.table.parsed_text",
    "plan": "sapwood.estimators.training_plan",
    "plot_calibration": "sapwood.plot",
    "plot_confusion_matrix": "sapwood.plot",
    "plot_decision_regions": "sapwood.plot",
    "plot_importance": "sapwood.plot",
    "plot_learning_curves": "sapwood.plot",
    "plot_oob_curve": "sapwood.plot",
    "plot_partial_dependence": "sapwood.plot",
    "plot_pruning": "sapwood.plot",
    "plot_shap_summary": "sapwood.plot",
    "plot_shap_waterfall": "sapwood.plot",
    "plot_tree": "sapwood.plot",
    "prune_by_cv": "sapwood.estimators.pruning",
    "save": "sapwood.estimators.model_file",
    "tune_by_oob": "sapwood.estimators.oob_tuning",
    "warmup": "sapwood.compilation.warm",
}
_MODULES = ("errors", "explain", "interchange", "plot", "show")

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRegressor",
    "BaggingClassifier",
    "BaggingRegressor",
    "BoostingCV",
    "Certificate",
    "Checkpoint",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "GradientBoostingClassifier",
    "GradientBoostingRegressor",
    "NewtonBoostingClassifier",
    "NewtonBoostingRanker",
    "NewtonBoostingRegressor",
    "OobChoice",
    "PermutationImportance",
    "PruningChoice",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "SapwoodError",
    "__version__",
    "cross_validate_boosting",
    "decision_steps",
    "diff",
    "explain_row",
    "export_graphviz",
    "export_text",
    "fingerprint",
    "load",
    "load_model",
    "parse_text",
    "plan",
    "plot_calibration",
    "plot_confusion_matrix",
    "plot_decision_regions",
    "plot_importance",
    "plot_learning_curves",
    "plot_oob_curve",
    "plot_partial_dependence",
    "plot_pruning",
    "plot_shap_summary",
    "plot_shap_waterfall",
    "plot_tree",
    "prune_by_cv",
    "save",
    "tune_by_oob",
    "warmup",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _MODULES:
        return import_module(f"sapwood.{name}")
    from sapwood.peer_names import MODULE_NAMES

    if name in MODULE_NAMES:
        from sapwood.errors import AbsentNameError

        raise AbsentNameError(f"module 'sapwood' has no attribute {name!r}. {MODULE_NAMES[name]}")
    raise AttributeError(f"module 'sapwood' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_MODULES])
