"""What a fitted estimator holds beyond its parameters, attribute by attribute, and whether all of it fits together.

A family names what is written to a file. What follows from the rest (`DERIVED`) is made anew when a file is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.dummy import DummyClassifier, DummyRegressor

from sapwood.adaboost.members import TreeMembers
from sapwood.boosting.ensemble import Ensemble
from sapwood.estimators.adaboost import AdaBoost
from sapwood.estimators.boosting import Boosting
from sapwood.estimators.estimator import Estimator
from sapwood.estimators.forest import ForestEstimator
from sapwood.estimators.gradient_boosting import GradientBoosting
from sapwood.estimators.tree import DecisionTree
from sapwood.files.checks import Check, by_name, each, flag, floats, ints, is_a, number, optional, text, whole
from sapwood.files.records import ModelKinds
from sapwood.files.tree_records import write_trees
from sapwood.files.values import Json, Reader, RecordKind, Writer, expect
from sapwood.forest.bags import Bags
from sapwood.forest.forest import Forest
from sapwood.forest.leaf_targets import LeafRows
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.packed_tree import PackedTree
from sapwood.show.fitted import classes_by_output
from sapwood.table.schema import Schema
from sapwood.tree import Tree


def _labels(value: Any, where: str) -> None:
    fits = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) > 0
    expect(fits, where, "must be an array of labels")
    if value.dtype.kind == "f":
        expect(bool(np.isfinite(value).all()), where, "has a label that is no number")
    expect(len(set(value.tolist())) == len(value), where, "has a label twice")


def _classes(value: Any, where: str) -> None:
    each(_labels)(value, where) if isinstance(value, list) else _labels(value, where)


def _setting(value: Any, where: str) -> None:
    expect(value is None or type(value) in (int, float, str), where, "must be a text, a number or null")


COMMON: dict[str, Check] = {
    "schema_": is_a(Schema),
    "classes_": _classes,
    "max_features_": whole(1),
    "_seed": whole(high=2**64),
    "stopped_reason_": text,
}
OUTPUTS: dict[str, Check] = {"n_outputs_": whole(1, 2**20), "_single_output": flag}
OF_TREE: dict[str, Check] = {**COMMON, **OUTPUTS, "tree_": is_a(Tree)}
OF_FOREST: dict[str, Check] = {
    **COMMON,
    **OUTPUTS,
    "forest_": is_a(Forest),
    "_bags": is_a(Bags),
    "_rows": optional(ints()),
    "_leaf_targets": each(is_a(LeafRows)),
    "_training_target": optional(floats(2, finite=True)),
    "oob_score_": number,
    "oob_curve_": floats(),
    "oob_prediction_": is_a(np.ndarray),
    "oob_decision_function_": is_a(np.ndarray, list),
    "_oob_residuals": floats(2),
    "_members": is_a(type(None)),  # of other libraries
}
OF_ADABOOST: dict[str, Check] = {
    **COMMON,
    "_members": is_a(TreeMembers),
    "estimator_weights_": floats(finite=True),
    "estimator_errors_": floats(),
    "_seeds": each(whole(high=2**32)),
}
OF_BOOSTING: dict[str, Check] = {
    **COMMON,
    "ensemble_": is_a(Ensemble),
    "loss_": is_a(Loss),
    "evals_result_": by_name(by_name(each(number))),
    "best_iteration_": whole(),
    "best_score_": number,
    "_best": optional(whole(1)),
    "_factors": floats(finite=True),
    "_has_init": flag,
    "init_": is_a(DummyClassifier, DummyRegressor, str),
    "_n_rows": whole(),
    "oob_score_": number,
    "learning_rates_": floats(),
    "_grown_with": each(by_name(_setting)),
    "train_score_": floats(),
    "oob_scores_": floats(),
    "oob_improvement_": floats(),
    "validation_score_": floats(),
}
DERIVED = {
    *("n_features_in_", "feature_names_in_", "n_classes_", "_predictor", "_model"),
    *("n_estimators_", "n_iter_", "n_trees_per_iteration_", "estimators_"),
}


class EstimatorKinds(ModelKinds):
    """Kinds of records that estimators hold, besides those of the layers below."""

    def by_name(self) -> dict[str, RecordKind]:
        """All kinds of records."""
        return super().by_name() | {
            "TreeMembers": RecordKind(TreeMembers, self._write_members, self._read_members, "fitted._members"),
            "DummyRegressor": RecordKind(DummyRegressor, self._write_constant, self._read_constant, "fitted.init_"),
            "DummyClassifier": RecordKind(DummyClassifier, self._write_prior, self._read_prior, "fitted.init_"),
        }

    def _write_members(self, members: TreeMembers, writer: Writer, where: str) -> Json:
        trees = [packed.unpack() for packed in members.fitted]
        return {"is_class": members.is_class, "trees": write_trees(trees, writer, f"{where}.trees")}

    def _read_members(self, found: Json, reader: Reader, where: str) -> TreeMembers:
        fits = isinstance(found, dict) and set(found) == {"is_class", "trees"}
        expect(fits and isinstance(found["is_class"], bool), where, "must have trees, of classes or not")
        members = TreeMembers(found["is_class"])
        members.fitted.extend(self.stack(found["trees"], reader, f"{where}.trees").packed())
        return members

    def _write_constant(self, init: DummyRegressor, writer: Writer, where: str) -> Json:
        return writer.write(float(np.ravel(init.constant_)[0]), where)

    def _read_constant(self, found: Json, reader: Reader, where: str) -> DummyRegressor:
        constant = reader.read(found, where)
        number(constant, where)
        expect(bool(np.isfinite(constant)), where, "must be finite")
        return DummyRegressor(strategy="constant", constant=constant).fit(np.zeros((1, 1)), [constant])

    def _write_prior(self, init: DummyClassifier, writer: Writer, where: str) -> Json:
        return writer.write(init.class_prior_, where)

    def _read_prior(self, found: Json, reader: Reader, where: str) -> DummyClassifier:
        prior = reader.read(found, where)
        floats(finite=True)(prior, where)
        expect(len(prior) > 0, where, "has no classes")
        init = DummyClassifier(strategy="prior").fit(np.zeros((len(prior), 1)), np.arange(len(prior)))
        init.class_prior_ = prior
        return init


def fitted_state(model: Estimator) -> dict[str, Any]:
    """What a file must hold of a fitted model."""
    state = dict(vars(model))
    for name in (*DERIVED, *model.get_params(deep=False)):
        state.pop(name, None)
    return state


def restore(model: Any, found: Mapping[str, Json], reader: Reader) -> None:
    """Give an estimator its fitted state, each part of which is checked when it is read."""
    family, owner = family_of(model), type(model).__name__
    needed = family.needed | ({"classes_"} if is_classifier(model) else set())
    for name in sorted(needed - set(found)):
        expect(False, f"fitted.{name}", f"is not there, but {owner} needs it")
    for name in sorted(set(found) - set(family.fitted)):
        expect(False, f"fitted.{name}", f"is nothing that {owner} has")
    for name, check in family.fitted.items():  # the schema comes first
        if name in found:
            value = reader.read(found[name], f"fitted.{name}")
            check(value, f"fitted.{name}")
            setattr(model, name, value)
    _describe(model)
    family.check(model)


def _describe(model: Any) -> None:
    schema: Schema = model.schema_
    model.n_features_in_ = schema.n_features
    if schema.named:
        model.feature_names_in_ = np.array(schema.names, dtype=object)
    if is_classifier(model):
        single = not isinstance(model.classes_, list)
        model.n_classes_ = len(model.classes_) if single else [len(labels) for labels in model.classes_]
        expect(getattr(model, "_single_output", True) == single, "fitted.classes_", "does not fit the outputs")
    else:
        expect(not hasattr(model, "classes_"), "fitted.classes_", "is only for classifiers")


def _check_words(model: Any, n_classes: tuple[int, ...], shape: tuple[int, ...], where: str) -> None:
    """Nodes say shares of the model's classes, or a number for each output."""
    own = tuple(map(len, classes_by_output(model))) or (1,) * getattr(model, "n_outputs_", 1)
    expect(n_classes == own and shape == (len(own), max(own)), where, "does not fit the classes or outputs")
    single = getattr(model, "_single_output", True)
    expect(getattr(model, "n_outputs_", 1) == len(own) and (not single or len(own) == 1), where, "does not fit outputs")


