"""Training: rounds until there are enough, or until something says stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sapwood.boosting.ensemble import Ensemble
from sapwood.boosting.history import Curves, History
from sapwood.boosting.rate import Rate
from sapwood.boosting.rounds import Rounds
from sapwood.counted import counted
from sapwood.errors import warn_user
from sapwood.interrupts import Interrupts
from sapwood.progress_bar import ProgressBar, describe
from sapwood.result import Part, Result


@dataclass(frozen=True, eq=False)
class Outcome:
    """The trained ensemble, all rounds of it; `best_round` counts from 0 and is None if nothing was watched."""

    ensemble: Ensemble
    history: History
    best_round: int | None
    stopped_reason: str


@dataclass(frozen=True, eq=False, repr=False)
class Progress(Result):
    """What a callback is told after each round."""

    round: int  # rounds done, those of the model it continues included
    n_rounds: int  # rounds wanted
    history: Curves
    best_round: int | None
    seconds: float
    rounds: Rounds = field(repr=False)
    log: History = field(repr=False)

    def _parts(self) -> Iterator[Part]:
        yield f"Progress({describe(self)})"

    @property
    def ensemble(self) -> Ensemble:
        """The model so far."""
        return self.rounds.ensemble

    def outcome(self, reason: str) -> Outcome:
        """What training would come to if it ended here."""
        return Outcome(self.ensemble, self.log, self.best_round, reason)


Callback = Callable[[Progress], bool | None]


@dataclass(frozen=True, eq=False)
class Plan:
    """How long to train."""

    n_rounds: int
    rate: Rate
    early_stopping_rounds: int | None = None
    max_seconds: float | None = None
    callbacks: Sequence[Callback] = ()
    keep: Callable[[Progress], None] | None = None  # called after a round if another one follows
    verbose: int = 0  # see ProgressBar


def train(rounds: Rounds, history: History, plan: Plan) -> Outcome:
    """Advance until a reason to stop is found."""
    begin = time.monotonic()
    n_rounds = rounds.start.n_rounds + plan.n_rounds
    reason = None
    with Interrupts() as interrupts, ProgressBar(plan.verbose) as show:
        while reason is None and rounds.n_done < n_rounds:
            rounds.advance(plan.rate)
            history.record(rounds.loss)
            seconds = time.monotonic() - begin
            best = _best(rounds, history)
            progress = Progress(rounds.n_done, n_rounds, history.curves, best, seconds, rounds, history)
            show(progress)
            asked = [callback(progress) for callback in plan.callbacks]
            reason = reason_to_stop(plan, history.waited, seconds, any(asked), interrupts.asked)
            if plan.keep is not None and reason is None and rounds.n_done < n_rounds:
                plan.keep(progress)
    reason = reason or "all rounds done"
    if interrupts.asked is not None and reason.startswith("interrupted"):
        warn_user(
            f"Training was {reason} after {counted(rounds.n_done, 'round')}; the model holds the rounds done so far."
        )
    return Outcome(rounds.ensemble, history, _best(rounds, history), reason)


def _best(rounds: Rounds, history: History) -> int | None:
    """The best round, counted from the first one of the whole model."""
    return None if history.best is None else rounds.start.n_rounds + history.best


def reason_to_stop(plan: Plan, waited: int, seconds: float, asked: bool, interrupt: str | None) -> str | None:
    """Why training ends now, after so many rounds that were not better; None if it goes on."""
    if interrupt is not None:
        return f"interrupted by {interrupt}"
    if asked:
        return "a callback asked to stop"
    if plan.max_seconds is not None and seconds >= plan.max_seconds:
        return f"max_seconds={plan.max_seconds} reached"
    if plan.early_stopping_rounds is not None and waited >= plan.early_stopping_rounds:
        return f"no better round for early_stopping_rounds={plan.early_stopping_rounds}"
    return None
