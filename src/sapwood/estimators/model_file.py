"""Fitted estimators in files: `save`, `load` and `fingerprint`. The format is specified in docs/model-format.md.

estimator ─► document (JSON) and arrays ─► file (`files/content.py`)
file ─► SavedEstimator, checked (`files/estimator_reader.py`) ─► estimator, or a Model (`files/model_loader.py`)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from copy import copy
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import numpy as np
from sklearn.dummy import DummyClassifier, DummyRegressor

from sapwood.arrays import Array
from sapwood.boosting.recipe import AUTO, XGBOOST
from sapwood.errors import ModelFileError, ParameterTypeError
from sapwood.estimators import adaboost, bagging, forests, gradient, newton, tree
from sapwood.estimators.checkpoint import WITHOUT_EFFECT
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.forest import MEASURED, ForestEstimator
from sapwood.files.content import FilePath, Form, content_digest, read_content, write_content
from sapwood.files.estimator_reader import read_estimator, refusing_misfits, saved_kinds
from sapwood.files.families import FAMILIES
from sapwood.files.lost import Lost
from sapwood.files.records import ConstantInit, PriorInit
from sapwood.files.saved_estimator import SavedEstimator
from sapwood.files.statistics import write_statistics
from sapwood.files.values import ELSEWHERE, Json, Writer, expect
from sapwood.forest.bags import Bag
from sapwood.forest.leaf_targets import LeafRows
from sapwood.keywords import answering
from sapwood.parameters import CallableRule, RandomState, check_parameters

LEFT_OUT = (
    *WITHOUT_EFFECT,
    "warm_start",
    "recipe",
    "max_memory",
    "scratch",
)  # parameters that change nothing in what a model predicts
FORMER = {"huber_delta": 1.0}  # defaults of earlier versions; a loss that has a delta is described with its own
EARLIER: dict[str, dict[str, Any]] = {  # defaults of the first version, which models without a name for them have
    "RandomForestClassifier": {"prior_weight": 0.0, "max_features": "sqrt"},
    "RandomForestRegressor": {"max_features": "third"},
    "ExtraTreesClassifier": {"prior_weight": 0.0, "max_features": "sqrt"},
    "NewtonBoostingClassifier": {"recipe": "xgboost"},
    "NewtonBoostingRegressor": {"recipe": "xgboost"},
    "NewtonBoostingRanker": {"recipe": "xgboost"},
}
LEFT_OUT_FITTED = (
    "_seed",
    "_seeds",
    "_grown_with",
    "_chosen",
    "recipe_",
    "_member_rounds",
    "oof_prediction_",
    "target_statistics_",
)  # of training
SUMS = tuple(  # parts of a forest's file that no prediction needs, and whose last bits depend on the order of rows
    f"fitted.forest_.trees.{name}" for name in ("value.inner", "impurity.inner", "impurity.leaf")
)
ESTIMATORS: dict[str, type[Estimator]] = {
    name: vars(module)[name]
    for module in (tree, forests, bagging, adaboost, gradient, newton)
    for name in FAMILIES
    if name in vars(module)
}
DERIVED = {
    *("n_features_in_", "feature_names_in_", "n_classes_", "_model"),
    *("n_estimators_", "n_iter_", "n_trees_per_iteration_", "estimators_"),
}
"""Attributes that follow from the others; no file holds them."""
DUMMIES = {"DummyRegressor": DummyRegressor, "DummyClassifier": DummyClassifier}  # that gradient boosting starts from


@answering
def save(model: Any, path: FilePath, *, form: Form | None = None) -> None:
    """Write a fitted estimator to a file, which is complete or, if anything goes wrong, as it was before.

    Args:
        model: any fitted estimator of the library, unless it has estimators of other libraries inside.
        path: the file, by custom with the ending ".sapwood"; a file of that name is replaced.
        form: "binary" (a safetensors file), or "json" for a readable one of the same content, some times as large. By
            default "json" for paths that end in ".json".

    Functions (a custom objective, callbacks) are not kept: their parameters must be set again before training on.
    """
    write_model(path, model, {}, form)


def write_model(
    path: FilePath,
    model: Any,
    extensions: Mapping[str, Json],
    form: Form | None = None,
    extension_arrays: Mapping[str, Array] = MappingProxyType({}),
) -> None:
    """Write a model and what extensions add to it."""
    document, arrays = describe(model)
    statistics, more = write_statistics(model.schema_)
    document["extensions"] = {**statistics, **extensions}
    write_content(path, document, {**arrays, **more, **extension_arrays}, form)


def describe(model: Any) -> tuple[dict[str, Json], dict[str, Array]]:
    """The content of a model's file: a document, and the arrays that it refers to."""
    name = type(model).__name__
    if ESTIMATORS.get(name) is not type(model):
        remedy = "If it is the path of a file, load it first." if isinstance(model, str) else ELSEWHERE
        raise ParameterTypeError(
            f"model={model!r} is not allowed: it must be a fitted estimator of Sapwood, not a {name}. {remedy}"
        )
    model._check_fitted()
    if not model.model_.is_all_trees:
        raise ModelFileError(
            f"This {name} has estimators of other libraries inside, which a model file cannot hold. {ELSEWHERE}"
        )
    writer, parameters = _writer(), model.get_params(deep=False)
    state = {name: value for name, value in vars(model).items() if name not in DERIVED and name not in parameters}
    document = {
        "estimator": name,
        "task": SavedEstimator(name, {}).task,
        "parameters": {key: writer.write(value, f"parameters.{key}") for key, value in parameters.items()},
        "fitted": {key: writer.write(state[key], f"fitted.{key}") for key in FAMILIES[name].fitted if key in state},
    }
    return document, writer.arrays


