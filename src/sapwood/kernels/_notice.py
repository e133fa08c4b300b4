"""A line on the standard error when kernels are compiled and it takes a while, once in a process.

    sapwood: compiling kernels; later runs reuse them

SAPWOOD_QUIET=1 keeps it away.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from numba.core import event

PATIENCE = 1.0  # seconds of compiling that need no explanation
TEXT = "sapwood: compiling kernels; later runs reuse them (SAPWOOD_QUIET=1 hides this line)"


def tell_of_long_compilations() -> None:
    """Listen to the compiler."""
    event.register("numba:compile", Notice())


class Notice(event.Listener):
    """Adds up the time in which kernels are compiled; they compile others, and each beginning is a look at the clock.

    Compilations are nested, but never concurrent: Numba holds a lock.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._seconds = 0.0
        self._begun = 0.0
        self._depth = 0
        self._said = False

    def on_start(self, begun: Any) -> None:
        """Say what takes so long, before more of it."""
        if not _is_ours(begun):
            return
        now = self._clock()
        if self._depth == 0:
            self._begun = now
        self._depth += 1
        if not self._said and self._seconds + now - self._begun > PATIENCE:
            self._said = True
            _say(TEXT)

    def on_end(self, ended: Any) -> None:
        """Add up the time of the outermost compilation."""
        if _is_ours(ended):
            self._depth -= 1
            if self._depth == 0:
                self._seconds += self._clock() - self._begun


def _is_ours(compilation: Any) -> bool:
    function = getattr(compilation.data.get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("sapwood.")


def _say(text: str) -> None:
    """Write a line, unless nobody wants or could see it: a closed stream must not end a fit."""
    if os.environ.get("SAPWOOD_QUIET", "0") in ("", "0") and sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()
