"""Calls of a kernel by its address, which a frame may hold: whoever calls it compiles without it.

Numba compiles the code of a kernel again into every kernel that calls it, and into those that call these. Growth of a
tree takes most of the time of compiling boosting, so whole rounds call it where it is.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import typeof
from numba.core import types
from numba.extending import intrinsic

from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values


def address_of(kernel: Any, *arguments: object) -> int:
    """Where the code of a kernel for arguments of these types is; it is compiled if it is not yet."""
    kinds = tuple(map(typeof, arguments))
    kernel.compile(kinds)
    found = kernel.overloads[kinds]
    address: int = found.library.get_pointer_to_function(found.fndesc.llvm_func_name)
    return address


@intrinsic
def grow_at(
    _context: object,
    address: types.Type,
    nodes: types.Type,
    splits: types.Type,
    key: types.Type,
    n_rows: types.Type,
    own_slots: types.Type,
    stack_slots: types.Type,
    team: types.Type,
    rules: types.Type,
) -> Intrinsic:
    """Call the kernel at an address that takes what `lead` does (`leader.py`); OUT nodes, splits."""
    kinds = nodes, splits, key, n_rows, own_slots, stack_slots, team, rules

    def generate(context: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Values) -> ir.Value:
        kind = context.call_conv.get_function_type(types.none, kinds)
        kernel = builder.inttoptr(arguments[0], kind.as_pointer())
        context.call_conv.call_function(builder, kernel, types.none, kinds, arguments[1:])
        return context.get_dummy_value()

    return types.void(address, *kinds), generate