def _check_tree(model: Any) -> None:
    _check_words(model, model.tree_.n_classes, model.tree_.value.shape[1:], "fitted.tree_")
    model._set_tree(model.tree_)


def _check_forest(model: Any) -> None:
    trees, bags = model.forest_.trees, model._bags
    _check_template(model)
    _check_words(model, trees[0].n_classes, trees[0].value_shape, "fitted.forest_")
    expect(bags.n_features == model.n_features_in_, "fitted._bags", "does not fit the columns")
    expect(bags.given is None or len(bags.given) >= len(trees), "fitted._bags", "does not fit the trees")
    expect(model._rows is None or len(model._rows) == bags.n_rows, "fitted._rows", "does not fit the bags")
    held, target = model._leaf_targets, model.__dict__.get("_training_target")
    expect(len(held) in (0, len(trees)), "fitted._leaf_targets", "does not fit the trees")
    expect(not held or target is None or len(target) == bags.n_rows, "fitted._training_target", "does not fit the rows")
    for tree, rows in zip(trees, held, strict=False):
        _check_leaf_rows(rows, tree, bags.n_rows)


def _check_leaf_rows(held: LeafRows, tree: PackedTree, n_rows: int) -> None:
    """Every leaf has rows, which exist, and inner nodes have none."""
    where = "fitted._leaf_targets"
    ints(n_rows)(held.rows, where)
    fits = held.counts.dtype == np.float32 and held.counts.shape == held.rows.shape
    fits = fits and bool((np.isfinite(held.counts) & (held.counts > 0)).all())
    expect(fits, where, "has counts that do not fit the rows")
    expect(held.rows.dtype == held.starts.dtype == np.uint32, where, "is not made of numbers of 32 bits")
    sizes = np.diff(held.starts.astype(np.int64), append=len(held.rows))
    is_leaf = np.unpackbits(tree.is_leaf, count=tree.node_count).astype(np.bool_)
    in_order = len(sizes) == len(is_leaf) + 1 and held.starts[0] == 0 and sizes[-1] == 0
    expect(in_order and bool((sizes[:-1] >= is_leaf).all()), where, "does not fit the leaves of the trees")


