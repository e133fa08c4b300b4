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
from sapwood.estimators.gradient_boosting import GradientBoosting
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
    bags = Bags(0, np.empty(0, dtype=np.uint32), n_features=schema.n_features)
    _set(model, _seed=0, _rows=None, _bags=bags, _leaf_targets=[], _training_target=None)
    vote = Vote(model.voting == "hard", tuple(map(len, classes)))
    _set(model, forest_=Forest([PackedTree.of(tree) for tree in trees], vote), stopped_reason_=stopped_reason)


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
    _set_columns(model, schema)
    if classes is not None:
        expected = max(len(ensemble.base), 2)
        if len(classes) != expected:
            raise ModelFileError(f"The model has {len(classes)} classes, but scores for {expected}.")
        _set_classes(model, [np.asarray(classes)])
        model._factors = np.ones(expected)
    n = ensemble.n_rounds
    _set(model, ensemble_=ensemble, loss_=loss, n_estimators_=n, n_iter_=n, _seed=0, _best=n_best)
    _set(model, evals_result_={}, stopped_reason_=stopped_reason)
    if n_best is not None:
        _set(model, best_iteration_=n_best - 1, **({} if best_score is None else {"best_score_": best_score}))


def set_stages(model: GradientBoosting, init: object, rate: float, n_rows: int) -> None:
    """What gradient boosting has beyond that: a constant `init`, the learning rate, and the number of training rows."""
    n_stages, n_scores = model.ensemble_.n_rounds, model.ensemble_.n_scores
    n_features = n_features_drawn(model.max_features, model.n_features_in_)
    _set(model, init_=init, learning_rates_=np.full(n_stages, rate), n_trees_per_iteration_=n_scores)
    _set(model, max_features_=n_features, _has_init=False, _n_rows=n_rows)


def _set(model: Estimator, **attributes: object) -> None:
    for name, value in attributes.items():
        setattr(model, name, value)


def _set_columns(model: Estimator, schema: Schema) -> None:
    _set(model, schema_=schema, n_features_in_=schema.n_features)
    if schema.named:
        _set(model, feature_names_in_=np.array(schema.names, dtype=object))


def _set_outputs(model: DecisionTree | ForestEstimator, schema: Schema, n: int, classes: Sequence[Array]) -> None:
    _set_columns(model, schema)
    n_features = n_features_drawn(model.max_features, schema.n_features)
    _set(model, n_outputs_=n, _single_output=n == 1, max_features_=n_features)
    if classes:
        _set_classes(model, classes)


def _set_classes(model: Estimator, classes: Sequence[Array]) -> None:
    sizes, single = [len(labels) for labels in classes], len(classes) == 1
    _set(model, classes_=classes[0] if single else list(classes), n_classes_=sizes[0] if single else sizes)
