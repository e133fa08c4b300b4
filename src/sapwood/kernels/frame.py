"""Frames: the arrays that kernels share, declared once and passed as one record.

Numba passes an array as seven numbers and links the code of every kernel into all that call it, so kernels that hand
thirty arrays to each other take twice as long to compile. A frame is one record of sizes and addresses instead:

    TOTALS = Layout(weight=Array(float64, "n_rows"), sums=Array(float64, "n_rows", "n_sums"))

    @lean_kernel
    def add(frame):
        for i in range(len(frame.weight)):  # an array that knows its length, as if it was passed itself
            frame.sums[i, 0] += frame.weight[i]

    add(TOTALS.fill(weight=np.ones(3), sums=np.zeros((3, 2)))[0])

In kernels an attribute of a frame is an array or a number. A loop that stores into arrays should read what it needs
from the frame before: the compiler cannot know that a store leaves the frame's addresses as they are.

The frame that `fill` returns holds addresses only: whoever fills it keeps the arrays alive while kernels run.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from ctypes import addressof, c_char
from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import cgutils, types
from numba.core.base import BaseContext
from numba.core.imputils import lower_getattr
from numba.core.typing.templates import AttributeTemplate, infer_getattr
from numba.np.arrayobj import populate_array
from numpy.typing import DTypeLike

NUMBER, WORD = np.dtype(np.int64), ir.IntType(64)  # sizes and addresses
Number = float | np.generic  # also a frame
Reader = Callable[[BaseContext, ir.IRBuilder, types.Record, ir.Value], ir.Value]


class Array:
    """An array of a frame: its type, and for each dimension the name of a size or a number."""

    def __init__(self, dtype: DTypeLike, *shape: str | int) -> None:
        self.dtype, self.shape = np.dtype(dtype), shape

    make: Callable[..., np.ndarray] = staticmethod(np.zeros)


class Scratch(Array):
    """An array that begins with anything. Pages of it that nobody writes to cost nothing."""

    make = staticmethod(np.empty)


class Layout:
    """The fields of a frame: arrays, plain numbers (any NumPy type), frames of other layouts; and sizes of arrays."""

    def __init__(self, **fields: Array | Layout | DTypeLike) -> None:
        self.arrays = {name: field for name, field in fields.items() if isinstance(field, Array)}
        sizes = {size: NUMBER for field in self.arrays.values() for size in field.shape if isinstance(size, str)}
        stored = [(name, _stored(field)) for name, field in {**sizes, **fields}.items()]
        self.dtype = np.dtype([*stored, (f"layout_{self._digest()}", NUMBER)], align=True)
        self._zeros = {name: np.zeros((), dtype=self.dtype)[name][()] for name in self.dtype.names or ()}
        _show_arrays(from_dtype(self.dtype), self.arrays)

    def _digest(self) -> str:
        """Stands for all arrays: frames of other arrays, also of records with other fields, are of another type.

        Compiled kernels are kept by the types of their arguments, and must not read a frame of another layout.
        """
        arrays = [(name, field.dtype.str, field.dtype.descr, field.shape) for name, field in self.arrays.items()]
        return hashlib.sha256(repr(arrays).encode()).hexdigest()[:16]

    def fill(self, **values: Any) -> np.ndarray:
        """A frame (an array of one record) of these arrays and numbers; sizes follow from the arrays.

        An array that is None or left out has the address 0 and must not be looked at.
        """
        return self._frame(self._numbers(values))

    def allocate(self, given: dict[str, Any] | None = None, **sizes: int) -> tuple[np.ndarray, dict[str, Any]]:
        """A frame of arrays that are given and new ones of these sizes; and all of them by name, to be kept alive.

        New arrays without elements are left out.
        """
        arrays = dict(given or {})
        numbers = sizes | self._numbers(arrays)
        for name, field in self.arrays.items():
            if name not in arrays:
                shape = tuple([sizes[size] if isinstance(size, str) else size for size in field.shape])
                if 0 not in shape:
                    arrays[name] = field.make(shape, field.dtype)
                    numbers[name] = _address(arrays[name])
        return self._frame(numbers), arrays

    def update(self, frame: np.void, **values: Any) -> None:
        """Set arrays, with their sizes, and numbers of a frame; OUT frame."""
        for name, number in self._numbers(values).items():
            frame[name] = number

    def _frame(self, numbers: dict[str, Number]) -> np.ndarray:
        """A frame of these numbers and addresses, written at once: one by one they take as long as a small tree."""
        return np.array([tuple((self._zeros | numbers).values())], dtype=self.dtype)

    def _numbers(self, values: Mapping[str, Any]) -> dict[str, Number]:
        """What a frame holds of arrays and numbers: numbers, addresses, and sizes."""
        numbers, sizes = dict[str, Number](), dict[str, int]()
        for name, value in values.items():
            if name not in self.arrays:
                numbers[name] = value
            elif value is not None:
                self._check(name, value, sizes)
                numbers[name] = _address(value)
        return numbers | sizes

    def _check(self, name: str, value: np.ndarray, sizes: dict[str, int]) -> None:
        """Refuse an array of another type or shape than declared; OUT sizes: its lengths by name."""
        field = self.arrays[name]
        if value.dtype != field.dtype or value.ndim != len(field.shape) or not value.flags.c_contiguous:
            raise TypeError(f"{name} is not a contiguous {len(field.shape)}-dimensional array of {field.dtype}.")
        for size, length in zip(field.shape, value.shape, strict=True):
            expected = sizes.setdefault(size, length) if isinstance(size, str) else size
            if expected != length:
                raise ValueError(f"{name} has the length {length} where {size} is {expected}.")


def _address(array: Any) -> int:
    """Where an array is; eight times as fast as `ctypes.data` alone, which counts for small trees."""
    is_open = array.size > 0 and array.flags.writeable
    address: int = addressof(c_char.from_buffer(array)) if is_open else array.ctypes.data
    return address


def _stored(field: Array | Layout | DTypeLike) -> DTypeLike:
    """What a frame holds of a field: the address of an array, the whole of another frame."""
    if isinstance(field, Array):
        return NUMBER
    return field.dtype if isinstance(field, Layout) else field


def _show_arrays(record: types.Type, arrays: dict[str, Array]) -> None:
    """Let the compiler take attributes of such records for arrays where the record holds their addresses."""
    kinds = {name: types.Array(from_dtype(field.dtype), len(field.shape), "C") for name, field in arrays.items()}

    class FrameAttributes(AttributeTemplate):
        key = record

        def generic_resolve(self, typ: types.Record, attr: str) -> types.Type:  # type: ignore[override]
            return kinds.get(attr) or typ.typeof(attr)

    infer_getattr(FrameAttributes)
    for name, field in arrays.items():
        lower_getattr(record, name)(_reader(name, field, kinds[name]))


def _reader(name: str, field: Array, kind: types.Array) -> Reader:
    """What the compiler writes for an array of a frame: load its address and sizes."""

    def generate(context: BaseContext, builder: ir.IRBuilder, record: types.Record, frame: ir.Value) -> ir.Value:
        def number(of: str | int) -> ir.Value:
            if isinstance(of, int):
                return WORD(of)
            return builder.load(cgutils.get_record_member(builder, frame, record.offset(of), WORD))

        array = context.make_array(kind)(context, builder)
        itemsize = WORD(context.get_abi_sizeof(context.get_data_type(kind.dtype)))
        shape = [number(of) for of in field.shape]
        strides = [itemsize]
        for length in reversed(shape[1:]):
            strides.insert(0, builder.mul(length, strides[0]))
        data = builder.inttoptr(number(name), array.data.type)
        populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
        return array._getvalue()

    return generate


__all__ = ["Array", "Layout", "Scratch"]
