"""Rounds by themselves: training rows decide how many rounds are best, and the final model learns from all of them.

Rows are divided into folds. For each fold a model is trained on the other rows, until the loss of the fold's rows has
not improved for some rounds (`patience`). What becomes of these models:

* **members**: their trees are replayed on all rows (`replay.py`), and the mean of the members is the final model, one
  sum of trees;
* **refit**: one new model is trained on all rows, with the mean of the best numbers of rounds.

If the kind of trees is open (`tree_kinds.py`), models of all kinds are trained, and those of the best kind are kept.

Either has more than the best number of rounds, as many times as it has more rows than those that were trained on, but
not more than twice, and a member not more than were trained.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from threading import Lock
from typing import Any

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, Setup, begin_rounds, validation_rows
from sapwood.boosting.history import Curves, History
from sapwood.boosting.rate import Rate, of_member
from sapwood.boosting.recipe import HELD_OUT
from sapwood.boosting.refit import places_of
from sapwood.boosting.replay import Replay
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.training import ALL_DONE, AnyProgress, Outcome, Plan, advance_until_stop, train
from sapwood.boosting.tree_kinds import Comparison, TreeKind, kinds_of
from sapwood.boosting.whole_rounds import WholeRounds
from sapwood.codes.coding import Coded, Recode, code
from sapwood.kernels.draws import mix_into
from sapwood.row_parts.exact_sum import ExactSum
from sapwood.row_parts.rows import LocalRows
from sapwood.threads import run_all
from sapwood.tree import Tree

MOST_STRETCH = 2.0  # however few rows a fold trains on
STEP = 8  # rounds of a model between two looks at its losses
FIRST_FOLDS = 2  # that alternatives are trained on first
STEPS = 8  # of each model between two looks at the clock, interrupts and callbacks


@dataclass(frozen=True, eq=False)
class Validation:
    """How rounds are chosen: rows (train, test) of each fold, and what becomes of the models."""

    folds: Sequence[tuple[Ints, Ints]]
    members: bool


@dataclass(eq=False)
class Candidate:
    """A model in training, and the rows that validate it; `whole` if a kernel advances it by whole rounds."""

    rounds: Rounds
    history: History
    rate: Rate
    stretch: float
    held_out: Ints
    patience: int  # rounds without improvement that end its training
    whole: WholeRounds | None = None

    def __post_init__(self) -> None:
        self.best_scores = self.rounds.score[:, self.held_out]  # (scores, rows) of the rows that validate it

    @property
    def n_best(self) -> int:
        """The best number of rounds, at least 1."""
        return 1 + (self.history.best or 0)

    @property
    def best_metric(self) -> float:
        """The best value of the deciding metric so far; NaN if no round has a number."""
        return np.nan if self.history.best is None else (self.history.deciding or [])[self.history.best]

    @property
    def used(self) -> list[tuple[Tree, ...]]:
        """Trees of the final model: of as many more rounds as it has more rows."""
        return self.rounds.trees[: math.ceil(self.stretch * self.n_best)]

    def is_done(self, plan: Plan) -> bool:
        """Whether the last rounds brought nothing, or there are as many as there may be."""
        n_done = len(self.rounds.trees)
        return n_done >= plan.n_rounds or n_done - self.n_best >= self.patience

    def advance(self, plan: Plan) -> None:
        """Some rounds, up to the most that are wanted."""
        n_done = len(self.rounds.trees)
        wanted = range(n_done, min(n_done + STEP, plan.n_rounds))
        scores: Sequence[Floats] | Floats
        if self.whole is None:
            scores = [self._advance_once() for _ in wanted]
        else:
            losses, scores = self.whole.advance([self.rate(t, lambda: 0.0) for t in wanted])
            self.history.add(losses)
        if self.n_best > n_done:
            self.best_scores = scores[self.n_best - 1 - n_done]

    def _advance_once(self) -> Floats:
        self.rounds.advance(self.rate)
        self.history.record(self.rounds.loss)
        return self.rounds.score[:, self.held_out]


@dataclass(frozen=True, eq=False, repr=False)
class ValidationProgress(AnyProgress):
    """What a progress bar shows of the validation; `folds` are the models that are still trained."""

    folds: Sequence[Candidate]


@dataclass(frozen=True, eq=False)
class Validated:
    """The final model, the best number of rounds of each fold, and whether the model has learned from all rows.

    `scores` (n_scores, rows) are those of the model whose fold a row was in, a mean if there are several; NaN if none.
    """

    outcome: Outcome
    n_best: list[int]
    is_of_all_rows: bool
    scores: Floats
    members: list[int]  # rounds of each model that the final one is the mean of
    comparison: Comparison | None = None  # of kinds of trees

    @property
    def chosen(self) -> dict[str, Any]:
        """Parameters that validation chose."""
        return {} if self.comparison is None else self.comparison.chosen.parameters

    @property
    def sentences(self) -> list[str]:
        """What was found."""
        return [*([] if self.comparison is None else [self.comparison.sentence]), self._sentence]

    @property
    def _sentence(self) -> str:
        best, n = ", ".join(map(str, self.n_best)), self.outcome.ensemble.n_rounds
        rows = "all rows" if self.is_of_all_rows else "the rows that did not validate, as training was interrupted"
        return f"Best numbers of rounds in validation: {best}; the model has {n} rounds and has learned from {rows}."


def validation_for(rows: Rows, setup: Setup, is_class: bool, folds: Sequence[tuple[Ints, Ints]] | None) -> Validation:
    """The validation that the setup's recipe asks for, on folds of the user's or on drawn ones."""
    recipe = setup.recipe
    if folds is None:
        classes, n_parts = rows.y if is_class else None, HELD_OUT if recipe.n_folds == 1 else recipe.n_folds
        parts = draw_folds(n_parts, len(rows.y), classes, setup.rounds.seed)[: recipe.n_folds]
        folds = [(np.delete(np.arange(len(rows.y)), part), part) for part in parts]
    return Validation(folds, len(folds) > 1 and Replay.suits(setup.loss))


def draw_folds(n_folds: int, n_rows: int, classes: Floats | None, seed: int) -> list[Ints]:
    """Rows of each fold, ascending, by a hash of the seed and the row's number; classes keep their shares."""
    drawn = np.empty(n_rows, dtype=np.uint64)
    mix_into(np.uint64(seed), 0, drawn)
    order = np.argsort(drawn, kind="stable") if classes is None else np.lexsort((drawn, classes))
    fold = np.empty(n_rows, dtype=np.int64)
    fold[order] = np.arange(n_rows) % n_folds
    return [np.flatnonzero(fold == number) for number in range(n_folds)]


