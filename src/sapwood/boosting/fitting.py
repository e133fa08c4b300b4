"""Fitting: from tables and targets to a trained ensemble."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.history import Curves, History, ValidationSet
from sapwood.boosting.limits import warn_of_no_split
from sapwood.boosting.linear_fit import LinearFit
from sapwood.boosting.options import RoundOptions
from sapwood.boosting.recipe import Recipe
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.target_statistics import DerivedColumns, StatisticOptions, derive_columns, tabulate
from sapwood.boosting.training import Outcome, Plan, train
from sapwood.cached_property import cached_property
from sapwood.codes.bins import origins_of
from sapwood.codes.block_table import BlockTable
from sapwood.codes.coding import Coded, Recode, code
from sapwood.codes.ranked import RankedTable
from sapwood.codes.sparse import SparseTable
from sapwood.errors import InputError, ParameterError
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric
from sapwood.row_parts.rows import LocalRows
from sapwood.shard.arrays_of_rows import ArraysOfRows, InMemory
from sapwood.shard.block_shards import block_shards
from sapwood.shard.gradient_units import PACKED_ROWS
from sapwood.shard.row_state import RowState
from sapwood.shard.shards import Shards, evenly, local_shards
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
    coded: CodedRows | None = None  # if the cells themselves are not in memory

    @cached_property
    def cells(self) -> Array:
        """All cells (rows, columns), those of a sparse table that are absent filled in."""
        return self.table.block(0, self.table.n_rows)


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows of which only the codes are kept, in memory or on disk."""

    table: Coded | BlockTable
    arrays: ArraysOfRows  # where other arrays of the rows are kept
    batches: Callable[[], Iterator[Table]]  # reads the cells again, batch by batch
    digest: str  # of all cells
    copies_samples: bool = False  # of codes on disk

    def scores(self, ensemble: Ensemble, n_jobs: int) -> Floats:
        """Scores (n_scores, rows) of a model."""
        found = self.arrays.empty((ensemble.n_scores, self.table.n_rows), np.float64)
        found[:] = ensemble.base[:, None]
        if ensemble.n_rounds:
            start = 0
            for batch in self.batches():
                found[:, start : start + batch.n_rows] = ensemble.scores(batch, None, n_jobs)
                start += batch.n_rows
        return found


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
    held_out: Ints | None = None  # training rows that are the validation set
    statistics: StatisticOptions | None = None  # of categories, in columns beside them
    alternative: RoundOptions | None = None  # of other trees, if validation is to choose between both
    recipe: Recipe = field(default_factory=Recipe)  # what was chosen where parameters are "auto"
    done: Ensemble | None = None  # the model so far of an interrupted run, with the model it continues
    done_scores: Floats | None = None  # of its training rows; None: as the model predicts them
    done_curves: Curves = field(default_factory=dict)  # and its history


def score_of(loss: Loss, response: float) -> Floats:
    """Scores whose response is a given number, for every class or quantile the same."""
    if loss.n_scores > 1 and loss.response(np.zeros((loss.n_scores, 1))).sum() == 1.0:
        return np.zeros(loss.n_scores)  # probabilities: all equal

    def excess(score: float) -> float:
        return float(loss.response(np.full((loss.n_scores, 1), score))[0, 0]) - response

    is_identity = excess(0.0) == -response and excess(1.0) == 1.0 - response
    score = response if is_identity else brentq(excess, -WIDEST_SCORE, WIDEST_SCORE, xtol=1e-14)
    return np.full(loss.n_scores, float(score))


def start_scores(base_score: float | None, loss: Loss) -> Floats | None:
    """Scores whose prediction is the base score, or None for the best constants."""
    if base_score is None:
        return None
    most = float(loss.response(np.full((loss.n_scores, 1), 9.0)).max())
    try:
        if most <= 1.0 and not 0.0 < base_score < 1.0:
            raise ValueError("no probability")
        return score_of(loss, float(base_score))
    except ValueError as error:
        raise ParameterError(
            f"base_score={base_score} is not allowed for the loss {loss.name!r}, whose predictions are "
            f"{'between 0 and 1' if most <= 1.0 else 'above 0'}. Use base_score=None for the best constant."
        ) from error


def fit_ensemble(rows: Rows, evals: Sequence[Rows], setup: Setup) -> Outcome:
    """Train on rows, and measure metrics of other rows, or of those held out."""
    own, held_out = None, setup.held_out
    if held_out is not None:
        own = np.delete(np.arange(len(rows.y)), held_out)
    rounds = begin_rounds(rows, own, setup, evals)
    sets = [
        ValidationSet(e.name, e.y, e.weight, score, e.groups)
        for e, (_, score) in zip(evals, rounds.validation, strict=True)
    ]
    if held_out is not None:
        weight = rows.weight if rows.measured is None else rows.measured
        groups = None if rows.groups is None else _groups_of(rows.groups, held_out)
        sets.append(validation_rows("validation", rounds, held_out, weight, groups))
    history = History(sets, setup.metrics, setup.done_curves) if sets else History((), ())
    outcome = train(rounds, history, setup.plan)
    y = rows.y if own is None else rows.y[own]
    warn_of_no_split(outcome.ensemble.rounds, setup.rounds.tree.min_child_weight, y)
    return outcome