def parameter_texts(model: Any) -> dict[str, str]:
    """Each parameter as text that is equal for equal values; functions differ by name."""
    texts = {}
    for key, value in model.get_params(deep=False).items():
        writer = _writer()
        written = writer.write(value, key)
        texts[key] = json.dumps([written, {name: array.tolist() for name, array in writer.arrays.items()}])
    return texts


@answering
def load(path: FilePath, *, mmap: bool = True) -> Any:
    """The fitted estimator that a file holds, ready to predict, to explain and to train on.

    Reading runs no code from the file and checks all of it first; a file that is damaged, foreign or malicious is
    refused with a `ModelFileError`.

    Args:
        path: a file that `save` wrote, in either form.
        mmap: use the file where it lies instead of copying it: trees are read when they are needed, and processes that
            load the same file share its memory. Set False if others may change the file in place while it is in use.
    """
    _, document, arrays = read_content(path, mmap=mmap)
    return rebuild(document, arrays)


def rebuild(document: Json, arrays: Mapping[str, Array]) -> Any:
    """The estimator that a document and its arrays describe."""
    saved = read_estimator(document, arrays)
    with refusing_misfits():
        model = _with_parameters(saved, "parameters")
        _restore(model, saved)
        return model


def _with_parameters(saved: SavedEstimator, where: str) -> Any:
    """An estimator that is not fitted; its parameters follow its own rules."""
    cls, values = ESTIMATORS[saved.name], EARLIER.get(saved.name, {}) | dict(saved.parameters)
    for key in set(values) - set(cls._get_param_names()):
        expect(False, f"{where}.{key}", f"is not a parameter of {saved.name}")
    for key, value in values.items():
        if isinstance(value, Lost):
            admits = any(isinstance(rule, (CallableRule, RandomState)) for rule in cls.rules.get(key, ()))
            expect(admits, f"{where}.{key}", "is not a parameter that a function can be given for")
        if isinstance(value, SavedEstimator):
            values[key] = _with_parameters(value, f"{where}.{key}")
    known = {key: value for key, value in values.items() if key in cls.rules and not isinstance(value, Lost)}
    check_parameters(saved.name, {key: cls.rules[key] for key in known}, known)
    return cls(**values)


