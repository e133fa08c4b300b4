"""The grid of values of a column at which partial dependence is computed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from sapwood.arrays import Array, Floats
from sapwood.errors import InputError, InputTypeError
from sapwood.explain.column_values import to_code, to_native
from sapwood.table.column import MISSING
from sapwood.table.schema import ColumnSchema


@dataclass(frozen=True, eq=False)
class Axis:
    """Values of one column as codes: level numbers, seconds, or the numbers themselves; NaN for missing."""

    column: ColumnSchema
    codes: Floats

    @property
    def labels(self) -> Array:
        """The values as users write them."""
        return to_native(self.codes, self.column)

    def cells(self, code: float, n_rows: int, dtype: np.dtype[Any]) -> Array:
        """A column that holds one value in all rows."""
        if self.column.kind == "category":
            return np.full(n_rows, MISSING if np.isnan(code) else int(code), dtype=np.int32)
        exact = np.isnan(code) or float(dtype.type(code)) == code
        return np.full(n_rows, code, dtype=dtype if exact else np.float64)


def axis_of(column: ColumnSchema, cells: Array, resolution: int, percentiles: tuple[float, float]) -> Axis:
    """All levels, or all distinct values if they are few, or steps of equal width between two quantiles."""
    if column.kind == "category":
        return Axis(column, np.arange(len(column.levels), dtype=np.float64))
    present = np.unique(cells[np.isfinite(cells)]).astype(np.float64)
    if not len(present):
        raise InputError(f"Column {column.name!r} of X holds no finite value to make a grid of. Pass `values`.")
    if len(present) < resolution:
        return Axis(column, present)
    low, high = _quantiles(cells[np.isfinite(cells)].astype(np.float64), percentiles)
    if np.isclose(low, high):  # nearly all rows have the same value
        low, high = present[0], present[-1]
    return Axis(column, np.linspace(low, high, resolution))


def _quantiles(values: Floats, percentiles: tuple[float, float]) -> Floats:
    """As scikit-learn takes them."""
    from scipy.stats.mstats import mquantiles  # slow to load

    return np.asarray(mquantiles(values, prob=percentiles), dtype=np.float64)


def own_axis(column: ColumnSchema, values: object) -> Axis:
    """Values that the user gave."""
    argument = f"values of {column.name!r}"
    if isinstance(values, (str, Mapping)) or not isinstance(values, Iterable):
        raise InputTypeError(f"{argument} are {values!r}, but must be a list of values of that column.")
    codes = np.array([to_code(value, column, argument) for value in values])
    if not len(codes):
        raise InputError(f"{argument} are empty. Pass one or more values, or values=None for a grid made of X.")
    return Axis(column, codes)


def points_of(axes: list[Axis]) -> Floats:
    """All combinations (points, axes), the last axis running fastest."""
    meshes = np.meshgrid(*(axis.codes for axis in axes), indexing="ij")
    return np.ascontiguousarray(np.stack([mesh.ravel() for mesh in meshes], axis=1))
