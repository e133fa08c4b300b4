"""Trees, forests and boosted trees of scikit-learn as models of this library."""

from __future__ import annotations

from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sapwood.errors import InputTypeError, ModelFileError
from sapwood.estimators import forests, gradient, newton, tree
from sapwood.estimators.settings import n_features_drawn
from sapwood.forest.bags import Bags
from sapwood.forest.forest import Forest
from sapwood.interchange.sources.agreement import Domain, check_agreement
from sapwood.interchange.sources.imported import Boosted, check_fitted, describe, schema_of, translated
from sapwood.interchange.sources.sklearn.hist_gradient import HistColumns
from sapwood.interchange.sources.sklearn.rows import asked
from sapwood.interchange.sources.sklearn.tree import stage_of, tree_of
from sapwood.keywords import answering
from sapwood.losses.names import make_loss
from sapwood.packed_tree import PackedTree
from sapwood.table.schema import Schema

Floats = NDArray[np.float64]

LARGEST = float(np.finfo(np.float32).max)
TREES: dict[type, type] = {
    DecisionTreeClassifier: tree.DecisionTreeClassifier,
    DecisionTreeRegressor: tree.DecisionTreeRegressor,
}
FORESTS: dict[type, type] = {
    RandomForestClassifier: forests.RandomForestClassifier,
    RandomForestRegressor: forests.RandomForestRegressor,
    ExtraTreesClassifier: forests.ExtraTreesClassifier,
    ExtraTreesRegressor: forests.ExtraTreesRegressor,
}
STAGES: dict[type, type] = {
    GradientBoostingClassifier: gradient.GradientBoostingClassifier,
    GradientBoostingRegressor: gradient.GradientBoostingRegressor,
}
HISTOGRAMS: dict[type, type] = {
    HistGradientBoostingClassifier: newton.NewtonBoostingClassifier,
    HistGradientBoostingRegressor: newton.NewtonBoostingRegressor,
}
CURVES = ("train_score_", "oob_scores_", "oob_improvement_", "oob_score_")
OUT_OF_BAG = ("oob_score_", "oob_decision_function_", "oob_prediction_")
HIST_NAMES = {  # scikit-learn's name to this library's
    "max_iter": "n_estimators",
    "max_leaf_nodes": "max_leaves",
    "min_samples_leaf": "min_child_samples",
    "l2_regularization": "reg_lambda",
    "max_bins": "max_bin",
    "max_features": "colsample_bynode",
    "quantile": "quantile_alpha",
    "loss": "objective",
    "monotonic_cst": "monotone_constraints",
}


@answering
def from_sklearn(model: Any) -> Any:
    """A fitted model of scikit-learn as a fitted model of this library that predicts the same.

    Args:
        model: a fitted decision tree (or extremely randomised tree), random forest, extra trees, gradient boosting or
            histogram gradient boosting, for classes or numbers.

    Returns:
        The estimator of the same name; `DecisionTree…` with splitter="random" for `ExtraTree…`, and `NewtonBoosting…`
        for `HistGradientBoosting…`. Parameters are taken over where they mean the same. Forests know nothing of the
        rows of their trees: permutation_importance and predict_quantiles need a forest that was fitted here.

    Raises:
        ModelFileError: the model has no equivalent here, or the imported model, asked about rows at every threshold,
            does not answer as scikit-learn's does.
    """
    for kinds, make in ((TREES, _tree), (FORESTS, _forest), (STAGES, _stages), (HISTOGRAMS, _histograms)):
        kind = next((ours for theirs, ours in kinds.items() if isinstance(model, theirs)), None)
        if kind is not None:
            check_fitted(model)
            return make(model, kind)
    raise InputTypeError(
        f"from_sklearn got a {type(model).__name__}. Pass a fitted tree, forest, or (histogram) gradient boosting of "
        "scikit-learn; of a pipeline or a search, pass the estimator inside."
    )


def _schema(model: Any) -> Schema:
    return schema_of(getattr(model, "feature_names_in_", None), [None] * int(model.n_features_in_))


def _describe(found: Any, model: Any, schema: Schema) -> tuple[int, ...]:
    """Columns, outputs and classes of trees and forests; returns the number of classes of each output."""
    describe(found, schema)
    n_outputs = int(model.n_outputs_)
    found.n_outputs_, found._single_output = n_outputs, n_outputs == 1
    found.max_features_ = n_features_drawn(found.max_features, schema.n_features)
    if not hasattr(model, "classes_"):
        return (1,) * n_outputs
    found.classes_ = deepcopy(model.classes_)
    sizes = tuple(int(n) for n in np.atleast_1d(model.n_classes_))
    found.n_classes_ = sizes[0] if n_outputs == 1 else list(sizes)
    return sizes


def _tree(model: Any, kind: type) -> Any:
    found: Any = translated(kind, model.get_params(deep=False))
    schema = _schema(model)
    sizes = _describe(found, model, schema)
    found._set_tree(tree_of(model.tree_, schema.n_levels, sizes))
    _check_trees(found, model)
    return found


