"""Trees, forests and boosted trees of scikit-learn as models of this library."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import partial
from typing import Any

import numpy as np
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

from sapwood.arrays import Array, Floats
from sapwood.boosting.ensemble import Ensemble
from sapwood.errors import InputTypeError, ModelFileError
from sapwood.estimators import forests, gradient, newton, tree
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.from_parts import estimator_with, set_boosting, set_forest, set_stages, set_tree
from sapwood.estimators.gradient import GradientBoosting
from sapwood.estimators.tree import DecisionTree
from sapwood.interchange.optional import installed
from sapwood.interchange.sources.agreement import LARGEST, Domain, Scores, check_agreement
from sapwood.interchange.sources.given_model import check_fitted
from sapwood.interchange.sources.sklearn.hist_gradient import HistColumns
from sapwood.interchange.sources.sklearn.internals import (
    first_scores,
    histogram_first_scores,
    histogram_scores,
    histogram_trees,
)
from sapwood.interchange.sources.sklearn.tree import stage_of, tree_of
from sapwood.interchange.sources.source_schema import schema_of
from sapwood.keywords import answering
from sapwood.losses.names import make_loss
from sapwood.model import Model
from sapwood.table.column import UNSEEN
from sapwood.table.schema import ColumnSchema, Schema

IMPORTED = "imported from scikit-learn"
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
UNLIKE = ("n_estimators", "max_depth", "categorical_features", "class_weight", "validation_fraction", "verbose")


@answering
def from_sklearn(model: object) -> Any:
    """A fitted model of scikit-learn as a fitted model of this library that predicts the same.

    Args:
        model: a fitted decision tree (or extremely randomised tree), random forest, extra trees, gradient boosting or
            histogram gradient boosting, for classes or numbers.

    Returns:
        The estimator of the same name; `DecisionTree…` with splitter="random" for `ExtraTree…`, and `NewtonBoosting…`
        for `HistGradientBoosting…`. Parameters are copied where they mean the same. The rows of the trees of a
        forest are not known: permutation_importance and predict_quantiles need a forest fitted here.

    Raises:
        ModelFileError: the model has no equivalent here, or the imported model, at some threshold, does not predict
            what scikit-learn's does.
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


def _classes(model: Any) -> list[Array]:
    """Classes of each output; none for numbers."""
    found = deepcopy(getattr(model, "classes_", []))
    return found if isinstance(found, list) else [found]


def _sizes(model: Any) -> tuple[int, ...]:
    return tuple(map(len, _classes(model))) or (1,) * int(model.n_outputs_)


def _copy_attributes(model: Any, found: Estimator, names: Iterable[str]) -> None:
    for name in names:
        if hasattr(model, name):
            setattr(found, name, deepcopy(getattr(model, name)))


def _tree(model: Any, kind: type[DecisionTree]) -> Estimator:
    found, schema = estimator_with(kind, model.get_params(deep=False)), _schema(model)
    set_tree(found, schema, tree_of(model.tree_, schema.n_levels, _sizes(model)), _classes(model))
    _check_trees(found.model_, model, model.tree_)
    return found


def _forest(model: Any, kind: type[ForestEstimator]) -> Estimator:
    found, schema = estimator_with(kind, model.get_params(deep=False) | {"prior_weight": 0.0}), _schema(model)
    trees = [tree_of(one.tree_, schema.n_levels, _sizes(model)) for one in model.estimators_]
    set_forest(found, schema, trees, _classes(model), IMPORTED)
    _copy_attributes(model, found, OUT_OF_BAG)
    _check_trees(found.model_, model, model.estimators_[0].tree_)
    return found


def _check_trees(found: Model, model: Any, tree: Any) -> None:
    """Compare probabilities or means."""
    shape = tree.value.shape[1:]

    def theirs(cells: Floats) -> Floats:
        scores = np.zeros((len(cells), *shape))
        if not found.is_classifier:
            scores[:] = _predicted(model.predict, cells, found.schema).reshape(scores.shape)
        else:
            shares = _predicted(model.predict_proba, cells, found.schema)
            for o, own in enumerate(shares if isinstance(shares, list) else [shares]):
                scores[:, o, : own.shape[1]] = own
        return scores.reshape(len(cells), -1).T

    allows_missing = bool(model.__sklearn_tags__().input_tags.allow_nan)
    check_agreement(found, theirs, "scikit-learn", domain=Domain(LARGEST, missing=allows_missing))


