"""What a fitted estimator holds beyond its parameters, attribute by attribute, and whether all of it fits together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.adaboost.members import TreeMembers
from sapwood.boosting.ensemble import Ensemble
from sapwood.files.checks import Check, by_name, each, flag, floats, ints, is_a, number, optional, text, whole
from sapwood.files.records import ConstantInit, PriorInit
from sapwood.files.saved_estimator import SavedEstimator
from sapwood.files.values import expect
from sapwood.forest.bags import Bags
from sapwood.forest.forest import Forest
from sapwood.forest.leaf_targets import LeafRows
from sapwood.losses.custom import CustomLoss
from sapwood.losses.loss import Loss
from sapwood.losses.ranking import LambdaRank
from sapwood.packed_tree import PackedTree
from sapwood.table.schema import Schema
from sapwood.tree import Tree


def _labels(value: Any, where: str) -> None:
    fits = isinstance(value, np.ndarray) and value.ndim == 1 and len(value) > 0
    expect(fits, where, "must be an array of labels")
    if value.dtype.kind == "f":
        expect(bool(np.isfinite(value).all()), where, "has a label that is not a number")
    expect(len(set(value.tolist())) == len(value), where, "has a label twice")


def _classes(value: Any, where: str) -> None:
    expect(not isinstance(value, list) or len(value) > 0, where, "has no outputs")
    each(_labels)(value, where) if isinstance(value, list) else _labels(value, where)


def _setting(value: Any, where: str) -> None:
    expect(value is None or type(value) in (int, float, str, bool), where, "must be a string, a number or null")


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
    "_chosen": by_name(_setting),
    "recipe_": each(text),
    "oof_prediction_": is_a(np.ndarray),
    "_member_rounds": each(whole(1)),
    "target_statistics_": by_name(floats(2, finite=True)),
    "_has_init": flag,
    "init_": is_a(ConstantInit, PriorInit, str),
    "_n_rows": whole(),
    "oob_score_": number,
    "learning_rates_": floats(),
    "_grown_with": each(by_name(_setting)),
    "train_score_": floats(),
    "oob_scores_": floats(),
    "oob_improvement_": floats(),
    "validation_score_": floats(),
}


def check_fitted(saved: SavedEstimator) -> None:
    """Refuse fitted attributes that do not match."""
    if saved.is_classifier:
        is_list = isinstance(saved.fitted["classes_"], list)
        expect(saved.single != is_list, "fitted.classes_", "does not match the outputs")
    else:
        expect("classes_" not in saved.fitted, "fitted.classes_", "is only for classifiers")
    FAMILIES[saved.name].check(saved)


def _check_values(saved: SavedEstimator, n_classes: tuple[int, ...], shape: tuple[int, ...], where: str) -> None:
    """Nodes have a share for each of the model's classes, or a number for each output."""
    own = tuple(map(len, saved.classes)) or (1,) * saved.n_outputs
    expect(n_classes == own and shape == (len(own), max(own)), where, "does not match the classes or outputs")
    expect(saved.n_outputs == len(own) and (not saved.single or len(own) == 1), where, "does not match the outputs")


def _check_tree(saved: SavedEstimator) -> None:
    tree: Tree = saved.fitted["tree_"]
    _check_values(saved, tree.n_classes, tree.value.shape[1:], "fitted.tree_")


def _check_forest(saved: SavedEstimator) -> None:
    trees: list[PackedTree] = saved.fitted["forest_"].trees
    bags: Bags = saved.fitted["_bags"]
    _check_member(saved)
    _check_values(saved, trees[0].n_classes, trees[0].value_shape, "fitted.forest_")
    expect(bags.n_features == saved.schema.n_features, "fitted._bags", "does not match the columns")
    expect(bags.given is None or len(bags.given) >= len(trees), "fitted._bags", "does not match the trees")
    held: list[LeafRows] = saved.fitted["_leaf_targets"]
    rows, target = saved.fitted["_rows"], saved.fitted.get("_training_target")
    expect(rows is None or len(rows) == bags.n_rows, "fitted._rows", "does not match the bags")
    expect(len(held) in (0, len(trees)), "fitted._leaf_targets", "does not match the trees")
    expect(
        not held or target is None or len(target) == bags.n_rows, "fitted._training_target", "does not match the rows"
    )
    for tree, own in zip(trees, held, strict=False):
        _check_leaf_rows(own, tree, bags.n_rows)


def _check_leaf_rows(held: LeafRows, tree: PackedTree, n_rows: int) -> None:
    """Every leaf has rows, which exist, and inner nodes have none."""
    where = "fitted._leaf_targets"
    ints(n_rows)(held.rows, where)
    fits = held.counts.dtype == np.float32 and held.counts.shape == held.rows.shape
    fits = fits and bool((np.isfinite(held.counts) & (held.counts > 0)).all())
    expect(fits, where, "has counts that do not match the rows")
    expect(held.rows.dtype == held.starts.dtype == np.uint32, where, "is not made of numbers of 32 bits")
    sizes = np.diff(held.starts.astype(np.int64), append=len(held.rows))
    is_leaf = np.unpackbits(tree.is_leaf, count=tree.node_count).astype(np.bool_)
    in_order = len(sizes) == len(is_leaf) + 1 and held.starts[0] == 0 and sizes[-1] == 0
    expect(in_order and bool((sizes[:-1] >= is_leaf).all()), where, "does not match the leaves of the trees")