def _restore(model: Any, saved: SavedEstimator) -> None:
    """Give an estimator its fitted attributes, those that follow from the others included."""
    for name, value in saved.fitted.items():
        setattr(model, name, _with_dummies(value))
    model._describe(saved.schema, saved.classes, saved.single)
    if "ensemble_" in saved.fitted:
        model.n_estimators_ = model.n_iter_ = model.ensemble_.n_rounds
    if "learning_rates_" in saved.fitted:
        model.n_trees_per_iteration_ = model.ensemble_.n_scores


def _with_dummies(value: Any) -> Any:
    """What gradient boosting starts from is an estimator of scikit-learn."""
    if isinstance(value, ConstantInit):
        return DummyRegressor(strategy="constant", constant=value.constant).fit(np.zeros((1, 1)), [value.constant])
    if isinstance(value, PriorInit):
        n = len(value.prior)
        init = DummyClassifier(strategy="prior").fit(np.zeros((n, 1)), np.arange(n))
        init.class_prior_ = value.prior
        return init
    return value


def _writer() -> Writer:
    return Writer(saved_kinds({**ESTIMATORS, **DUMMIES}))


@answering
def fingerprint(model: Any) -> str:
    """A stable hash of what a fitted model is: equal models have equal ones, on any machine and in any version.

    Parameters that change nothing in what a model predicts, such as n_jobs, are left out, and so are those that have
    their default: a later version may have more of them. One that is "auto" counts as the value it stood for. The order
    of the training rows does not matter either.
    """
    document, arrays = describe(_without_row_order(model) if isinstance(model, ForestEstimator) else model)
    parameters = document["parameters"]
    for name, value in vars(model).get("_chosen", {}).items():
        if parameters[name] == AUTO:
            parameters[name] = _writer().write(value, name)
    document["parameters"] = _distinguishing(type(model).__name__, parameters)
    for name in LEFT_OUT_FITTED:
        document["fitted"].pop(name, None)
    left_out = ("fitted.target_statistics_.", *SUMS)
    return content_digest(document, {name: array for name, array in arrays.items() if not name.startswith(left_out)})


def _distinguishing(estimator: str, parameters: Mapping[str, Json]) -> dict[str, Json]:
    """Parameters that distinguish a model from others, those of an estimator inside of it included."""
    usual, writer, kept = ESTIMATORS[estimator]().get_params(deep=False) | EARLIER.get(estimator, {}), _writer(), {}
    if "recipe" in usual:
        parameters, usual = {n: v for n, v in parameters.items() if v != AUTO}, usual | XGBOOST
    for name, value in parameters.items():
        is_default = (name, value) in FORMER.items() or value == writer.write(usual[name], name)
        if name not in LEFT_OUT and not is_default:
            inner = next(iter(value), None) if isinstance(value, dict) else None
            kept[name] = {inner: _distinguishing(inner, value[inner])} if inner in ESTIMATORS else value
    return kept


def _without_row_order(model: ForestEstimator) -> ForestEstimator:
    """The same forest, as if the training rows had stood in the order of their contents that bags refer to.

    Out-of-bag measures are left out: sums over the rows in another order may differ in their last bits.
    """
    forest, bags = copy(model), model._bags
    in_order = np.arange(bags.n_rows, dtype=np.uint32)
    place = np.empty_like(in_order)
    place[bags.order] = in_order
    weight = None if bags.weight is None else bags.weight[bags.order]
    given = None if bags.given is None else [_bag_in_order(bag, place) for bag in bags.given]
    forest._rows, forest._bags = None, replace(bags, order=in_order, weight=weight, given=given)
    forest._leaf_targets = [_leaves_in_order(held, place) for held in model._leaf_targets]
    target = getattr(model, "_training_target", None)
    forest._training_target = None if target is None else target[bags.order]
    for name in MEASURED:
        forest.__dict__.pop(name, None)
    return forest


def _bag_in_order(bag: Bag, place: Array) -> Bag:
    places = place[bag.rows]
    order = np.argsort(places)
    return Bag(places[order], bag.counts[order], bag.features)


def _leaves_in_order(held: LeafRows, place: Array) -> LeafRows:
    places = place[held.rows]
    node = np.searchsorted(held.starts, np.arange(len(places)), side="right")
    order = np.lexsort((places, node))
    return LeafRows(places[order], held.counts[order], held.starts)
