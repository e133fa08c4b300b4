"""Processes that compile some kernels while this one compiles others; it finds theirs on disk.

Numba compiles with one thread. Whoever is about to enter large kernels says so (`shared`), and a helper starts when the
first of them really must be compiled: `python -m sapwood.compilation.helper`, which neither inherits threads nor runs
the caller's script. A helper is never waited for: what it has not compiled in time is compiled here. It ends when its
work is done, or when this process ends.

No helper starts where it could do no good or harm: on one core, where nothing can be stored, in processes of
multiprocessing and joblib, in programs that embed Python, and with SAPWOOD_COMPILE_ALONE=1.
"""

from __future__ import annotations

import atexit
import os
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import current_process
from pathlib import Path

from numba.core import config, event

from sapwood.kernels._cache import can_store, is_stored
from sapwood.threads import available_cores

ALONE = "SAPWOOD_COMPILE_ALONE"
_HELPER = "sapwood.compilation.helper"
_NOWHERE = subprocess.DEVNULL

_helpers: list[tuple[int, subprocess.Popen[bytes]]] = []  # each with the process that it belongs to


class Need(event.Listener):
    """Starts helpers when a kernel of ours is compiled while there are parts to share."""

    def __init__(self) -> None:
        self.parts: tuple[str, ...] = ()

    def on_start(self, begun: event.Event) -> None:
        """Start them once."""
        function = getattr(begun.data.get("dispatcher"), "py_func", None)
        if self.parts and str(getattr(function, "__module__", "")).startswith("sapwood."):
            parts, self.parts = self.parts, ()
            start_helpers(parts)

    def on_end(self, ended: event.Event) -> None:
        """Nothing to do."""


_need = Need()


def watch_need() -> None:
    """Listen to the compiler."""
    event.register("numba:compile", _need)


@contextmanager
def shared(*parts: str) -> Iterator[None]:
    """Let helpers compile these parts of `sapwood.compilation.helper` if a kernel must be compiled meanwhile."""
    _need.parts = parts
    try:
        yield
    finally:
        _need.parts = ()


def start_ahead(*parts: str, unless_stored: str) -> None:
    """Start helpers now, unless a kernel, as module and name, is on disk already."""
    if not is_stored(unless_stored):
        start_helpers(parts)


def start_helpers(parts: Sequence[str]) -> None:
    """Start as many processes as there are parts and free cores; they end when they have compiled their parts."""
    if _helpers or not _may_start():
        return
    n_helpers = min(len(parts), available_cores() - 1)
    for k in range(n_helpers):
        with suppress(OSError):
            command = [sys.executable, "-m", _HELPER, *parts[k::n_helpers]]
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=_NOWHERE, stderr=_NOWHERE, env=environment()
            )
            _helpers.append((os.getpid(), process))
            threading.Thread(target=process.wait, daemon=True).start()  # leaves no zombie
    atexit.register(_end_helpers)


def environment() -> dict[str, str]:
    """For a process that compiles alone, finds the modules that this one finds, and stores kernels where it does."""
    modules = os.pathsep.join(filter(None, sys.path))
    found = {**os.environ, "PYTHONPATH": modules, "SAPWOOD_QUIET": "1", ALONE: "1"}
    folder = getattr(config, "CACHE_DIR", "")
    return {**found, "NUMBA_CACHE_DIR": folder} if folder else found


def _may_start() -> bool:
    is_alone = os.environ.get(ALONE, "0") not in ("", "0") or current_process().name != "MainProcess"
    name = Path(sys.executable or "").name.lower()
    is_python = name.startswith(("python", "pypy")) and not getattr(sys, "frozen", False)
    return is_python and not is_alone and available_cores() > 1 and can_store()


def _end_helpers() -> None:
    for owner, process in _helpers:
        if owner == os.getpid():  # not of a process that was forked
            process.kill()
            process.wait()
            if process.stdin is not None:
                process.stdin.close()


__all__ = ["environment", "shared", "start_ahead", "start_helpers", "watch_need"]
