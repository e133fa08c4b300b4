"""Tables, targets and weights whose bits are the same everywhere: whole numbers from a bit generator, and divisions.

NumPy keeps the streams of its bit generators; those of its distributions may change with a version.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse

Array = NDArray[Any]

ROWS = 700
DEEP_ROWS = 12_000  # more distinct values than a flat bitmap of ranks has
MANY_ROWS = 70_000  # boosting packs gradients from 65 536 rows on
TEAM_ROWS = 5_000  # enough for columns to share a byte, and for threads to share the work on a boosted tree


def whole(seed: int, n: int, below: int) -> Array:
    """Whole numbers from 0 to `below` - 1."""
    return (np.random.PCG64(seed).random_raw(n) >> np.uint64(11)).astype(np.int64) % below


def columns(seed: int, n: int, *ranges: int) -> Array:
    """One column of whole numbers for each range, a range of more than 999 in sixteenths."""
    drawn = [whole(100 * seed + place, n, below) for place, below in enumerate(ranges)]
    return np.column_stack(
        [column / 16 if below > 999 else column for column, below in zip(drawn, ranges, strict=True)]
    )


def with_missing(X: Array, *places: int) -> Array:
    """The same table, with every sixth cell of these columns or so missing."""
    X = X.astype(np.float64)
    for place in places:
        X[whole(9000 + place, len(X), 6) == 0, place] = np.nan
    return X


def with_levels(X: Array, *n_levels: int) -> pd.DataFrame:
    """The table, and a column of categories for each number of levels; a few of them are missing."""
    frame = pd.DataFrame({f"x{place}": column for place, column in enumerate(X.T)})
    for place, number in enumerate(n_levels):
        codes = np.where(whole(7000 + place, len(X), 40) == 0, -1, whole(8000 + place, len(X), number))
        frame[f"c{place}"] = pd.Categorical.from_codes(codes, [f"l{level}" for level in range(number)])
    return frame


def tied(n: int) -> Array:
    """Columns that are copies and mirrors of one another, so that the best splits tie."""
    X = columns(4, n, 8, 5, 8)
    return np.column_stack([X, X[:, 0], 7 - X[:, 0], X[:, 1] * 2])


def thin(n: int) -> sparse.csc_matrix:
    """Sixty columns of which one cell in twenty is stored."""
    stored = np.where(whole(5, n * 60, 20) == 0, whole(6, n * 60, 9) - 4, 0)
    return sparse.csc_matrix(stored.reshape(n, 60).astype(np.float64))


def exclusive(n: int) -> Array:
    """Twenty indicators, at most one of which is set in a row, and four other columns."""
    which = whole(12, n, 24)
    return np.column_stack([(which[:, None] == np.arange(20)).astype(np.float64), columns(13, n, 9000, 12, 9000, 3)])


_TABLES: dict[str, Callable[[int], Any]] = {
    "fine": lambda n: columns(1, n, 9000, 9000, 12, 9000, 7, 9000),
    "coarse": lambda n: columns(2, n, 16, 9, 30, 4, 12, 200),
    "missing": lambda n: with_missing(columns(3, n, 9000, 12, 9000, 7, 9000, 30), 0, 1, 2),
    "tied": tied,
    "few levels": lambda n: with_levels(columns(7, n, 9000, 12, 9000), 3, 8),
    "levels": lambda n: with_levels(columns(8, n, 9000, 12), 30, 90),
    "many levels": lambda n: with_levels(columns(9, n, 9000, 12), 300, 5),
    "levels, missing": lambda n: with_levels(with_missing(columns(10, n, 9000, 12, 9000), 0, 1), 6, 40),
    "wide": lambda n: columns(11, n, *(9000, 12, 9000, 40) * 5),
    "thin": thin,
    "exclusive": exclusive,
}


@cache
def table(name: str, n_rows: int) -> Any:
    """A table, for reading only."""
    return _TABLES[name](n_rows)


@cache
def _signal(name: str, n_rows: int) -> Array:
    """Whole numbers that depend on the first columns, and noise."""
    X = table(name, n_rows)
    dense = X.toarray() if sparse.issparse(X) else np.column_stack([_numbers(X, place) for place in range(X.shape[1])])
    dense = np.nan_to_num(dense, nan=3.0)
    steps = (
        dense[:, 0] // 64 + dense[:, 1] % 16 * (dense[:, 2] // 4 % 3) + 3 * (dense[:, -1] % 5) + 2 * (dense[:, 3] % 4)
    )
    return steps.astype(np.int64) + whole(77, n_rows, 7)


def _numbers(X: Any, place: int) -> Array:
    if not isinstance(X, pd.DataFrame):
        return np.asarray(X[:, place])
    column = X.iloc[:, place]
    return np.asarray(column.cat.codes if isinstance(column.dtype, pd.CategoricalDtype) else column, dtype=np.float64)


_TARGETS: dict[str, Callable[[Array], Array]] = {
    "two": lambda signal: (signal > np.median(signal)).astype(np.int64),
    "three": lambda signal: np.digitize(signal, np.sort(signal)[[len(signal) // 3, len(signal) * 2 // 3]]),
    "eighths": lambda signal: signal / 8,
    "tenths": lambda signal: signal / 10,
    "counts": lambda signal: np.maximum(signal - 12, 0) // 4,
    "positive": lambda signal: (np.abs(signal) + 1) / 8,
    "grades": lambda signal: np.digitize(signal, np.sort(signal)[[len(signal) // 2, len(signal) * 7 // 8]]),
    "class outputs": lambda signal: np.column_stack([signal % 2, np.digitize(signal, [12, 24])]),
    "number outputs": lambda signal: np.column_stack([signal / 10, signal % 7, (signal // 5) / 8]),
}


def target(name: str, of_table: str, n_rows: int) -> Array:
    """What is to be predicted of a table."""
    return _TARGETS[name](_signal(of_table, n_rows))


_WEIGHTS: dict[str, Callable[[int], Array]] = {
    "whole": lambda n: whole(21, n, 4),
    "thirds": lambda n: (1 + whole(22, n, 9)) / 3,
}


def weights(name: str, n_rows: int) -> Array:
    """Weights of rows; whole ones may be zero."""
    return _WEIGHTS[name](n_rows)


def queries(n_rows: int) -> Array:
    """Queries of ten to thirty rows."""
    return np.sort(whole(23, n_rows, n_rows // 20))
