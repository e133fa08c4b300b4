"""Replay: trees whose splits were found on some rows get leaf values from all rows.

Rows that validate a training must not set its leaves. A second model with the same splits may learn from them: it has
its own scores, and in each round every leaf takes Newton's step by the derivatives of all rows at these scores. It is
the model to keep; the first one tells how many rounds are best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Floats
from sapwood.boosting.grown import GrownTree
from sapwood.boosting.options import TreeOptions
from sapwood.kernels.newton import add_up, keep_order
from sapwood.losses.loss import Loss
from sapwood.shard.shard import Shard, total
from sapwood.shard.shards import RoundRows, add_steps, set_gradients


@dataclass(eq=False)
class Replay:
    """The scores (n_scores, rows) of the model that learns from all rows."""

    loss: Loss
    y: Floats
    weight: Floats | None
    tree: TreeOptions
    score: Floats

    @classmethod
    def suits(cls, loss: Loss) -> bool:
        """Whether leaves are Newton's steps, by derivatives of each row alone."""
        return not (loss.robust or loss.whole)

    def __post_init__(self) -> None:
        self._derivatives = np.empty((2, *self.score.shape))

    def begin_round(self) -> None:
        """Compute the derivatives of all rows."""
        self.loss.derivatives(self.y, self.score, *self._derivatives)

    def add_tree(self, shards: Sequence[Shard], grown: GrownTree, first: int, width: int, rate: float) -> Floats:
        """Values of all nodes (nodes, width) for some scores, which they are added to; every row has its leaf."""
        gradient, hessian = self._derivatives
        of = RoundRows(gradient, hessian, self.weight, rows=None, largest=None, may_pack=False)
        found = []
        for k in range(first, first + width):
            values = steps_of_rows(shards, grown, of, k, self.tree) * self.loss.step_factor
            found.append(add_steps(shards, grown.nodes, grown.splits, values, rate, self.score[k], False))
        return np.stack(found, axis=1)


def steps_of_rows(shards: Sequence[Shard], grown: GrownTree, of: RoundRows, k: int, tree: TreeOptions) -> Floats:
    """Newton's step of every node by the derivatives of the rows in its leaves, which need not be those of growth."""
    units = set_gradients(shards, of, k)
    sums = total([shard.leaf_sums(len(grown.nodes), units) for shard in shards])
    G, H = np.multiply(sums, (units.fine_gradient_unit, units.fine_hessian_unit), dtype=np.float64).T.copy()
    add_up(grown.nodes, grown.splits, G)
    add_up(grown.nodes, grown.splits, H)
    # Bounds of monotone constraints are those of growth, on other rows or another scale: they are made again.
    values = tree.leaf_weights(G, H, -np.inf, np.inf)
    if tree.signs is not None:
        keep_order(grown.nodes, grown.splits, tree.signs, values)
    return values
