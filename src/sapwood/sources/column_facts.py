"""What is known of one column after some batches: as much as of the whole column in memory, without its rows."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

import numpy as np

from sapwood.arrays import Array, Floats, Ints
from sapwood.errors import InputError
from sapwood.table.column import MISSING, Column, Kind, Level
from sapwood.table.levels import one_type_of_number, sort_levels
from sapwood.table.ranges import matrix_ranges
from sapwood.table.schema import ColumnSchema

MOST_FEW = 4096  # values of a column that has few of them
_SAID = {"number": "numbers", "boolean": "booleans", "date": "dates", "duration": "durations", "category": "text"}


class First(NamedTuple):
    """The kind of a column, and where it was seen first."""

    kind: Kind
    name: str


class ColumnFacts:
    """Facts of a column; `places` are the rows of its sample among the rows that are used."""

    def __init__(self, name: str, places: Ints) -> None:
        self.name = name
        self.declared = True
        self.n_missing = 0
        self.few: Array | None = np.empty(0)  # all values, None if they are many
        self._places = places
        self._sample: Array | None = None
        self._first: First | None = None  # of the batches with values
        self._empty: set[Kind] = set()  # kinds of the others
        self._is_float32 = True
        self._low = self._high = np.nan
        self._number_of: dict[Level, int] = {}  # levels in the order in which they were seen
        self._keys: list[float] = []
        self._counts = np.zeros(0, dtype=np.int64)

    def see(self, column: Column, name: str) -> None:
        """Kind and type of a batch, of all its rows."""
        self._is_float32 &= column.values.dtype == np.float32
        if not has_values(column):
            self._empty.add(column.kind)
            return
        if self._first is None:
            self._first = First(column.kind, name)
        elif self._first.kind != column.kind:
            self._see_other(column.kind, name)
        if column.kind == "category":
            self.declared &= column.declared

    def _see_other(self, kind: Kind, name: str) -> None:
        assert self._first is not None
        if {kind, self._first.kind} != {"number", "boolean"}:
            raise InputError(
                f"Column {self.name!r} holds {_SAID[kind]} in {name!r}, but {_SAID[self._first.kind]} in "
                f"{self._first.name!r}. Give it one type everywhere, or name it in categorical_features."
            )
        self._first = First("number", self._first.name)
        self._is_float32 = False  # numbers and booleans in one column are objects, which become float64

    def add(self, column: Column, start: int) -> Floats:
        """Add the rows of a batch that are used, from row `start` of them on; returns numbers to make digests of."""
        if column.kind != "category":
            self._add_numbers(column.values, start)
            return column.values
        keys: Floats = np.append(self._add_levels(column), np.nan)
        return keys[column.values]  # the missing code -1 finds the last

    def _add_numbers(self, values: Array, start: int) -> None:
        ranges = matrix_ranges(values[:, np.newaxis])
        self._low, self._high = np.fmin(self._low, ranges.low[0]), np.fmax(self._high, ranges.high[0])
        missing = np.isnan(values) if ranges.has_missing[0] else None
        self.n_missing += 0 if missing is None else int(np.count_nonzero(missing))
        if self.few is not None:
            self.few = np.append(self.few, values if missing is None else values[~missing])
            self.few = None if len(self.few) > MOST_FEW else self.few
        first, last = np.searchsorted(self._places, [start, start + len(values)])
        if self._sample is None:
            self._sample = np.full(len(self._places), np.nan, dtype=values.dtype)
        elif values.dtype == np.float64 and self._sample.dtype != np.float64:
            self._sample = self._sample.astype(np.float64)
        self._sample[first:last] = values[self._places[first:last] - start]

    def _add_levels(self, column: Column) -> Floats:
        """Count levels; returns the key of each, 0 if no row has it."""
        counts = np.bincount(column.values - MISSING, minlength=len(column.levels) + 1)
        self.n_missing += int(counts[0])
        keys = np.zeros(len(column.levels))
        here = np.flatnonzero(counts[1:])
        known, numbers = self._number_of, np.empty(len(here), dtype=np.intp)
        for k, code in enumerate(here.tolist()):
            number = known.setdefault(column.levels[code], len(known))
            if number == len(self._keys):
                self._keys.append(level_key(column.levels[code]))
            numbers[k] = number
            keys[code] = self._keys[number]
        self._counts = np.concatenate([self._counts, np.zeros(len(known) - len(self._counts), dtype=np.int64)])
        self._counts[numbers] += counts[1:][here]  # each number once
        return keys

    @property
    def kind(self) -> Kind:
        """The kind of the whole column."""
        if self._first is not None:
            return self._first.kind
        return next(iter(self._empty)) if len(self._empty) == 1 else "number"

    @property
    def dtype(self) -> np.dtype:
        """Type of the values of the whole column."""
        if self.kind == "category":
            return np.dtype(np.int32)
        return np.dtype(np.float32 if self.kind == "boolean" or self._is_float32 else np.float64)

    def schema(self) -> ColumnSchema:
        """The column as a table of all rows describes it."""
        if self.kind != "category":
            low, high = float(self._low), float(self._high)
            return ColumnSchema(self.name, self.kind, (), low, high, self.n_missing > 0)
        return ColumnSchema(self.name, self.kind, self.levels, has_missing=self.n_missing > 0)

    @property
    def levels(self) -> tuple[Level, ...]:
        """All levels, in order."""
        found = one_type_of_number(list(self._number_of))
        return sort_levels(level for level in found if level is not None)

    def counts(self, levels: tuple[Level, ...]) -> Ints:
        """Rows that hold each of these levels."""
        return self._counts[[self._number_of[level] for level in levels]]

    def sample(self) -> Array:
        """The evenly spaced rows."""
        values = np.full(len(self._places), np.nan) if self._sample is None else self._sample
        return values.astype(self.dtype, copy=False)


def has_values(column: Column) -> bool:
    """Whether any row of a column has a value."""
    return bool((column.values != MISSING).any() if column.kind == "category" else not np.isnan(column.values).all())


def level_key(level: Level) -> float:
    """A whole number that stands for a level wherever it is, for digests."""
    said = f"text {level}" if isinstance(level, str) else f"number {level + 0!r}"
    return float(1 + int.from_bytes(hashlib.blake2b(said.encode("utf-8", "surrogatepass"), digest_size=6).digest()))


def level_keys(levels: tuple[Level, ...]) -> Floats:
    """Keys of the levels by code, and NaN for missing ones."""
    return np.array([*map(level_key, levels), np.nan])


__all__ = ["ColumnFacts", "has_values", "level_key", "level_keys"]
