"""Warnings on the command line: a note for each, once in a command, without a line of code."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sapwood.cli.console import note
from sapwood.errors import DataDriftWarning


@contextmanager
def warnings_as_notes() -> Iterator[None]:
    """Show warnings for users as lines of text, equal ones and those of drift once; others are shown as ever."""
    told: set[Any] = set()

    def show(message: Any, category: Any, filename: str, lineno: int, file: Any = None, line: Any = None) -> None:
        if not issubclass(category, UserWarning):
            as_ever(message, category, filename, lineno, file, line)
            return
        is_drift = isinstance(message, DataDriftWarning)
        key = DataDriftWarning if is_drift else str(message)
        if key not in told:
            told.add(key)
            note(f"{message.summary} sapwood check MODEL --input FILE shows the figures." if is_drift else str(message))

    with warnings.catch_warnings():
        as_ever, warnings.showwarning = warnings.showwarning, show
        warnings.simplefilter("always", DataDriftWarning)
        yield