def fit_validated(rows: Rows, setup: Setup, validation: Validation) -> Validated:
    """Choose the rounds by the folds, and make the model that has learned from all rows."""
    coded = code(rows.table, setup.rounds.method, setup.max_bins, setup.rounds.n_jobs)
    kinds, numbers = kinds_of(setup), range(len(validation.folds))
    models = [[_candidate(number, rows, kind.setup, validation, coded) for number in numbers] for kind in kinds]
    candidates, comparison, reason = _train_all(models, kinds)
    setup = setup if comparison is None else comparison.chosen.setup
    history = History((), (), _joined([one.history.curves for one in candidates]))
    is_of_all_rows = validation.members or reason == ALL_DONE
    if validation.members:
        ensemble = _mean_of(candidates)
    elif is_of_all_rows:
        plan = replace(setup.plan, n_rounds=math.ceil(float(np.mean([one.stretch * one.n_best for one in candidates]))))
        final = train(begin_rounds(rows, None, setup, coded=coded), History((), ()), plan)
        ensemble, reason = final.ensemble, final.stopped_reason
    else:  # it was interrupted: there is no time for another training
        ensemble = candidates[0].rounds.ensemble.upto(candidates[0].n_best)
    best = [one.n_best for one in candidates]
    members = [len(one.used) for one in candidates] if validation.members else []
    outcome = Outcome(ensemble, history, None, reason)
    return Validated(outcome, best, is_of_all_rows, _held_out_scores(candidates), members, comparison)


def _candidate(
    number: int, rows: Rows, setup: Setup, validation: Validation, coded: tuple[Coded, Recode | None]
) -> Candidate:
    (own, held_out), several = validation.folds[number], len(validation.folds) > 1
    if several:  # each on one thread, side by side
        setup = replace(setup, rounds=replace(setup.rounds, n_jobs=1))
    if validation.members and number % 2 == 1 and setup.rounds.alternates:
        tree = replace(setup.rounds.tree, extra_trees=True)
        setup = replace(setup, rounds=replace(setup.rounds, tree=tree))
    rounds = begin_rounds(rows, own, setup, coded=(coded[0].with_own_codes(), coded[1]))
    if validation.members:
        base = setup.loss.start(LocalRows.of(rows.y, rows.weight)) if setup.base is None else setup.base
        score = np.repeat(base[:, None], len(rows.y), axis=1)
        rounds.start = Ensemble(base)
        rounds.replay = Replay(setup.loss, rows.y, rows.weight, rounds.options.tree.signs, score)
    weight = rows.weight if rows.measured is None else rows.measured
    name = f"fold {number + 1}" if several else "validation"
    measured = validation_rows(name, rounds, held_out, weight, None)
    whole = None
    is_measured = len(setup.metrics) == 1 and WholeRounds.measures(setup.loss, setup.metrics[0])
    if is_measured and WholeRounds.suits(rounds, setup.plan.rate):
        whole = WholeRounds(rounds, held_out)
    stretch = len(rows.y) / len(own)
    if rows.weight is not None:
        stretch = ExactSum.of(rows.weight).over(ExactSum.of(rows.weight[own]))
    rate = of_member(setup.plan.rate, number, validation.members and setup.rounds.alternates)
    patience, history = setup.recipe.patience(setup.plan.rate(0, lambda: 1.0)), History([measured], setup.metrics)
    return Candidate(rounds, history, rate, min(stretch, MOST_STRETCH), held_out, patience, whole)


