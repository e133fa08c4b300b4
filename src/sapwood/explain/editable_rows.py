"""Rows in which some columns are replaced, in a form that the model predicts.

Columns are replaced in the table that was matched once. Only models with estimators of other kinds inside, which read
the caller's rows themselves, get these rows with native values in place of codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sapwood.explain.column_numbers import Model
from sapwood.explain.column_values import to_native
from sapwood.table.column import Array
from sapwood.table.table import Table


@dataclass(frozen=True, eq=False)
class Rows:
    """Rows of X, matched to the model."""

    X: Any
    table: Table
    reads_rows: bool

    @classmethod
    def of(cls, model: Model, X: Any, *, as_given: bool = False) -> Rows:
        """Match rows; `as_given` keeps to the caller's own container in any case."""
        return cls(X, model._match(X), as_given or not model._is_all_trees)

    @property
    def as_they_are(self) -> Any:
        """What to predict for the rows without a change."""
        return self.X if self.reads_rows else self.table

    def replace(self, columns: Mapping[int, Array]) -> Any:
        """What to predict once some columns hold these values, given as `Table.values` gives them."""
        if not self.reads_rows:
            return self.table.replace(columns)
        schema = self.table.schema
        native = {j: to_native(values, schema.columns[j]) for j, values in columns.items()}
        return _put(self.X, native, list(schema.names) if schema.named else None)

    def shuffle(self, columns: list[int], order: NDArray[np.intp]) -> Any:
        """What to predict once some columns are taken from the rows in another order."""
        return self.replace({j: self.table.values(j)[order] for j in columns})


def _put(X: Any, columns: Mapping[int, NDArray[Any]], names: list[str] | None) -> Any:
    """The same container with other columns; the caller's is left alone."""
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        return _put_frame(frame, columns, names)
    if sparse.issparse(X):
        matrix = sparse.lil_array(X)
        for j, values in columns.items():
            matrix[:, j] = values[:, None]
        return matrix.tocsr()
    matrix = np.array(X)
    if matrix.dtype.kind in "biuf":
        matrix = matrix.astype(np.float64)
    for j, values in columns.items():
        matrix[:, j] = values
    return matrix


def _put_frame(frame: nw.DataFrame[Any], columns: Mapping[int, NDArray[Any]], names: list[str] | None) -> Any:
    """Columns by name where the model knows names, else by place; categories keep the frame's own type."""
    new = []
    for j, values in columns.items():
        name = frame.columns[j] if names is None or names[j] not in frame.columns else names[j]
        kept = frame[name].dtype if frame[name].dtype in (nw.Categorical, nw.Enum) else None
        new.append(nw.new_series(name, values.tolist(), kept, backend=frame.implementation))
    if frame.implementation.is_pandas_like():
        new = [nw.maybe_set_index(series, index=nw.maybe_get_index(frame)) for series in new]
    return frame.with_columns(*new).to_native()
