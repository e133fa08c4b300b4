"""Numbers and their bits."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

DROPPED_BITS = 53 - 30


@intrinsic
def bits_of(_context: Any, _x: Any) -> Any:
    """The bits of a float64."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.IntType(64))

    return types.uint64(types.float64), generate


@intrinsic
def float_of(_context: Any, _bits: Any) -> Any:
    """The float64 of these bits."""

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        return builder.bitcast(arguments[0], ir.DoubleType())

    return types.float64(types.uint64), generate


@intrinsic
def to_30_bits(_context: Any, _x: Any) -> Any:
    """A number rounded to 30 significant bits, ties away from zero; infinities stay what they are.

    Rounding is monotone, so an order by rounded numbers is an order.
    """

    def generate(_context: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        bits = builder.add(builder.bitcast(arguments[0], word), word(1 << (DROPPED_BITS - 1)))
        return builder.bitcast(builder.and_(bits, word(-(1 << DROPPED_BITS))), ir.DoubleType())

    return types.float64(types.float64), generate
