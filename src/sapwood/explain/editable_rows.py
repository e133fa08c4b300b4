"""Rows in which columns can be replaced, in a form that the model predicts.

Columns are replaced in the table that was matched once. Only models with estimators of other libraries inside, which
read the caller's rows themselves, get these rows with native values in place of codes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sapwood.arrays import Array
from sapwood.explain.column_values import to_native
from sapwood.model import Model
from sapwood.table.table import Table


@dataclass(frozen=True, eq=False)
class EditableRows:
    """Rows of X, matched to the model."""

    X: Any
    table: Table
    keeps_container: bool

    @classmethod
    def of(cls, model: Model, X: object, *, keep_container: bool = False) -> EditableRows:
        """Match rows; `keep_container` predicts the caller's own container in any case."""
        return cls(X, model.match(X), keep_container or not model.is_all_trees)

    @property
    def unchanged(self) -> Any:
        """What to predict for the rows without a change."""
        return self.X if self.keeps_container else self.table

    def replace(self, columns: Mapping[int, Array]) -> Any:
        """What to predict once some columns hold these values, in the form of `Table.values`."""
        if not self.keeps_container:
            return self.table.replace(columns)
        schema = self.table.schema
        native = {j: to_native(values, schema.columns[j]) for j, values in columns.items()}
        frame = nw.from_native(self.X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            return _replace_in_frame(frame, native, list(schema.names) if schema.named else None)
        return _replace_in_matrix(self.X, native)

    def shuffle(self, columns: list[int], order: NDArray[np.intp]) -> Any:
        """What to predict once some columns are taken from the rows in another order."""
        return self.replace({j: self.table.values(j)[order] for j in columns})


def _replace_in_matrix(X: Any, columns: Mapping[int, Array]) -> Any:
    """A copy with other columns."""
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


def _replace_in_frame(frame: nw.DataFrame[Any], columns: Mapping[int, Array], names: list[str] | None) -> Any:
    """Columns by name where the model has names, else by position; categories keep the frame's own type."""
    new = []
    for j, values in columns.items():
        name = frame.columns[j] if names is None or names[j] not in frame.columns else names[j]
        kept = frame[name].dtype if frame[name].dtype in (nw.Categorical, nw.Enum) else None
        new.append(nw.new_series(name, values.tolist(), kept, backend=frame.implementation))
    if frame.implementation.is_pandas_like():
        new = [nw.maybe_set_index(series, index=nw.maybe_get_index(frame)) for series in new]
    return frame.with_columns(*new).to_native()
