"""When new rows are not like the training data: rules that ordinary samples of the same data do not break.

Two kinds of evidence. If k of m new rows show what none of n training rows shows (a missing value, a level, a value
beyond the range), chance explains it with a probability of at most about (m / (n + m))^k, whatever the distribution.
And shares of rows, or differences of distributions, that differ by more than a margin of the size that the inequalities
of Dvoretzky-Kiefer-Wolfowitz and McDiarmid give differ beyond chance.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from sapwood.arrays import Array
from sapwood.counted import counted
from sapwood.data_warnings import is_quiet
from sapwood.errors import DataDriftWarning, warn_user
from sapwood.table.column import MISSING, UNSEEN
from sapwood.table.schema import ColumnSchema, Schema
from sapwood.table.storage import ColumnStorage, MatrixStorage, SparseStorage
from sapwood.table.table import Table
from sapwood.table.wording import range_text, share_text

if TYPE_CHECKING:
    from scipy import sparse

ROWS = 256  # that a warning looks at, evenly spaced
CHANCE = 1e-4  # of a false alarm, for all columns together
FAR = 1.0  # widths of the trained range beyond it
FAR_SHARE = 0.05  # of rows that far outside
MOST_OF_ROWS = 0.5  # without a value, or with unseen levels: worth a warning
NAMED = 4  # columns in a warning


def is_new(n_rows: int, k: float, m: int, n_columns: int) -> bool:
    """Whether chance cannot explain that k of m rows show what none of `n_rows` training rows shows."""
    return k * math.log1p(n_rows / m) > math.log(2 * n_columns / CHANCE)


def margin(n_rows: int, m: int, n_columns: int, n_levels: int = 0) -> float:
    """How far shares of n and of m rows may be apart by chance; with levels, half the sum of all differences."""
    per_row = 1 / max(n_rows, 1) + 1 / max(m, 1)
    return math.sqrt(math.log(2 * n_columns / CHANCE) * per_row / 2) + math.sqrt(n_levels * per_row) / 2


def far_bounds(column: ColumnSchema) -> tuple[float, float]:
    """Values beyond these are far outside of the trained range; infinite if it is empty, a single value or infinite."""
    width = column.high - column.low
    if not 0 < width < math.inf:
        return -math.inf, math.inf
    return column.low - FAR * width, column.high + FAR * width


def expected_unseen(column: ColumnSchema) -> float:
    """About the share of new rows with unseen levels if nothing has changed: that of levels that occurred once."""
    kept = column.statistics
    return 0.0 if kept is None or not kept.n_present else kept.n_single / kept.n_present


class _Counts(NamedTuple):
    """Rows looked at; of each column those without a value, with an unseen level, below and above the far bounds."""

    n_rows: int
    missing: Array
    unseen: Array
    far: Array


class DriftCheck:
    """What a warning needs of a schema, made once."""

    def __init__(self, schema: Schema) -> None:
        self._schema = schema
        bounds = np.array([far_bounds(column) for column in schema.columns])
        self._low, self._high = np.ascontiguousarray(bounds.T)
        with np.errstate(over="ignore"):
            self._bounds = {np.dtype(kind): bounds.T.astype(kind) for kind in (np.float32, np.float64)}

    @classmethod
    def of(cls, schema: Schema) -> DriftCheck | None:
        """The check of a schema; None if it has no statistics."""
        made: DriftCheck | None = schema.__dict__.get("_drift_check", _UNMADE)
        if made is _UNMADE:
            made = cls(schema) if schema.has_statistics else None
            schema.__dict__["_drift_check"] = made
        return made

    def findings(self, table: Table) -> list[str]:
        """What is wrong, a text for each column, judged by evenly spaced rows."""
        counts = self._counts(table)
        if counts is None:
            return []
        suspects = np.flatnonzero(counts.missing + counts.unseen + counts.far > FAR_SHARE * counts.n_rows)
        found = (self._finding(int(j), counts) for j in suspects)
        return [text for text in found if text]

    def _finding(self, j: int, counts: _Counts) -> str | None:
        column, m = self._schema.columns[j], counts.n_rows
        kept = column.statistics
        assert kept is not None
        n, d = kept.n_rows, self._schema.n_features
        missing, unseen, far = (int(part[j]) for part in (counts.missing, counts.unseen, counts.far))
        excess = unseen - expected_unseen(column) * m
        before = kept.n_missing / n
        if before == 0 and missing > MOST_OF_ROWS * m and is_new(n, missing, m, d):
            return f"{column.name!r} is missing in {share_text(missing / m)} of the rows, and never was in training"
        if missing / m - before > max(MOST_OF_ROWS, margin(n, m, d)):
            shares = f"{share_text(missing / m)} of the rows, and was in {share_text(before)} in training"
            return f"{column.name!r} is missing in {shares}"
        if excess > MOST_OF_ROWS * m and is_new(n, excess, m, d):
            return f"{column.name!r} has levels not seen in training in {share_text(unseen / m)} of the rows"
        if far > FAR_SHARE * m and is_new(n, far, m, d):
            trained = range_text(column, column.low, column.high)
            return f"{column.name!r} is far outside of the trained range {trained} in {share_text(far / m)} of the rows"
        return None

    def _counts(self, table: Table) -> _Counts | None:
        """None if no cell is conspicuous."""
        storage, step = table.storage, -(-table.n_rows // ROWS)
        if isinstance(storage, MatrixStorage):
            return self._in_matrix(storage.matrix[::step])
        if isinstance(storage, SparseStorage):
            return self._in_sparse(storage.every(step), storage.absent == "missing")
        assert isinstance(storage, ColumnStorage)
        return self._in_columns(storage, step)

    def _in_matrix(self, cells: Array) -> _Counts | None:
        low, high = self._bounds[cells.dtype]
        usual = (cells >= low) & (cells <= high)
        if usual.all():
            return None
        missing = np.count_nonzero(np.isnan(cells), axis=0)
        odd = len(cells) - np.count_nonzero(usual, axis=0)
        return _Counts(len(cells), missing, np.zeros_like(odd), odd - missing)

    def _in_columns(self, storage: ColumnStorage, step: int) -> _Counts:
        missing, unseen, far = np.zeros((3, len(storage.columns)), dtype=np.int64)
        m = len(range(0, storage.n_rows, step))
        for j, column in enumerate(storage.columns):
            cells = column.values[::step]
            if column.kind == "category":
                if cells.min() < 0:
                    missing[j], unseen[j] = np.count_nonzero(cells == MISSING), np.count_nonzero(cells == UNSEEN)
                continue
            n_usual = np.count_nonzero((cells >= self._low[j]) & (cells <= self._high[j]))
            if n_usual < m:
                missing[j] = np.count_nonzero(np.isnan(cells))
                far[j] = m - n_usual - missing[j]
        return _Counts(m, missing, unseen, far)

    def _in_sparse(self, rows: sparse.csr_array, absent_is_missing: bool) -> _Counts | None:
        m, d = rows.shape
        columns, cells = rows.indices, rows.data
        is_missing = np.isnan(cells)
        is_far = (cells < self._low[columns]) | (cells > self._high[columns])
        if not absent_is_missing and not (is_missing | is_far).any():
            return None
        missing, far = (np.bincount(columns[mask], minlength=d) for mask in (is_missing, is_far))
        if absent_is_missing:
            missing += m - np.bincount(columns, minlength=d)
        return _Counts(m, missing, np.zeros_like(far), far)


_UNMADE: object = object()


def warn_of_drift(schema: Schema, table: Table) -> None:
    """One warning, at the line that called the library, if rows are not like those of training."""
    if is_quiet():
        return
    check = DriftCheck.of(schema)
    found = [] if check is None else check.findings(table)
    if not found:
        return
    more = f"; and {counted(len(found) - NAMED, 'more column')}" if len(found) > NAMED else ""
    summary = f"The rows are not like the training data: column {'; '.join(found[:NAMED])}{more}."
    message = (
        f"{summary} The model was not trained on such values. The schema of the model has the figures, by compare(X); "
        "drift_warning=False turns this warning off."
    )
    warn_user(DataDriftWarning(message, summary))
