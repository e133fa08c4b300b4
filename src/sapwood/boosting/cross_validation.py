"""Cross-validation at each round: all folds advance together, on one coded table.

Each fold is a `Rounds` on the same codes. Rows it holds out have a weight of zero, so that nothing of them, not even
the size of their gradients, enters its trees; they only watch.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.boosting.coding import Recode, code
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.fitting import Rows, Setup
from sapwood.boosting.history import Curves, History, Watched
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.training import Outcome, Plan, reason_to_stop
from sapwood.codes.ranked import RankedTable
from sapwood.codes.sparse import Binned
from sapwood.counted import counted
from sapwood.errors import InputError, warn_user
from sapwood.interrupts import Interrupts
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric
from sapwood.progress_bar import describe
from sapwood.result import Part, Result
from sapwood.threads import run_all

Coded = tuple[Binned | RankedTable, Recode | None]
TRAIN, TEST = "train", "test"


@dataclass(frozen=True, eq=False, repr=False)
class FoldCurve(Result):
    """A metric after every round in every fold: `values[fold, round]`."""

    values: Floats

    @property
    def n_rounds(self) -> int:
        """Rounds done."""
        return int(self.values.shape[1])

    def _parts(self) -> Iterator[Part]:
        mean, error = self.mean, self.standard_error
        ends = " to ".join(f"{mean[k]:.6g} ± {error[k]:.2g}" for k in (0, -1))
        yield f"FoldCurve({len(self.values)} folds, {self.n_rounds} rounds, mean {ends})"

    @property
    def mean(self) -> Floats:
        """Mean over the folds, for each round."""
        return np.asarray(self.values.mean(axis=0))

    @property
    def standard_error(self) -> Floats:
        """Standard error of the mean, for each round."""
        return np.asarray(self.values.std(axis=0, ddof=1) / np.sqrt(len(self.values)))


@dataclass(frozen=True, eq=False)
class Split:
    """Rows of one fold, ascending; `queries` are the numbers of rows of the queries of both parts, for rankings."""

    train: Ints
    test: Ints
    queries: tuple[Ints, Ints] | None = None


@dataclass(frozen=True, eq=False)
class Fold:
    """One model in training, and what is measured of it."""

    number: int  # from 1 on
    loss: Loss  # before the first round
    rounds: Rounds
    history: History

    def advance(self, plan: Plan) -> None:
        """One round."""
        try:
            self.rounds.advance(plan.rate)
            self.history.record(self.rounds.loss)
        except InputError as error:
            raise InputError(f"Fold {self.number} of the cross-validation: {error}") from error

    def outcome(self, best_round: int, reason: str) -> Outcome:
        """The model up to the best round."""
        n_rounds = best_round + 1
        curves = {
            rows: {name: curve[:n_rounds] for name, curve in own.items()} for rows, own in self.history.curves.items()
        }
        history = History(self.history.watched, self.history.metrics, curves)
        return Outcome(self.rounds.ensemble.upto(n_rounds), history, best_round, reason)


def begin_folds(rows: Sequence[Rows], splits: Sequence[Split], setups: Sequence[Setup], n_jobs: int) -> list[Fold]:
    """Folds before their first round, on one coded table.

    Each fold has all rows, with the weights of training, zero for those held out, and with weights for metrics.
    """
    coded = code(rows[0].table, setups[0].rounds.method, setups[0].max_bins, n_jobs)
    each = zip(rows, splits, setups, strict=True)
    return [_begin(number, coded, *own) for number, own in enumerate(each, start=1)]


def _begin(number: int, coded: Coded, rows: Rows, split: Split, setup: Setup) -> Fold:
    assert rows.weight is not None
    taking_part = split.train[rows.weight[split.train] > 0]
    base = setup.base
    if base is None:
        base = setup.loss.start(rows.y[taking_part], rows.weight[taking_part])
    score = np.repeat(base[:, None], len(rows.y), axis=1)
    table, recode = coded[0].with_own_codes(), coded[1]
    levels, start = rows.table.schema.n_levels, Ensemble(base)
    rounds = Rounds(
        table, levels, setup.loss, rows.y, rows.weight, setup.rounds, start, score, taking_part, recode=recode
    )
    queries = split.queries or (None, None)
    watched = [
        _watch(name, rounds, rows.measured, own, groups)
        for name, own, groups in zip((TRAIN, TEST), (split.train, split.test), queries, strict=True)
    ]
    return Fold(number, setup.loss, rounds, History(watched, setup.metrics))


def _watch(name: str, rounds: Rounds, weight: Floats | None, rows: Ints, groups: Ints | None) -> Watched:
    own = None if weight is None else weight[rows]
    return Watched(name, rounds.y[rows], own, lambda: rounds.score[:, rows], groups)


@dataclass(frozen=True, eq=False, repr=False)
class FoldsProgress(Result):
    """What a callback is told after each round of all folds; `history` holds means over the folds."""

    round: int
    n_rounds: int
    history: Curves
    best_round: int | None
    seconds: float
    folds: Sequence[Fold] = field(repr=False)

    def _parts(self) -> Iterator[Part]:
        yield f"FoldsProgress({describe(self)})"


@dataclass(frozen=True, eq=False)
class FoldsOutcome:
    """What came of all folds: `curves[rows][metric]`, of which the last metric decides."""

    curves: dict[str, dict[str, FoldCurve]]
    metric: Metric
    stopped_reason: str

    @property
    def train(self) -> FoldCurve:
        """The deciding metric of the training rows."""
        return self.curves[TRAIN][self.metric.name]

    @property
    def test(self) -> FoldCurve:
        """The deciding metric of the rows held out."""
        return self.curves[TEST][self.metric.name]


def train_folds(folds: Sequence[Fold], plan: Plan, at_once: int) -> FoldsOutcome:
    """Advance all folds, round by round, until a reason to stop is found; the last of the metrics decides."""
    begin = time.monotonic()
    *_, metric = metrics = folds[0].history.metrics
    reason, means = "all rounds done", {rows: {m.name: list[float]() for m in metrics} for rows in (TRAIN, TEST)}
    with Interrupts() as interrupts:
        for done in range(1, plan.n_rounds + 1):
            run_all([partial(fold.advance, plan) for fold in folds], at_once)
            for rows, own in means.items():
                for name, curve in own.items():
                    curve.append(float(np.mean([fold.history.curves[rows][name][-1] for fold in folds])))
            best = best_of(np.array(means[TEST][metric.name]), metric.larger_is_better)
            seconds = time.monotonic() - begin
            progress = FoldsProgress(done, plan.n_rounds, means, best, seconds, folds)
            asked = [callback(progress) for callback in plan.callbacks]  # type: ignore[arg-type]  # tells as much
            found = reason_to_stop(plan, done - 1 - best, seconds, any(asked), interrupts.asked)
            if found is not None:
                reason = found
                break
    if reason.startswith("interrupted"):
        warn_user(
            f"Cross-validation was {reason} after {counted(done, 'round')}; the result holds the rounds done so far."
        )
    curves = {rows: {m.name: _curve(folds, rows, m.name) for m in metrics} for rows in (TRAIN, TEST)}
    return FoldsOutcome(curves, metric, reason)


def _curve(folds: Sequence[Fold], rows: str, metric: str) -> FoldCurve:
    return FoldCurve(np.array([fold.history.curves[rows][metric] for fold in folds]))


def best_of(mean: Floats, larger_is_better: bool) -> int:
    """The first of the rounds of the best mean."""
    if np.isnan(mean).all():
        raise InputError(
            "The metric of the folds is not a number in any round. Choose another metric, or look for extreme targets."
        )
    return int(np.nanargmax(mean) if larger_is_better else np.nanargmin(mean))


def within_one_error(curve: FoldCurve, best: int, larger_is_better: bool) -> int:
    """The fewest rounds whose mean is within one standard error of the best one's."""
    mean, error = curve.mean, curve.standard_error[best]
    good = mean >= mean[best] - error if larger_is_better else mean <= mean[best] + error
    return int(np.argmax(good))