def _check_member(saved: SavedEstimator) -> None:
    """Members of bagging and AdaBoost are trees of the same task."""
    found = saved.parameters.get("estimator")
    is_tree = isinstance(found, SavedEstimator) and FAMILIES[found.name] is TREE
    fits = found is None or (is_tree and found.is_classifier == saved.is_classifier)
    expect(fits, "parameters.estimator", "is not the tree that the members are")


def _check_adaboost(saved: SavedEstimator) -> None:
    members: TreeMembers = saved.fitted["_members"]
    _check_member(saved)
    first, n = members.fitted[0], len(members.fitted)
    _check_values(saved, first.n_classes, first.value_shape, "fitted._members")
    expect(members.is_class == saved.is_classifier, "fitted._members", "does not match the estimator")
    for name in ("estimator_weights_", "estimator_errors_"):
        expect(len(saved.fitted[name]) >= n, f"fitted.{name}", "has fewer entries than there are learners")


def _check_boosting(saved: SavedEstimator) -> None:
    ensemble: Ensemble = saved.fitted["ensemble_"]
    loss: Loss = saved.fitted["loss_"]
    best, rates, n = saved.fitted["_best"], saved.fitted.get("learning_rates_"), ensemble.n_rounds
    expect(loss.n_scores == ensemble.n_scores, "fitted.loss_", "does not match the scores of the trees")
    expect(best is None or best <= n, "fitted._best", "is a round that the model does not have")
    members = saved.fitted.get("_member_rounds")
    expect(not members or sum(members) == n, "fitted._member_rounds", "does not match the rounds")
    expect(not loss.targets or saved.name == "NewtonBoostingRegressor", "fitted.loss_", "has several targets")
    _check_statistics(saved)
    ranks = isinstance(loss, (LambdaRank, CustomLoss)) and loss.n_scores == 1
    expect(ranks or saved.task != "ranking", "fitted.loss_", "does not rank")
    if saved.is_classifier:
        k = len(saved.classes[0])
        scores = (1,) if k == 2 else (k, 1) if isinstance(loss, CustomLoss) else (k,)
        expect(k > 1 and loss.n_scores in scores, "fitted.loss_", "does not match the classes")
        factors = saved.fitted.get("_factors")
        expect(factors is not None and len(factors) == k, "fitted._factors", "does not match the classes")
    expect(rates is None or len(rates) >= n, "fitted.learning_rates_", "has fewer entries than there are stages")
    expect(not saved.fitted.get("_has_init"), "fitted._has_init", "needs an estimator that no file can hold")


def _check_statistics(saved: SavedEstimator) -> None:
    """Statistics are those of the levels of columns."""
    n_levels = {column.name: len(column.levels) for column in saved.schema.columns}
    for name, table in saved.fitted.get("target_statistics_", {}).items():
        expect(len(table) == n_levels.get(name), "fitted.target_statistics_", "does not match the levels of a column")


def _check_gradient(saved: SavedEstimator) -> None:
    ensemble: Ensemble = saved.fitted["ensemble_"]
    expect(ensemble.round_size == ensemble.n_scores, "fitted.ensemble_", "does not have a tree for each score")
    _check_boosting(saved)


@dataclass(frozen=True)
class Family:
    """What fitted estimators of a kind hold, in the order of reading, what they need of it, and what must fit."""

    name: str
    fitted: Mapping[str, Check]
    needed: frozenset[str]
    check: Callable[[SavedEstimator], None]


NEEDED_OF_FOREST = frozenset({*OUTPUTS, "schema_", "forest_", "_bags", "_rows", "_leaf_targets"})
NEEDED_OF_ADABOOST = frozenset({"schema_", "_members", "estimator_weights_", "estimator_errors_"})
NEEDED_OF_BOOSTING = frozenset({"schema_", "ensemble_", "loss_", "_best", "evals_result_"})
TREE = Family("tree", OF_TREE, frozenset({*OUTPUTS, "schema_", "tree_"}), _check_tree)
FOREST = Family("forest", OF_FOREST, NEEDED_OF_FOREST, _check_forest)
ADABOOST = Family("AdaBoost", OF_ADABOOST, NEEDED_OF_ADABOOST, _check_adaboost)
GRADIENT = Family("gradient boosting", OF_BOOSTING, NEEDED_OF_BOOSTING | {"learning_rates_"}, _check_gradient)
NEWTON = Family("Newton boosting", OF_BOOSTING, NEEDED_OF_BOOSTING, _check_boosting)
FAMILIES = {
    "DecisionTreeClassifier": TREE,
    "DecisionTreeRegressor": TREE,
    "BaggingClassifier": FOREST,
    "BaggingRegressor": FOREST,
    "RandomForestClassifier": FOREST,
    "RandomForestRegressor": FOREST,
    "ExtraTreesClassifier": FOREST,
    "ExtraTreesRegressor": FOREST,
    "AdaBoostClassifier": ADABOOST,
    "AdaBoostRegressor": ADABOOST,
    "GradientBoostingClassifier": GRADIENT,
    "GradientBoostingRegressor": GRADIENT,
    "NewtonBoostingClassifier": NEWTON,
    "NewtonBoostingRegressor": NEWTON,
    "NewtonBoostingRanker": NEWTON,
}
"""The family of each estimator that a file may hold, by the name of its class."""
