"""Forests without the order of their training rows, on which no prediction depends."""

from __future__ import annotations

from copy import copy
from dataclasses import replace

import numpy as np

from sapwood.arrays import Array
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.forest import ForestEstimator
from sapwood.forest.bags import Bag, Bags
from sapwood.forest.leaf_targets import LeafRows

SUMS = tuple(  # parts of a forest's file that no prediction needs, and whose last bits depend on the order of rows
    f"fitted.forest_.trees.{name}" for name in ("value.inner", "impurity.inner", "impurity.leaf")
)
MEASURED = ("oob_score_", "oob_curve_", "oob_prediction_", "oob_decision_function_")  # on the training rows


def without_row_order(model: Estimator) -> Estimator:
    """The same model, as if the training rows had stood in the order of their contents that bags refer to.

    Out-of-bag measures are left out: sums over the rows in another order may differ in their last bits.
    """
    if not isinstance(model, ForestEstimator):
        return model
    forest, bags = copy(model), model._bags
    place = np.empty(bags.n_rows, dtype=np.uint32)
    place[bags.order] = np.arange(bags.n_rows)
    forest._rows, forest._bags = None, _in_order(bags, place)
    forest._leaf_targets = [_renumbered(held, place) for held in model._leaf_targets]
    target = getattr(model, "_training_target", None)
    forest._training_target = None if target is None else target[bags.order]
    for name in MEASURED:
        forest.__dict__.pop(name, None)
    return forest


def _in_order(bags: Bags, place: Array) -> Bags:
    weight = None if bags.weight is None else bags.weight[bags.order]
    given = None if bags.given is None else [_bag_in_order(bag, place) for bag in bags.given]
    return replace(bags, order=np.arange(bags.n_rows, dtype=np.uint32), weight=weight, given=given)


def _bag_in_order(bag: Bag, place: Array) -> Bag:
    places = place[bag.rows]
    order = np.argsort(places)
    return Bag(places[order], bag.counts[order], bag.features)


def _renumbered(held: LeafRows, place: Array) -> LeafRows:
    places = place[held.rows]
    node = np.searchsorted(held.starts, np.arange(len(places)), side="right")
    order = np.lexsort((places, node))
    return LeafRows(places[order], held.counts[order], held.starts)
