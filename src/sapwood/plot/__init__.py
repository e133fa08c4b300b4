"""Pictures: trees, maps of decisions, and pruning curves."""

from sapwood.plot.pruning import plot_pruning
from sapwood.plot.regions import plot_decision_regions
from sapwood.plot.tree import plot_tree

__all__ = ["plot_decision_regions", "plot_pruning", "plot_tree"]
