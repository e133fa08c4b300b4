"""The learners of AdaBoost that are trees of this library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.growth.forest_grower import ForestGrower
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Descent, Predictor, find
from sapwood.table.table import Table
from sapwood.tree import Tree


class TreeMembers:
    """Trees of this library, packed."""

    def __init__(self, is_class: bool) -> None:
        self.fitted: list[PackedTree] = []
        self.is_class = is_class

    def values(self, values: Floats) -> Floats:
        """What the nodes of a tree predict: the number of the most frequent class, or the mean."""
        return values[:, 0].argmax(axis=1).astype(np.float64) if self.is_class else values[:, 0, 0]

    def predictions(self, X: Any, table: Table | None) -> Iterator[Floats]:  # noqa: ARG002 - the table is X
        """Predictions of each tree for new rows."""
        assert table is not None
        for packed in self.fitted:
            tree = packed.unpack()
            yield self.values(tree.value)[find(Descent.of(tree, table.dtype), table)]


class TreeLearner:
    """Grows trees one after the other. Columns are sorted once: a stump of a later round takes one pass over them."""

    def __init__(self, grower: ForestGrower, table: Table) -> None:
        self._grower, self._table = grower, table
        self._factor = grower.statistics.wy[:, 0]  # weights of the classes
        self.members = TreeMembers(grower.statistics.is_class)

    def fit(self, weight: Floats, drawn: Array | None, seed: int, done: PackedTree | None = None) -> Floats:
        """Grow one more tree, to all rows by weight or to rows that were drawn; returns its predictions for all rows.

        A tree that was `done` before training was interrupted is taken as it is.
        """
        tree = self._grow(weight, drawn, seed) if done is None else done.unpack()
        self.members.fitted.append(PackedTree.of(tree))
        return self.members.values(tree.value)[Predictor(tree).leaves(self._table)]

    def _grow(self, weight: Floats, drawn: Array | None, seed: int) -> Tree:
        rows = np.arange(len(weight))
        if drawn is not None:
            counts = np.bincount(drawn, minlength=len(weight))
            rows = np.flatnonzero(counts)
            weight = counts[rows].astype(np.float64)
        return self._grower.grow(rows, weight * self._factor[rows], seed)
