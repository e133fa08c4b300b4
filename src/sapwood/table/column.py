"""One column in memory: numbers with NaN for missing, or codes into levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Mask

Kind: TypeAlias = Literal["number", "boolean", "date", "duration", "category"]
Codes: TypeAlias = NDArray[np.int32]

Level: TypeAlias = str | bool | int | float

MISSING = -1  # code of a missing category
UNSEEN = -2  # code of a category that was not seen in training

_FITS_FLOAT32 = {np.dtype(name) for name in ("f4", "f2", "?", "i1", "i2", "u1", "u2")}


@dataclass(frozen=True, eq=False)
class Column:
    """`values` are float32 or float64, or int32 codes into `levels` when the kind is category.

    `declared` if the container itself calls the column categorical.
    """

    kind: Kind
    values: Array
    levels: tuple[Any, ...] = ()
    declared: bool = False


def float_dtype(dtype: np.dtype) -> np.dtype:
    """float32 if it holds every value of `dtype` exactly, else float64."""
    return np.dtype(np.float32) if dtype.newbyteorder("=") in _FITS_FLOAT32 else np.dtype(np.float64)


def to_float(values: Array) -> Array:
    """Numbers as native floats, without a copy where they already are."""
    return values.astype(float_dtype(values.dtype), copy=False)


def read_only(values: Array) -> Array:
    """A view that cannot be written, so that a table cannot change and the caller's array keeps its own flags."""
    view = values.view()
    view.flags.writeable = False
    return view


def first_row(mask: Mask) -> int:
    """Index of the first True."""
    return int(np.argmax(mask))