def begin_rounds(
    rows: Rows,
    own: Ints | None,
    setup: Setup,
    evals: Sequence[Rows] = (),
    coded: tuple[Coded, Recode | None] | None = None,
) -> Rounds:
    """Rounds that train on some of the rows (None: all), and keep scores of all rows and of others.

    `coded` is the table as `code` returns it, if it is coded already.
    """
    start, base, of, options = setup.start, setup.base, slice(None) if own is None else own, setup.rounds
    if start is None:
        if base is None:
            base = setup.loss.start(LocalRows.of(rows.y[of], None if rows.weight is None else rows.weight[of]))
        start = Ensemble(base)
    so_far = start if setup.done is None else setup.done
    table: Coded | BlockTable
    recode: Recode | None = None
    if rows.coded is not None:
        table = rows.coded.table
    else:
        found = code(rows.table, options.method, setup.max_bins, options.n_jobs) if coded is None else coded
        if setup.statistics is not None:
            derived = derive_columns(rows.table, rows.y, rows.weight, own, setup.statistics)
            if derived is not None:
                found = beside(found, derived, options.n_jobs)
                options = with_derived(options, origins_of(found[0].bins))
        table, recode = found
    known = setup.done_scores
    score = _scores(rows, so_far, options.n_jobs) if known is None else _known_scores(known, rows, setup.loss)
    return Rounds(
        table,
        rows.table.schema.n_levels,
        setup.loss,
        options,
        start,
        place_rows(table, rows.y, rows.weight, score, own, setup.loss, options, rows.coded),
        validation=[(e.table, _scores(e, so_far, options.n_jobs)) for e in evals],
        trees=list(so_far.rounds[start.n_rounds :]),
        recode=recode,
        linear=_linear_fit(rows, options) if options.linear else None,
    )


def _scores(rows: Rows, so_far: Ensemble, n_jobs: int) -> Floats:
    """Scores of rows by the model so far."""
    if rows.coded is not None:
        return rows.coded.scores(so_far, n_jobs)
    return so_far.scores(rows.table, None, n_jobs, rows.offset)


def place_rows(
    table: Coded | BlockTable,
    y: Floats,
    weight: Floats | None,
    score: Floats,
    own: Ints | None,
    loss: Loss,
    options: RoundOptions,
    coded: CodedRows | None = None,
) -> Shards:
    """Rows of this process, with their scores: in as many shards as the options say, or as there are blocks."""
    is_short = loss.bounded and table.n_rows >= PACKED_ROWS and not isinstance(table, RankedTable)
    dtype, arrays = np.float32 if is_short else np.float64, InMemory() if coded is None else coded.arrays
    state = RowState(y, weight, score, own, 0, dtype, options.n_jobs, arrays=arrays)
    if isinstance(table, BlockTable):
        return block_shards(table, state, arrays, coded is not None and coded.copies_samples)
    return local_shards(table, state, evenly(table.n_rows, options.n_shards))


def _linear_fit(rows: Rows, options: RoundOptions) -> LinearFit:
    is_number, origins = rows.table.schema.n_levels == 0, options.columns.origins
    is_number = is_number if origins is None else is_number[origins]
    return LinearFit(rows.cells, is_number, options.linear_ridge, options.n_jobs)


def statistics_of_levels(rows: Rows, setup: Setup) -> dict[str, Floats]:
    """Statistics (levels, statistics) of categories by the names of their columns, of all rows that train."""
    own = None if setup.held_out is None else np.delete(np.arange(len(rows.y)), setup.held_out)
    of = rows.table, rows.y, rows.weight, own
    return {} if setup.statistics is None else tabulate(*of, setup.statistics)


def beside(coded: tuple[Coded, Recode | None], found: DerivedColumns, n_jobs: int) -> tuple[Coded, Recode | None]:
    """A coded table with derived columns, and what codes it anew."""
    table, recode = coded
    assert not isinstance(table, SparseTable)  # which has no categories

    def again(weight: Floats) -> Coded:
        assert recode is not None
        new = recode(weight)
        assert not isinstance(new, SparseTable)
        return new.beside(found.bins, found.codes, n_jobs)

    return table.beside(found.bins, found.codes, n_jobs), None if recode is None else again


def with_derived(options: RoundOptions, origins: Ints) -> RoundOptions:
    """Options of columns for those that are derived from them, too."""
    tree = options.tree
    if tree.signs is not None:
        tree = replace(tree, signs=tree.signs[origins])
    return replace(options, tree=tree, columns=replace(options.columns, origins=origins))


def validation_rows(name: str, rounds: Rounds, rows: Ints, weight: Floats | None, groups: Ints | None) -> ValidationSet:
    """A validation set of some rows of the training table; weights are those of all rows."""
    own = None if weight is None else weight[rows]
    return ValidationSet(name, rounds.y[rows], own, rounds.score, groups, rows)


def _known_scores(known: Floats, rows: Rows, loss: Loss) -> Floats:
    if known.shape != (loss.n_scores, len(rows.y)):
        raise InputError(
            f"The checkpoint holds scores of {known.shape[1]} rows, but there are {len(rows.y)} training rows. Remove "
            "the file to start over."
        )
    return known.copy()


def _groups_of(groups: Ints, rows: Ints) -> Ints:
    """Rows of each group among some rows."""
    counts = np.bincount(np.repeat(np.arange(len(groups)), groups)[rows], minlength=len(groups))
    return counts[counts > 0].astype(np.int64)