def _forest(model: Any, kind: type) -> Any:
    found: Any = translated(kind, model.get_params(deep=False))
    schema = _schema(model)
    sizes = _describe(found, model, schema)
    trees = [PackedTree.of(tree_of(one.tree_, schema.n_levels, sizes)) for one in model.estimators_]
    found._seed, found._rows = 0, None
    found._bags = Bags(0, np.empty(0, dtype=np.uint32), n_features=schema.n_features)  # of no rows: they are not known
    found.stopped_reason_ = "imported from scikit-learn"
    found.forest_ = Forest(trees, found._vote())
    found._leaf_targets, found._training_target = [], None
    for name in OUT_OF_BAG:
        if hasattr(model, name):
            setattr(found, name, deepcopy(getattr(model, name)))
    _check_trees(found, model)
    return found


def _check_trees(found: Any, model: Any) -> None:
    """Compare shares of classes or means."""
    one = model.estimators_[0] if hasattr(model, "estimators_") else model
    shape = one.tree_.value.shape[1:]

    def theirs(cells: Floats) -> Floats:
        ask = model.predict_proba if hasattr(model, "predict_proba") else model.predict
        said = asked(ask, cells, found.schema_)
        outputs = said if isinstance(said, list) else [np.asarray(said)]
        scores = np.zeros((len(cells), *shape))
        if hasattr(model, "predict_proba"):
            for o, own in enumerate(outputs):
                scores[:, o, : own.shape[1]] = own
        else:
            scores[:] = outputs[0].reshape(len(cells), *shape)
        return scores.reshape(len(cells), -1).T

    allows_missing = bool(model.__sklearn_tags__().input_tags.allow_nan)
    check_agreement(found, theirs, "scikit-learn", domain=Domain(LARGEST, missing=allows_missing))


def _stages(model: Any, kind: type) -> Any:
    """Friedman's boosting. Stages are trees whose words are multiplied by the learning rate."""
    if model.init is not None and model.init != "zero":
        raise ModelFileError(
            f"The model starts from init={type(model.init).__name__}, an estimator of its own, which has no equivalent "
            "here. Train with init=None or init='zero'."
        )
    found: Any = translated(kind, model.get_params(deep=False))
    schema = _schema(model)
    rate, stages = float(model.learning_rate), model.estimators_
    rounds = tuple(tuple(stage_of(one.tree_, schema.n_levels, rate) for one in stage) for stage in stages)
    base = np.asarray(model._raw_predict_init(np.zeros((1, schema.n_features), dtype=np.float32)), dtype=np.float64)[0]
    classes = getattr(model, "classes_", None)
    options: dict[str, Any] = {}
    if model.loss == "log_loss":
        options = {"n_classes": len(model.classes_), "friedman": True}
    elif model.loss in ("huber", "quantile"):
        options = {"quantile": float(model.alpha)}
    Boosted("scikit-learn", schema, base, rounds, make_loss(model.loss, **options), classes).dress(found)
    found._has_init, found.init_ = False, deepcopy(model.init_)
    found._n_rows = round(int(stages[0, 0].tree_.n_node_samples[0]) / model.subsample)
    found.max_features_ = n_features_drawn(found.max_features, schema.n_features)
    found.n_trees_per_iteration_ = len(base)
    found.learning_rates_ = np.full(len(rounds), rate)
    for name in CURVES:
        if hasattr(model, name):
            setattr(found, name, deepcopy(getattr(model, name)))
    found.evals_result_ = {"train": {"loss": np.asarray(model.train_score_).tolist()}}

    def theirs(cells: Floats) -> Floats:
        said = asked(model.predict if classes is None else model.decision_function, cells, schema)
        return np.asarray(said, dtype=np.float64).reshape(len(cells), -1).T

    check_agreement(found, theirs, "scikit-learn", domain=Domain(LARGEST, missing=False))
    return found


def _histograms(model: Any, kind: type) -> Any:
    columns = HistColumns.of(model)
    rounds = tuple(tuple(map(columns.tree, stage)) for stage in model._predictors)
    parameters = {HIST_NAMES.get(name, name): value for name, value in model.get_params(deep=False).items()}
    own = {"grow_policy": "lossguide", "n_estimators": len(rounds), "max_depth": parameters["max_depth"] or 0}
    unlike = ("n_estimators", "max_depth", "categorical_features", "class_weight", "validation_fraction", "verbose")
    found: Any = translated(kind, {name: v for name, v in parameters.items() if name not in unlike} | own)
    base = np.asarray(model._baseline_prediction, dtype=np.float64).reshape(-1)
    classes, name = getattr(model, "classes_", None), model.loss
    options: dict[str, Any] = {"n_classes": len(model.classes_)} if name == "log_loss" else {}
    if name == "quantile":
        options = {"quantile": float(model.quantile)}
    Boosted("scikit-learn", columns.schema, base, rounds, make_loss(name, **options), classes).dress(found)

    def theirs(cells: Floats) -> Floats:
        said = asked(partial(model._raw_predict, n_threads=1), cells, columns.schema)
        return np.asarray(said, dtype=np.float64).reshape(len(cells), -1).T

    check_agreement(found, theirs, "scikit-learn")
    return found
