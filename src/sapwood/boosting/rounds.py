"""Rounds: the state of boosting, and one step forward.

gradients of the loss at the scores ─► a tree for each score, or one for all ─► leaves ─► scores
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Floats, Ints
from sapwood.boosting.columns import ColumnChoice
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.grower import Grower, Grown, TreeStart
from sapwood.boosting.grown import GrownTree
from sapwood.boosting.level_groups import LevelGroups
from sapwood.boosting.line_search import gradient_norm, step_length
from sapwood.boosting.linear_fit import Derivatives, LinearFit
from sapwood.boosting.options import RoundOptions
from sapwood.boosting.rate import Rate
from sapwood.boosting.replay import Replay, StepRules, steps_of_sums
from sapwood.boosting.robust_leaves import set_leaf_steps
from sapwood.boosting.team_growth import TeamGrowth
from sapwood.boosting.trees import decoder_of, to_tree
from sapwood.codes.block_table import BlockTable
from sapwood.codes.coding import Coded, Recode
from sapwood.codes.ranked import RankedTable
from sapwood.kernels.draws import mix
from sapwood.kernels.newton import add_up, keep_order
from sapwood.kernels.noise import noise_of_sums
from sapwood.linear_leaves import LinearLeaves
from sapwood.losses.loss import Loss
from sapwood.predictor import Predictor
from sapwood.predictor.lines import add_lines_of
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.shard.asked import Asked
from sapwood.shard.gradient_units import PACKED_ROWS, GradientUnits
from sapwood.shard.row_state import RoundFacts, RoundPlan
from sapwood.shard.shard_rows import ShardRows
from sapwood.shard.shards import Shards, newton_steps, shard_of
from sapwood.table.table import Table
from sapwood.tree import Tree


@dataclass(eq=False)
class Rounds:
    """Training rows and their scores. `rows` are those that take part (None: all); the others are for validation."""

    table: Coded | BlockTable
    n_levels: NDArray[np.int32]
    loss: Loss
    options: RoundOptions
    start: Ensemble
    shards: Shards
    validation: Sequence[tuple[Table, Floats]] = ()  # other rows, and their scores (n_scores, rows)
    trees: list[tuple[Tree, ...]] = field(default_factory=list)
    recode: Recode | None = None  # new bins for each round, from the weights of rows
    replay: Replay | None = None  # sets the leaf values of `trees`, if these are not those of `score`
    linear: LinearFit | None = None  # fits linear leaves

    def __post_init__(self) -> None:
        self._one_tree = self.options.one_tree and self.loss.n_scores > 1
        all_rows = self.options.leaves_of_all_rows and self.options.subsample < 1.0
        self._apart = self._one_tree or all_rows  # leaves are not set by the sums of growth
        self._true_hessian = self.options.unit_hessian and not self.loss.constant_hessian
        self._place()

    def _place(self) -> None:
        """Make ready to grow trees on the table."""
        self.decoder = decoder_of(self.table.bins, self.n_levels)
        self._groups = LevelGroups(self.shards, self.table.bins, self.decoder)
        self._grower = Grower(self.shards, self.table, self.options.tree, self._groups, self.options.n_jobs)
        self._may_pack = not (self.options.tree.counts_rows or isinstance(self.table, RankedTable))

    @property
    def y(self) -> Floats:
        """Targets of all rows."""
        found: Floats = self.shards.read("y", axis=0)
        return found

    @property
    def weight(self) -> Floats | None:
        """Weights of all rows."""
        found: Floats | None = self.shards.read("weight")
        return found

    @property
    def own_weight(self) -> Floats | None:
        """The same, and 0 for rows that do not take part."""
        found: Floats | None = self.shards.read("own_weight")
        return found

    @property
    def score(self) -> Floats:
        """Scores (n_scores, rows) of all rows."""
        found: Floats = self.shards.read("score")
        return found

    @property
    def rows(self) -> Ints | None:
        """The rows that take part, by their numbers; None: all."""
        found: Ints | None = self.shards.read("own")
        return found

    @property
    def own_rows(self) -> Ints | slice:
        """The same, as an index of arrays."""
        rows = self.rows
        return slice(None) if rows is None else rows

    @property
    def sample(self) -> Ints | None:
        """The rows that the last round drew; None: all that take part."""
        return self.shards.rows_of_sample()

    @property
    def suits_whole(self) -> bool:
        """Whether a kernel may advance whole rounds: a team grows trees, of plain leaves and fixed levels."""
        team = self._grower.team
        if team is None or not team.numbers_are_short or self._groups.features or self.linear is not None:
            return False
        return self.shards.n_rows < PACKED_ROWS and self.shards.only.state.dtype == np.float64

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
        self.loss = self.loss.begin_round(ShardRows(self.shards))
        self.shards.set_loss(self.loss)
        if self.replay is not None:
            self.replay.begin_round()
        key = int(mix(np.uint64(self.options.seed), np.int64(self.n_done)))
        facts = self._begin_round(RoundPlan(key, self.options.subsample, self._true_hessian, self._one_tree))
        if callable(rate):
            rate = rate(self.n_done, self._gradient_norm)
        trees: list[Tree] = []
        for starts in self._batches(facts, key, rate):
            grown = self._grower.grow(starts, wants_sums=not (self._apart or self._true_hessian))
            trees += [self._add_tree(own, place, facts, rate) for place, own in enumerate(grown)]
        self.trees.append(tuple(trees))
        if self.shards.has_whole:  # whose scores may be looked at
            self.shards.flush()

    def _begin_round(self, plan: RoundPlan) -> RoundFacts:
        """Derivatives, new bins if there are any in each round, and the sample."""
        options = self.options
        if self.recode is None and not (options.subsample < 1.0 and (options.by_gradient or options.counted)):
            return self.shards.begin_round(plan)
        self.shards.differentiate()
        if self.recode is not None:
            self.table = self.recode(self.shards.only.state.size_of_hessian)
            self.shards.only.place(shard_of(self.table, options.n_jobs))
            self._place()
        if options.subsample >= 1.0:
            return self.shards.take_all(plan)
        if options.by_gradient:
            return self.shards.draw_by_size(options.subsample, plan)
        if options.counted:
            return self.shards.draw_counted(options.subsample, plan)
        return self.shards.draw(plan)

    def _batches(self, facts: RoundFacts, key: int, rate: float) -> Iterator[list[TreeStart]]:
        """The trees of a round, those side by side that grow at the same time."""
        n_trees, starts = len(facts.of_trees), list[TreeStart]()
        for k in range(n_trees):
            halves = int(mix(np.uint64(self.n_done), np.int64(k))) | 1  # do not depend on random_state
            tree_key = int(mix(np.uint64(key), np.int64(k + 1)))
            columns = self.options.columns.choice(tree_key)
            units = self.shards.units(facts, k, self._may_pack)
            noise = self._noise(k, rate) if self.options.random_strength > 0.0 else 0.0
            starts.append(TreeStart(k, units, facts.n_rows, columns, tree_key, halves, noise))
            if k == n_trees - 1 or len(starts) == self._at_once(columns):
                yield starts
                starts = []

    def _at_once(self, columns: ColumnChoice) -> int:
        """How many trees grow at the same time: levels are grouped, and steps searched, for one after the other."""
        one_by_one = self._groups.features or self.options.line_search or self._grower.grows_alone(columns)
        return 1 if one_by_one else self.shards.most_trees

    def _noise(self, k: int, rate: float) -> float:
        """Standard deviation of the noise of scores in tree k."""
        parts, counts = zip(*self.shards.ask("noise_sums", k), strict=True)
        sums = ExactSum.merged(parts).limbs.copy()
        return float(noise_of_sums(sums, sum(counts), self.options.random_strength, rate * self.n_done))

    def _gradient_norm(self) -> float:
        """Root of the mean squared gradient of the rows that take part."""
        return gradient_norm(self.shards.ask("squared_gradients"))

    def _add_tree(self, own: Grown, place: int, facts: RoundFacts, rate: float) -> Tree:
        """Set the values of a grown tree, and add those of its leaves to the scores."""
        tree, sums = self._groups.settle(own.tree, own.rules, own.start.units)
        own = replace(own, tree=tree, sums=own.sums if sums is None else sums)
        if self._apart:
            return self._add_tree_apart(own, place, facts, rate)
        k = own.start.k
        values = self._values_of(own, place, facts)
        self._settle_rest(tree, place)
        if self.options.line_search:
            rows = ShardRows(self.shards, Asked(place))
            values = values * step_length(self.loss, rows, values, k)
        values = rate * values
        self.shards.tell("add_leaves", place, values, k)
        if self.replay is not None:
            values = self.replay.add_tree(self.shards.parts, tree, own.rules, slice(k, k + 1), rate)[:, 0]
        lines = self._add_lines(tree, k, rate, of_all=False)
        return self._as_tree(own, values, lines, slice(k, k + 1))

    def _values_of(self, own: Grown, place: int, facts: RoundFacts) -> Floats:
        """Steps of all nodes, those of inner ones too."""
        tree, units, sums = own.tree, own.start.units, own.sums
        if self.loss.robust or self._true_hessian:
            return self._other_values(own, place, facts)
        if sums is None:
            sums = self.shards.leaf_sums(place, len(tree.nodes), units)
        return newton_steps(tree.nodes, tree.splits, sums, units, own.rules, self.loss.step_factor)

    def _add_tree_apart(self, own: Grown, place: int, facts: RoundFacts, rate: float) -> Tree:
        """The same for leaves of all scores, or of all rows, which the sums of growth do not tell."""
        k, of_all = own.start.k, self.options.leaves_of_all_rows
        scores = slice(k, k + (self.loss.n_scores if self._one_tree else 1))
        if of_all:
            self._settle_rest(own.tree, place)
        values = rate * self._steps(own, place, facts, scores)
        if not of_all:
            self._settle_rest(own.tree, place)
        self.shards.tell("add_leaves", place, values, scores)
        if self.replay is not None:
            values = self.replay.add_tree(self.shards.parts, own.tree, own.rules, scores, rate)
        return self._as_tree(own, values, self._add_lines(own.tree, k, rate, of_all), scores)

    def _add_lines(self, tree: GrownTree, k: int, rate: float, of_all: bool) -> LinearLeaves | None:
        """Fit linear leaves, and add their lines to the scores; those to keep are the replay's, if there is one."""
        if self.linear is None:
            return None
        state, leaf_of = self.shards.only.state, self.shards.leaf_of()
        weight, rows = (state.own_weight, None) if of_all else (state.tree_weight, state.rows)
        pair = (state.gradient[k], state.hessian[k]) if self._apart else (state.tree_gradient[k], state.tree_hessian[k])
        of = Derivatives(*pair, weight, rows)
        lines = self.linear.add(tree, leaf_of, of, rate * self.loss.step_factor, state.score[k])
        return lines if self.replay is None else self.replay.add_lines(self.linear, tree, leaf_of, k, rate)

    def _as_tree(self, own: Grown, values: Floats, lines: LinearLeaves | None, scores: slice) -> Tree:
        """The grown tree with its leaves, which are added to these scores of validation rows."""
        meaning = self.table.bins, self.decoder, self.n_levels
        tree = to_tree(own.tree, values, own.start.units.hessian_unit, *meaning)
        tree = tree if lines is None else replace(tree, linear=lines)
        self.add_to_validation(tree, scores)
        return tree

    def add_to_validation(self, tree: Tree, scores: slice) -> None:
        """Add the leaves of a tree to some scores of the validation rows."""
        for table, score in self.validation:
            leaves = Predictor(tree).leaves(table, n_jobs=self.options.n_jobs)
            score[scores] += tree.value[leaves, :, 0].T
            add_lines_of(tree, leaves, table, score[scores.start], self.options.n_jobs)

    def _settle_rest(self, tree: GrownTree, place: int) -> None:
        """Find the leaves of the rows that took no part."""
        if self.options.subsample < 1.0 or self.shards.has_validation_rows:
            self.shards.tell("settle_rest", place, tree.nodes, tree.splits)

    def _steps(self, own: Grown, place: int, facts: RoundFacts, scores: slice) -> Floats:
        """Steps (nodes, scores) of leaves by the rows that have found them, and of inner nodes."""
        tree, signs, of_all = own.tree, self.options.tree.signs, self.options.leaves_of_all_rows
        most = (facts.of_all if of_all else facts.of_scores)[scores]
        sums, units = self.shards.sums_of_scores(place, len(tree.nodes), scores, most, of_all)
        values = steps_of_sums(tree, sums, units, StepRules(own.rules, self.loss.step_factor, signs))
        if self.loss.robust:
            weight = "own_weight" if of_all else "tree_weight"
            for at, k in enumerate(range(scores.start, scores.stop)):
                self._set_exact_steps(tree, place, values[:, at], k, weight)
            if signs is not None:
                keep_order(tree.nodes, tree.splits, signs, values[:, 0])
        return values

    def _other_values(self, own: Grown, place: int, facts: RoundFacts) -> Floats:
        """Values of nodes that the sums of growth do not tell: by the true hessian, or exact steps of robust losses."""
        (nodes, splits), units, k, sums = (own.tree.nodes, own.tree.splits), own.start.units, own.start.k, own.sums
        G, H = nodes["gradient"] * units.gradient_unit, nodes["hessian"] * units.hessian_unit
        if self._true_hessian:
            g, h = facts.of_scores[k].tolist()
            units, sums = GradientUnits.of(g, h, facts.n_rows, packed=False), None
        if sums is None:
            sums = self.shards.leaf_sums(place, len(nodes), units, k if self._true_hessian else None)
        fine = units.fine_gradient_unit, units.fine_hessian_unit
        leaves = own.tree.leaves
        G[leaves], H[leaves] = (sums[leaves] * fine).T
        if self._true_hessian:
            add_up(nodes, splits, G)
            add_up(nodes, splits, H)
        # These are on another scale than that of growth, whose bounds for monotone constraints are of no use.
        values = self.options.tree.leaf_weights(G, H, -np.inf, np.inf) * self.loss.step_factor
        if self.loss.robust:
            self._set_exact_steps(own.tree, place, values, k, "tree_weight")
        if self.options.tree.signs is not None:
            keep_order(nodes, splits, self.options.tree.signs, values)
        return values

    def _set_exact_steps(self, grown: GrownTree, place: int, values: Floats, k: int, weight: str) -> None:
        """Steps of least loss for the rows of each leaf, and under constraints of each node; OUT values."""
        rows = ShardRows(self.shards, Asked(place, are_own=False, weight=weight), len(grown.nodes))
        set_leaf_steps(self.loss, rows, grown, k, self.options.tree.signs is not None, values)
