"""Fitting: from tables and targets to a trained ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from sapwood.arrays import Floats, Ints
from sapwood.boosting.coding import code
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.history import Curves, History, Watched
from sapwood.boosting.rounds import RoundOptions, Rounds, ValidationSet
from sapwood.boosting.training import Outcome, Plan, train
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric
from sapwood.table.table import Table

WIDEST_SCORE = 50.0  # beyond it a link function is flat


@dataclass(frozen=True, eq=False)
class Rows:
    """A table with what is known of its rows. Classes are codes, as floats."""

    table: Table
    y: Floats
    weight: Floats | None = None
    groups: Ints | None = None
    name: str = "train"
    offset: Floats | None = None  # (n_scores, rows), added to the scores a model starts from
    index: NDArray[np.intp] | None = None  # which rows of the user's these are; None: all
    measured: Floats | None = None  # weights for metrics, where they are not those of training

    def take(self, rows: NDArray[np.intp]) -> Rows:
        """Some of the rows."""
        weight = None if self.weight is None else self.weight[rows]
        offset = None if self.offset is None else self.offset[:, rows]
        return Rows(self.table.take(rows), self.y[rows], weight, None, self.name, offset=offset)


@dataclass(frozen=True, eq=False)
class Done:
    """How far a training was, the model that it continues included."""

    ensemble: Ensemble
    curves: Curves


@dataclass(frozen=True, eq=False)
class Setup:
    """Everything that decides how an ensemble is trained."""

    loss: Loss
    rounds: RoundOptions
    plan: Plan
    max_bins: int = 255
    metrics: Sequence[Metric] = ()
    base: Floats | None = None  # scores to start from; None: the best constants
    start: Ensemble | None = None  # a model to continue from
    held_out: Ints | None = field(default=None)  # training rows that only watch
    done: Done | None = None  # rounds of the same training, before it was interrupted


def score_of(loss: Loss, response: float) -> Floats:
    """Scores whose response is a given number, for every class or quantile the same."""
    if loss.n_scores > 1 and loss.response(np.zeros((loss.n_scores, 1))).sum() == 1.0:
        return np.zeros(loss.n_scores)  # probabilities: all equal

    def excess(score: float) -> float:
        return float(loss.response(np.full((loss.n_scores, 1), score))[0, 0]) - response

    is_identity = excess(0.0) == -response and excess(1.0) == 1.0 - response
    score = response if is_identity else brentq(excess, -WIDEST_SCORE, WIDEST_SCORE, xtol=1e-14)
    return np.full(loss.n_scores, float(score))


def fit_ensemble(rows: Rows, evals: Sequence[Rows], setup: Setup) -> Outcome:
    """Train on rows, watching others."""
    n_jobs = setup.rounds.n_jobs
    table, recode = code(rows.table, setup.rounds.method, setup.max_bins, n_jobs)
    own = _training_rows(rows, setup)
    start = setup.start if setup.start is not None else Ensemble(_base(rows, own, setup))
    so_far = start if setup.done is None else setup.done.ensemble
    validation_sets = [ValidationSet(e.table, so_far.scores(e.table, None, n_jobs, e.offset)) for e in evals]
    rounds = Rounds(
        table,
        rows.table.schema.n_levels,
        setup.loss,
        rows.y,
        rows.weight,
        setup.rounds,
        start,
        so_far.scores(rows.table, None, n_jobs, rows.offset),
        own,
        validation_sets,
        trees=list(so_far.rounds[start.n_rounds :]),
        recode=recode,
    )
    watched = [_watch(e, validation_set) for e, validation_set in zip(evals, validation_sets, strict=True)]
    if setup.held_out is not None:
        watched.append(_watch_own(rows, rounds, setup.held_out))
    curves = {} if setup.done is None or not watched else setup.done.curves
    return train(rounds, History(watched, setup.metrics if watched else (), curves), setup.plan)


def _training_rows(rows: Rows, setup: Setup) -> Ints | None:
    if setup.held_out is None:
        return None
    mask = np.ones(len(rows.y), dtype=np.bool_)
    mask[setup.held_out] = False
    return np.flatnonzero(mask)


def _base(rows: Rows, own: Ints | None, setup: Setup) -> Floats:
    if setup.base is not None:
        return setup.base
    of = slice(None) if own is None else own
    return setup.loss.start(rows.y[of], None if rows.weight is None else rows.weight[of])


def _watch(rows: Rows, validation_set: ValidationSet) -> Watched:
    return Watched(rows.name, rows.y, rows.weight, lambda: validation_set.score, rows.groups)


def _watch_own(rows: Rows, rounds: Rounds, held_out: Ints) -> Watched:
    weight = rows.weight if rows.measured is None else rows.measured
    own = None if weight is None else weight[held_out]
    groups = None if rows.groups is None else _groups_of(rows.groups, held_out)
    return Watched("validation", rows.y[held_out], own, lambda: rounds.score[:, held_out], groups)


def _groups_of(groups: Ints, rows: Ints) -> Ints:
    """Rows of each group among some rows."""
    counts = np.bincount(np.repeat(np.arange(len(groups)), groups)[rows], minlength=len(groups))
    return counts[counts > 0].astype(np.int64)
