"""Calls of a kernel by its address, which a frame may hold: whoever calls it compiles without it.

Numba compiles the code of a kernel again into every kernel that calls it, and into those that call these. Growth of a
tree takes most of the time of compiling boosting, so whole rounds call it where it is.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from llvmlite import ir
from numba import from_dtype
from numba.core import cgutils, types
from numba.extending import intrinsic

from sapwood.kernels.boosting_records import NODE, RULES
from sapwood.kernels.intrinsic_types import Intrinsic, Signature, Values
from sapwood.kernels.team_frame import TEAM


@cache
def address_of_growth(kernel: Any) -> int:
    """Where the code of a kernel is that takes what `lead` does (`leader.py`); it is compiled if it is not yet."""
    nodes, splits, slots, stack_slots = (
        types.Array(kind, n, "C")
        for kind, n in ((from_dtype(NODE), 1), (types.boolean, 1), (types.int64, 1), (types.int64, 2))
    )
    root = types.uint64, types.int64, slots, stack_slots
    kinds = nodes, splits, *root, from_dtype(TEAM.dtype), from_dtype(RULES)
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
    """Call such a kernel; OUT nodes, splits."""
    kinds = nodes, splits, key, n_rows, own_slots, stack_slots, team, rules

    def generate(context: Any, builder: ir.IRBuilder, _signature: Signature, arguments: Values) -> ir.Value:
        kind = context.call_conv.get_function_type(types.none, kinds)
        kernel = builder.inttoptr(arguments[0], kind.as_pointer())
        status, _ = context.call_conv.call_function(builder, kernel, types.none, kinds, arguments[1:])
        with cgutils.if_unlikely(builder, status.is_error):  # only tests that check bounds know errors
            context.call_conv.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.void(address, *kinds), generate
