"""Strings and categoricals of data frames as a dictionary coding, done by the container's own compiled code."""

from __future__ import annotations

from typing import TYPE_CHECKING

import narwhals as nw
import numpy as np

from sapwood.table.column import MISSING, Column
from sapwood.table.levels import encode, encode_objects, is_missing

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoSeries


def factor_column(series: IntoSeries) -> Column:
    """A category column from a series of strings or categoricals of any library."""
    if nw.dependencies.is_pandas_series(series):
        return _from_pandas(series)
    if nw.dependencies.is_polars_series(series):
        return _from_polars(series)
    if nw.dependencies.is_pyarrow_chunked_array(series):
        return _from_arrow(series)
    values = np.array(nw.from_native(series, series_only=True).to_list(), dtype=object)
    return encode_objects(values, np.array([is_missing(value) for value in values], dtype=bool))


def _from_pandas(series: pd.Series) -> Column:
    codes, uniques = nw.dependencies.get_pandas().factorize(series)
    return encode(codes, uniques.tolist())


def _from_polars(series: pl.Series) -> Column:
    pl = nw.dependencies.get_polars()
    strings = series if series.dtype == pl.String else series.cast(pl.String)
    uniques = strings.drop_nulls().unique()
    codes = strings.replace_strict(uniques, pl.int_range(len(uniques), eager=True), default=None)
    return encode(codes.fill_null(MISSING).to_numpy(), uniques.to_list())


def _from_arrow(series: pa.ChunkedArray) -> Column:
    pa = nw.dependencies.get_pyarrow()
    if pa.types.is_dictionary(series.type):  # decoded first: its dictionary may repeat or hold nulls
        series = series.cast(series.type.value_type)
    encoded = series.combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):  # combine_chunks of older versions
        encoded = encoded.unify_dictionaries().combine_chunks()
    codes = encoded.indices.fill_null(MISSING).to_numpy(zero_copy_only=False)
    return encode(codes, encoded.dictionary.to_pylist())
