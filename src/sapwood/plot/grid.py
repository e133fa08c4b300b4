"""A table of grid points: two features vary, the others stay at a typical value of the data."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats
from sapwood.errors import InputTypeError
from sapwood.plot.axis import Axis
from sapwood.table.schema import Schema


def grid_table(X: Any, schema: Schema, rows: Floats, across: Axis, up: Axis) -> Any:
    """Table of the kind of X with a row for every cell, the horizontal axis varying fastest."""
    count = len(across.centres) * len(up.centres)
    cells = {
        across.feature: np.tile(np.arange(len(across.centres)), len(up.centres)),
        up.feature: np.repeat(np.arange(len(up.centres)), len(across.centres)),
    }
    axes = {across.feature: across, up.feature: up}
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    source = _FrameColumns(frame, schema) if isinstance(frame, nw.DataFrame) else _ArrayColumns(X)
    columns = []
    for feature in range(len(schema.columns)):
        if feature not in axes:
            columns.append(source.taken(feature, np.full(count, _typical_row(schema, rows, feature))))
        elif axes[feature].is_discrete:
            columns.append(source.taken(feature, _rows_of(axes[feature].centres, rows[:, feature])[cells[feature]]))
        else:
            columns.append(source.made(feature, _native(axes[feature])[cells[feature]]))
    return source.joined(columns)


def _typical_row(schema: Schema, rows: Floats, feature: int) -> int:
    """Row that holds the most frequent level, or the value next to the median."""
    values = rows[:, feature]
    present = np.flatnonzero(~np.isnan(values))
    if not len(present):
        return 0
    if schema.columns[feature].kind in ("category", "boolean"):
        _, first, counts = np.unique(values[present], return_index=True, return_counts=True)
        return int(present[first[np.argmax(counts)]])
    order = np.argsort(values[present], kind="stable")
    return int(present[order[(len(order) - 1) // 2]])


def _rows_of(codes: Floats, values: Floats) -> NDArray[np.intp]:
    """First row of each level: taken from there, a level keeps the type it has in the data."""
    return np.array([np.flatnonzero(values == code)[0] for code in codes], dtype=np.intp)


def _native(axis: Axis) -> Array:
    """Values of an axis in the type the data has them in."""
    if axis.kind == "date":
        return np.round(axis.centres * 1e6).astype("datetime64[us]")
    if axis.kind == "duration":
        return np.round(axis.centres * 1e6).astype("timedelta64[us]")
    return axis.centres


class _FrameColumns:
    """Columns of a data frame of any library."""

    def __init__(self, frame: nw.DataFrame[Any], schema: Schema) -> None:
        self._frame = frame
        self._names = [column.name for column in schema.columns]
        if not set(self._names) <= set(frame.columns):
            self._names = list(frame.columns)

    def taken(self, feature: int, rows: Array) -> Any:
        return self._frame[self._names[feature]][rows.tolist()]

    def made(self, feature: int, values: Array) -> Any:
        return nw.new_series(self._names[feature], values, backend=self._frame.implementation)

    def joined(self, columns: list[Any]) -> Any:
        backend = self._frame.implementation
        plain = {name: _renumbered(column) for name, column in zip(self._names, columns, strict=True)}
        return nw.from_dict(plain, backend=backend).to_native()


def _renumbered(column: nw.Series[Any]) -> nw.Series[Any]:
    """Forget the row labels of pandas, which would be aligned when columns are joined."""
    native = column.to_native()
    if hasattr(native, "reset_index"):
        return nw.from_native(native.reset_index(drop=True), series_only=True)
    return column


class _ArrayColumns:
    """Columns of an array."""

    def __init__(self, X: Any) -> None:
        if hasattr(X, "toarray"):
            X = X.toarray()
        array = np.asarray(X)
        # Text and numbers have no common type but objects
        self._array = array if array.dtype.kind in "biuf" else array.astype(object)
        if self._array.ndim != 2:
            raise InputTypeError(f"X is a {type(X).__name__}, but must be a data frame or an array of two dimensions.")

    def taken(self, feature: int, rows: Array) -> Array:
        column: Array = self._array[rows, feature]
        return column

    def made(self, feature: int, values: Array) -> Array:  # noqa: ARG002 - frames need the feature
        return values.astype(self._array.dtype) if self._array.dtype == object else values

    def joined(self, columns: list[Array]) -> Array:
        return np.stack(columns, axis=1)
