"""Where everything is printed: names and values from data literally, for they may hold markup or control characters."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

T = TypeVar("T")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

out = Console(markup=False, emoji=False, highlight=False)
err = Console(markup=False, emoji=False, highlight=False, stderr=True)


def say(text: str) -> None:
    """Print a line as it is, however long."""
    out.print(_literal(text), soft_wrap=True)


def say_sample(sample: Any) -> None:
    """Print what is notable of the columns of training rows, and the task."""
    for note in sample.notes:
        say(note)
    say(f"Task: {sample.task}, because {sample.choice.why}.")


def complain(message: str) -> None:
    """Print an error as one red line."""
    err.print(_literal(f"Error: {' '.join(message.split())}", style="red"), soft_wrap=True)


def note(message: str) -> None:
    """Print a note as one yellow line, beside the results."""
    err.print(_literal(f"Note: {' '.join(message.split())}", style="yellow"), soft_wrap=True)


def show_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], n_names: int = 1) -> None:
    """Print a table whose first columns hold names and whose other columns hold numbers."""
    out.print(_literal(title, style="bold"))
    table = Table()
    for position, name in enumerate(header):
        table.add_column(_literal(name), justify="left" if position < n_names else "right", overflow="fold")
    for row in rows:
        table.add_row(*map(_literal, row))
    out.print(table)


@contextmanager
def on_stderr(wanted: bool = True) -> Iterator[None]:
    """Print on the standard error what is said meanwhile, if the standard output is for data."""
    global out  # noqa: PLW0603
    before = out
    out = err if wanted else out
    try:
        yield
    finally:
        out = before


@contextmanager
def share_bar(name: str) -> Iterator[Callable[[float], None]]:
    """A progress bar that is told the share that is done; on a terminal only."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
        task = progress.add_task(name, total=1.0)
        yield lambda share: progress.update(task, completed=share)


def track(steps: Sequence[T], names: Sequence[str]) -> Iterator[T]:
    """Yield the steps with a progress bar that names the one under way."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("", total=len(steps))
        for step, name in zip(steps, names, strict=True):
            progress.update(task, description=name)
            yield step
            progress.advance(task)
        progress.update(task, description="done")


@contextmanager
def count(name: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar that is told what was done last, how much is done, and how much there is."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(name, total=None)
        yield lambda done_last, done, wanted: progress.update(
            task, description=f"{name}: {done_last}", completed=done, total=wanted
        )


class RoundsBar:
    """A progress bar of boosting: a callback that is told of each round, in a context that ends the bar.

    Nothing is drawn before the first round, so that an error in the data stands alone.
    """

    def __init__(self, name: str) -> None:
        columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn())
        curves = TextColumn("{task.fields[curves]}", markup=False)
        self._progress = Progress(*columns, curves, TimeElapsedColumn(), console=err)
        self._task = self._progress.add_task(name, total=None, curves="")
        self._begun = False

    def __enter__(self) -> Self:
        """Wait for the first round."""
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the bar as it is."""
        if self._begun:
            self._progress.stop()

    def __call__(self, told: Any) -> None:
        """Show a round."""
        if not self._begun:
            self._progress.start()
            self._begun = True
        curves = [f"{rows} {name} {c[-1]:.4g}" for rows, own in told.history.items() for name, c in own.items()]
        self._progress.update(self._task, total=told.n_rounds, completed=told.round, curves="  ".join(curves))


def _literal(text: str, style: str = "") -> Text:
    """Text that can neither style itself nor steer the terminal."""
    return Text(_CONTROL.sub("�", text), style=style)
