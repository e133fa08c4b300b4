"""Warnings of drift on the command line: a note, once in a command."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sapwood.cli.console import note
from sapwood.errors import DataDriftWarning


@contextmanager
def drift_as_note() -> Iterator[None]:
    """Show the first `DataDriftWarning` as a line of text; other warnings are shown as ever."""
    told: list[str] = []

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if not isinstance(message, DataDriftWarning):
            as_ever(message, category, filename, lineno, file, line)
        elif not told:
            told.append(message.summary)
            note(f"{message.summary} sapwood check MODEL --input FILE shows the figures.")

    with warnings.catch_warnings():
        as_ever, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", DataDriftWarning)
        yield
