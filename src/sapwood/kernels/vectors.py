"""Vectors: as many numbers as there are lanes, in registers of the processor at hand.

Loops over lanes would say the same, but the compiler does not know that the arrays of a kernel are apart, so it would
test that before each short loop. A vector is loaded from and stored to a flat array; `a + b`, `a * b`, and `pick` work
lane by lane, each rounded like a single number. Sets of lanes are bits of a word, lane 0 in the lowest.
"""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.datamodel.manager import DataModelManager
from numba.extending import intrinsic, models, overload, register_model

from sapwood.kernels.intrinsic_types import BaseContext, Intrinsic, Signature, Values

LANES = 16
WIDTH = np.uint64(LANES)  # for arithmetic with places, which are unsigned
ALL = np.uint64((1 << LANES) - 1)

_word, _set = ir.IntType(32), ir.IntType(LANES)
_reals, _bytes, _bits = (ir.VectorType(kind, LANES) for kind in (ir.DoubleType(), ir.IntType(8), ir.IntType(1)))


class _Vector(types.Type):
    """The compiler's type of a vector."""

    def __init__(self) -> None:
        super().__init__(name=f"vector of {LANES} numbers")


@register_model(_Vector)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, manager: DataModelManager, kind: types.Type) -> None:
        super().__init__(manager, kind, _reals)


vector = _Vector()


@intrinsic
def load(_context: object, array: types.Type, _place: types.Type) -> Intrinsic:
    """The numbers of a flat array from a place on."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        return builder.load(pointer(context, builder, signature.args[0], arguments[0], arguments[1], _reals), align=8)

    return vector(array, types.uint64), generate


@intrinsic
def store(_context: object, array: types.Type, _place: types.Type, _numbers: types.Type) -> Intrinsic:
    """Put numbers into a flat array from a place on; OUT array."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        builder.store(
            arguments[2], pointer(context, builder, signature.args[0], arguments[0], arguments[1], _reals), align=8
        )
        return context.get_dummy_value()

    return types.void(array, types.uint64, vector), generate


@intrinsic
def spread(_context: object, _x: types.Type) -> Intrinsic:
    """The same number in every lane."""

    def generate(_context: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Values) -> ir.Value:
        return spread_over(LANES, builder, arguments[0])

    return vector(types.float64), generate


@intrinsic
def pick(_context: object, _lanes: types.Type, _a: types.Type, _b: types.Type) -> Intrinsic:
    """`a` in a set of lanes, `b` in the others."""

    def generate(_context: BaseContext, builder: ir.IRBuilder, _signature: Signature, arguments: Values) -> ir.Value:
        lanes, a, b = arguments
        return builder.select(builder.bitcast(builder.trunc(lanes, _set), _bits), a, b)

    return vector(types.uint64, vector, vector), generate


@intrinsic
def lanes_with(_context: object, array: types.Type, _place: types.Type, _byte: types.Type) -> Intrinsic:
    """The set of lanes in which a flat array of bytes has a value."""

    def generate(context: BaseContext, builder: ir.IRBuilder, signature: Signature, arguments: Values) -> ir.Value:
        found = builder.load(pointer(context, builder, signature.args[0], arguments[0], arguments[1], _bytes), align=1)
        equal = builder.icmp_unsigned("==", found, spread_over(LANES, builder, arguments[2]))
        return builder.zext(builder.bitcast(equal, _set), ir.IntType(64))

    return types.uint64(array, types.uint64, types.uint8), generate


def _operator(
    operation: Callable[..., object], instruction: Callable[[ir.IRBuilder, ir.Value, ir.Value], ir.Value]
) -> None:
    """Let the compiler apply an operator to two vectors."""

    @intrinsic
    def compute(_context: object, _a: types.Type, _b: types.Type) -> Intrinsic:
        return vector(vector, vector), lambda _context, builder, _signature, both: instruction(builder, *both)

    @overload(operation, inline="always")
    def choose(a, b):
        if isinstance(a, _Vector) and isinstance(b, _Vector):
            return lambda a, b: compute(a, b)  # noqa: PLW0108 - the compiler wants a function
        return None


_operator(operator.add, ir.IRBuilder.fadd)
_operator(operator.mul, ir.IRBuilder.fmul)


def pointer(
    context: BaseContext,
    builder: ir.IRBuilder,
    kind: types.Type,
    array: ir.Value,
    place: ir.Value,
    lanes: ir.VectorType,
) -> ir.Value:
    """Where the lanes are in a flat array from a place on."""
    first = builder.gep(context.make_array(kind)(context, builder, array).data, [place])
    return builder.bitcast(first, lanes.as_pointer())


def spread_over(count: int, builder: ir.IRBuilder, scalar: ir.Value) -> ir.Value:
    """The same number in so many lanes."""
    nothing = ir.Constant(ir.VectorType(scalar.type, count), ir.Undefined)
    first = builder.insert_element(nothing, scalar, _word(0))
    return builder.shuffle_vector(first, nothing, ir.Constant(ir.VectorType(_word, count), [0] * count))
