"""What happens while kernels are compiled: garbage collection pauses, a message explains long waits, forks wait."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext, suppress

from llvmlite.binding import ffi
from numba.core import event
from numba.core.compiler_lock import global_compiler_lock

PATIENCE = 1.0  # seconds of compiling that need no explanation
TEXT = "sapwood: compiling kernels; later runs reuse them (SAPWOOD_QUIET=1 hides this line)"

_llvm_lock: AbstractContextManager[object] = getattr(ffi.lib, "_lock", nullcontext())


def watch_compilations() -> None:
    """Listen to the compiler, and let every fork wait until no other thread compiles."""
    event.register("numba:compile", _compilations)
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)


class Compilations(event.Listener):
    """Pauses the garbage collector while our kernels are compiled, and writes one line if that takes long.

    The compiler makes millions of small objects that live until it is done; looking for garbage among them takes a
    sixth of its time. A kernel compiles others, and each start reads the clock. Compilations are nested, but
    never concurrent: Numba holds a lock.
    """

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self.n_running = 0  # of all kernels, also those of others that call ours
        self._depth = 0
        self._begun = 0.0
        self._seconds = 0.0
        self._announced = False
        self._resume = False

    def on_start(self, begun: event.Event) -> None:
        """Stop collecting when the outermost compilation begins; print the message once it takes long."""
        self.n_running += 1
        if not _is_ours(begun):
            return
        now = self._clock()
        if self._depth == 0:
            self._begun, self._resume = now, gc.isenabled()
            gc.disable()
        self._depth += 1
        if not self._announced and self._seconds + now - self._begun > PATIENCE:
            self._announced = True
            _print(TEXT)

    def on_end(self, ended: event.Event) -> None:
        """Resume collecting when the outermost compilation has ended, with or without an error; add up its time."""
        self.n_running -= 1
        if not _is_ours(ended):
            return
        self._depth -= 1
        if self._depth == 0:
            self._seconds += self._clock() - self._begun
            if self._resume:
                gc.enable()


_compilations = Compilations()


def is_compiling() -> bool:
    """Whether a kernel is being compiled; only for callers that hold the compiler's lock."""
    return _compilations.n_running > 0


def _is_ours(compilation: event.Event) -> bool:
    function = getattr(compilation.data.get("dispatcher"), "py_func", None)
    return str(getattr(function, "__module__", "")).startswith("sapwood.")


def _print(text: str) -> None:
    """Write a line, unless it is unwanted or cannot be shown: a closed stream must not end a fit."""
    if os.environ.get("SAPWOOD_QUIET", "0") in ("", "0") and sys.stderr is not None:
        with suppress(OSError, ValueError):
            sys.stderr.write(text + "\n")
            sys.stderr.flush()


def _hold() -> None:
    """Take the locks in the order in which a compilation takes them.

    A child that is forked while another thread compiles inherits the compiler's locks, but not the thread that would
    release them, and a compiler that was left in the middle of its work: it would wait forever at its first new
    kernel.
    """
    global_compiler_lock.acquire()
    _llvm_lock.__enter__()


def _release() -> None:
    _llvm_lock.__exit__(None, None, None)
    global_compiler_lock.release()
