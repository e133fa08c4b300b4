"""Training of AdaBoost: learners one after the other, each on rows weighted by the errors of those before it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, Protocol

import numpy as np

from sapwood.adaboost.step import Step, normalised, resampled
from sapwood.arrays import Array, Floats
from sapwood.counted import counted
from sapwood.errors import InputError, warn_user
from sapwood.interrupts import INTERRUPTED, Interrupts
from sapwood.packed_tree import PackedTree
from sapwood.progress_bar import ProgressBar, Shown
from sapwood.table.table import Table

LARGEST_SEED = np.iinfo(np.int32).max


class Members(Protocol):
    """Fitted learners; each predicts a class number, or a number, for every row."""

    fitted: list[Any]

    def predictions(self, X: Any, table: Table | None) -> Iterator[Floats]:
        """Predictions of each for new rows."""


class Learner(Protocol):
    """Fits one member after the other to the same rows."""

    @property
    def members(self) -> Members:
        """Those fitted so far."""

    def fit(self, weight: Floats, drawn: Array | None, seed: int, done: PackedTree | None = None) -> Floats:
        """Fit one more, to all rows by weight or to rows that were drawn; returns its predictions for all rows."""


@dataclass(eq=False)
class Training:
    """What is trained, how, and what there is so far: weights and errors of the learners, and their seeds."""

    learner: Learner
    step: Callable[[Floats, Floats], Step]  # from predictions and weights of the rows
    n_learners: int
    draws: np.random.RandomState
    resample: bool  # draw rows by weight
    keeps_first: bool  # even if it is no better than guessing
    keep: Callable[[int], None] | None = None  # called after each learner
    weights: Floats = field(init=False)
    errors: Floats = field(init=False)
    seeds: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.weights, self.errors = np.zeros(self.n_learners), np.ones(self.n_learners)


def train(training: Training, weight: Floats, done: Sequence[PackedTree] = (), verbose: int = 0) -> str:
    """Train on rows of these weights; `done` are trees of an interrupted training. Returns why training ended."""
    start, weight = perf_counter(), weight / weight.sum()
    with Interrupts() as interrupts, ProgressBar(verbose) as show:
        for t in range(training.n_learners):
            weight = normalised(weight)
            training.seeds.append(int(training.draws.randint(LARGEST_SEED)))
            drawn = resampled(weight, training.draws.random_sample(len(weight))) if training.resample else None
            predicted = training.learner.fit(weight, drawn, training.seeds[-1], done[t] if t < len(done) else None)
            step = training.step(predicted, weight)
            _record(training, t, step)
            if step.row_weights is None:
                return str(step.reason)
            errors = {"train": {"error": training.errors[: t + 1].tolist()}}
            show(Shown(t + 1, training.n_learners, perf_counter() - start, errors))
            if interrupts.signal_name is not None:
                reason = f"{INTERRUPTED} {interrupts.signal_name} after {counted(t + 1, 'learner')}"
                warn_user(f"Training was {reason}; the model holds the learners fitted so far.")
                return reason
            if training.keep is not None and t + 1 < training.n_learners:
                training.keep(t + 1)
            weight = step.row_weights
    return "all learners were fitted"


def _record(training: Training, t: int, step: Step) -> None:
    """Record the error and the weight of a learner; a useless one is dropped."""
    fitted = training.learner.members.fitted
    if step.weight is not None:
        training.errors[t], training.weights[t] = step.error, step.weight
    elif len(fitted) > 1:
        fitted.pop()
    elif not training.keeps_first:
        raise InputError(
            f"The first learner has a weighted error of {step.error:.3g}, which is no better than guessing: the "
            "ensemble cannot be fit. Use a stronger estimator, or check that X is related to y."
        )
