"""Whole rounds of boosting in one call of a kernel, for the models of folds, which have a thread each.

The trees are those of `Rounds.advance`, to the last bit; the calls between the steps of a round, which take longer than
the steps if there are only a thousand rows, are gone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.rate import GivenRate, Rate
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.trees import to_trees
from sapwood.codes.bins import origins_of
from sapwood.kernels.decoding import GrownTrees
from sapwood.kernels.entry import address_of
from sapwood.kernels.loss_rows import LOGISTIC, MULTINOMIAL, SQUARED, SQUARED_OF_TARGETS
from sapwood.kernels.round_frame import ROUNDS, TREES
from sapwood.kernels.whole_rounds import advance_all
from sapwood.losses.logistic import Logistic
from sapwood.losses.loss import Loss
from sapwood.losses.multinomial import Multinomial
from sapwood.losses.per_target import PerTarget
from sapwood.losses.squared import Squared
from sapwood.metrics.metric import MeanOfRows, Metric
from sapwood.shard.projection import mixture_scales

MOST_ROWS = 1 << 15  # if several threads grow trees: one alone does all else, which from 45 000 rows on takes longer


class WholeRounds:
    """Advances rounds on one thread, and records the losses of some rows after each."""

    losses: ClassVar[dict[type[Loss], tuple[int, str]]] = {
        Squared: (SQUARED, "rmse"),
        Logistic: (LOGISTIC, "logloss"),
        Multinomial: (MULTINOMIAL, "mlogloss"),
    }
    """Numbers of the losses that a kernel knows, and the metrics whose losses of rows it computes."""

    @classmethod
    def known(cls, loss: Loss) -> tuple[int, str] | None:
        """Both for a loss, or None."""
        if isinstance(loss, PerTarget) and isinstance(loss.each, Squared):
            return SQUARED_OF_TARGETS, "loss"
        return cls.losses.get(type(loss))

    @classmethod
    def measures(cls, loss: Loss, metric: Metric) -> bool:
        """Whether the losses of rows that come with rounds are those that the metric is the mean of."""
        known = cls.known(loss)
        return known is not None and known[1] == metric.name and isinstance(metric.function, MeanOfRows)

    @classmethod
    def suits(cls, rounds: Rounds, rate: Rate) -> bool:
        """Whether rounds of these options can be advanced in one call."""
        options, columns, tree = rounds.options, rounds.options.columns, rounds.options.tree
        asks_python = (
            *(options.by_gradient, options.counted, options.line_search, options.unit_hessian),
            *(columns.weights is not None, not columns.choice(0).is_plain),
            *(tree.signs is not None, tree.gamma > 0.0, tree.ccp_alpha > 0.0),
            *(cls.known(rounds.loss) is None, rounds.recode is not None),
            isinstance(rate, GivenRate) and rate.needs_norm,
        )
        if not rounds.suits_whole or any(asks_python):
            return False
        return rounds.team.n_threads == 1 or rounds.table.n_rows <= MOST_ROWS

    def __init__(self, rounds: Rounds, measured: Ints | None = None) -> None:
        measured = np.empty(0, dtype=np.int64) if measured is None else measured
        self._rounds, n_scores = rounds, len(rounds.score)
        self._one_tree = rounds.options.one_tree and n_scores > 1
        self._n_trees, self._width = (1, n_scores) if self._one_tree else (n_scores, 1)
        self._team = rounds.team
        team, own_slots, stack_slots, self._n_nodes = self._team.frame()
        given = {"own_slots": own_slots, "stack_slots": stack_slots, **self._rows(measured)}
        given["scales"], given["loss_factors"] = mixture_scales(rounds.loss), rounds.loss.factors
        given["origins"] = origins_of(rounds.table.bins)
        sizes = {
            **{
                "n_rows": len(rounds.y),
                "n_padded": len(rounds.y) + 4,
                "n_scores": n_scores,
                "n_targets": len(given["y"]),
            },
            **{"n_candidates": len(given["candidates"]), "n_measured": len(measured), "n_rounds": 0},
            **{"n_columns": rounds.options.columns.n_features, "n_origins": len(given["origins"])},
            "n_capacity": self._n_nodes,
            **{"n_own_slots": len(own_slots), "n_threads": len(stack_slots), "n_stack_slots": stack_slots.shape[1]},
        }
        self._state, self._arrays = ROUNDS.allocate(given, **sizes)
        self._state["team"] = team
        self._template = rounds.options.tree.unitless_rules
        self._rules = self._template.copy()
        ROUNDS.update(self._state[0], grow=self._address_of_growth(), **self._numbers())

    def _address_of_growth(self) -> int:
        nodes, splits, own, stacks = (self._arrays[name] for name in ("nodes", "splits", "own_slots", "stack_slots"))
        team, rules = self._state["team"][0], self._template[0]
        return address_of(self._team.kernel, nodes, splits, np.uint64(0), 0, own, stacks, team, rules)

    def _rows(self, measured: Ints) -> dict[str, Array]:
        """Arrays of the rows that a round reads, and scores that it adds to."""
        rounds, replay = self._rounds, self._rounds.replay
        y = np.ascontiguousarray(np.atleast_2d(rounds.y.T), dtype=np.float64)
        rows = {
            **{"y": y, "weight": _weight(rounds.own_weight, len(rounds.y)), "score": rounds.score},
            "candidates": np.arange(len(rounds.y)) if rounds.rows is None else np.asarray(rounds.rows, dtype=np.int64),
            **{"measured": measured.astype(np.int64), "y_measured": np.ascontiguousarray(y[:, measured])},
        }
        if replay is not None:
            rows |= {"replay_weight": _weight(replay.weight, len(rounds.y)), "replay_score": replay.score}
            rows["replay_derivatives"] = np.empty((2, *rounds.score.shape))
        return rows

    def _numbers(self) -> dict[str, Any]:
        """Options of a round."""
        rounds, options = self._rounds, self._rounds.options
        share, n_columns = options.columns.by_tree, options.columns.n_features
        of_all_rows = options.leaves_of_all_rows and options.subsample < 1.0
        known = self.known(rounds.loss)
        assert known is not None
        return {
            **{"loss": known[0], "sums_to_zero": rounds.loss.sums_to_zero},
            **{"factor": rounds.loss.step_factor, "seed": np.uint64(options.seed)},
            **{"subsample": options.subsample, "random_strength": options.random_strength},
            "n_wanted": n_columns if share >= 1.0 else max(1, round(share * n_columns)),
            **{"one_tree": self._one_tree, "n_trees": self._n_trees, "replays": rounds.replay is not None},
            **{"apart": self._one_tree or of_all_rows, "leaves_of_all_rows": of_all_rows},
        }

    def advance(self, rates: Sequence[float]) -> tuple[Floats, Floats]:
        """A round for each rate; returns losses (rounds, rows) and scores (rounds, scores, rows) of the measured rows.

        OUT the rounds' trees.
        """
        rounds, n, k = self._rounds, len(rates), self._n_trees
        n_room = n * k * self._n_nodes
        trees, arrays = TREES.allocate(None, n_trees=n * k, n_starts=n * k + 1, n_room=n_room, n_values=self._width)
        row_scores = np.empty((n, len(rounds.score), len(self._arrays["measured"])))
        row_losses = np.empty((n, row_scores.shape[2]))
        ROUNDS.update(self._state[0], row_losses=row_losses, row_scores=row_scores, n_done=rounds.n_done)

        # A thread that outlives an interrupted call still writes to these arrays.
        def leader(_kept: object = (arrays, row_scores, row_losses)) -> None:
            advance_all(self._state[0], np.array(rates), self._template, self._rules, trees[0])

        self._team.run(leader, self._arrays["nodes"], self._state["team"][0], self._rules[0])
        decoding = rounds.decoder, self._arrays["origins"], rounds.n_levels
        found = to_trees(GrownTrees(**arrays), *decoding)
        for at, tree in enumerate(found if rounds.validation else ()):
            rounds.add_to_validation(tree, slice(at % k, at % k + self._width))
        rounds.trees += [tuple(found[t * k : t * k + k]) for t in range(n)]
        return row_losses, row_scores


def _weight(weight: Floats | None, n_rows: int) -> Floats:
    return np.ones(n_rows) if weight is None else np.ascontiguousarray(weight, dtype=np.float64)
