"""Rounds: the state of boosting, and one step forward.

gradients of the loss at the scores ─► a tree for each score, or one for all ─► leaves ─► scores
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.grower import Grower
from sapwood.boosting.grown import GrownTree
from sapwood.boosting.level_groups import LevelGroups
from sapwood.boosting.line_search import gradient_norm, squared_gradients, step_length
from sapwood.boosting.linear_fit import Derivatives, LinearFit
from sapwood.boosting.options import RoundOptions
from sapwood.boosting.projection import project_all
from sapwood.boosting.rate import Rate
from sapwood.boosting.replay import Replay, StepRules, steps_of_rows
from sapwood.boosting.robust_leaves import set_leaf_steps
from sapwood.boosting.sampling import Sample, counted_rows, gradient_sample, uniform_rows
from sapwood.boosting.team_growth import TeamGrowth
from sapwood.boosting.trees import decoder_of, to_tree
from sapwood.codes.coding import Coded, Recode
from sapwood.codes.ranked import RankedTable
from sapwood.kernels.draws import mix
from sapwood.kernels.exact_sum import LENGTH
from sapwood.kernels.newton import add_up, keep_order
from sapwood.kernels.noise import noise_of
from sapwood.kernels.routing import largest
from sapwood.linear_leaves import LinearLeaves
from sapwood.losses.loss import Loss
from sapwood.predictor import Predictor
from sapwood.predictor.lines import add_lines_of
from sapwood.row_parts.rows import LocalRows
from sapwood.shard.gradient_units import PACKED_ROWS, GradientUnits
from sapwood.shard.shard import total
from sapwood.shard.shards import (
    NewtonStep,
    RoundRows,
    add_steps,
    add_values,
    begin_tree,
    make_shards,
    newton_steps,
    set_gradients,
)
from sapwood.table.table import Table
from sapwood.threads import blocks, run_all
from sapwood.tree import Tree

BLOCK = 1 << 15  # rows whose gradients are computed at a time


@dataclass(eq=False)
class Rounds:
    """Training rows and their scores. `rows` are those that take part (None: all); the others are for validation."""

    table: Coded
    n_levels: NDArray[np.int32]
    loss: Loss
    y: Floats
    weight: Floats | None
    options: RoundOptions
    start: Ensemble
    score: Floats
    rows: Ints | None = None
    validation: Sequence[tuple[Table, Floats]] = ()  # other rows, and their scores (n_scores, rows)
    trees: list[tuple[Tree, ...]] = field(default_factory=list)
    sample: Sample = field(default_factory=Sample)  # of the last round
    recode: Recode | None = None  # new bins for each round, from the weights of rows
    replay: Replay | None = None  # sets the leaf values of `trees`, if these are not those of `score`
    linear: LinearFit | None = None  # fits linear leaves

    def __post_init__(self) -> None:
        self._place()
        short = self.loss.bounded and self.table.n_rows >= PACKED_ROWS and not isinstance(self.table, RankedTable)
        dtype = np.float32 if short else np.float64
        self._gradient: Array = np.empty((self.loss.n_scores, self.table.n_rows), dtype=dtype)
        self._hessian = np.empty_like(self._gradient)
        self._largest: Floats | None = None  # (n_scores, 2), weights included
        self.own_rows: Ints | slice = slice(None) if self.rows is None else self.rows
        self.own_weight = self.weight
        if self.rows is not None:  # gradients of validation rows must not decide about units
            self.own_weight = np.zeros(self.table.n_rows)
            self.own_weight[self.rows] = 1.0 if self.weight is None else self.weight[self.rows]
        gradients_alone = self.options.unit_hessian and not self.loss.constant_hessian
        self._ones = np.ones(self.table.n_rows) if gradients_alone else None
        self._one_tree = self.options.one_tree and self.loss.n_scores > 1
        all_rows = self.options.leaves_of_all_rows and self.options.subsample < 1.0
        self._apart = self._one_tree or all_rows  # leaves are not set by the sums of growth

    def _place(self) -> None:
        """Put the table into shards that trees can be grown on."""
        self.decoder = decoder_of(self.table.bins, self.n_levels)
        self._shards = make_shards(self.table, self.options.n_shards, self.options.n_jobs)
        self._grower = Grower(self._shards, self.options.tree, self.options.n_jobs)
        self._groups = LevelGroups(self._shards, self.decoder)
        self._may_pack = not (self.options.tree.counts_rows or isinstance(self.table, RankedTable))

    @property
    def suits_whole(self) -> bool:
        """Whether a kernel may advance whole rounds: a team grows trees, of plain leaves and fixed levels."""
        team, is_wide = self._grower.team, self._gradient.dtype == np.float64
        is_short = self.table.n_rows < PACKED_ROWS and is_wide and self.linear is None
        return team is not None and team.numbers_are_short and is_short and not self._groups.features

    @property
    def team(self) -> TeamGrowth:
        """What grows the trees, for such a kernel."""
        assert self._grower.team is not None
        return self._grower.team

    @property
    def n_done(self) -> int:
        """Rounds of the ensemble so far, including those it started from."""
        return self.start.n_rounds + len(self.trees)

    @property
    def ensemble(self) -> Ensemble:
        """The model so far."""
        return Ensemble(self.start.base, (*self.start.rounds, *self.trees))

    def advance(self, rate: float | Rate) -> None:
        """One round, a tree for each score or one for all; the learning rate is a number or a function."""
        own = self.own_rows
        weight = None if self.weight is None else self.weight[own]
        self.loss = self.loss.begin_round(LocalRows.of(self.y[own], weight, self.score[:, own]))
        self._differentiate()
        if self.replay is not None:
            self.replay.begin_round()
        if self.recode is not None:
            total_hessian = self._comparable[1].sum(axis=0)
            self.table = self.recode(total_hessian * (1.0 if self.weight is None else self.weight))
            self._place()
        if callable(rate):
            rate = rate(self.n_done, self._gradient_norm)
        key = int(mix(np.uint64(self.options.seed), np.int64(self.n_done)))
        self.sample = Sample(self.rows) if self.options.subsample >= 1.0 else self._draw(key)
        weight, factor, trees = self.own_weight, self.sample.factor, []
        if factor is not None:
            weight, self._largest = factor if weight is None else weight * factor, None
        of = RoundRows(self._gradient, self._hessian, weight, self.sample.rows, self._largest, self._may_pack)
        if self._ones is not None:
            of = replace(of, hessian=np.broadcast_to(self._ones, self._hessian.shape), largest=None)
        if self._one_tree:
            mixture = project_all(self._gradient, self._hessian, self.loss, key, self.options.n_jobs)
            of = replace(of, gradient=mixture[:1], hessian=mixture[1:], largest=None)
        for k in range(len(of.gradient)):
            halves = int(mix(np.uint64(self.n_done), np.int64(k))) | 1  # do not depend on random_state
            units = begin_tree(self._shards, of, k, halves)
            self._groups.begin()
            tree_key = int(mix(np.uint64(key), np.int64(k + 1)))
            noise = 0.0
            if self.options.random_strength > 0.0:
                rows = of.gradient[k], of.hessian[k], weight
                sums = np.empty((2, LENGTH), dtype=np.int64)
                noise = noise_of(*rows, self.options.random_strength, rate * self.n_done, sums)
            grown = self._grower.grow(units, of.n_rows, self.options.columns.choice(tree_key), tree_key, noise)
            trees.append(self._add_tree(grown, units, k, of, rate))
        self.trees.append(tuple(trees))

    def _differentiate(self) -> None:
        if self.loss.whole:
            self.loss.derivatives(self.y, self.score, self._gradient, self._hessian)
            self._largest = None
            return

        def share(pieces: list[tuple[int, int]]) -> Floats:
            most = np.zeros((self.loss.n_scores, 2))
            for start, stop in pieces:
                of = slice(start, stop)
                self.loss.derivatives(self.y[of], self.score[:, of], self._gradient[:, of], self._hessian[:, of])
                for k in range(self.loss.n_scores):  # while they are in the cache
                    found = largest(self._gradient[k], self._hessian[k], self.own_weight, start, stop)
                    np.maximum(most[k], found, out=most[k])
            return most

        pieces = blocks(len(self.y), BLOCK)
        n_parts = min(self.options.n_jobs, len(pieces))
        tasks = [partial(share, pieces[p::n_parts]) for p in range(n_parts)]
        self._largest = np.max(run_all(tasks, self.options.n_jobs), axis=0)

    @property
    def _comparable(self) -> tuple[Floats, Floats]:
        """Gradients and hessians of all scores on one scale."""
        scales = self.loss.scales
        if scales is None:
            return self._gradient, self._hessian
        return self._gradient * scales[0, :, None], self._hessian * scales[1, :, None]

    def _gradient_norm(self) -> float:
        """Root of the mean squared gradient of the rows that take part."""
        return gradient_norm([squared_gradients(self._gradient[:, self.own_rows])])

    def _draw(self, key: int) -> Sample:
        share, n_rows = self.options.subsample, self.table.n_rows
        if self.options.by_gradient:
            gradient, hessian = self._comparable
            return gradient_sample(self.rows, gradient, hessian, self.weight, share, key)
        return Sample((counted_rows if self.options.counted else uniform_rows)(self.rows, n_rows, share, key))

    def _add_tree(self, grown: GrownTree, units: GradientUnits, k: int, of: RoundRows, rate: float) -> Tree:
        """Set the values of a grown tree, and add those of its leaves to the scores."""
        grown, sums = self._groups.settle(grown, self._grower.rules)
        if self._apart:
            return self._add_tree_apart(grown, units, k, of, rate)
        nodes, splits, has_rest = grown.nodes, grown.splits, of.rows is not None
        step = NewtonStep(units, sums, self._grower.rules, self.loss.step_factor)
        given = self._other_values(grown, step, k, of) if self.loss.robust or self._ones is not None else None
        if self.options.line_search:
            given = newton_steps(self._shards, nodes, splits, step) if given is None else given
            self._settle_rest(grown)
            own = self.own_rows
            weight = None if self.weight is None else self.weight[own]
            rows = LocalRows.of(self.y[own], weight, self.score[:, own], self._leaf_of[own])
            given, has_rest = given * step_length(self.loss, rows, given, k), False
        values = add_steps(self._shards, nodes, splits, step if given is None else given, rate, self.score[k], has_rest)
        if self.replay is not None:
            scores = slice(k, k + 1)
            values = self.replay.add_tree(self._shards, grown, self._grower.rules, scores, rate)[:, 0]
        lines = self._add_lines(grown, Derivatives(of.gradient[k], of.hessian[k], of.weight, of.rows), k, rate)
        return self._as_tree(grown, values, units, lines, slice(k, k + 1))

    def _add_tree_apart(self, grown: GrownTree, units: GradientUnits, k: int, of: RoundRows, rate: float) -> Tree:
        """The same for leaves of all scores, or of all rows, which the sums of growth do not tell."""
        scores = slice(k, k + (self.loss.n_scores if self._one_tree else 1))
        most = None if self._largest is None else self._largest[scores]
        of = replace(of, gradient=self._gradient[scores], hessian=self._hessian[scores], largest=most)
        if self.options.leaves_of_all_rows:
            self._settle_rest(grown)
            of = replace(of, weight=self.own_weight)
        values = rate * self._steps(grown, of, scores)
        if not self.options.leaves_of_all_rows:
            self._settle_rest(grown)
        add_values(self._shards, values, self.score[scores])
        if self.replay is not None:
            values = self.replay.add_tree(self._shards, grown, self._grower.rules, scores, rate)
        rows = None if self.options.leaves_of_all_rows else of.rows
        lines = self._add_lines(grown, Derivatives(of.gradient[0], of.hessian[0], of.weight, rows), k, rate)
        return self._as_tree(grown, values, units, lines, scores)

    def _add_lines(self, grown: GrownTree, of: Derivatives, k: int, rate: float) -> LinearLeaves | None:
        """Fit linear leaves, and add their lines to the scores; those to keep are the replay's, if there is one."""
        if self.linear is None:
            return None
        leaf_of = self._leaf_of
        lines = self.linear.add(grown, leaf_of, of, rate * self.loss.step_factor, self.score[k])
        return lines if self.replay is None else self.replay.add_lines(self.linear, grown, leaf_of, k, rate)

    def _as_tree(
        self, grown: GrownTree, values: Floats, units: GradientUnits, lines: LinearLeaves | None, scores: slice
    ) -> Tree:
        """The grown tree with its leaves, which are added to these scores of validation rows."""
        tree = to_tree(grown, values, units.hessian_unit, self.table.bins, self.decoder, self.n_levels)
        tree = tree if lines is None else replace(tree, linear=lines)
        self.add_to_validation(tree, scores)
        return tree

    def add_to_validation(self, tree: Tree, scores: slice) -> None:
        """Add the leaves of a tree to some scores of the validation rows."""
        for table, score in self.validation:
            leaves = Predictor(tree).leaves(table, n_jobs=self.options.n_jobs)
            score[scores] += tree.value[leaves, :, 0].T
            add_lines_of(tree, leaves, table, score[scores.start], self.options.n_jobs)

    def _settle_rest(self, grown: GrownTree) -> None:
        """Find the leaves of the rows that took no part."""
        for shard in self._shards if self.sample.rows is not None else ():
            shard.settle_rest(grown.nodes, grown.splits)

    def _steps(self, grown: GrownTree, of: RoundRows, scores: slice) -> Floats:
        """Steps (nodes, scores) of leaves by the rows that have found them, and of inner nodes."""
        options = self.options.tree
        step = StepRules(self._grower.rules, self.loss.step_factor, options.signs)
        values = steps_of_rows(self._shards, grown, of, step)
        if self.loss.robust:
            for own, k in enumerate(range(scores.start, scores.stop)):
                self._set_exact_steps(grown, values[:, own], k, of.weight)
            if options.signs is not None:
                keep_order(grown.nodes, grown.splits, options.signs, values[:, 0])
        return values

    def _other_values(self, grown: GrownTree, step: NewtonStep, k: int, of: RoundRows) -> Floats:
        """Values of nodes that the sums of growth do not tell: by the true hessian, or exact steps of robust losses."""
        nodes, splits, units, sums = grown.nodes, grown.splits, step.units, step.sums
        G, H = nodes["gradient"] * units.gradient_unit, nodes["hessian"] * units.hessian_unit
        if self._ones is not None:
            of = replace(of, hessian=self._hessian, largest=self._largest)
            units, sums = set_gradients(self._shards, of, k), None
        if sums is None:
            sums = total([shard.leaf_sums(len(nodes), units) for shard in self._shards])
        fine = units.fine_gradient_unit, units.fine_hessian_unit
        G[grown.leaves], H[grown.leaves] = (sums[grown.leaves] * fine).T
        if self._ones is not None:
            add_up(nodes, splits, G)
            add_up(nodes, splits, H)
        # These are on another scale than that of growth, whose bounds for monotone constraints are of no use.
        values = self.options.tree.leaf_weights(G, H, -np.inf, np.inf) * self.loss.step_factor
        if self.loss.robust:
            self._set_exact_steps(grown, values, k, of.weight)
        if self.options.tree.signs is not None:
            keep_order(nodes, splits, self.options.tree.signs, values)
        return values

    @property
    def _leaf_of(self) -> Array:
        """The node that every row is in."""
        return np.concatenate([shard.leaf_of for shard in self._shards])

    def _set_exact_steps(self, grown: GrownTree, values: Floats, k: int, weight: Floats | None) -> None:
        """Steps of least loss for the rows of each leaf, and under constraints of each node; OUT values."""
        rows = LocalRows.of(self.y, weight, self.score, self._leaf_of, len(grown.nodes))
        set_leaf_steps(self.loss, rows, grown, k, self.options.tree.signs is not None, values)
