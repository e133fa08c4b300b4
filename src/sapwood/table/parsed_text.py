"""Text of data frames converted to the numbers and dates that it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypedDict

import narwhals as nw
import numpy as np

from sapwood.arrays import Array
from sapwood.errors import InputError, InputTypeError, ParameterError, ParameterTypeError
from sapwood.table.column import Column, first_row
from sapwood.table.factors import factor_column
from sapwood.table.levels import encode_objects, is_missing
from sapwood.table.reading import Reading, recognise

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame, IntoSeries


class Hints(TypedDict):
    """What decides where text may be read in two ways."""

    decimal: str | None
    day_first: bool | None


def parse_text(X: object, *, like: object = None, decimal: str | None = None, day_first: bool | None = None) -> Any:
    """Convert the columns of text that are numbers or dates, such as "$215,000", "12.3%", "17.05.2024".

    A column is converted if all its values agree with one reading; all others stay as they are. Numbers may have
    thousands separators, a currency, a percent sign ("12.3%" is 12.3) and brackets for negative ones. Digits alone and
    codes with leading zeros stay text.

    Args:
        X: a data frame (pandas, polars, pyarrow), a series, or a one-dimensional array of text. It is not changed.
        like: a fitted estimator, for new rows: the columns that were numbers or dates in training are converted,
            and no others.
        decimal: "." or ",", where both are possible. By default "1,234" is 1234 and "1.234" is a decimal.
        day_first: True if 03/04/2024 is in April, where that is open. By default such columns stay text.

    Returns:
        The same kind of container, with float64 and datetime columns.
    """
    if decimal not in (None, ".", ","):
        raise ParameterError(f"decimal={decimal!r} is not allowed: it must be '.', ',' or None.")
    if day_first is not None and not isinstance(day_first, (bool, np.bool_)):
        raise ParameterTypeError(f"day_first={day_first!r} is not allowed: it must be True, False or None.")
    kinds = None if like is None else _kinds_of(like)
    hints = Hints(decimal=decimal, day_first=day_first)
    native = nw.to_native(X, pass_through=True)
    if isinstance(native, (np.ndarray, list, tuple)):
        return _parsed_array(np.asarray(native), hints)
    frame = nw.from_native(native, pass_through=True, allow_series=True)
    if isinstance(frame, nw.Series):
        found = _parsed(frame, "the series", None, hints)
        return native if found is None else _series(frame, found).to_native()
    if not isinstance(frame, nw.DataFrame):
        raise InputTypeError(
            f"X is a {type(X).__name__}, but parse_text converts data frames (pandas, polars, pyarrow), series and "
            "one-dimensional arrays. Pass one of them."
        )
    return _parsed_frame(frame, kinds, hints)


def _kinds_of(model: object) -> dict[str, str]:
    schema = getattr(model, "schema_", None)
    if schema is None:
        raise ParameterTypeError(f"like={model!r} is not allowed: it must be a fitted estimator of Sapwood, or None.")
    return {column.name: column.kind for column in schema.columns}


def _parsed_frame(frame: nw.DataFrame[IntoDataFrame], kinds: Mapping[str, str] | None, hints: Hints) -> object:
    new = []
    for name in frame.columns:
        kind = None if kinds is None else kinds.get(name, "category")
        found = _parsed(frame.get_column(name), f"column {name!r}", kind, hints)
        if found is not None:
            new.append(_series(frame.get_column(name), found))
    if not new:
        return frame.to_native()
    native = frame.with_columns(*new).to_native()
    if nw.dependencies.is_pyarrow_table(native) and native.schema.metadata:  # pandas' metadata have the old types
        kept = {key: value for key, value in native.schema.metadata.items() if key != b"pandas"}
        native = native.replace_schema_metadata(kept)
    return native


def _parsed(series: nw.Series[IntoSeries], where: str, kind: str | None, hints: Hints) -> Array | None:
    """Floats or dates, None to leave the series as it is."""
    if kind not in (None, "number", "date"):
        return None
    column = _text_column(series)
    return None if column is None else read_column(column, where, kind, hints)


def read_column(column: Column, where: str, kind: str | None, hints: Hints) -> Array | None:
    """Floats or dates of a column of text; None if it is neither. Of a `kind` that is known, it must be."""
    recognition = recognise(column.levels)
    reading = recognition.reading(**hints)
    if kind is not None and recognition.is_open and reading is None:
        raise InputError(
            f"In {where} of X, day and month may be either way round, as in {column.levels[0]!r}. Pass day_first=True "
            "or day_first=False."
        )
    if kind is not None and (reading is None or reading.kind != kind):  # digits alone where numbers are wanted
        reading = Reading("date", "ymd") if kind == "date" else Reading("number", hints["decimal"] or ".")
    if reading is None:
        return None
    values, bad = reading.values(column.levels)
    if bad.any():
        raise InputError(
            f"In {where} of X, {column.levels[first_row(bad)]!r} is no {reading.kind}, but the model was trained on "
            f"{reading.kind}s. Correct it or make it missing."
        )
    none = np.full(1, "NaT" if reading.kind == "date" else np.nan, dtype=values.dtype)
    found: Array = np.concatenate([values, none])[column.values]  # the missing code -1 finds the last
    return found


def _text_column(series: nw.Series[IntoSeries]) -> Column | None:
    """Levels and codes of a series of strings, None for any other."""
    native = series.to_native()
    if series.dtype == nw.String:
        column = factor_column(native)
    elif nw.dependencies.is_pandas_series(native) and native.dtype == object:
        if nw.dependencies.get_pandas().api.types.infer_dtype(native, skipna=True) != "string":
            return None
        column = factor_column(native)
    else:
        return None
    return column if column.levels else None


def _series(like: nw.Series[IntoSeries], values: Array) -> nw.Series[IntoSeries]:
    """A series of the same library, name and index."""
    native = like.to_native()
    if nw.dependencies.is_pandas_series(native):
        made = nw.dependencies.get_pandas().Series(values, index=native.index, name=native.name)
        return nw.from_native(made, series_only=True)
    kind = nw.Float64 if values.dtype.kind == "f" else nw.Datetime("us")
    cells = [None if is_missing(value) else value for value in values.tolist()]
    return nw.new_series(like.name, cells, kind, backend=like.implementation)


def _parsed_array(values: Array, hints: Hints) -> Array:
    if values.ndim != 1:
        raise InputTypeError(
            f"X is an array of {values.ndim} dimensions, but parse_text converts data frames, series and "
            "one-dimensional arrays. Pass pandas.DataFrame(X)."
        )
    objects = values.astype(object)
    missing = np.fromiter(map(is_missing, objects.tolist()), dtype=bool, count=len(objects))
    if not all(isinstance(value, str) for value in objects[~missing].tolist()) or missing.all():
        return values
    found = read_column(encode_objects(objects, missing), "the array", None, hints)
    return values if found is None else found
