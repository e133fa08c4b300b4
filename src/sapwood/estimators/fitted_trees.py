"""The trees of ensembles as estimators of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sklearn.base import is_classifier

from sapwood.estimators.estimator import Estimator
from sapwood.estimators.tree import DecisionTree
from sapwood.growth.rules import n_features_drawn
from sapwood.tree import Tree

# What trees and ensembles know of the data they were fitted to
DESCRIPTION = ("schema_", "n_features_in_", "feature_names_in_", "n_outputs_", "max_features_", "_single_output")
OF_CLASSES = ("classes_", "n_classes_")


class FittedTrees(Sequence[DecisionTree]):
    """Trees, each made when it is asked for: ensembles keep them packed."""

    def __init__(self, n_trees: int, make: Callable[[int], DecisionTree]) -> None:
        self._n_trees, self._make = n_trees, make

    def __len__(self) -> int:
        """Number of trees."""
        return self._n_trees

    def __getitem__(self, t: Any) -> Any:
        """Tree t, or a list of trees."""
        places = range(self._n_trees)[t]
        return [self._make(place) for place in places] if isinstance(places, range) else self._make(places)


def fitted_tree(template: DecisionTree, owner: Estimator, tree: Tree) -> DecisionTree:
    """A tree of an ensemble; the template, which is not fitted yet, is changed."""
    template.n_outputs_, template._single_output = 1, True
    template.max_features_ = n_features_drawn(template.max_features, owner.n_features_in_)
    known = (*DESCRIPTION, *OF_CLASSES) if is_classifier(template) else DESCRIPTION
    template.__dict__.update({name: value for name, value in vars(owner).items() if name in known})
    template.tree_ = tree
    return template
