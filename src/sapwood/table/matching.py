"""New rows brought into the columns of the training table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeGuard, get_args

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import ParameterError, SchemaError
from sapwood.table.adapters import open_source
from sapwood.table.column import MISSING, UNSEEN, Column, Kind, first_row
from sapwood.table.levels import recode
from sapwood.table.names import nearest_name, repeated_names, shorten
from sapwood.table.schema import ColumnSchema, Schema, Unseen
from sapwood.table.shape import MAX_ROWS
from sapwood.table.source import Source
from sapwood.table.storage import ColumnStorage, MatrixStorage
from sapwood.table.table import Table

_SAID = {
    "number": "numbers",
    "boolean": "booleans",
    "date": "dates",
    "duration": "durations",
    "category": "categories",
}


def match_table(schema: Schema, X: object, *, unseen: Unseen, owner: str) -> Table:
    """The table of new rows."""
    if unseen not in get_args(Unseen):
        raise ParameterError(f"unseen={unseen!r} must be one of {get_args(Unseen)}.")
    if _fits_as_it_is(X, schema):
        return Table(schema, MatrixStorage(X))
    source = open_source(X, schema.sparse_absent)
    order = _find_columns(schema, source, owner)
    whole = None if "category" in schema.kinds else source.whole()
    if whole is not None and all(_is_compatible(kind, whole.kind) for kind in schema.kinds):
        straight = list(order) == list(range(len(source.names)))
        return Table(schema, whole.storage if straight else whole.storage.arrange(order))
    columns = [_match_column(column, source, j, unseen) for column, j in zip(schema.columns, order, strict=True)]
    return Table(schema, ColumnStorage(columns))


def _fits_as_it_is(X: object, schema: Schema) -> TypeGuard[Array]:
    """The quick path of prediction: a float matrix for columns of numbers."""
    return (
        type(X) is np.ndarray
        and X.dtype in (np.float32, np.float64)
        and X.ndim == 2
        and X.shape[1] == schema.n_features
        and 0 < X.shape[0] <= MAX_ROWS
        and schema.is_plain
    )


def _find_columns(schema: Schema, source: Source, owner: str) -> Sequence[int]:
    """Position in the source of every column: by name where both sides have names, else by place."""
    if schema.named and source.named:
        return _find_by_name(schema, source, owner)
    if len(source.names) != schema.n_features:
        raise SchemaError(
            f"X has {len(source.names)} features, but {owner} is expecting {schema.n_features} features as input. "
            f"Pass the columns it was fitted on: {shorten(schema.names)}."
        )
    return range(schema.n_features)


def _find_by_name(schema: Schema, source: Source, owner: str) -> list[int]:
    repeated = [name for name in repeated_names(source.names) if name in schema.names]
    if repeated:
        raise SchemaError(
            f"X has more than one column of the name {shorten(repeated)}, but {owner} was fitted on one of each. "
            "Rename or drop the others."
        )
    position = {name: j for j, name in enumerate(source.names)}
    absent = [name for name in schema.names if name not in position]
    if absent:
        hint = nearest_name(absent[0], [name for name in source.names if name not in schema.names])
        raise SchemaError(
            f"X lacks {len(absent)} of the {schema.n_features} columns {owner} was fitted on: {shorten(absent)}. "
            f"X has {shorten(source.names)}.{hint} Add or rename the columns; one that is unknown may hold only NaN."
        )
    return [position[name] for name in schema.names]


def _match_column(expected: ColumnSchema, source: Source, j: int, unseen: Unseen) -> Column:
    column = source.column(j, expected.kind == "category")
    if expected.kind == "category":
        return _look_up(expected, column, unseen)
    if _is_compatible(expected.kind, column.kind):
        return column
    if _is_empty(column):
        return Column(expected.kind, np.full(source.n_rows, np.nan, dtype=np.float32))
    raise _wrong_kind(expected, column)


def _is_compatible(expected: Kind, found: Kind) -> bool:
    return expected == found or {expected, found} == {"number", "boolean"}


def _is_empty(column: Column) -> bool:
    """A column without values fits every kind."""
    return bool((column.values == MISSING).all() if column.kind == "category" else np.isnan(column.values).all())


def _look_up(expected: ColumnSchema, column: Column, unseen: Unseen) -> Column:
    """Codes come from the training levels, never from those of the new rows."""
    if expected.levels and column.levels and not _types(expected.levels) & _types(column.levels):
        raise _wrong_kind(expected, column)
    codes = recode(column.values, column.levels, expected.code_of, otherwise=UNSEEN)
    if unseen == "error" and (codes == UNSEEN).any():
        raise _unknown_level(expected, column, codes)
    return Column("category", codes, expected.levels)


def _types(levels: Sequence[object]) -> set[str]:
    return {"strings" if isinstance(level, str) else "numbers" for level in levels}


def _unknown_level(expected: ColumnSchema, column: Column, codes: Array) -> SchemaError:
    unknown = [level for level in column.levels if level not in expected.code_of]
    return SchemaError(
        f"Column {expected.name!r} of X holds categories that were not seen in training: {shorten(unknown)}, "
        f"first in row {first_row(codes == UNSEEN)}. Known categories are {shorten(expected.levels)}. "
        "Map them to known ones, make them missing, or allow unseen categories."
    )


def _wrong_kind(expected: ColumnSchema, column: Column) -> SchemaError:
    wanted, found = _SAID[expected.kind], _SAID[column.kind]
    if expected.kind == "category":
        wanted = f"categories that are {_named_types(expected.levels)}, such as {expected.levels[0]!r}"
        found = _named_types(column.levels)
    row = _offending_row(expected, column)
    value = column.values[row].item()
    shown = column.levels[value] if column.kind == "category" else value
    return SchemaError(
        f"Column {expected.name!r} of X: expected {wanted} as in training, but got {found}, "
        f"first {shown!r} in row {row}. Convert the column to the type it had in training."
    )


def _offending_row(expected: ColumnSchema, column: Column) -> int:
    """The first row with a value, and among numbers and strings the first string."""
    if column.kind != "category":
        return first_row(~np.isnan(column.values))
    culprits = [expected.kind == "category" or isinstance(level, str) for level in column.levels]
    return first_row(np.array([*culprits, False])[column.values])  # the missing code -1 finds the False


def _named_types(levels: Sequence[object]) -> str:
    return " and ".join(sorted(_types(levels)))
