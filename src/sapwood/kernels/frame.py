"""Frames: the arrays that kernels share, declared once, passed as one record, and seen through views.

Numba passes an array as seven numbers and links the code of every kernel into all that call it, so kernels that hand
thirty arrays to each other take twice as long to compile. A frame is one record of sizes and addresses instead:

    TOTALS = Layout(n_rows=SIZE, n_sums=SIZE, weight=Array(float64, "n_rows"), sums=Array(float64, "n_rows", "n_sums"))
    weight_of, sums_of = TOTALS.views("weight", "sums")

    @lean_kernel
    def add(frame):
        weight, sums = weight_of(frame), sums_of(frame)  # arrays that know their lengths

    add(TOTALS.fill(weight=np.ones(3), sums=np.zeros((3, 2)))[0])

The frame that `fill` returns holds addresses only: whoever fills it keeps the arrays alive while kernels run.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import from_dtype
from numba.core import cgutils, types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

SIZE = np.dtype(np.int64)  # the length of some arrays
WORD = ir.IntType(64)


class Array:
    """An array of a frame: its type, and for each dimension the name of a size or a number."""

    def __init__(self, dtype: Any, *shape: str | int) -> None:
        self.dtype, self.shape = np.dtype(dtype), shape


class Layout:
    """The fields of a frame: arrays, their sizes, and plain numbers (any NumPy type)."""

    def __init__(self, **fields: Any) -> None:
        self.arrays = {name: field for name, field in fields.items() if isinstance(field, Array)}
        numbers = [(name, SIZE if name in self.arrays else field) for name, field in fields.items()]
        self.dtype = np.dtype(numbers, align=True)

    def views(self, *names: str) -> tuple[Any, ...]:
        """Functions for kernels, each from a frame to one of its arrays."""
        return tuple(_view(self.arrays[name], name) for name in names)

    def fill(self, **values: Any) -> Any:
        """A frame (an array of one record) of these arrays and numbers; sizes follow from the arrays.

        An array that is None or left out has the address 0 and must not be looked at.
        """
        frame = np.zeros(1, dtype=self.dtype)
        self.update(frame[0], **values)
        return frame

    def update(self, frame: Any, **values: Any) -> None:
        """Set arrays, with their sizes, and numbers of a frame; OUT frame."""
        sizes: dict[str, int] = {}
        for name, value in values.items():
            if name not in self.arrays:
                frame[name] = value
            elif value is not None:
                self._check(name, value, sizes)
                frame[name] = value.ctypes.data
        for name, length in sizes.items():
            frame[name] = length

    def _check(self, name: str, value: Any, sizes: dict[str, int]) -> None:
        """Refuse an array of another type or shape than declared; OUT sizes: its lengths by name."""
        field = self.arrays[name]
        if value.dtype != field.dtype or value.ndim != len(field.shape) or not value.flags.c_contiguous:
            raise TypeError(f"{name} is not a contiguous {len(field.shape)}-dimensional array of {field.dtype}.")
        for size, length in zip(field.shape, value.shape, strict=True):
            expected = sizes.setdefault(size, length) if isinstance(size, str) else size
            if expected != length:
                raise ValueError(f"{name} has the length {length} where {size} is {expected}.")


def _view(field: Array, name: str) -> Any:
    item = from_dtype(field.dtype)
    kind = types.Array(item, len(field.shape), "C")

    @intrinsic
    def view(_context: Any, frame: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            record = signature.args[0]

            def number(of: str | int) -> Any:
                if isinstance(of, int):
                    return WORD(of)
                at = cgutils.get_record_member(builder, arguments[0], record.offset(of), WORD)
                return builder.load(at)

            array = context.make_array(kind)(context, builder)
            itemsize = WORD(context.get_abi_sizeof(context.get_data_type(item)))
            shape = [number(of) for of in field.shape]
            strides = [itemsize]
            for length in reversed(shape[1:]):
                strides.insert(0, builder.mul(length, strides[0]))
            data = builder.inttoptr(number(name), array.data.type)
            populate_array(array, data=data, shape=shape, strides=strides, itemsize=itemsize, meminfo=None)
            return array._getvalue()

        return kind(frame), generate

    return view


__all__ = ["SIZE", "Array", "Layout"]
