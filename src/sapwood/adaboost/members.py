"""The learners of AdaBoost that are trees of this library."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from sapwood.arrays import Floats
from sapwood.packed_tree import PackedTree
from sapwood.predictor import Descent, find
from sapwood.table.table import Table


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
