"""Warnings about the user's data are issued once per call: fits and predictions inside of a call issue none."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class _State(threading.local):
    depth = 0


_state = _State()


@contextmanager
def quiet(wanted: bool = True) -> Iterator[None]:
    """No warnings about data from this thread: they were checked already, or the library made them.

    Also a decorator: `@quiet()`.
    """
    _state.depth += wanted
    try:
        yield
    finally:
        _state.depth -= wanted


def is_quiet() -> bool:
    """Whether data were checked already."""
    return _state.depth > 0
