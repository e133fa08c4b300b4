"""Fitted estimators made from trees that were not grown here: they get every attribute that `fit` would have set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from sapwood.arrays import Array
from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import ModelFileError
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.gradient import GradientBoosting
from sapwood.estimators.tree import DecisionTree
from sapwood.forest.bags import Bags
from sapwood.forest.forest import Forest, Vote
from sapwood.growth.rules import n_features_drawn
from sapwood.losses.loss import Loss
from sapwood.packed_tree import PackedTree
from sapwood.table.schema import Schema
from sapwood.tree import Tree

Kind = TypeVar("Kind", bound=Estimator)


def estimator_with(kind: type[Kind], parameters: Mapping[str, Any]) -> Kind:
    """An estimator with those of the parameters that it has, if it allows their values; defaults for the rest."""
    known = kind._get_param_names()
    allowed = {
        name: value
        for name, value in parameters.items()
        if name in known and any(rule.accepts(value) for rule in kind.rules[name])
    }
    return kind(**allowed)


def set_tree(model: DecisionTree, schema: Schema, tree: Tree, classes: Sequence[Array]) -> None:
    """Make it a fitted decision tree; `classes` are those of each output, none for numbers."""
    _set_outputs(model, schema, tree.value.shape[1], classes)
    model.tree_ = tree


def set_forest(
    model: ForestEstimator, schema: Schema, trees: Sequence[Tree], classes: Sequence[Array], stopped_reason: str
) -> None:
    """Make it a fitted forest; the rows of its trees are not known."""
    _set_outputs(model, schema, trees[0].value.shape[1], classes)
    model._bags = Bags(0, np.empty(0, dtype=np.uint32), n_features=schema.n_features)
    model._seed, model._rows, model._leaf_targets, model._training_target = 0, None, [], None
    vote = Vote(model.voting == "hard", tuple(map(len, classes)))
    model.forest_, model.stopped_reason_ = Forest([PackedTree.of(tree) for tree in trees], vote), stopped_reason


def _set_outputs(model: DecisionTree | ForestEstimator, schema: Schema, n: int, classes: Sequence[Array]) -> None:
    model._describe(schema, classes, n == 1)
    model.n_outputs_, model._single_output = n, n == 1
    model.max_features_ = n_features_drawn(model.max_features, schema.n_features)


def set_boosting(
    model: Boosting,
    schema: Schema,
    ensemble: Ensemble,
    loss: Loss,
    classes: Array | None,
    stopped_reason: str,
    n_best: int | None = None,
    best_score: float | None = None,
) -> None:
    """Make it a fitted boosting model; after early stopping, `n_best` rounds lead up to the best one."""
    model._describe(schema, [] if classes is None else [np.asarray(classes)])
    if classes is not None:
        expected = max(len(ensemble.base), 2)
        if len(classes) != expected:
            raise ModelFileError(f"The model has {len(classes)} classes, but scores for {expected}.")
        model._factors = np.ones(expected)
    model.ensemble_, model.loss_, model.evals_result_ = ensemble, loss, {}
    model.n_estimators_ = model.n_iter_ = ensemble.n_rounds
    model._seed, model._best, model.stopped_reason_ = 0, n_best, stopped_reason
    if n_best is not None:
        model.best_iteration_ = n_best - 1
        if best_score is not None:
            model.best_score_ = best_score


def set_stages(model: GradientBoosting, init: object, rate: float, n_rows: int) -> None:
    """What gradient boosting has beyond that: a constant `init`, the learning rate, and the number of training rows."""
    model.init_, model._has_init, model._n_rows = init, False, n_rows
    model.learning_rates_ = np.full(model.ensemble_.n_rounds, rate)
    model.n_trees_per_iteration_ = model.ensemble_.n_scores
    model.max_features_ = n_features_drawn(model.max_features, model.n_features_in_)
