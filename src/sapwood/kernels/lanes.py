"""Vectors of many lanes, which the compiler fits to the processor at hand: what loops alone would not give.

The plain twin of each function, a loop over the lanes, is in the tests. Looking up a number for each lane is left to
plain loops: they are faster than the processor's own instruction for it.
"""

from __future__ import annotations

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values
from sapwood.kernels.vectors import pointer, spread_over

LANES = 64  # rows that are evaluated together: as many bytes as the widest registers have
FAN = 16  # cuts that a number is compared with at once

_byte, _long, _mask = (ir.IntType(bits) for bits in (8, 64, FAN))
_REALS = {types.float32: ir.FloatType(), types.float64: ir.DoubleType()}


@intrinsic
def choose(
    _context: object,
    slots: types.Type,
    _out: types.Type,
    codes: types.Type,
    _at: types.Type,
    _threshold: types.Type,
    _left: types.Type,
    _right: types.Type,
) -> Intrinsic:
    """Of two slots, the right one where the code is above the threshold: 64 lanes; OUT slots[out:]."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        kind, lanes = signature.args, ir.VectorType(_byte, LANES)
        own, out, compared, at, threshold, left, right = arguments
        code = _load(context, builder, kind[2], compared, at, lanes)
        sides = [_load(context, builder, kind[0], own, side, lanes) for side in (right, left)]
        chosen = builder.select(builder.icmp_unsigned(">", code, spread_over(LANES, builder, threshold)), *sides)
        builder.store(chosen, pointer(context, builder, kind[0], own, out, lanes), align=1)
        return context.get_dummy_value()

    place = types.uint64
    return types.void(slots, place, codes, place, types.uint8, place, place), generate


@intrinsic
def count_below(_context: object, _x: types.Type, cuts: types.Array, _first: types.Type) -> Intrinsic:
    """How many of the 16 cuts from `first` on are less than x; nothing is less than NaN."""
    real = cuts.dtype

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        x, table, first = arguments
        own = _load(context, builder, signature.args[1], table, first, ir.VectorType(_REALS[real], FAN))
        less = builder.bitcast(builder.fcmp_ordered("<", own, spread_over(FAN, builder, x)), _mask)
        count = cgutils.get_or_insert_function(builder.module, ir.FunctionType(_mask, [_mask]), f"llvm.ctpop.i{FAN}")
        return builder.zext(builder.call(count, [less]), _long)

    return types.uint64(real, cuts, types.uint64), generate


def _load(
    context: BaseContext,
    builder: ir.IRBuilder,
    kind: types.Type,
    array: ir.Value,
    place: ir.Value,
    lanes: ir.VectorType,
) -> ir.Value:
    """Consecutive elements."""
    return builder.load(pointer(context, builder, kind, array, place, lanes), align=1)
