"""One row given in any form, as a table that a schema can match."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from sapwood.errors import InputError, InputTypeError
from sapwood.table.arrays import RowSource
from sapwood.table.names import nearest_name
from sapwood.table.schema import ColumnSchema as Column
from sapwood.table.schema import Schema
from sapwood.table.sparse import is_sparse

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame
    from scipy import sparse

_MANY_ROWS = "Give one row, for example X.iloc[[0]] or X[0]."


def as_one_row(x: object, schema: Schema) -> tuple[object, list[object]]:
    """Return a table of one row and the row's own values in the order of the schema."""
    if hasattr(x, "to_dict") and getattr(x, "ndim", None) == 1:
        x = x.to_dict()
    if isinstance(x, Mapping):
        return _from_mapping(x, schema)
    if is_sparse(x):
        return _from_sparse(x, schema)
    try:
        frame = nw.from_native(x, eager_only=True, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        raise InputError("The row has columns of the same name. Give every column its own name.") from error
    if isinstance(frame, nw.DataFrame):
        return _from_frame(x, frame, schema)
    return _from_sequence(x, schema)


def one_row_source(x: object, schema: Schema) -> object:
    """A table of one row that a schema can match; a dictionary needs no frame library, which takes long to import."""
    if not isinstance(x, Mapping):
        return as_one_row(x, schema)[0]
    return RowSource(schema.names, _mapped(x, schema))


def _from_mapping(x: Mapping[object, object], schema: Schema) -> tuple[object, list[object]]:
    values = _mapped(x, schema)
    return _frame(list(schema.names), values), values


def _mapped(x: Mapping[object, object], schema: Schema) -> list[object]:
    names = schema.names
    _refuse_absent([name for name in names if name not in x], [key for key in x if key not in names])
    return [_plain(x[column.name], column) for column in schema.columns]


def _refuse_absent(absent: Sequence[object], unknown: Sequence[object]) -> None:
    """Other keys are ignored, as other columns of a table are."""
    if absent:
        hint = nearest_name(str(absent[0]), [str(key) for key in unknown])
        raise InputError(
            f"The row has no value for {absent}.{hint} Give one value per feature, None where it is missing."
        )


def _from_sparse(x: sparse.spmatrix | sparse.sparray, schema: Schema) -> tuple[object, list[object]]:
    """A sparse row as it is: the meaning of its absent cells is in the schema."""
    from scipy import sparse

    row = sparse.csr_array(x.reshape(1, -1) if len(x.shape) == 1 else x)
    if row.shape[0] != 1:
        raise InputError(f"The row has {row.shape[0]} rows. {_MANY_ROWS}")
    return row, schema.match(row).block(0, 1)[0].tolist()


def _from_frame(x: object, frame: nw.DataFrame[IntoDataFrame], schema: Schema) -> tuple[object, list[object]]:
    if len(frame) != 1:
        raise InputError(f"The row has {len(frame)} rows. {_MANY_ROWS}")
    names = [column.name for column in schema.columns]
    known = set(names) <= set(frame.columns)
    values = [frame[name][0] for name in names] if known else list(frame.row(0))
    return x, values


def _from_sequence(x: object, schema: Schema) -> tuple[object, list[object]]:
    values = _values(x)
    if len(values) != len(schema.columns):
        raise InputError(
            f"The row has {len(values)} values, but the model was fitted on {len(schema.columns)} features. "
            "Give one value per feature."
        )
    values = [_plain(value, column) for value, column in zip(values, schema.columns, strict=True)]
    return _array(values), values


def _values(x: Any) -> list[object]:
    try:
        items = None if isinstance(x, (str, bytes)) or not hasattr(x, "__len__") else list(x)
    except Exception:  # a container may raise anything
        items = None
    if items is None:
        raise InputTypeError(f"{x!r} is not a row. Give a list of values, a dictionary, or a table of one row.")
    nested = getattr(x, "ndim", 1) > 1 or any(isinstance(item, (list, tuple, np.ndarray)) for item in items)
    if nested and len(items) != 1:
        raise InputError(f"The row has {len(items)} rows. {_MANY_ROWS}")
    return list(items[0]) if nested else items


def _plain(value: object, column: Column) -> object:
    return math.nan if value is None and column.kind != "category" else value


def _array(values: list[object]) -> object:
    if all(isinstance(value, (int, float, np.number, np.bool_)) for value in values):
        return np.asarray([values], dtype=np.float64)
    row = np.empty((1, len(values)), dtype=object)
    row[0, :] = values
    return row


def _frame(names: list[str], values: list[object]) -> object:
    """Make a frame, so that every column keeps its own type; without a frame library an array of objects."""
    for library in ("pandas", "polars"):
        try:
            make = import_module(library).DataFrame
        except ImportError:
            continue
        try:
            return make({name: [value] for name, value in zip(names, values, strict=True)})
        except UnicodeEncodeError:  # halves of characters, which columns of text cannot hold
            break
    return _array(values)
