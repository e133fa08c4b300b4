"""Stand-ins for fitted estimators: hand-made trees, and scikit-learn's trees turned into ours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from sapwood.model import Model
from sapwood.model.methods import tree_model
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.tree import Tree


def stand_in_column(name: str, kind: Any = "number", levels: Sequence[Any] = (), has_missing: bool = False):
    return ColumnSchema(name, kind, tuple(levels), has_missing=has_missing)


class StandIn:
    """A fitted estimator of one tree."""

    def __init__(self, tree: Tree, columns: Sequence[ColumnSchema], classes: Any = None, criterion: str = "gini"):
        self.tree_, self.schema_, self.criterion = tree, Schema(tuple(columns), named=True), criterion
        if classes is not None:
            self.classes_ = classes

    @property
    def model_(self) -> Model:
        classes = getattr(self, "classes_", [])
        labels = classes if isinstance(classes, list) else [np.asarray(classes)]
        common = {"estimator": "StandIn", "schema": self.schema_, "classes": tuple(labels), "drift_warning": False}
        return tree_model(self.tree_, self.criterion, single=self.tree_.n_outputs == 1, **common)

    def predict(self, X: Any) -> np.ndarray:
        return self.model_.predict(X)


def number_columns(names: Sequence[str]) -> list[ColumnSchema]:
    return [stand_in_column(name) for name in names]


def from_sklearn(model: Any, names: Sequence[str], columns: Sequence[ColumnSchema] | None = None) -> StandIn:
    """Our form of scikit-learn's fitted tree."""
    old = model.tree_
    kinds = list(columns) if columns is not None else number_columns(names)
    tree = Tree(
        children_left=old.children_left.astype(np.int32),
        children_right=old.children_right.astype(np.int32),
        feature=old.feature.astype(np.int32),
        threshold=old.threshold.copy(),
        missing_go_to_left=old.missing_go_to_left.astype(bool),
        value=old.value.copy(),
        impurity=old.impurity.copy(),
        n_node_samples=old.n_node_samples.astype(np.int64),
        weighted_n_node_samples=old.weighted_n_node_samples.copy(),
        subset_start=np.full(old.node_count, -1, np.int32),
        subsets=np.zeros(0, np.uint32),
        n_levels=np.zeros(old.n_features, np.int32),
        n_classes=tuple(int(n) for n in old.n_classes),
    )
    return StandIn(tree, kinds, getattr(model, "classes_", None), model.criterion)


Node = tuple[Any, ...]


def grow(node: Node, columns: Sequence[ColumnSchema], classes: Any = None, missing_left: bool = False) -> StandIn:
    """A hand-made tree: a node is (feature, threshold or set of left levels, left, right) or (values,) for a leaf.

    `values` are class counts, or one number for a regression leaf of 10 rows.
    """
    rows: list[dict[str, Any]] = []
    _add(node, rows, classes is not None)
    subsets, starts = [], []
    for row in rows:
        split = row["split"]
        starts.append(len(subsets) if isinstance(split, (set, frozenset)) else -1)
        if isinstance(split, (set, frozenset)):
            levels = columns[row["feature"]].levels
            words = np.zeros((len(levels) + 31) // 32, dtype=np.uint32)
            for code in (levels.index(level) for level in split):
                words[code // 32] |= np.uint32(1 << code % 32)
            subsets.extend(words)
    weights = np.array([row["weight"] for row in rows], dtype=float)
    value = np.array([row["value"] for row in rows], dtype=float)[:, None, :]
    if classes is not None:
        value = value / value.sum(axis=2, keepdims=True)
    tree = Tree(
        children_left=np.array([row["left"] for row in rows], np.int32),
        children_right=np.array([row["right"] for row in rows], np.int32),
        feature=np.array([row["feature"] for row in rows], np.int32),
        threshold=np.array([np.nan if s >= 0 else r["split"] for r, s in zip(rows, starts, strict=True)], float),
        missing_go_to_left=np.array([missing_left and row["left"] >= 0 for row in rows]),
        value=value,
        impurity=1 - (value[:, 0] ** 2).sum(axis=1) if classes is not None else np.zeros(len(rows)),
        n_node_samples=weights.astype(np.int64),
        weighted_n_node_samples=weights,
        subset_start=np.array(starts, np.int32),
        subsets=np.array(subsets, np.uint32),
        n_levels=np.array([len(column.levels) for column in columns], np.int32),
        n_classes=(value.shape[2],),
    )
    return StandIn(
        tree,
        columns,
        None if classes is None else np.asarray(classes),
        "gini" if classes is not None else "squared_error",
    )


def _add(node: Node, rows: list[dict[str, Any]], classifier: bool) -> dict[str, Any]:
    row: dict[str, Any] = {"feature": -2, "split": -2.0, "left": -1, "right": -1}
    rows.append(row)
    if len(node) == 1:
        values = np.atleast_1d(np.asarray(node[0], dtype=float))
        row.update(value=values, weight=values.sum() if classifier else 10.0)
        return row
    row.update(feature=node[0], split=node[1], left=len(rows))
    left = _add(node[2], rows, classifier)
    row["right"] = len(rows)
    right = _add(node[3], rows, classifier)
    weights = (left["weight"], right["weight"])
    mean = (left["value"] * weights[0] + right["value"] * weights[1]) / sum(weights)
    row.update(weight=sum(weights), value=left["value"] + right["value"] if classifier else mean)
    return row
