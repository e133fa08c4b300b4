"""Numpy arrays, and objects that convert to one."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import InputError, InputTypeError
from sapwood.table.column import Column, Kind, float_dtype, to_float
from sapwood.table.levels import encode_array
from sapwood.table.names import numbered_names
from sapwood.table.objects import object_column
from sapwood.table.read_array import read_array
from sapwood.table.seconds import time_column, to_seconds
from sapwood.table.shape import check_dimensions, check_shape
from sapwood.table.source import Whole
from sapwood.table.storage import MatrixStorage

_WHOLE_KINDS: dict[str, Kind] = {
    "b": "boolean",
    "i": "number",
    "u": "number",
    "f": "number",
    "M": "date",
    "m": "duration",
}


class ArraySource:
    """A two-dimensional numpy array of any element type."""

    def __init__(self, array: Array, names: tuple[str, ...] | None = None, named: bool = False) -> None:
        check_dtype(array.dtype)
        check_dimensions(array.ndim)
        check_shape(*array.shape)
        self.array = array
        self.n_rows, n_features = array.shape
        self.names = names or numbered_names(n_features)
        self.named = named

    def column(self, j: int, as_category: bool) -> Column:
        """Column j."""
        return array_column(self.array[:, j], self.names[j], as_category)

    def whole(self) -> Whole | None:
        """The matrix itself when it holds numbers or times."""
        kind = _WHOLE_KINDS.get(self.array.dtype.kind)
        if kind is None:
            return None
        convert = to_seconds if kind in ("date", "duration") else to_float
        return Whole(kind, MatrixStorage(convert(self.array)))


class RowSource:
    """One row whose values each have a type of their own."""

    n_rows, named = 1, True

    def __init__(self, names: tuple[str, ...], values: Sequence[object]) -> None:
        self.names, self._values = names, values

    def column(self, j: int, as_category: bool) -> Column:
        """Column j; numbers and times of numpy keep their precision, which objects would not."""
        value = self._values[j]
        cell = np.empty(1, dtype=object)
        cell[0] = value
        is_typed = isinstance(value, (np.generic, complex))
        return array_column(np.array([value]) if is_typed else cell, self.names[j], as_category)

    def whole(self) -> None:
        """Columns differ."""


def array_column(values: Array, name: str, as_category: bool) -> Column:
    """A column from a one-dimensional array of any element type."""
    check_dtype(values.dtype)
    kind = values.dtype.kind
    if kind in "OT":
        return object_column(values.astype(object), name, as_category)
    if kind in "mM":
        column = time_column(values)
        return encode_array(column.values) if as_category else column
    if kind in "US" or as_category:
        return encode_array(values)
    return Column(_WHOLE_KINDS[kind], to_float(values))


def to_array(X: object) -> Array:
    """A numpy array from nested lists or an object with `__array__`."""
    if isinstance(X, np.ma.MaskedArray):
        return fill_masked(X)
    try:
        array = read_array(X, "X")
        if array.dtype.kind in "US" and not hasattr(X, "dtype"):
            array = np.array(X, dtype=object)  # numpy would turn the numbers of mixed rows into strings
    except ValueError as error:
        raise InputError(
            f"X, a {type(X).__name__}, cannot be read as a table: its rows have different lengths or depths ({error}). "
            "Make every row a sequence of the same number of values."
        ) from error
    if array.ndim == 0 and array.dtype.kind in "OUSV":
        raise InputTypeError(
            f"X is {_describe(X)}, not a table. Pass a data frame (pandas, polars, pyarrow), "
            f"a two-dimensional array, a list of rows or a scipy sparse matrix.{_of_files(X)}"
        )
    return array


def _of_files(X: object) -> str:
    """What to do with a path."""
    if not isinstance(X, (str, os.PathLike)):
        return ""
    return " To train on files batch by batch, use an estimator of Newton boosting: " + (
        "NewtonBoostingRegressor().fit(path, target='price')."
    )


def check_dtype(dtype: np.dtype) -> None:
    """Refuse complex numbers and records."""
    if dtype.kind == "c":
        raise InputError(
            f"Complex data not supported: X has dtype {dtype}. Pass real and imaginary parts as two columns."
        )
    if dtype.kind == "V":
        raise InputTypeError(
            f"X is an array of dtype {dtype}, records or raw memory, which cannot be read as numbers. "
            "Pass pandas.DataFrame(X), or a plain two-dimensional array."
        )


def fill_masked(masked: np.ma.MaskedArray) -> Array:
    """A masked cell is a missing one; what lies under the mask must not be seen."""
    cells: Array = np.array(masked.data)
    mask = np.ma.getmaskarray(masked)
    if not mask.any():
        return cells
    cells = cells.astype(float_dtype(cells.dtype) if cells.dtype.kind in "biuf" else object)
    cells[mask] = np.nan
    return cells


def _describe(X: object) -> str:
    if X is None:
        return "None"
    text = repr(X)
    return f"{text if len(text) <= 60 else text[:57] + '...'} (a {type(X).__name__})"
