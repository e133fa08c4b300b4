"""Data frames: pandas, polars, pyarrow, and others that narwhals reads."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from sapwood.errors import InputTypeError
from sapwood.table.arrays import ArraySource, array_column
from sapwood.table.column import Column
from sapwood.table.factors import factor_column
from sapwood.table.levels import encode_booleans
from sapwood.table.names import read_names
from sapwood.table.objects import object_column
from sapwood.table.shape import check_shape
from sapwood.table.source import Source

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoDataFrame, IntoSeries

_TOO_WIDE_FOR_NUMPY = (nw.Decimal, nw.Int128, nw.UInt128)
_NESTED = (nw.List, nw.Array, nw.Struct, nw.Time)


class FrameSource:
    """Columns of a data frame, converted when read."""

    def __init__(self, labels: Sequence[object], n_rows: int, native: Callable[[int], IntoSeries]) -> None:
        check_shape(n_rows, len(labels))
        self.names, self.named = read_names(labels)
        self.n_rows = n_rows
        self._native = native

    def column(self, j: int, as_category: bool) -> Column:
        """Column j."""
        return series_column(self._native(j), self.names[j], as_category)

    def whole(self) -> None:
        """Columns differ."""


def pandas_source(X: pd.DataFrame) -> Source:
    """A frame whose columns share one numpy type is used as the matrix it already is."""
    if _is_matrix(list(X.dtypes)):
        names, named = read_names(list(X.columns))
        return ArraySource(X.to_numpy(), names, named)
    return FrameSource(list(X.columns), len(X), lambda j: X.iloc[:, j])


def _is_matrix(dtypes: Sequence[object]) -> bool:
    plain = len(dtypes) > 0 and isinstance(dtypes[0], np.dtype) and dtypes[0].kind in "biuf"
    return plain and all(dtype == dtypes[0] for dtype in dtypes)


def polars_source(X: pl.DataFrame) -> Source:
    """A polars data frame."""
    return FrameSource(X.columns, X.height, X.to_series)


def arrow_source(X: pa.Table | pa.RecordBatch) -> Source:
    """A pyarrow table or record batch."""
    table = X if nw.dependencies.is_pyarrow_table(X) else nw.dependencies.get_pyarrow().Table.from_batches([X])
    return FrameSource(table.column_names, table.num_rows, table.column)


def narwhals_source(frame: nw.DataFrame[IntoDataFrame]) -> Source:
    """Any other eager data frame."""
    return FrameSource(frame.columns, len(frame), lambda j: frame.get_column(frame.columns[j]).to_native())


def series_column(native: IntoSeries, name: str, as_category: bool) -> Column:
    """A column from one series of a data frame."""
    if nw.dependencies.is_pandas_series(native) and isinstance(native.dtype, np.dtype):
        return _pandas_column(native, name, as_category)
    series = nw.from_native(native, series_only=True)
    dtype = series.dtype
    if dtype in _NESTED:
        raise InputTypeError(
            f"Column {name!r} of X has type {dtype}, which is neither number, date nor category. "
            "Unnest it into plain columns, or drop it."
        )
    if isinstance(dtype, (nw.String, nw.Categorical, nw.Enum)):
        return replace(factor_column(native), declared=not isinstance(dtype, nw.String))
    if dtype == nw.Boolean:
        values = series.cast(nw.Float32).to_numpy()
        return encode_booleans(values) if as_category else Column("boolean", values)
    if dtype in _TOO_WIDE_FOR_NUMPY:
        series = series.cast(nw.Float64)
    if dtype == nw.Date:
        series = series.cast(nw.Datetime("us"))
    return array_column(series.to_numpy(), name, as_category)


def _pandas_column(series: pd.Series, name: str, as_category: bool) -> Column:
    """Strings are by far the most frequent objects, so they take the compiled way."""
    if series.dtype != object:
        return array_column(series.to_numpy(), name, as_category)
    if nw.dependencies.get_pandas().api.types.infer_dtype(series, skipna=True) == "string":
        return factor_column(series)
    return object_column(series.to_numpy(), name, as_category, missing=series.isna().to_numpy())
