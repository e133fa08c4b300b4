"""Where everything is printed: names and values from data literally, for they may hold markup or control characters."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeVar

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table
from rich.text import Text

T = TypeVar("T")

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")

out = Console(markup=False, emoji=False, highlight=False)
err = Console(markup=False, emoji=False, highlight=False, stderr=True)


def say(text: str) -> None:
    """Print a line as it is, however long."""
    out.print(_literal(text), soft_wrap=True)


def complain(message: str) -> None:
    """Print an error as one red line."""
    err.print(_literal(f"Error: {' '.join(message.split())}", style="red"), soft_wrap=True)


def show_table(title: str, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print a table whose first column holds names and whose other columns hold numbers."""
    out.print(_literal(title, style="bold"))
    table = Table()
    for position, name in enumerate(header):
        table.add_column(_literal(name), justify="right" if position else "left", overflow="fold")
    for row in rows:
        table.add_row(*map(_literal, row))
    out.print(table)


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


def _literal(text: str, style: str = "") -> Text:
    """Text that can neither style itself nor steer the terminal."""
    return Text(_CONTROL.sub("�", text), style=style)
