"""Interrupts: Ctrl-C and SIGTERM ask training to end after the present round; a second one ends it at once."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Self

SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Interrupts:
    """A context in which `asked` tells whether training should end, and by which signal."""

    def __init__(self) -> None:
        self.asked: str | None = None
        self._before: dict[signal.Signals, Callable[[int, FrameType | None], object] | int | None] = {}

    def __enter__(self) -> Self:
        """Listen; only the main thread may, and only it receives signals."""
        if threading.current_thread() is threading.main_thread():
            for number in SIGNALS:
                self._before[number] = signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Leave things as they were."""
        for number, handler in self._before.items():
            signal.signal(number, handler if handler is not None else signal.SIG_DFL)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self.asked is None:
            self.asked = signal.Signals(number).name
            return
        before = self._before[signal.Signals(number)]
        if callable(before):
            before(number, frame)
        else:
            raise KeyboardInterrupt
