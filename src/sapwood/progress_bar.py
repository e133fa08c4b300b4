"""A progress bar as text on the standard error, without dependencies."""

from __future__ import annotations

import math
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self, TextIO, TypeVar

Answer = TypeVar("Answer")

WIDTH = 30
FULL, REST = "█", "░"
SECONDS_BETWEEN = 0.1  # a bar that is drawn more often is slow, and no easier to read
PERCENT_BETWEEN = 10  # lines of work in a file
ROUNDING = 1e-6  # that sums of parts may lack
SECONDS_IN_NOTEBOOK = 0.5  # a notebook is sent, and keeps, each of them


class RoundProgress(Protocol):
    """What a bar shows of a round; `Progress` and `FoldsProgress` both have it."""

    @property
    def round(self) -> int:
        """Rounds done."""

    @property
    def n_rounds(self) -> int:
        """Rounds wanted."""

    @property
    def seconds(self) -> float:
        """Time passed."""

    @property
    def history(self) -> Mapping[str, Mapping[str, list[float]]]:
        """Curves so far."""


@dataclass(frozen=True)
class Shown:
    """A `RoundProgress` with nothing else."""

    round: int
    n_rounds: int
    seconds: float
    history: Mapping[str, Mapping[str, list[float]]]


_state = threading.local()


@contextmanager
def shown_by(show: Callable[[RoundProgress], None]) -> Iterator[None]:
    """Call a function after each round in place of the bars of estimators that are trained meanwhile."""
    _state.show = show
    try:
        yield
    finally:
        _state.show = None


class ProgressBar:
    """A callback that shows every round; nothing if verbose is 0.

    On a terminal and in a notebook, one line is drawn over and over; elsewhere a line is written every `verbose`
    rounds. Use it as a context: leaving it shows the last round and ends the line, however training ended.
    """

    def __init__(self, verbose: bool | int = True, stream: TextIO | None = None) -> None:
        self._every = int(verbose)
        self._given = stream
        self._drawn = -math.inf
        self._last: RoundProgress | None = None  # that was not drawn
        self._width = 0  # of the line drawn last, 0 if there is none
        self._n_told: int | None = None  # lines that were due so far

    def __enter__(self) -> Self:
        """Nothing is shown before the first round."""
        return self

    def __exit__(self, *_: object) -> None:
        """Show the last round and end the line."""
        if self._last is not None:
            self._draw(self._last)
        if self._width:
            self._write("\n")
            self._width = 0

    def __call__(self, progress: RoundProgress) -> None:
        """Show a round."""
        other = getattr(_state, "show", None)
        if other is not None:
            other(progress)
            return
        if not self._every:
            return
        last = progress.round == progress.n_rounds
        between = seconds_between(self._stream)
        if between is None:
            due = progress.round // self._every
            if last or due > (self._n_told if self._n_told is not None else (progress.round - 1) // self._every):
                self._write(describe(progress) + "\n")
            self._n_told = due
        elif last or progress.seconds - self._drawn >= between:
            self._draw(progress)
        else:
            self._last = progress

    @property
    def _stream(self) -> TextIO:
        """The standard error is looked up each time, since it may be redirected."""
        return sys.stderr if self._given is None else self._given

    def _draw(self, progress: RoundProgress) -> None:
        text = f"{bar(progress.round, progress.n_rounds)} {describe(progress)}"
        self._drawn, self._last = progress.seconds, None
        line = "\r" + text.ljust(self._width)
        try:
            self._write(line)
        except UnicodeEncodeError:  # a terminal without blocks
            self._write(line.replace(FULL, "#").replace(REST, "."))
        self._width = len(text)

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


class WorkBar:
    """Shows how many percent of some work are done; several threads may add to it."""

    def __init__(self, total: float, verbose: bool | int = True, stream: TextIO | None = None) -> None:
        self._total, self._done, self._percent = total, 0.0, -1
        self._begin, self._lock = time.monotonic(), threading.Lock()
        self._bar = ProgressBar(PERCENT_BETWEEN * int(bool(verbose)), stream)

    def __enter__(self) -> Self:
        """Nothing is shown before some work is done."""
        return self

    def __exit__(self, *ended: object) -> None:
        """End the line."""
        self._bar.__exit__(*ended)

    def add(self, work: float) -> None:
        """Some more is done."""
        with self._lock:
            self._done += work
            percent = int(100.0 * self._done / self._total + ROUNDING) if self._total else 100
            if percent > self._percent:
                self._percent = percent
                self._bar(Shown(percent, 100, time.monotonic() - self._begin, {}))

    def counted(self, tasks: Sequence[Callable[[], Answer]], work: float = 1.0) -> list[Callable[[], Answer]]:
        """The tasks, each of which adds its work once it is done."""
        return [partial(self._do, task, work) for task in tasks]

    def _do(self, task: Callable[[], Answer], work: float) -> Answer:
        answer = task()
        self.add(work)
        return answer


def seconds_between(stream: TextIO) -> float | None:
    """How often a line may be redrawn on a terminal or in a notebook; None where lines cannot be."""
    if stream.isatty():
        return SECONDS_BETWEEN
    return SECONDS_IN_NOTEBOOK if type(stream).__module__.startswith("ipykernel.") else None


def bar(done: int, wanted: int) -> str:
    """A bar filled in proportion."""
    filled = WIDTH * done // max(wanted, 1)
    return FULL * filled + REST * (WIDTH - filled)


def describe(progress: RoundProgress) -> str:
    """Rounds, the last value of every curve, and the time."""
    curves = ((rows, metric, curve) for rows, own in progress.history.items() for metric, curve in own.items())
    values = [f"{rows}-{metric} {curve[-1]:.5g}" for rows, metric, curve in curves]
    return "  ".join([f"{progress.round}/{progress.n_rounds}", *values, f"{progress.seconds:.1f} s"])
