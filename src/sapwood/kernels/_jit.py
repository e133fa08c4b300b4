"""The one place that names compiler options.

Kernels are serial and release the interpreter lock; threads are the business of `sapwood.threads`.
`error_model="numpy"` lets a division by zero give inf or NaN instead of a branch on every division.
"""

from __future__ import annotations

import gc
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import event, types
from numba.extending import intrinsic

kernel = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=True, no_cfunc_wrapper=True)  # type: ignore[call-overload]

# A lean kernel allocates nothing and counts no references to its arrays: half the time of small nodes went into
# counting.
lean_kernel = numba.njit(cache=True, nogil=True, error_model="numpy", _nrt=False, no_cfunc_wrapper=True)  # type: ignore[call-overload]

# A part is copied into the kernels that call it before they are compiled, so that it is compiled once and costs no
# call.
part = numba.njit(inline="always", nogil=True, error_model="numpy")

# Row numbers and shifts are unsigned: a signed index costs a wrap-around test on every access.
ONE = np.uint32(1)


@intrinsic
def lowest_bit(_context: Any, _word: Any) -> Any:
    """Position of the lowest bit set in a non-zero uint64 (the `cttz` instruction)."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


class _Breather(event.Listener):
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


event.register("numba:compile", _Breather())
