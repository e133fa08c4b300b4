"""What happens while kernels are compiled."""

from __future__ import annotations

import gc
from typing import Any

from numba.core import event


def rest_collector_while_compiling() -> None:
    """Stop looking for garbage while anything is compiled."""
    event.register("numba:compile", _CollectorRest())


class _CollectorRest(event.Listener):
    """Rests the garbage collector while one of our kernels is compiled.

    The compiler makes millions of small objects that live until it is done; looking for garbage among them takes a
    sixth of its time. Compilations are nested, but never concurrent: Numba holds a lock.
    """

    def __init__(self) -> None:
        self._depth = 0
        self._resume = False

    def on_start(self, _event: Any) -> None:
        """Stop collecting when the outermost compilation begins."""
        if self._depth == 0:
            self._resume = gc.isenabled()
            gc.disable()
        self._depth += 1

    def on_end(self, _event: Any) -> None:
        """Go on as before when it has ended, with or without an error."""
        self._depth -= 1
        if self._depth == 0 and self._resume:
            gc.enable()
