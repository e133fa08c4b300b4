"""Calls of a kernel by its address, which a frame may hold: whoever calls it compiles without it.

Numba compiles the code of a kernel again into every kernel that calls it, and into those that call these. Growth of a
tree takes most of the time of compiling boosting, so whole rounds call it where it is; and so does its leader call the
work that all threads do, so that two processes may compile them at the same time.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import typeof
from numba.core import cgutils, types
from numba.extending import intrinsic

from sapwood.kernels.intrinsic_types import Intrinsic, Signature, Values

_addresses: dict[Any, int] = {}


def address_of(kernel: Any, *arguments: object) -> int:
    """Where the code of a kernel is that takes arguments of the types of these, the same in every call.

    The kernel returns nothing, and is compiled if it is not yet.
    """
    if kernel not in _addresses:
        kinds = tuple(typeof(argument) for argument in arguments)
        kernel.compile(kinds)
        found = kernel.overloads[kinds]
        _addresses[kernel] = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    return _addresses[kernel]


@intrinsic
def call_at(_context: object, address: types.Type, arguments: types.Tuple) -> Intrinsic:
    """Call a kernel at an address with a tuple of arguments of exactly the types that it was compiled for."""
    kinds = tuple(arguments.types)

    def generate(context: Any, builder: ir.IRBuilder, _signature: Signature, values: Values) -> ir.Value:
        kind = context.call_conv.get_function_type(types.none, kinds)
        kernel = builder.inttoptr(values[0], kind.as_pointer())
        given = cgutils.unpack_tuple(builder, values[1])
        status, _ = context.call_conv.call_function(builder, kernel, types.none, kinds, given)
        with cgutils.if_unlikely(builder, status.is_error):  # only tests that check bounds know errors
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(address, arguments), generate
