"""Recognise what a source is: files, a lazy frame, a relation, or frames one after the other."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import narwhals as nw

from sapwood.errors import InputTypeError
from sapwood.sources.csv_format import CsvFormat
from sapwood.sources.files import DataFiles, find_files
from sapwood.sources.frames import FrameChunks, LazyRows, RelationRows, is_relation
from sapwood.sources.source import DataSource
from sapwood.table.table import Table


def is_source(X: object) -> bool:
    """Whether X is read batch by batch: a path, or anything else that `open_source` takes and `Table` does not."""
    if isinstance(X, (DataSource, str, os.PathLike)) or is_relation(X):
        return True
    if isinstance(X, (list, tuple)):
        return len(X) > 0 and (all(isinstance(one, (str, os.PathLike)) for one in X) or _are_frames(X))
    if hasattr(X, "shape") or hasattr(X, "__array__") or isinstance(X, (dict, set, bytes, Table)):
        return False
    return _is_lazy(X) or (hasattr(X, "__iter__") and not hasattr(X, "__dataframe__"))


def open_source(X: Any, csv: CsvFormat | None = None) -> DataSource:
    """The rows of X, read batch by batch, as often as needed.

    Args:
        X: path of a Parquet, CSV or Arrow file, of a folder of such files, or a pattern such as "part-*.parquet";
            a list of them; a LazyFrame of polars; an ordered relation of DuckDB; or any object whose iter() starts
            anew each time and yields data frames, (X, y) or (X, y, weight).
        csv: format of CSV files, where it is not to be detected.

    Files of a folder or pattern are read in the order of their paths, those of a list in the order of the list.
    """
    if isinstance(X, DataSource):
        return X
    if isinstance(X, (str, os.PathLike)):
        return DataFiles(find_files(X), csv)
    if is_relation(X):
        return RelationRows(X)
    if _is_lazy(X):
        return _open_lazy(X)
    if isinstance(X, (list, tuple)) and X and all(isinstance(one, (str, os.PathLike)) for one in X):
        return DataFiles([path for one in X for path in find_files(one)], csv)
    if isinstance(X, Iterable) and is_source(X):
        return FrameChunks(X)
    raise InputTypeError(
        f"X is a {type(X).__name__}, which is no source of rows. Pass the path of a Parquet, CSV or Arrow file, a "
        "folder or a list of them, a polars LazyFrame, an ordered DuckDB relation, or an object that yields frames."
    )


def _is_lazy(X: object) -> bool:
    return isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame)


def _open_lazy(X: Any) -> DataSource:
    frame = nw.to_native(X, pass_through=True)
    if nw.dependencies.is_polars_lazyframe(frame):
        return LazyRows(frame)
    raise InputTypeError(
        f"X is a lazy frame ({type(frame).__module__}.{type(frame).__name__}), which cannot be read batch by batch. "
        "Pass a polars LazyFrame, an ordered DuckDB relation, or write the rows to Parquet files and pass their folder."
    )


def _are_frames(parts: Iterable[object]) -> bool:
    """Whether these are data frames, or tuples that begin with one."""
    firsts = (part[0] if isinstance(part, tuple) and part else part for part in parts)
    return all(isinstance(nw.from_native(one, pass_through=True), nw.DataFrame) for one in firsts)
