"""Stages: what each round did to the loss, on the rows it drew, on those it did not, and on those held out."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.boosting.fitting import Rows
from sapwood.boosting.rate import Rate
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.training import Progress
from sapwood.losses.loss import Loss
from sapwood.metrics.metric import MeanPart, mean
from sapwood.threads import blocks, run_all

BLOCK = 1 << 15  # rows whose losses are summed at a time

CURVES = ("train_score_", "oob_scores_", "oob_improvement_", "validation_score_", "learning_rates_")
"""Fitted attributes that hold a number for each stage."""
FACTORS = {"squared_error": 2.0, "logistic": 2.0, "poisson": 2.0, "gamma": 2.0, "tweedie": 2.0}
"""Losses that are half of what people report: the mean squared error, the mean deviance. (As in scikit-learn.)"""


@dataclass(eq=False)
class Stages:
    """A callback that measures every stage; lists hold a number for each stage of the model, earlier fits included."""

    rows: Rows
    held_out: Array | None = None
    train: list[float] = field(default_factory=list)
    oob: list[float] = field(default_factory=list)
    improvement: list[float] = field(default_factory=list)
    validation: list[float] = field(default_factory=list)
    rates: list[float] = field(default_factory=list)
    knows_oob: bool = False  # the last number in `oob` was measured
    loss: Loss | None = None  # of the last stage
    reason: str | None = None  # why training stopped, if a stage stopped it

    @classmethod
    def after(cls, model: Any, rows: Rows, held_out: Array | None, subsample: float) -> Stages:
        """The stages of a model that continues, of which something was not measured, have 0 there."""
        if model is None:
            return cls(rows, held_out)
        before = np.zeros(model.ensemble_.n_rounds)
        measured = (True, subsample < 1.0, subsample < 1.0, held_out is not None, True)
        pairs = zip(CURVES, measured, strict=True)
        curves = [list(getattr(model, name, before if is_measured else ())) for name, is_measured in pairs]
        stages = cls(rows, held_out, loss=model.loss_)
        stages.train, stages.oob, stages.improvement, stages.validation, stages.rates = curves
        stages.knows_oob = bool(stages.oob and stages.oob[-1] != 0.0)
        return stages

    def curves(self) -> dict[str, Floats]:
        """The curves that were measured, by the names of fitted attributes, as long as there are stages."""
        measured = (self.train, self.oob, self.improvement, self.validation, self.rates)
        done = len(self.train)
        named = zip(CURVES, measured, strict=True)
        return {name: np.array([*curve, *[0.0] * (done - len(curve))]) for name, curve in named if curve}

    def noting(self, rate: Rate) -> Rate:
        """The learning rates of a plan, each of which is kept."""

        def noted(stage: int, norm: Callable[[], float]) -> float:
            self.rates.append(rate(stage, norm))
            return self.rates[-1]

        return noted

    def __call__(self, progress: Progress) -> None:
        """Measure the stage that has just been added."""
        rounds = progress.rounds
        self.loss = rounds.loss
        drawn, rest = _drawn_rows(rounds)
        self.train.append(mean_loss(rounds, rounds.score, drawn))
        if rest is not None:
            self._measure_rest(progress, rest)
        if self.held_out is not None:
            self.validation.append(mean_loss(rounds, rounds.score, self.held_out))

    def _measure_rest(self, progress: Progress, rest: Array) -> None:
        """The loss of rows that were not drawn, and how much lower it is than at the stage before.

        Each stage has its own rows; of the first one, the same rows are looked at before and after.
        """
        rounds = progress.rounds
        if self.knows_oob:
            before = self.oob[-1]
        else:
            n_jobs = rounds.options.n_jobs
            score = progress.ensemble.scores(self.rows.table, rounds.n_done - 1, n_jobs, self.rows.offset)
            before = mean_loss(rounds, score, rest)
        self.oob.append(mean_loss(rounds, rounds.score, rest))
        self.improvement.append(before - self.oob[-1])
        self.knows_oob = True


def mean_loss(rounds: Rounds, scores: Floats, rows: Array | None) -> float:
    """Weighted mean of the losses of some rows (None: all), as people report it; NaN without rows."""
    of = slice(None) if rows is None else rows
    y, score, weight = rounds.y[of], scores[:, of], None if rounds.weight is None else rounds.weight[of]

    def part(start: int, stop: int) -> MeanPart:
        own = None if weight is None else weight[start:stop]
        return losses_of_part(rounds.loss, y[start:stop], score[:, start:stop], own)

    parts = run_all([partial(part, *block) for block in blocks(len(y), BLOCK)], rounds.options.n_jobs)
    return reported_loss(rounds.loss, parts)


def losses_of_part(loss: Loss, y: Array, score: Floats, weight: Floats | None) -> MeanPart:
    """Sums of the losses of a part's rows."""
    return MeanPart.of(loss.losses(y, score), weight)


