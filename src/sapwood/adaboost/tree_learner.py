"""Growth of the trees of AdaBoost, apart from the fitted trees: prediction needs nothing of it."""

from __future__ import annotations

import numpy as np

from sapwood.adaboost.members import TreeMembers
from sapwood.arrays import Array, Floats
from sapwood.growth.forest_grower import ForestGrower
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Predictor
from sapwood.table.table import Table
from sapwood.tree import Tree


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
