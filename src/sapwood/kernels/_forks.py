"""A process forks between two compilations, never during one.

A child that is forked while another thread compiles inherits the compiler's locks, but not the thread that would
release them, and a compiler that was left in the middle of its work: it would wait for ever at its first new kernel.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from llvmlite.binding import ffi
from numba.core.compiler_lock import global_compiler_lock

_llvm_lock: AbstractContextManager[Any] = getattr(ffi.lib, "_lock", nullcontext())


def fork_between_compilations() -> None:
    """Let every fork wait until no other thread compiles."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=_hold, after_in_parent=_release, after_in_child=_release)


def _hold() -> None:
    """Take the locks in the order in which a compilation takes them."""
    global_compiler_lock.acquire()
    _llvm_lock.__enter__()


def _release() -> None:
    _llvm_lock.__exit__(None, None, None)
    global_compiler_lock.release()
