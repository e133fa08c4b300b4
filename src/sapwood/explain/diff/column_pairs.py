"""The columns of two models side by side, and their differences."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sapwood.one_line import one_line
from sapwood.result import Part, Result
from sapwood.show.value import levels_text, value_text
from sapwood.table.schema import ColumnSchema, Schema

Ints = NDArray[np.intp]
Pair = tuple[ColumnSchema | None, ColumnSchema | None]


@dataclass(frozen=True, repr=False)
class ColumnChange(Result):
    """One difference of a column.

    | what | before and after |
    |---|---|
    | added, removed | None, and the kind of the column; or the other way round |
    | kind | kinds |
    | levels | levels that were removed, levels that were added |
    | range | smallest and largest value of training |
    | missing | whether there were missing values in training |
    """

    feature: str
    what: str
    before: Any
    after: Any
    description: str

    def _parts(self) -> Iterator[Part]:
        yield self.description


@dataclass(frozen=True, eq=False)
class ColumnPairs:
    """Columns of both models, first those of the first one: pairs of which one may be None."""

    names: tuple[str, ...]
    pairs: tuple[Pair, ...]
    places: tuple[Ints, Ints]
    """For each model, the number of the pair of each of its columns."""

    @classmethod
    def of(cls, before: Schema, after: Schema) -> ColumnPairs:
        """Pair columns by name; by position if one of the models has no names."""
        if not (before.named and after.named):
            both = tuple(zip(before.columns, after.columns, strict=True))
            place = np.arange(len(both))
            return cls(before.names if before.named else after.names, both, (place, place))
        news = dict(zip(after.names, after.columns, strict=True))
        pairs: list[Pair] = [(column, news.get(column.name)) for column in before.columns]
        pairs += [(None, column) for column in after.columns if column.name not in before.names]
        names = (*before.names, *(name for name in after.names if name not in before.names))
        number = {name: k for k, name in enumerate(names)}
        first, second = (np.array([number[name] for name in own.names], dtype=np.intp) for own in (before, after))
        return cls(names, tuple(pairs), (first, second))

    def level_codes(self, k: int) -> tuple[Ints, Ints]:
        """For both models, codes of all levels known to either, and of one known to neither; -1 if unknown."""
        before, after = self.pairs[k]
        assert before is not None
        assert after is not None
        levels = dict.fromkeys([*before.levels, *after.levels])
        first, second = (np.array([*(own.code_of.get(v, -1) for v in levels), -1]) for own in (before, after))
        return first, second

    def changes(self) -> tuple[ColumnChange, ...]:
        """All differences, column by column."""
        both = zip(self.names, self.pairs, strict=True)
        return tuple(change for name, pair in both for change in _changes(name, *pair))


def _changes(name: str, before: ColumnSchema | None, after: ColumnSchema | None) -> Iterator[ColumnChange]:
    title = one_line(name)
    if before is None:
        assert after is not None
        yield ColumnChange(name, "added", None, after.kind, f"{title}: a new column ({after.kind})")
    elif after is None:
        yield ColumnChange(name, "removed", before.kind, None, f"{title}: the column is gone ({before.kind})")
    elif before.kind != after.kind:
        yield ColumnChange(name, "kind", before.kind, after.kind, f"{title}: {before.kind} → {after.kind}")
    else:
        yield from _levels(name, title, before, after)
        yield from _range(name, title, before, after)
    if before is not None and after is not None and before.has_missing != after.has_missing:
        text = "no missing values before, some now" if after.has_missing else "missing values before, none now"
        yield ColumnChange(name, "missing", before.has_missing, after.has_missing, f"{title}: {text}")


def _levels(name: str, title: str, before: ColumnSchema, after: ColumnSchema) -> Iterator[ColumnChange]:
    went = tuple(level for level in before.levels if level not in after.code_of)
    came = tuple(level for level in after.levels if level not in before.code_of)
    parts = [f"{levels_text(own)} {verb}" for own, verb in ((came, "came"), (went, "went")) if own]
    if parts:
        yield ColumnChange(name, "levels", went, came, f"{title}: levels {', '.join(parts)}")


def _range(name: str, title: str, before: ColumnSchema, after: ColumnSchema) -> Iterator[ColumnChange]:
    old, new = (before.low, before.high), (after.low, after.high)
    if np.array_equal(old, new, equal_nan=True):
        return
    verb = "grew" if _covers(new, old) else "shrank" if _covers(old, new) else "moved"
    gap = min((abs(a - b) for a, b in zip(old, new, strict=True) if abs(a - b) > 0), default=math.inf)
    text = f"{title}: range {verb}, {_range_text(before, gap)} → {_range_text(after, gap)}"
    yield ColumnChange(name, "range", old, new, text)


def _covers(outer: tuple[float, float], inner: tuple[float, float]) -> bool:
    return math.isnan(inner[0]) or (outer[0] <= inner[0] and outer[1] >= inner[1])


def _range_text(column: ColumnSchema, gap: float) -> str:
    if math.isnan(column.low):
        return "no values"
    return " to ".join(value_text(column, bound, 2, gap) for bound in (column.low, column.high))