def _stages(model: Any, kind: type[GradientBoosting]) -> Estimator:
    """Friedman's boosting: values of leaves are multiplied by the learning rate."""
    if model.init is not None and model.init != "zero":
        raise ModelFileError(
            f"The model starts from init={type(model.init).__name__}, a separate estimator, which has no equivalent "
            "here. Train with init=None or init='zero'."
        )
    found, schema = estimator_with(kind, model.get_params(deep=False)), _schema(model)
    rate, stages = float(model.learning_rate), model.estimators_
    rounds = tuple(tuple(stage_of(one.tree_, schema.n_levels, rate) for one in stage) for stage in stages)
    classes, options = getattr(model, "classes_", None), dict[str, Any]()
    if model.loss == "log_loss":
        options = {"n_classes": len(model.classes_), "friedman": True}
    elif model.loss in ("huber", "quantile"):
        options = {"quantile": float(model.alpha)}
    loss = make_loss(model.loss, **options)
    set_boosting(found, schema, Ensemble(first_scores(model), rounds), loss, classes, IMPORTED)
    n_rows = round(int(stages[0, 0].tree_.n_node_samples[0]) / model.subsample)
    set_stages(found, deepcopy(model.init_), rate, n_rows)
    _copy_attributes(model, found, CURVES)
    found.evals_result_ = {"train": {"loss": np.asarray(model.train_score_).tolist()}}
    method = model.predict if classes is None else model.decision_function
    check_agreement(found.model_, _scores(method, schema), "scikit-learn", domain=Domain(LARGEST, missing=False))
    return found


def _scores(method: Callable[[Any], Any], schema: Schema) -> Scores:
    """Scores (columns, rows) by a method of scikit-learn's model."""
    return lambda cells: np.asarray(_predicted(method, cells, schema), dtype=np.float64).reshape(len(cells), -1).T


def _histograms(model: Any, kind: type[Boosting]) -> Estimator:
    columns = HistColumns.of(model)
    rounds = tuple(tuple(map(columns.tree, stage)) for stage in histogram_trees(model))
    parameters = {HIST_NAMES.get(name, name): value for name, value in model.get_params(deep=False).items()}
    own = {"grow_policy": "lossguide", "n_estimators": len(rounds), "max_depth": parameters["max_depth"] or 0}
    found = estimator_with(kind, {name: v for name, v in parameters.items() if name not in UNLIKE} | own)
    classes, name = getattr(model, "classes_", None), model.loss
    options: dict[str, Any] = {"n_classes": len(model.classes_)} if name == "log_loss" else {}
    if name == "quantile":
        options = {"quantile": float(model.quantile)}
    ensemble = Ensemble(histogram_first_scores(model), rounds)
    set_boosting(found, columns.schema, ensemble, make_loss(name, **options), classes, IMPORTED)
    check_agreement(found.model_, _scores(partial(histogram_scores, model), columns.schema), "scikit-learn")
    return found


def _predicted(method: Callable[[Any], Any], cells: Floats, schema: Schema) -> Any:
    """The result of a model's method for boundary rows: a frame if the model has names of columns, else an array."""
    columns = [_values(own, column) for own, column in zip(cells.T, schema.columns, strict=True)]
    pandas = installed("pandas") if schema.named else None
    with np.errstate(invalid="ignore", over="ignore"), warnings.catch_warnings():  # its checks add up all cells
        if pandas is not None:
            return method(pandas.DataFrame(dict(zip(schema.names, columns, strict=True))))
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        return method(np.stack(columns, axis=1))


def _values(cells: Floats, column: ColumnSchema) -> Array:
    """Numbers, or the names of levels; the unseen level is one that is not among them."""
    if column.kind != "category":
        return cells
    has_text = any(isinstance(level, str) for level in column.levels)
    other = max(map(str, column.levels)) + " and more" if has_text else max(map(float, column.levels)) + 1.0
    levels = np.array([*column.levels, other, np.nan], dtype=object)
    n = len(column.levels)
    codes = np.where(np.isnan(cells), n + 1, np.where(cells == UNSEEN, n, cells)).astype(np.intp)
    return levels[codes] if has_text else levels.astype(np.float64)[codes]
