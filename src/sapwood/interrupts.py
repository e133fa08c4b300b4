"""Interrupts: Ctrl-C and SIGTERM ask training to end after the present round; a second one ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)
INTERRUPTED = "interrupted by"  # how the reason of a training that a signal ended begins


class Interrupts:
    """A context in which `signal_name` is the signal that asks training to end, or None."""

    def __init__(self) -> None:
        self.signal_name: str | None = None
        self._before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> Self:
        """Install handlers; only the main thread may, and only it receives signals."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._receive)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Restore the previous handlers."""
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def _receive(self, number: int, frame: FrameType | None) -> None:
        if self.signal_name is None:
            self.signal_name = signal.Signals(number).name
            return
        before = self._before[signal.Signals(number)]
        if callable(before):
            before(number, frame)
        else:
            raise KeyboardInterrupt
