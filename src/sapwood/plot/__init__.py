"""Pictures of trees, models and their errors. Each function returns the Axes it drew on."""

from sapwood.plot.calibration import plot_calibration
from sapwood.plot.confusion import plot_confusion_matrix
from sapwood.plot.importance import plot_importance
from sapwood.plot.learning_curves import plot_learning_curves
from sapwood.plot.oob_curve import plot_oob_curve
from sapwood.plot.partial_dependence import plot_partial_dependence
from sapwood.plot.pruning import plot_pruning
from sapwood.plot.regions import plot_decision_regions
from sapwood.plot.shap_summary import plot_shap_summary
from sapwood.plot.shap_waterfall import plot_shap_waterfall
from sapwood.plot.tree import plot_tree

__all__ = [
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
]
