"""Out-of-bag measures of a forest, by its parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood.estimators.tree_rows import CLASSES
from sapwood.forest.out_of_bag import OutOfBag, class_shares

if TYPE_CHECKING:
    from sapwood.estimators.forest import ForestEstimator
    from sapwood.estimators.tree_rows import TreeRows


def out_of_bag(forest: ForestEstimator, training: TreeRows) -> OutOfBag | None:
    """Sums of votes, if the forest is to be measured."""
    if not (forest.oob_score or forest.oob_stop):
        return None
    if forest.task is not CLASSES or forest.voting == "hard" or not forest.prior_weight:
        return OutOfBag(training.target, training.given)
    weights = None if training.weight is None else training.weight[forest._bags.order]
    is_balanced = str(getattr(forest, "class_weight", None)) == "balanced_subsample"
    prior = class_shares(training.target, forest._bags.order, weights, balanced=is_balanced)
    return OutOfBag(training.target, training.given, prior, float(forest.prior_weight))
