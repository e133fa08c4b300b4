"""Columns in memory, and the schema that describes them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from sapwood.arrays import Array
from sapwood.errors import InputError
from sapwood.table.adapters import open_source
from sapwood.table.categorical import find_categorical
from sapwood.table.column import Column, Kind
from sapwood.table.names import repeated_names
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.storage import Absent, ColumnStorage, Storage
from sapwood.table.text_warning import warn_of_text

BLOCK_CELLS = 1 << 22  # that are looked at together
FEW_CELLS = 1 << 15  # are read before a thread wakes up


@dataclass(frozen=True, eq=False, slots=True)
class Table:
    """Rows of typed columns; every array it hands out is read-only."""

    schema: Schema
    storage: Storage

    @classmethod
    def from_any(
        cls, X: object, *, categorical_features: object = "from_dtype", sparse_absent: Absent = "zero"
    ) -> Table:
        """The training table: kinds, levels and ranges are those of X."""
        source = open_source(X, sparse_absent)
        _refuse_repeated(source.names)
        chosen = find_categorical(categorical_features, source.names)
        whole = None if chosen else source.whole()
        if whole is not None:
            kinds: Sequence[Kind] = [whole.kind] * len(source.names)
            return _described(source.names, source.named, kinds, whole.storage, sparse_absent)
        columns = [source.column(j, j in chosen) for j in range(len(source.names))]
        warn_of_text({source.names[j]: c for j, c in enumerate(columns) if j not in chosen})
        kinds = [column.kind for column in columns]
        return _described(source.names, source.named, kinds, ColumnStorage(columns), sparse_absent)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.storage.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.schema.n_features

    def jobs(self, n_jobs: int) -> int:
        """Threads that are worth waking to read all cells once."""
        return n_jobs if self.n_rows * self.n_features > FEW_CELLS else 1

    @property
    def dtype(self) -> np.dtype:
        """float32 if it holds every cell exactly, else float64."""
        return self.storage.dtype

    def values(self, j: int) -> Array:
        """Column j: floats with NaN for missing, or int32 codes into its levels with MISSING and UNSEEN."""
        return self.storage.column(j)

    def cells(self, j: int, rows: Array | slice) -> Array:
        """Some of column j: row numbers or a slice."""
        return self.storage.cells(j, rows)

    def explicit(self, j: int) -> tuple[Array, Array] | None:
        """Rows (int32, ascending) and values of a sparse column that are not zero; None for dense storage."""
        return self.storage.explicit(j)

    def block(self, start: int, stop: int) -> Array:
        """Rows start to stop as a C-contiguous matrix; a missing category is NaN, an unseen one -2."""
        return self.storage.block(start, stop)

    def pick(self, rows: Array) -> Array:
        """Some rows, ascending, as a C-contiguous matrix of their own; categories as in `block`."""
        width = max(1, BLOCK_CELLS // max(1, self.n_features))
        parts = []
        for start in range(0, self.n_rows, width):
            first, last = np.searchsorted(rows, [start, start + width])
            if last > first:
                parts.append(self.block(start, start + width)[rows[first:last] - start])
        return np.concatenate(parts) if parts else np.empty((0, self.n_features), dtype=self.dtype)

    def take(self, rows: object) -> Table:
        """These rows (indices or a mask), as if the others had never existed."""
        storage = self.storage.take(self._row_numbers(rows))
        kinds = [column.kind for column in self.schema.columns]
        return _described(self.schema.names, self.schema.named, kinds, storage, self.schema.sparse_absent)

    def take_within(self, rows: Array) -> Table:
        """These rows with the columns, levels and codes of the whole table; `take` forgets levels that are gone."""
        if "category" not in self.schema.kinds:
            return Table(self.schema, self.storage.take(rows))
        columns = [Column(c.kind, self.values(j)[rows], c.levels) for j, c in enumerate(self.schema.columns)]
        return Table(self.schema, ColumnStorage(columns))

    def replace(self, columns: Mapping[int, Array]) -> Table:
        """The same rows with other values, given as `values` gives them, in some columns."""
        return Table(self.schema, self.storage.replace(columns))

    def _row_numbers(self, rows: object) -> Array:
        numbers: Array = np.asarray(rows)
        if numbers.dtype == bool:
            if numbers.shape != (self.n_rows,):
                raise InputError(f"The mask of rows has shape {numbers.shape}, but the table has {self.n_rows} rows.")
            numbers = np.flatnonzero(numbers)
        if len(numbers) == 0:
            raise InputError("No rows are left of the table; keep at least one.")
        return numbers


def _refuse_repeated(names: Sequence[str]) -> None:
    repeated = repeated_names(names)
    if repeated:
        raise InputError(f"X has columns of the same name: {repeated}. Rename or drop them; every name must be unique.")


def _described(
    names: Sequence[str], named: bool, kinds: Sequence[Kind], storage: Storage, sparse_absent: Absent
) -> Table:
    ranges = (part.tolist() for part in storage.ranges())
    columns = tuple(map(ColumnSchema, names, kinds, storage.levels(), *ranges))
    return Table(Schema(columns, named, sparse_absent), storage)
