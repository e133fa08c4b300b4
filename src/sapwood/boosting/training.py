"""Training: rounds until all are done, or until there is a reason to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sapwood.arrays import Floats
from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.history import Curves, History
from sapwood.boosting.rate import Rate
from sapwood.boosting.rounds import Rounds
from sapwood.boosting.whole_rounds import WholeRounds
from sapwood.counted import counted
from sapwood.errors import warn_user
from sapwood.interrupts import INTERRUPTED, Interrupts
from sapwood.progress_bar import ProgressBar, describe
from sapwood.result import Part, Result

ALL_DONE = "all rounds done"
AT_ONCE = 16  # rounds between two looks at interrupts
CELLS_AT_ONCE = 1 << 24  # fewer if these are more than so many cells for each tree, which take some 50 ms
TIME_LIMIT = "max_seconds="  # how the reason of a training that took too long begins
Callback = Callable[[Any], bool | None]  # of a Progress, or in a cross-validation of a FoldsProgress


@dataclass(frozen=True, eq=False)
class Outcome:
    """The trained ensemble, all rounds of it; `best_round` counts from 0 and is None if nothing was measured."""

    ensemble: Ensemble
    history: History
    best_round: int | None
    stopped_reason: str
    scores: Floats | None = None  # (n_scores, rows) of the training rows


@dataclass(frozen=True, eq=False, repr=False)
class AnyProgress:
    """The argument of callbacks after each round, of one model or of all folds."""

    round: int  # rounds done, including those of the model it continues
    n_rounds: int  # rounds wanted
    history: Curves
    best_round: int | None
    seconds: float
    n_new: int  # rounds of each model since the last of these

    def _parts(self) -> Iterator[Part]:
        yield f"{type(self).__name__}({describe(self)})"


@dataclass(frozen=True, eq=False, repr=False)
class Progress(AnyProgress, Result):
    """The argument of callbacks after each round."""

    rounds: Rounds
    log: History

    @property
    def ensemble(self) -> Ensemble:
        """The model so far."""
        return self.rounds.ensemble

    def outcome(self, reason: str) -> Outcome:
        """The outcome if training ended here."""
        return Outcome(self.ensemble, self.log, self.best_round, reason, self.rounds.score)


@dataclass(frozen=True, eq=False)
class Plan:
    """How long to train."""

    n_rounds: int
    rate: Rate
    early_stopping_rounds: int | None = None
    max_seconds: float | None = None
    callbacks: Sequence[Callback] = ()
    guard: Callable[[Any], None] | None = (
        None  # raises an error if training diverges; called after one round or several
    )
    keep: Callable[[Any], None] | None = None  # called after a round if another one follows
    verbose: int = 0  # see ProgressBar

    @property
    def looks_rarely(self) -> bool:
        """Whether nothing but an interrupt can happen between two rounds."""
        return not (self.callbacks or self.keep or self.verbose or self.max_seconds is not None)


def train(rounds: Rounds, history: History, plan: Plan) -> Outcome:
    """Train one model until there is a reason to stop."""
    before, reason = rounds.start.n_rounds, ALL_DONE
    whole, at_once = None, 1
    if not plan.callbacks and WholeRounds.suits(rounds, plan.rate):  # callbacks are given everything of the last round
        whole = WholeRounds(rounds)
        if plan.looks_rarely and not history.validation_sets:
            cells = rounds.table.n_rows * rounds.table.n_features * rounds.loss.n_scores
            at_once = max(1, min(AT_ONCE, CELLS_AT_ONCE // cells))

    def best() -> int | None:
        return None if history.best is None else before + history.best

    def advance(begin: float) -> Progress:
        before_these = rounds.n_done
        if whole is None:
            rounds.advance(plan.rate)
        else:
            wanted = range(rounds.n_done, min(rounds.n_done + at_once, before + plan.n_rounds))
            whole.advance([plan.rate(t, lambda: 0.0) for t in wanted])
        history.record(rounds.loss)
        done, seconds = rounds.n_done, time.monotonic() - begin
        n_new = done - before_these
        return Progress(done, before + plan.n_rounds, history.curves, best(), seconds, n_new, rounds, history)

    if rounds.n_done < before + plan.n_rounds:
        reason = advance_until_stop(advance, plan, "Training", "model")
    return Outcome(rounds.ensemble, history, best(), reason, rounds.score)


def advance_until_stop(advance: Callable[[float], AnyProgress], plan: Plan, what: str, result: str) -> str:
    """Advance by rounds and call back after each one, until there is a reason to stop; returns it."""
    begin, reason = time.monotonic(), None
    with Interrupts() as interrupts, ProgressBar(plan.verbose) as show:
        while reason is None:
            progress = advance(begin)
            show(progress)
            stops = [callback(progress) for callback in plan.callbacks]
            if plan.guard is not None:
                plan.guard(progress)
            reason = _reason_to_stop(plan, progress, any(stops), interrupts.signal_name)
            if reason is None and plan.keep is not None:
                plan.keep(progress)
    if reason.startswith(INTERRUPTED):
        done = counted(progress.round, "round")
        warn_user(f"{what} was {reason} after {done}; the {result} holds the rounds done so far.")
    return reason


def _reason_to_stop(plan: Plan, progress: AnyProgress, callback_stops: bool, interrupt: str | None) -> str | None:
    """Why training ends now; None to continue."""
    patience, best = plan.early_stopping_rounds, progress.best_round
    if interrupt is not None:
        return f"{INTERRUPTED} {interrupt}"
    if callback_stops:
        return "a callback asked to stop"
    if plan.max_seconds is not None and progress.seconds >= plan.max_seconds:
        return f"{TIME_LIMIT}{plan.max_seconds} reached"
    if patience is not None and best is not None and progress.round - 1 - best >= patience:
        return f"no better round for early_stopping_rounds={patience}"
    return ALL_DONE if progress.round >= progress.n_rounds else None