def reported_loss(loss: Loss, parts: Sequence[MeanPart]) -> float:
    """The mean loss of the rows of all parts, as people report it; NaN without rows."""
    return FACTORS.get(loss.name, 1.0) * mean(parts) if parts else float("nan")


def _drawn_rows(rounds: Rounds) -> tuple[Array | None, Array | None]:
    """Rows that the last round drew (None: all of the table), and those it did not (None: it drew none)."""
    drawn = rounds.sample
    if rounds.options.subsample >= 1.0 or drawn is None:
        return drawn, None
    is_rest = np.zeros(rounds.shards.n_rows, dtype=np.bool_)
    is_rest[rounds.own_rows] = True
    is_rest[drawn] = False
    return drawn, np.flatnonzero(is_rest)


def stage_facts(progress: Progress) -> dict[str, object]:
    """The local variables that a monitor gets for a stage, by scikit-learn's names."""
    rounds = progress.rounds
    drawn, rest = _drawn_rows(rounds)
    mask = np.zeros(rounds.shards.n_rows, dtype=np.bool_)
    mask[slice(None) if drawn is None else drawn] = True
    return {
        "i": progress.round - 1,
        "y": rounds.y,
        "raw_predictions": rounds.score.T,
        "sample_weight": rounds.weight,
        "sample_mask": mask,
        "n_samples": rounds.shards.n_rows if rounds.rows is None else len(rounds.rows),
        "n_inbag": int(mask.sum()),
        "do_oob": rest is not None,
        "begin_at_stage": rounds.start.n_rounds,
        "progress": progress,
    }


class Patience:
    """A callback that stops training once the validation loss is not lower, by `tol`, than any of the last low ones."""

    def __init__(self, stages: Stages, n_stages: int, tol: float, known: Sequence[float] = ()) -> None:
        self._stages = stages
        self._recent = np.full(n_stages, np.inf)
        self._tol = tol
        for stage, loss in enumerate(known):
            self._is_lower(stage, loss)

    def _is_lower(self, stage: int, loss: float) -> bool:
        is_lower = bool(np.any(loss + self._tol < self._recent))
        if is_lower:
            self._recent[stage % len(self._recent)] = loss
        return is_lower

    def __call__(self, progress: Progress) -> bool:
        """Look at the last stage."""
        if self._is_lower(progress.round - 1, self._stages.validation[-1]):
            return False
        self._stages.reason = f"no better stage for n_iter_no_change={len(self._recent)}"
        return True


def stage_reporter(stages: Stages, verbose: int, with_oob: bool) -> Callable[[Progress], None]:
    """A callback that prints scikit-learn's table: each stage, or with verbose=1 ever fewer of them."""
    names = ["Train Loss", *(["OOB Improve"] if with_oob else []), "Remaining Time"]
    step = 1

    def report(progress: Progress) -> None:
        nonlocal step
        done = progress.round - progress.rounds.start.n_rounds
        if done == 1:
            _write(["Iter", *names])
        if done % step:
            return
        left = (progress.n_rounds - progress.round) * progress.seconds / done
        time = f"{left / 60:.2f}m" if left > 60 else f"{left:.2f}s"
        measured = [stages.train[-1], *([stages.improvement[-1]] if with_oob else [])]
        _write([str(progress.round), *(f"{value:.4f}" for value in measured), time])
        if verbose == 1 and done // (10 * step) > 0:
            step *= 10

    return report


def _write(cells: list[str]) -> None:
    first, *others = cells
    sys.stdout.write(f"{first:>10} " + " ".join(f"{cell:>16}" for cell in others) + "\n")
    sys.stdout.flush()
