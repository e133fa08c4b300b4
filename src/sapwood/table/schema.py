"""The columns of a training table, as a model keeps them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import numpy as np

from sapwood.cached_property import cached_property
from sapwood.result import Part, Result, TextTable
from sapwood.table.column import Codes, Kind, Level
from sapwood.table.schema_text import HEADS, column_cells, schema_title
from sapwood.table.storage import Absent

if TYPE_CHECKING:
    from sapwood.table.comparison import Comparison
    from sapwood.table.statistics import ColumnStatistics
    from sapwood.table.table import Table

Unseen = Literal["missing", "node", "error"]


@dataclass(frozen=True, eq=False, repr=False)
class ColumnSchema(Result):
    """One column of the training table; `low` and `high` are NaN for categories and for columns without values.

    `statistics` describe its values, for comparison with new rows; they are ignored when columns are compared.
    """

    name: str
    kind: Kind
    levels: tuple[Level, ...] = ()
    low: float = math.nan
    high: float = math.nan
    has_missing: bool = False
    statistics: ColumnStatistics | None = None

    def _parts(self) -> Iterator[Part]:
        name, *facts, missing = column_cells(self)
        yield f"{name}: {', '.join(facts)}, {missing} missing"

    @cached_property
    def code_of(self) -> dict[Level, int]:
        """Code of every level."""
        return {level: code for code, level in enumerate(self.levels)}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ColumnSchema) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple[object, ...]:
        """NaN is not equal to itself, but a schema is."""
        bounds = [None if math.isnan(bound) else bound for bound in (self.low, self.high)]
        return (self.name, self.kind, self.levels, *bounds, self.has_missing)


@dataclass(frozen=True, repr=False)
class Schema(Result):
    """All columns of the training table; `named` is whether the names came from a data frame."""

    columns: tuple[ColumnSchema, ...]
    named: bool
    sparse_absent: Absent = "zero"

    def _parts(self) -> Iterator[Part]:
        yield schema_title(self)
        yield TextTable(HEADS, [column_cells(column) for column in self.columns], sides="l")

    def __getstate__(self) -> dict[str, object]:
        """What copies and pickles keep; the check of new rows is made again when it is needed."""
        return {name: value for name, value in vars(self).items() if name != "_drift_check"}

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return len(self.columns)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @cached_property
    def n_levels(self) -> Codes:
        """Number of levels of each column, 0 for those that are not categories."""
        counts = np.array([len(column.levels) for column in self.columns], dtype=np.int32)
        counts.flags.writeable = False
        return counts

    @cached_property
    def kinds(self) -> frozenset[Kind]:
        """The kinds that occur."""
        return frozenset(column.kind for column in self.columns)

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column holds numbers or booleans, so that a matrix fits without conversion."""
        return self.kinds <= {"number", "boolean"}

    @property
    def has_statistics(self) -> bool:
        """Whether something is known of the values of the columns, beyond their ranges and levels."""
        return all(column.statistics is not None for column in self.columns)

    def match(self, X: object, *, unseen: Unseen = "missing", owner: str = "estimator") -> Table:
        """New rows in the columns, order and codes of the training table; `unseen` sets what unknown levels become."""
        from sapwood.table.matching import match_table  # tables import this module, so this import must wait

        return match_table(self, X, unseen=unseen, owner=owner)

    def compare(self, X: object) -> Comparison:
        """How new rows differ from the training data, column by column: print it, or use its `to_frame()`.

        Args:
            X: table of rows in any form that `predict` takes.
        """
        from sapwood.table.comparison import compare_rows  # as above

        return compare_rows(self, X)
