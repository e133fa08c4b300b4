"""Recognise a container, without importing a library the caller does not use."""

from __future__ import annotations

import narwhals as nw
import numpy as np

from sapwood.errors import InputTypeError
from sapwood.table.arrays import ArraySource, RowSource, to_array
from sapwood.table.frames import arrow_source, narwhals_source, pandas_source, polars_source
from sapwood.table.shape import check_dimensions
from sapwood.table.source import Source
from sapwood.table.sparse import SparseSource, is_sparse
from sapwood.table.storage import Absent


def open_source(X: object, sparse_absent: Absent = "zero") -> Source:
    """The columns of X, in any container."""
    if isinstance(X, RowSource):
        return X
    if isinstance(X, np.ndarray):
        return ArraySource(to_array(X))
    if is_sparse(X):
        return SparseSource(X, sparse_absent)
    return _open_frame(X) or ArraySource(to_array(X))


def _open_frame(X: object) -> Source | None:
    frame = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_pandas_dataframe(frame):
        return pandas_source(frame)
    if nw.dependencies.is_polars_dataframe(frame):
        return polars_source(frame)
    if nw.dependencies.is_pyarrow_table(frame) or _is_record_batch(frame):
        return arrow_source(frame)
    return _open_other_frame(frame)


def _open_other_frame(frame: object) -> Source | None:
    wrapped = nw.from_native(frame, pass_through=True, allow_series=True)
    if isinstance(wrapped, nw.LazyFrame):
        raise InputTypeError(
            f"X is a lazy frame ({type(frame).__module__}.{type(frame).__name__}), whose rows are not computed yet. "
            "Pass X.collect() (polars, dask: X.compute())."
        )
    if isinstance(wrapped, nw.Series):
        check_dimensions(1)
    return narwhals_source(wrapped) if isinstance(wrapped, nw.DataFrame) else None


def _is_record_batch(X: object) -> bool:
    pa = nw.dependencies.get_pyarrow()
    return pa is not None and isinstance(X, pa.RecordBatch)
