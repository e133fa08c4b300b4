"""Settings that depend on the data: fractions become counts, names become columns, class weights become row weights.

`growth_options` makes the options of growth from the parameters of a tree, or of a forest, which has the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from sapwood.arrays import Array, Floats
from sapwood.errors import InputError, ParameterError
from sapwood.growth.criteria import Statistics
from sapwood.growth.rules import UNLIMITED, GrowthRules
from sapwood.table.read_array import read_array
from sapwood.table.schema import Schema
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
    signs = None if tree.monotonic_cst is None else monotonic_signs(tree.monotonic_cst, table.schema, statistics)
    draws = tree.splitter == "random"
    return {"rules": rules, "monotonic": signs, "leaf": tree.leaf, "draw_thresholds": draws}


def rows_at_least(setting: int | float, n_rows: int, least: int) -> int:
    """A count of rows, or a share of them rounded up."""
    if isinstance(setting, (int, np.integer)):
        return int(setting)
    return max(least, math.ceil(setting * n_rows))


def n_features_drawn(setting: int | float | str | None, n_features: int) -> int:
    """How many columns a split may choose from."""
    if setting is None:
        return n_features
    if setting == "sqrt":
        return max(1, int(math.sqrt(n_features)))
    if setting == "third":
        return max(1, n_features // 3)
    if setting == "log2":
        return max(1, n_features.bit_length() - 1)
    if isinstance(setting, (int, np.integer)):
        return min(int(setting), n_features)
    return max(1, int(float(setting) * n_features))


def class_weights(setting: Any, target: ClassTarget, owner: str) -> Floats:
    """Weight of every row by its class; the product over the outputs."""
    weights = np.ones(len(target.codes))
    if setting is None:
        return weights
    per_output = [setting] * target.n_outputs
    if not isinstance(setting, (str, Mapping)):
        per_output = list(setting)
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
    if setting is None:
        return np.ones(len(classes))
    if not isinstance(setting, Mapping) and not (isinstance(setting, str) and setting == "balanced"):
        raise ParameterError(
            f"class_weight contains {setting!r}. Give each output 'balanced', None, or a dictionary from classes to "
            "weights."
        )
    if isinstance(setting, str):
        return np.asarray(compute_class_weight(setting, classes=np.arange(len(classes)), y=codes), dtype=np.float64)
    known = {_plain(label): i for i, label in enumerate(classes)}
    result = np.ones(len(classes))
    for label, weight in setting.items():
        if _plain(label) not in known:
            raise ParameterError(
                f"class_weight names the class {label!r}, which y does not contain. The classes are "
                f"{', '.join(repr(_plain(c)) for c in classes)}."
            )
        if not (isinstance(weight, (int, float, np.number)) and math.isfinite(weight) and weight >= 0):
            raise ParameterError(
                f"class_weight[{label!r}]={weight!r} is not allowed. Give a finite number of at least 0."
            )
        result[known[_plain(label)]] = weight
    return result


def _plain(label: Any) -> Any:
    return label.item() if isinstance(label, np.generic) else label


def monotonic_signs(setting: Any, schema: Schema, statistics: Statistics) -> NDArray[np.int8] | None:
    """-1, 0 or 1 for every column, from a list in column order or a mapping from names; None if all are 0."""
    signs = _signs_by_name(setting, schema) if isinstance(setting, Mapping) else _signs_in_order(setting, schema)
    if not signs.any():
        return None
    if statistics.n_outputs > 1:
        raise ParameterError(
            "monotonic_cst: Monotonicity constraints are not supported with multiple outputs. Fit one tree per output."
        )
    if statistics.is_class and statistics.n_classes[0] > 2:
        raise ParameterError(
            "monotonic_cst: Monotonicity constraints are not supported with multiclass classification. Use them with "
            "two classes."
        )
    for column, sign in zip(schema.columns, signs, strict=True):
        if sign and column.kind == "category":
            raise ParameterError(
                f"monotonic_cst constrains the category column {column.name!r}, whose levels have no order. "
                "Set it to 0."
            )
    return signs


def _signs_in_order(setting: Sequence[Any], schema: Schema) -> NDArray[np.int8]:
    given = read_array(setting, "monotonic_cst")
    if given.shape != (schema.n_features,):
        raise ParameterError(
            f"monotonic_cst has shape {given.shape} but the input data X has {schema.n_features} features. Pass one of "
            "-1, 0, 1 for each column."
        )
    return np.array([_sign(value, f"monotonic_cst[{j}]") for j, value in enumerate(given.tolist())], dtype=np.int8)


def _signs_by_name(setting: Mapping[str, Any], schema: Schema) -> NDArray[np.int8]:
    signs = np.zeros(schema.n_features, dtype=np.int8)
    names = list(schema.names)
    for name, value in setting.items():
        if name not in names:
            raise ParameterError(
                f"monotonic_cst names the column {name!r}, which X does not have. Columns are {names}."
            )
        signs[names.index(name)] = _sign(value, f"monotonic_cst[{name!r}]")
    return signs


def _sign(value: Any, where: str) -> int:
    if value not in (-1, 0, 1):
        raise ParameterError(
            f"{where}={value!r} is not allowed: monotonic_cst must be None or an array-like of -1, 0 or 1. Use 1 for "
            "increasing, -1 for decreasing, 0 for free."
        )
    return int(value)
