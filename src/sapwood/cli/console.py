"""Printing on the terminal: lines, tables and progress bars. Markup and control characters in data have no effect."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Self, TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

from sapwood.progress_bar import RoundProgress

T = TypeVar("T")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

out = Console(markup=False, emoji=False, highlight=False)
err = Console(markup=False, emoji=False, highlight=False, stderr=True)


def print_line(text: str) -> None:
    """Print text literally, without wrapping lines."""
    out.print(_literal(text), soft_wrap=True)


def print_error(message: str) -> None:
    """Print an error as one red line."""
    err.print(_literal(f"Error: {' '.join(message.split())}", style="red"), soft_wrap=True)


def print_note(message: str) -> None:
    """Print a note as one yellow line on standard error."""
    err.print(_literal(f"Note: {' '.join(message.split())}", style="yellow"), soft_wrap=True)


def print_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]], n_names: int = 1) -> None:
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
    """Print on standard error meanwhile, if standard output is for data."""
    global out  # noqa: PLW0603
    before = out
    out = err if wanted else out
    try:
        yield
    finally:
        out = before


@contextmanager
def share_bar(name: str) -> Iterator[Callable[[float], None]]:
    """A progress bar of the share that is done; on a terminal only."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), TaskProgressColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err, disable=not err.is_terminal) as progress:
        task = progress.add_task(name, total=1.0)
        yield lambda share: progress.update(task, completed=share)


def track(steps: Sequence[T], names: Sequence[str]) -> Iterator[T]:
    """Yield the steps, with a progress bar that names the current one."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err) as progress:
        task = progress.add_task("", total=len(steps))
        for step, name in zip(steps, names, strict=True):
            progress.update(task, description=name)
            yield step
            progress.advance(task)
        progress.update(task, description="done")


@contextmanager
def counting_bar(name: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar: call it with the last task, the number of tasks done and their total."""
    columns = TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=err) as progress:
        task = progress.add_task(name, total=None)
        yield lambda last, done, total: progress.update(
            task, description=f"{name}: {last}", completed=done, total=total
        )


class RoundsBar:
    """A progress bar of training: a callback for each round, in a context that ends the bar.

    Nothing is drawn before the first round, so that an error in the data is not printed beside a bar.
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

    def rename(self, name: str) -> None:
        """Show what is done now."""
        self._progress.update(self._task, description=name)

    def __call__(self, progress: RoundProgress) -> None:
        """Show a round."""
        if not self._begun:
            self._progress.start()
            self._begun = True
        curves = [f"{rows} {name} {c[-1]:.4g}" for rows, own in progress.history.items() for name, c in own.items()]
        self._progress.update(self._task, total=progress.n_rounds, completed=progress.round, curves="  ".join(curves))


def _literal(text: str, style: str = "") -> Text:
    """Text without markup and control characters."""
    return Text(_CONTROL.sub("�", text), style=style)
