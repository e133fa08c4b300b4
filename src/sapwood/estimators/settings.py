"""Settings that depend on the data: fractions become counts, names become columns, class weights become row weights.

`growth_options` makes the options of growth from the parameters of a tree, or of a forest, which has the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight

from sapwood.arrays import Array, Floats, plain
from sapwood.errors import InputError, ParameterError
from sapwood.growth.criteria import Statistics
from sapwood.growth.rules import UNLIMITED, GrowthRules, rows_at_least
from sapwood.table.column_settings import monotone_signs
from sapwood.table.table import Table
from sapwood.table.target import ClassTarget

if TYPE_CHECKING:
    from sapwood.estimators.forests import RandomizedForest
    from sapwood.estimators.tree import DecisionTree


def growth_options(
    tree: DecisionTree | RandomizedForest, table: Table, statistics: Statistics, max_features: int, **limits: Any
) -> dict[str, Any]:
    """Options of growth by the parameters of a tree or forest: arguments of `grow_tree` and of a `ForestGrower`.

    `limits` are limits that depend on more than these: the seed and the minimum weight of a leaf of a single tree.
    """
    min_leaf = rows_at_least(tree.min_samples_leaf, table.n_rows, 1)
    rules = GrowthRules(
        max_depth=UNLIMITED if tree.max_depth is None else min(int(tree.max_depth), UNLIMITED),
        max_leaves=0 if tree.max_leaf_nodes is None else int(tree.max_leaf_nodes),
        min_split_rows=max(rows_at_least(tree.min_samples_split, table.n_rows, 2), 2 * min_leaf),
        min_child_rows=min_leaf,
        min_decrease=tree.min_impurity_decrease,
        impurity_threshold=tree.impurity_threshold,
        significance=tree.significance,
        max_features=max_features,
        **limits,
    )
    signs = None if tree.monotonic_cst is None else monotone_signs(tree.monotonic_cst, table.schema, "monotonic_cst")
    if signs is not None and statistics.n_outputs > 1:
        raise ParameterError(
            "monotonic_cst: Monotonicity constraints are not supported with multiple outputs. Fit one tree per output."
        )
    if signs is not None and statistics.is_class and statistics.n_classes[0] > 2:
        raise ParameterError(
            "monotonic_cst: Monotonicity constraints are not supported with multiclass classification. Use them with "
            "two classes."
        )
    return {"rules": rules, "monotonic": signs, "leaf": tree.leaf, "draw_thresholds": tree.splitter == "random"}


def class_weights(setting: Any, target: ClassTarget, owner: str) -> Floats:
    """Weight of every row by its class; the product over the outputs."""
    weights = np.ones(len(target.codes))
    if setting is None:
        return weights
    per_output = [setting] * target.n_outputs if isinstance(setting, (str, Mapping)) else list(setting)
    if len(per_output) != target.n_outputs:
        raise ParameterError(
            f"class_weight has {len(per_output)} elements for {owner}, but y has {target.n_outputs} output(s). "
            "Pass one mapping for each output."
        )
    for o, one in enumerate(per_output):
        weights *= _weights_of_classes(one, target.classes[o], target.codes[:, o])[target.codes[:, o]]
    if not weights.any():
        raise InputError(
            f"class_weight={setting!r} gives every row a weight of zero. Give at least one class that occurs in y a "
            "weight above zero."
        )
    return weights


def _weights_of_classes(setting: Any, classes: Array, codes: Array) -> Floats:
    result = np.ones(len(classes))
    if setting is None:
        return result
    if isinstance(setting, str) and setting == "balanced":
        return np.asarray(compute_class_weight(setting, classes=np.arange(len(classes)), y=codes), dtype=np.float64)
    if not isinstance(setting, Mapping):
        raise ParameterError(
            f"class_weight contains {setting!r}. Give each output 'balanced', None, or a dictionary from classes to "
            "weights."
        )
    known = {plain(label): i for i, label in enumerate(classes)}
    for label, weight in setting.items():
        if plain(label) not in known:
            raise ParameterError(
                f"class_weight names the class {label!r}, which y does not contain. The classes are "
                f"{', '.join(repr(plain(c)) for c in classes)}."
            )
        if not (isinstance(weight, (int, float, np.number)) and math.isfinite(weight) and weight >= 0):
            raise ParameterError(
                f"class_weight[{label!r}]={weight!r} is not allowed. Give a finite number of at least 0."
            )
        result[known[plain(label)]] = weight
    return result
