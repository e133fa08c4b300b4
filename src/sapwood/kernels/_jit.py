"""The one place that names compiler options.

Kernels are serial and release the interpreter lock; threads are the business of `sapwood.threads`.
`error_model="numpy"` lets a division by zero give inf or NaN instead of a branch on every division.

No kernel may round a product and a sum at once, or add in another order than it says ("contract", "reassoc"): a model
is the same on every processor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher
from numba.extending import intrinsic

from sapwood.kernels._bitcode import BitcodeCompiler
from sapwood.kernels._cache import KernelCache
from sapwood.kernels._compiling import watch_compilations
from sapwood.kernels._helper import watch_need
from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values

Kernel = Callable[..., Any]  # the compiler infers the types of its arguments and its result


def _stored(**options: Any) -> Callable[[Kernel], Kernel]:
    """A decorator whose kernels are kept on disk once they are compiled."""
    compiler: Any = numba.njit(nogil=True, error_model="numpy", **{"no_cfunc_wrapper": True, **options})

    def decorate(function: Kernel) -> Kernel:
        dispatcher: Kernel = compiler(function)
        if isinstance(dispatcher, Dispatcher):  # not with NUMBA_DISABLE_JIT
            setattr(dispatcher, "_cache", KernelCache(function))  # noqa: B010 - Numba's types do not tell of it
        return dispatcher

    return decorate


kernel = _stored(_nrt=True)

# A lean kernel allocates nothing and counts no references to its arrays: half the time of small nodes went into
# counting.
lean_kernel = _stored(_nrt=False)

# An inner kernel is a lean kernel that kernels call. A tenth of the time of compiling went into wrappers for calls from
# Python, and a third into code that nobody enters (`_bitcode.py`).
_INNER = {
    "_nrt": False,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
    "pipeline_class": BitcodeCompiler,
}
LEAN: Any = {"error_model": "numpy", "nogil": True, **_INNER}  # its options, for versions chosen by type


class InnerKernel(CPUDispatcher):
    """What an inner kernel is to Python. Tests may call it, by way of a kernel that does."""

    def __call__(self, *arguments: object) -> object:
        if "_caller" not in vars(self):
            self._caller = numba.njit(lambda *given: self(*given))  # noqa: PLW0108 - a kernel cannot be compiled again
        return self._caller(*arguments)


def inner_kernel(function: Kernel) -> Kernel:
    """A lean kernel that only kernels call."""
    dispatcher = _stored(**_INNER)(function)
    if isinstance(dispatcher, Dispatcher):
        dispatcher.__class__ = InnerKernel
    return dispatcher


# A lean kernel without NaN among its numbers, so that the largest of many can be found by many lanes at once.
lane_kernel = _stored(_nrt=False, fastmath={"nnan", "nsz"})

# A part is copied into the kernels that call it before they are compiled, so that it is compiled once and costs no
# call.
part = numba.njit(inline="always", nogil=True, error_model="numpy")

# Row numbers and shifts are unsigned: a signed index costs a wrap-around test on every access.
ONE = np.uint32(1)


@intrinsic
def lowest_bit(_context: object, _word: types.Type) -> Intrinsic:
    """Position of the lowest bit set in a non-zero uint64 (the `cttz` instruction)."""

    def generate(_context: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Values) -> ir.Value:
        return builder.cttz(arguments[0], ir.Constant(ir.IntType(1), 1))

    return types.uint64(types.uint64), generate


@intrinsic
def prefetch(_context: object, array: types.Type, _index: types.Type) -> Intrinsic:
    """Ask for the cache line of an element that will be read soon."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
        byte, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        function = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(ir.VoidType(), [byte, word, word, word]), "llvm.prefetch.p0"
        )
        place = builder.bitcast(builder.gep(data, [arguments[1]]), byte)
        builder.call(function, [place, word(0), word(3), word(1)])  # to read, keep in every cache, data
        return context.get_dummy_value()

    return types.void(array, types.uint64), generate


watch_compilations()
watch_need()
