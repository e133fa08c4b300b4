"""Cross-validation at each round: all folds advance together, on one coded table.

Each fold is a `Rounds` on the same codes. Rows it holds out have a weight of zero, so that nothing of them, not even
the size of their gradients, enters its trees; they are its validation set.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from sapwood.arrays import Floats, Ints
from sapwood.boosting.fitting import Rows, Setup, begin_rounds, validation_rows
from sapwood.boosting.history import History, best_of
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.training import AnyProgress, Outcome, Plan, advance_until_stop
from sapwood.codes.coding import Coded, Recode, code
from sapwood.errors import InputError
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import Metric
from sapwood.result import Part, Result
from sapwood.threads import run_all

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


FoldCurves = dict[str, dict[str, FoldCurve]]  # by rows, TRAIN or TEST, and metric


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
        history = History(self.history.validation_sets, self.history.metrics, curves)
        return Outcome(self.rounds.ensemble.upto(n_rounds), history, best_round, reason)


def begin_folds(rows: Sequence[Rows], splits: Sequence[Split], setups: Sequence[Setup], n_jobs: int) -> list[Fold]:
    """Folds before their first round, on one coded table.

    Each fold has all rows, with the weights of training, zero for those held out, and with weights for metrics.
    """
    coded = code(rows[0].table, setups[0].rounds.method, setups[0].max_bins, n_jobs)
    each = zip(rows, splits, setups, strict=True)
    return [_begin(number, coded, *own) for number, own in enumerate(each, start=1)]


def _begin(number: int, coded: tuple[Coded, Recode | None], rows: Rows, split: Split, setup: Setup) -> Fold:
    assert rows.weight is not None
    table, recode = coded
    taking_part = split.train[rows.weight[split.train] > 0]
    rounds = begin_rounds(rows, taking_part, setup, coded=(table.with_own_codes(), recode))
    parts = zip((TRAIN, TEST), (split.train, split.test), split.queries or (None, None), strict=True)
    sets = [validation_rows(name, rounds, own, rows.measured, groups) for name, own, groups in parts]
    return Fold(number, setup.loss, rounds, History(sets, setup.metrics))


@dataclass(frozen=True, eq=False, repr=False)
class FoldsProgress(AnyProgress, Result):
    """The argument of callbacks after each round of all folds; `history` holds means over the folds."""

    folds: Sequence[Fold]


def train_folds(folds: Sequence[Fold], plan: Plan, at_once: int) -> tuple[FoldCurves, int, str]:
    """Advance all folds until there is a reason to stop; the last of the metrics decides.

    Returns the curves of all sets and metrics, the round of the best mean of the rows held out, and the reason.
    """
    *_, metric = metrics = folds[0].history.metrics
    means = {rows: {m.name: list[float]() for m in metrics} for rows in (TRAIN, TEST)}

    def advance(begin: float) -> FoldsProgress:
        run_all([partial(fold.advance, plan) for fold in folds], at_once)
        for rows, own in means.items():
            for name, curve in own.items():
                curve.append(float(np.mean([fold.history.curves[rows][name][-1] for fold in folds])))
        done, best = len(means[TEST][metric.name]), _best_round(means[TEST][metric.name], metric)
        return FoldsProgress(done, plan.n_rounds, means, best, time.monotonic() - begin, 1, folds)

    reason = advance_until_stop(advance, plan, "Cross-validation", "result")
    curves = {
        rows: {name: FoldCurve(np.array([fold.history.curves[rows][name] for fold in folds])) for name in own}
        for rows, own in means.items()
    }
    return curves, _best_round(curves[TEST][metric.name].mean, metric), reason


def _best_round(mean: Sequence[float] | Floats, metric: Metric) -> int:
    best = best_of(mean, metric.larger_is_better)
    if best is None:
        raise InputError(
            "The metric of the folds is not a number in any round. Choose another metric, or look for extreme targets."
        )
    return best


def within_one_error(curve: FoldCurve, best: int, larger_is_better: bool) -> int:
    """The fewest rounds whose mean is within one standard error of the best one's."""
    mean, error = curve.mean, curve.standard_error[best]
    good = mean >= mean[best] - error if larger_is_better else mean <= mean[best] + error
    return int(np.argmax(good))
