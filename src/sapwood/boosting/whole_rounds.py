"""Whole rounds of boosting in one call of a kernel, where the table is small or several models are trained at a time.

The trees are those of `Rounds.advance`, to the last bit; the calls between the steps of a round, which take longer than
the steps if there are only a thousand rows, are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.grown import GrownTree
from sapwood.boosting.rate import GivenRate, Rate
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.trees import to_tree
from sapwood.kernels.loss_rows import LOGISTIC, MULTINOMIAL, SQUARED
from sapwood.kernels.round_frame import ROUNDS, TREES
from sapwood.kernels.whole_rounds import advance_all
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.squared import Squared
from sapwood.metrics.metric import MeanOfRows, Metric
from sapwood.tree import Tree


class WholeRounds:
    """Advances rounds on one thread, and records the losses of some rows after each."""

    losses: ClassVar[dict[type[Loss], tuple[int, str]]] = {
        Squared: (SQUARED, "rmse"),
        Logistic: (LOGISTIC, "logloss"),
        Multinomial: (MULTINOMIAL, "mlogloss"),
    }
    """Numbers of the losses that a kernel knows, and the metrics whose losses of rows it computes."""

    @classmethod
    def suits(cls, rounds: Rounds, metric: Metric, rate: Rate) -> bool:
        """Whether rounds of these options can be advanced in one call."""
        options, loss = rounds.options, cls.losses.get(type(rounds.loss))
        columns, tree = options.columns, options.tree
        is_plain = not (options.by_gradient or options.counted or options.line_search or options.unit_hessian)
        has_plain_columns = columns.weights is None and columns.choice(0).is_plain
        has_plain_trees = tree.signs is None and tree.gamma == 0.0 and tree.ccp_alpha == 0.0
        is_alone = not rounds.validation and rounds.recode is None and rounds.suits_whole
        is_plain &= not (isinstance(rate, GivenRate) and rate.needs_norm) and isinstance(metric.function, MeanOfRows)
        return (
            loss is not None
            and loss[1] == metric.name
            and is_plain
            and has_plain_columns
            and has_plain_trees
            and is_alone
        )

    def __init__(self, rounds: Rounds, measured: Ints) -> None:
        self._rounds, options, shape = rounds, rounds.options, rounds.score.shape
        n_rows, one_tree = shape[1], options.one_tree and shape[0] > 1
        candidates = np.arange(n_rows) if rounds.rows is None else np.asarray(rounds.rows, dtype=np.int64)
        team, own_slots, stack_slots, self._n_nodes = rounds.team_frame()
        self._n_trees = 1 if one_tree else shape[0]
        self._width = shape[0] if one_tree else 1
        n_columns = options.columns.n_features
        n_wanted = n_columns if options.columns.by_tree >= 1.0 else max(1, round(options.columns.by_tree * n_columns))
        replay = rounds.replay
        given = {
            **{"y": rounds.y.astype(np.float64), "weight": self._weight(rounds.own_weight), "score": rounds.score},
            **{"candidates": candidates, "measured": measured.astype(np.int64), "own_slots": own_slots},
            **{"stack_slots": stack_slots, "y_measured": rounds.y[measured].astype(np.float64)},
        }
        if replay is not None:
            given |= {"replay_weight": self._weight(replay.weight), "replay_score": replay.score}
            given["replay_derivatives"] = np.empty((2, *shape))
        sizes = {
            **{"n_rows": n_rows, "n_scores": shape[0], "n_candidates": len(candidates), "n_columns": n_columns},
            **{"n_measured": len(measured), "n_rounds": 0, "n_capacity": self._n_nodes, "n_own_slots": len(own_slots)},
            **{"n_stack_slots": stack_slots.shape[1], "n_padded": n_rows + 4},
        }
        self._state, self._arrays = ROUNDS.allocate(given, **sizes)
        self._state["team"] = team
        ROUNDS.update(
            self._state[0],
            replays=replay is not None,
            loss=self.losses[type(rounds.loss)][0],
            sums_to_zero=rounds.loss.sums_to_zero,
            factor=rounds.loss.step_factor,
            subsample=options.subsample,
            random_strength=options.random_strength,
            n_wanted=n_wanted,
            seed=np.uint64(options.seed),
            one_tree=one_tree,
            apart=one_tree or (options.leaves_of_all_rows and options.subsample < 1.0),
            leaves_of_all_rows=options.leaves_of_all_rows and options.subsample < 1.0,
            n_trees=self._n_trees,
        )
        self._template = options.tree.unitless_rules
        self._rules = self._template.copy()

    def _weight(self, weight: Floats | None) -> Floats:
        return np.ones(len(self._rounds.y)) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)

    def advance(self, rates: Sequence[float]) -> tuple[Floats, Floats]:
        """A round for each rate; returns losses (rounds, rows) and scores (rounds, scores, rows) of the measured rows.

        OUT the rounds' trees.
        """
        rounds, n, k = self._rounds, len(rates), self._n_trees
        trees, arrays = TREES.allocate(n_trees=n * k, n_capacity=self._n_nodes, n_values=self._width)
        row_scores = np.empty((n, len(rounds.score), len(self._arrays["measured"])))
        row_losses = np.empty((n, row_scores.shape[2]))
        ROUNDS.update(self._state[0], row_losses=row_losses, row_scores=row_scores, n_done=rounds.n_done)
        advance_all(self._state[0], np.array(rates), self._template, self._rules, trees[0])
        found = [self._tree(at, arrays) for at in range(n * k)]
        rounds.trees += [tuple(found[t * k : t * k + k]) for t in range(n)]
        return row_losses, row_scores

    def _tree(self, at: int, arrays: dict[str, Array]) -> Tree:
        n, rounds = int(arrays["n_nodes"][at]), self._rounds
        nodes, splits, values = (arrays[name][at, :n] for name in ("nodes", "splits", "values"))
        unit = float(arrays["hessian_units"][at])
        return to_tree(GrownTree(nodes, splits), values, unit, rounds.table.bins, rounds.decoder, rounds.n_levels)
