"""Numbers and their bits."""

from __future__ import annotations

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from sapwood.kernels._jit import Kernel, part
from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values

DROPPED_BITS = 53 - 30
HALF_A_BIT = np.uint64(1 << (DROPPED_BITS - 1))
KEPT = np.uint64((1 << 64) - (1 << DROPPED_BITS))


def _same_bits(given: types.Type, wanted: types.Type) -> Kernel:
    @intrinsic
    def cast(_context: object, _x: types.Type) -> Intrinsic:
        def generate(context: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Values) -> ir.Value:
            return builder.bitcast(arguments[0], context.get_value_type(wanted))

        return wanted(given), generate

    return cast


bits_of = _same_bits(types.float64, types.uint64)
float_of = _same_bits(types.uint64, types.float64)


@part
def to_30_bits(x):
    """A number rounded to 30 significant bits, ties away from zero; infinities stay what they are.

    Rounding is monotone, so an order by rounded numbers is an order.
    """
    return float_of((bits_of(x) + HALF_A_BIT) & KEPT)
