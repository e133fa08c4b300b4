"""y as one array per output, checked for length and missing values."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, NamedTuple

import narwhals as nw
import numpy as np

from sapwood.arrays import Array, Mask
from sapwood.errors import InputError, InputTypeError, naming
from sapwood.table.arrays import fill_masked
from sapwood.table.column import first_row
from sapwood.table.levels import is_missing
from sapwood.table.read_array import read_array
from sapwood.table.sparse import is_sparse

if TYPE_CHECKING:
    from narwhals.typing import IntoSeries


class Labels(NamedTuple):
    """One array per output; `single` if y was a vector or one column. A frame has names of its columns."""

    columns: list[Array]
    single: bool
    names: tuple[str, ...] = ()

    def naming(self, k: int) -> AbstractContextManager[None]:
        """Errors that are raised inside begin with the column they are about, if there are several."""
        if self.single:
            return nullcontext()
        return naming(f"Column {self.names[k]!r} of y" if self.names else f"Column {k} of y")


def read_labels(y: object, n_rows: int) -> Labels:
    """The outputs of y, in any container."""
    _refuse_no_target(y)
    columns = _frame_columns(y)
    names: tuple[str, ...] = ()
    if columns is None:
        columns = _array_columns(_to_array(y))
    elif len(columns) > 1:
        names = _frame_names(y)
    labels = Labels(columns, len(columns) == 1, names)
    for k, column in enumerate(columns):
        with labels.naming(k):
            _check(column, n_rows)
    return labels


def _frame_names(y: object) -> tuple[str, ...]:
    """Names of the columns of a data frame, if they are text and differ."""
    names = tuple(getattr(y, "column_names", getattr(y, "columns", ())))
    are_texts = all(isinstance(name, str) for name in names) and len(set(names)) == len(names)
    return tuple(map(str, names)) if are_texts else ()


def series_array(series: IntoSeries) -> Array:
    """Values of a series of any library, missing ones as None or NaN."""
    wrapped = nw.from_native(series, series_only=True)
    if nw.dependencies.is_pandas_series(series):
        return np.asarray(series.to_numpy())
    if isinstance(wrapped.dtype, (nw.Categorical, nw.Enum)):
        wrapped = wrapped.cast(nw.String)  # numpy conversion of dictionaries loses nulls
    return np.asarray(wrapped.to_numpy())


def _refuse_no_target(y: object) -> None:
    if y is None:
        raise InputError(
            "This estimator requires y to be passed, but the target y is None. Pass one label or number for each row."
        )
    if isinstance(y, (str, bytes, dict)):
        raise InputTypeError(f"y is a {type(y).__name__}, but must be one label or number for each row of X.")
    if is_sparse(y):
        raise InputTypeError("y is a sparse matrix, which is not supported. Pass y.toarray().")


def _frame_columns(y: object) -> list[Array] | None:
    """Outputs of a series or data frame, None if y is neither."""
    if isinstance(y, (np.ndarray, list, tuple)):
        return None
    if nw.dependencies.is_pandas_dataframe(y):
        return [series_array(y.iloc[:, j]) for j in range(y.shape[1])]
    wrapped = nw.from_native(_chunked(y), pass_through=True, allow_series=True)
    if isinstance(wrapped, nw.Series):
        return [series_array(wrapped.to_native())]
    if isinstance(wrapped, nw.DataFrame):
        return [series_array(wrapped.get_column(name).to_native()) for name in wrapped.columns]
    if isinstance(wrapped, nw.LazyFrame):
        raise InputTypeError("y is a lazy frame, whose rows are not computed yet. Pass y.collect().")
    return None


def _chunked(y: object) -> object:
    """A pyarrow array as the chunked array that narwhals accepts."""
    pa = nw.dependencies.get_pyarrow()
    return pa.chunked_array([y]) if pa is not None and isinstance(y, pa.Array) else y


def _to_array(y: object) -> Array:
    if isinstance(y, np.ma.MaskedArray):
        return fill_masked(y)
    try:
        array = read_array(y, "y")
        if array.dtype.kind in "US" and not hasattr(y, "dtype") and not _all_text(y):
            array = np.array(y, dtype=object)  # numpy would turn None, NaN and numbers into strings
    except ValueError as error:
        raise InputError(f"y cannot be read as an array: its rows have different lengths ({error}).") from error
    return array.astype(object) if array.dtype.kind == "T" else array


def _all_text(y: object) -> bool:
    return all(isinstance(value, (str, bytes)) for value in np.array(y, dtype=object).ravel().tolist())


def _array_columns(y: Array) -> list[Array]:
    if y.ndim == 1:
        return [y]
    if y.ndim == 2 and y.shape[1] > 0:
        return [y[:, k] for k in range(y.shape[1])]
    raise InputError(
        f"y should be a 1d array, got an array of shape {y.shape} instead. "
        "Pass one label or number for each row, or one column for each output."
    )


def _check(labels: Array, n_rows: int) -> None:
    if labels.dtype.kind == "c":
        raise InputError(f"Complex data not supported: y has dtype {labels.dtype}. Pass real numbers.")
    if labels.dtype.kind == "V":
        raise InputTypeError(f"y has dtype {labels.dtype}. Pass a plain array, one column for each output.")
    if len(labels) == 0:
        raise InputError("Found array with 0 sample(s) in y while a minimum of 1 is required. Pass at least one row.")
    if len(labels) != n_rows:
        raise InputError(
            f"Found input variables with inconsistent numbers of samples: [{n_rows}, {len(labels)}]. "
            "y must have one entry for each row of X."
        )
    _refuse_missing(labels)


def missing_labels(labels: Array) -> Mask:
    """Which labels are missing."""
    if labels.dtype.kind in "mM":
        return np.isnat(labels)
    if labels.dtype.kind == "O":
        return np.fromiter(map(is_missing, labels.tolist()), dtype=bool, count=len(labels))
    return np.isnan(labels) if labels.dtype.kind == "f" else np.zeros(len(labels), dtype=bool)


def _refuse_missing(labels: Array) -> None:
    if labels.dtype.kind == "f":  # which numbers refuse in words of their own
        return
    missing = missing_labels(labels)
    if missing.any():
        raise InputError(
            f"Input y contains NaN. The first missing value is in row {first_row(missing)}. "
            "Remove such rows or fill them in."
        )