def _train_all(
    models: Sequence[list[Candidate]], kinds: Sequence[TreeKind]
) -> tuple[list[Candidate], Comparison | None, str]:
    """Advance all models, a few rounds at a time, each until it is done.

    Alternatives are trained on two folds first, and on the others if they are better on these. Returns the models of
    the best kind, how it was chosen if there are several, and the reason to stop.
    """
    setup = kinds[0].setup
    plan = replace(setup.plan, early_stopping_rounds=None)
    waiting = [one for kind, own in zip(kinds, models, strict=True) if not kind.is_early for one in own[FIRST_FOLDS:]]
    open_ones, metric = [one for own in models for one in own if one not in waiting], setup.metrics[-1]
    mean: list[float] = []  # of the models that are trained in these rounds
    comparison: Comparison | None = None

    def advance(begin: float) -> ValidationProgress:
        nonlocal comparison
        _advance_side_by_side(open_ones, plan, setup.rounds.n_jobs)
        if comparison is None and len(kinds) > 1 and all(kind.is_early for kind in kinds):
            n_rounds = max(len(one.rounds.trees) for one in open_ones)
            comparison = Comparison(metric, n_rounds, kinds, _means(models))
            open_ones[:] = models[comparison.best]
        running = list(open_ones)
        done = min(len(one.rounds.trees) for one in running)
        open_ones[:] = [one for one in running if not one.is_done(plan)]
        if waiting and not open_ones:
            even = [replace(kind, margin=0.0) for kind in kinds]
            best = Comparison(metric, 0, even, _means(models, FIRST_FOLDS)).best
            open_ones[:] = [one for one in waiting if one in models[best]]
            waiting[:], done = ([], 0) if open_ones else (waiting, done)
        mean.append(float(np.mean([(one.history.deciding or [np.nan])[-1] for one in running])))
        last, curves = plan.n_rounds if open_ones else done, {"validation": {metric.name: mean}}
        return ValidationProgress(done, last, curves, None, time.monotonic() - begin, 1, running)

    reason = advance_until_stop(advance, plan, "Internal validation", "model")
    if comparison is None and len(kinds) > 1:
        comparison = Comparison(metric, 0, kinds, _means(models, FIRST_FOLDS if waiting else None))
        if waiting and not comparison.chosen.is_early:  # it was interrupted
            comparison = None
    return models[0 if comparison is None else comparison.best], comparison, reason


def _means(models: Sequence[list[Candidate]], n_folds: int | None = None) -> list[float]:
    """Mean over the first folds, or all, of the best metric of each kind; NaN for one that was not trained on all."""
    return [float(np.mean([one.best_metric for one in kind[:n_folds]])) for kind in models]


def _advance_side_by_side(candidates: Sequence[Candidate], plan: Plan, n_jobs: int) -> None:
    """Advance each model by some steps, as long as it is not done; threads take the one that is furthest behind."""
    waiting, lock = [(0, number) for number in range(len(candidates))], Lock()

    def work() -> None:
        while True:
            with lock:
                if not waiting:
                    return
                steps, number = heappop(waiting)
            candidates[number].advance(plan)
            if steps + 1 < STEPS and not candidates[number].is_done(plan):
                with lock:
                    heappush(waiting, (steps + 1, number))

    run_all([work] * min(n_jobs, len(candidates)), n_jobs)


def _joined(parts: Sequence[Curves]) -> Curves:
    return {name: curves for part in parts for name, curves in part.items()}


def _held_out_scores(candidates: Sequence[Candidate]) -> Floats:
    shape = candidates[0].rounds.score.shape
    total, count = np.zeros(shape), np.zeros(shape[1])
    for one in candidates:
        total[:, one.held_out] += one.best_scores
        count[one.held_out] += 1
    with np.errstate(invalid="ignore"):
        return np.asarray(total / count)


def _mean_of(members: Sequence[Candidate]) -> Ensemble:
    """One model of the trees of all members, round by round, each with its share of the leaf values."""
    used = [member.used for member in members]
    rounds: list[tuple[Tree, ...]] = [()] * sum(map(len, used))
    for places, trees in zip(places_of([len(trees) for trees in used]), used, strict=True):
        for place, own in zip(places.tolist(), trees, strict=True):
            rounds[place] = _scaled(own, len(members))
    return Ensemble(members[0].rounds.start.base, tuple(rounds))


def _scaled(trees: Sequence[Tree], divisor: int) -> tuple[Tree, ...]:
    return tuple(tree.divided_by(divisor) for tree in trees)