def _check_template(model: Any) -> None:
    """Members of bagging and AdaBoost are trees like the estimator."""
    template = getattr(model, "estimator", None)
    fits = template is None or (isinstance(template, DecisionTree) and is_classifier(template) == is_classifier(model))
    expect(fits, "parameters.estimator", "is not the tree that the members are")


def _check_adaboost(model: Any) -> None:
    members = model._members
    _check_template(model)
    first, n = members.fitted[0], len(members.fitted)
    _check_words(model, first.n_classes, first.value_shape, "fitted._members")
    expect(members.is_class == is_classifier(model), "fitted._members", "does not fit the estimator")
    for name in ("estimator_weights_", "estimator_errors_"):
        expect(len(getattr(model, name)) >= n, f"fitted.{name}", "has fewer entries than there are learners")


def _check_boosting(model: Any) -> None:
    ensemble, loss = model.ensemble_, model.loss_
    n = ensemble.n_rounds
    model.n_estimators_ = model.n_iter_ = n
    expect(loss.n_scores == ensemble.n_scores, "fitted.loss_", "does not fit the scores of the trees")
    expect(model._best is None or model._best <= n, "fitted._best", "is a round that the model does not have")
    if is_classifier(model):
        k = model.n_classes_
        scores = (1,) if k == 2 else (k, 1) if isinstance(loss, CustomLoss) else (k,)
        expect(k > 1 and loss.n_scores in scores, "fitted.loss_", "does not fit the classes")
        factors = model.__dict__.get("_factors")
        expect(factors is not None and len(factors) == k, "fitted._factors", "does not fit the classes")
    if hasattr(model, "learning_rates_"):
        model.n_trees_per_iteration_ = ensemble.n_scores
        expect(len(model.learning_rates_) >= n, "fitted.learning_rates_", "has fewer entries than there are stages")
    expect(not getattr(model, "_has_init", False), "fitted._has_init", "needs an estimator that no file can hold")


@dataclass(frozen=True)
class Family:
    """What fitted estimators of a kind hold, in the order of reading, what they need of it, and what must fit."""

    fitted: Mapping[str, Check]
    needed: frozenset[str]
    check: Callable[[Any], None]


NEEDED_OF_FOREST = frozenset({*OUTPUTS, "schema_", "forest_", "_bags", "_rows", "_leaf_targets"})
NEEDED_OF_BOOSTING = frozenset({"schema_", "ensemble_", "loss_", "_best", "evals_result_"})
FAMILIES = {
    DecisionTree: Family(OF_TREE, frozenset({*OUTPUTS, "schema_", "tree_"}), _check_tree),
    ForestEstimator: Family(OF_FOREST, NEEDED_OF_FOREST, _check_forest),
    AdaBoost: Family(
        OF_ADABOOST, frozenset({"schema_", "_members", "estimator_weights_", "estimator_errors_"}), _check_adaboost
    ),
    GradientBoosting: Family(OF_BOOSTING, NEEDED_OF_BOOSTING | {"learning_rates_"}, _check_boosting),
    Boosting: Family(OF_BOOSTING, NEEDED_OF_BOOSTING, _check_boosting),
}


def family_of(model: Any) -> Family:
    """The family of an estimator; the order of families matters, since some are within others."""
    return next(family for kind, family in FAMILIES.items() if isinstance(model, kind))
