"""Replay: trees whose splits were found on some rows get leaf values from all rows.

Rows that validate a training must not set its leaves. A second model with the same splits may learn from them: it has
its own scores, and in each round every leaf takes Newton's step by the derivatives of all rows at these scores. It is
the model to keep; the first one tells how many rounds are best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.grown import GrownTree
from sapwood.boosting.linear_fit import Derivatives, LinearFit
from sapwood.kernels.newton import keep_order
from sapwood.kernels.vector_leaves import largest_of_all, values_of_all
from sapwood.linear_leaves import LinearLeaves
from sapwood.losses.loss import Loss
from sapwood.row_parts.rows import LocalRows
from sapwood.shard.gradient_units import fine_units
from sapwood.shard.shard import Shard, total


@dataclass(eq=False)
class Replay:
    """The scores (n_scores, rows) of the model that learns from all rows."""

    loss: Loss
    y: Floats
    weight: Floats | None
    signs: NDArray[np.int8] | None  # monotone constraints
    score: Floats

    @classmethod
    def suits(cls, loss: Loss) -> bool:
        """Whether leaves are Newton's steps, by derivatives of each row alone."""
        return not (loss.robust or loss.whole)

    def __post_init__(self) -> None:
        self._derivatives = np.empty((2, *self.score.shape))

    def begin_round(self) -> None:
        """Compute the derivatives of all rows."""
        self.loss = self.loss.begin_round(LocalRows.of(self.y, self.weight, self.score))
        self.loss.derivatives(self.y, self.score, *self._derivatives)

    def add_tree(self, shards: Sequence[Shard], grown: GrownTree, rules: np.void, scores: slice, rate: float) -> Floats:
        """Values of all nodes (nodes, scores) for some scores, which they are added to; every row has its leaf."""
        derivatives, score = self._derivatives[:, scores], self.score[scores]
        most = np.empty((derivatives.shape[1], 2))
        largest_of_all(*derivatives, self.weight, most)
        units, parts = fine_units(most, derivatives.shape[2]), []
        for shard in shards:
            of = slice(shard.offset, shard.offset + shard.n_rows)
            weight = None if self.weight is None else self.weight[of]
            gradient, hessian = derivatives[:, :, of]
            parts += shard.sums_of_leaves(gradient, hessian, weight, len(grown.nodes), units)
        step = StepRules(rules, self.loss.step_factor, self.signs)
        values = rate * steps_of_sums(grown, total(parts), units, step)
        for shard in shards:
            shard.add_to(score[:, shard.offset : shard.offset + shard.n_rows], values)
        return values

    def add_lines(
        self, linear: LinearFit, grown: GrownTree, leaf_of: Array, k: int, rate: float
    ) -> LinearLeaves | None:
        """Lines of the leaves for score k, which they are added to."""
        gradient, hessian = self._derivatives[:, k]
        of = Derivatives(gradient, hessian, self.weight, rows=None)
        return linear.add(grown, leaf_of, of, rate * self.loss.step_factor, self.score[k])


class StepRules(NamedTuple):
    """Penalties of leaf values, the factor of all steps, and signs of monotone constraints."""

    rules: np.void
    factor: float
    signs: NDArray[np.int8] | None


def steps_of_sums(grown: GrownTree, sums: Ints, units: Floats, step: StepRules) -> Floats:
    """Newton's steps (nodes, scores) by sums of the leaves (scores, nodes, 2) in units, which need not be of growth."""
    nodes, splits = grown.nodes, grown.splits
    values = np.empty((len(nodes), len(sums)))
    values_of_all(nodes, splits, sums, units, step.rules, step.factor, values)
    if step.signs is not None:  # bounds of growth are those of other rows
        keep_order(nodes, splits, step.signs, values[:, 0])
    return values
