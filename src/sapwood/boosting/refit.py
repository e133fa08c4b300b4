"""Refit: new leaf values for trees whose splits stay, learned from other rows.

As in LightGBM's `refit`, round after round: every leaf takes Newton's step by the derivatives of its new rows at the
scores so far, and its value becomes decay * old + (1 - decay) * new. A leaf that no new row reaches keeps its value.
Linear leaves keep their lines, which count in the derivatives. In training, their sum by hessians is 0 in each leaf.
What nodes know of the rows that chose the splits (their numbers, hessians and gains) stays.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows
from sapwood.boosting.line_search import gradient_norm
from sapwood.boosting.options import TreeOptions
from sapwood.boosting.rate import Rate, of_member
from sapwood.kernels.boosting_records import NODE
from sapwood.kernels.newton import keep_order
from sapwood.kernels.nodes import add_up
from sapwood.losses.loss import Loss
from sapwood.predictor import Predictor
from sapwood.predictor.lines import add_lines_of
from sapwood.row_parts.rows import LocalRows
from sapwood.shard.row_state import squared_gradients
from sapwood.tree import Tree


@dataclass(frozen=True, eq=False)
class Refit:
    """What new leaf values follow from."""

    rows: Rows
    loss: Loss
    options: TreeOptions
    rate: Rate
    alternates: bool  # every other member drew its thresholds
    decay: float
    n_jobs: int

    def ensemble(self, old: Ensemble, members: Sequence[int]) -> Ensemble:
        """The same trees with new values; members are numbers of rounds, if the model is the mean of several."""
        rounds: list[tuple[Tree, ...]] = [()] * old.n_rounds
        sizes = members or [old.n_rounds]
        for number, places in enumerate(places_of(sizes)):
            rate = of_member(self.rate, number, self.alternates and len(sizes) > 1)
            score = np.repeat(old.base[:, None], len(self.rows.y), axis=1)
            for t, place in enumerate(places.tolist()):
                rounds[place] = self._advance(t, rate, old.rounds[place], score, len(sizes))
        return Ensemble(old.base, tuple(rounds))

    def _advance(
        self, t: int, rate_of: Rate, trees: tuple[Tree, ...], score: Floats, n_members: int
    ) -> tuple[Tree, ...]:
        """New values for the trees of a round, which are added to the scores (n_scores, rows) of a member."""
        gradient, hessian = np.empty_like(score), np.empty_like(score)
        loss = self.loss.begin_round(LocalRows.of(self.rows.y, self.rows.weight, score))
        loss.derivatives(self.rows.y, score, gradient, hessian)
        rate, found = rate_of(t, lambda: gradient_norm([squared_gradients(gradient)])), []
        for k, tree in enumerate(trees):
            leaves, value = Predictor(tree).leaves(self.rows.table, n_jobs=self.n_jobs), tree.value[:, :, 0] * n_members
            if tree.linear is not None:
                self._add_lines(tree, leaves, n_members, (gradient[k], hessian[k]), score[k])
            new = np.empty_like(value)
            for at in range(value.shape[1]):
                new[:, at] = self._steps(loss, tree, leaves, (gradient[k + at], hessian[k + at]), score, k + at)
            known = np.isfinite(new)
            value = np.where(known, self.decay * value + (1.0 - self.decay) * rate * np.where(known, new, 0.0), value)
            if self.options.signs is not None:
                _keep_order(tree, self.options.signs, value[:, 0])
            found.append(replace(tree, value=(value / n_members)[:, :, None]))
            score[k : k + value.shape[1]] += value[leaves].T
        return tuple(found)

    def _add_lines(
        self, tree: Tree, leaves: Array, n_members: int, derivatives: tuple[Floats, Floats], score: Floats
    ) -> None:
        """Add lines to the score, and hessian * lines to the gradient, as far as it follows; OUT gradient, score."""
        lines = np.zeros(len(score))
        add_lines_of(tree, leaves, self.rows.table, lines, self.n_jobs)
        lines *= n_members
        derivatives[0][:] += derivatives[1] * lines
        score += lines

    def _steps(
        self, loss: Loss, tree: Tree, leaves: Array, derivatives: tuple[Floats, Floats], score: Floats, k: int
    ) -> Floats:
        """Steps of all nodes for score k, NaN where no row is."""
        weight, n, starts = self.rows.weight, tree.node_count, np.array([0, tree.node_count])
        w = np.ones(len(leaves)) if weight is None else weight
        parts = w * derivatives[0], w * derivatives[1], np.ones(len(leaves))
        sums = np.column_stack([np.bincount(leaves, part, n).astype(np.float64) for part in parts])
        add_up(tree.is_leaf, starts, tree.children_right.astype(np.int64), sums)
        steps = self.options.leaf_weights(sums[:, 0], sums[:, 1], -np.inf, np.inf) * loss.step_factor
        if loss.robust:
            exact = loss.leaf_steps(LocalRows.of(self.rows.y, weight, score, leaves, n), k)
            steps = np.where(tree.is_leaf, exact, steps)
        return np.where(sums[:, 2] > 0, steps, np.nan)


def places_of(sizes: Sequence[int]) -> list[Ints]:
    """Where the rounds of each member are, if those of several stand side by side, round by round, each up to its last.

    Members of 2, 1 and 3 rounds: 0 3, 1, 2 4 5.
    """
    order = [(t, member) for member, size in enumerate(sizes) for t in range(size)]
    ranks = np.lexsort(([member for _, member in order], [t for t, _ in order]))
    place = np.empty(len(order), dtype=np.int64)
    place[ranks] = np.arange(len(order))
    return np.split(place, np.cumsum(sizes)[:-1])


def _keep_order(tree: Tree, signs: Array, values: Floats) -> None:
    """Clip values to bounds of monotone constraints; OUT values."""
    nodes = np.zeros(tree.node_count, dtype=NODE)
    for name, own in (("left", tree.children_left), ("right", tree.children_right), ("feature", tree.feature)):
        nodes[name] = own
    keep_order(nodes, ~tree.is_leaf, signs.astype(np.int8), values)
