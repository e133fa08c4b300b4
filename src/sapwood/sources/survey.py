"""The first pass over a source: the schema, the sample that bins are made of, the target, and digests of all rows.

Schema and bins are equal to those of a table of all rows in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from sapwood.arrays import Array, Ints
from sapwood.codes.binned import find_bins, sampled_rows
from sapwood.codes.bins import Bins
from sapwood.counted import counted
from sapwood.errors import DataFileError, InputError
from sapwood.progress_bar import WorkBar
from sapwood.sources.column_facts import ColumnFacts
from sapwood.sources.row_digest import RowDigest, hash_columns
from sapwood.sources.rows import Part, Roles, read_parts
from sapwood.sources.source import DataSource
from sapwood.sources.target_facts import Queries, TargetFacts, Task, digest_values
from sapwood.table.adapters import open_source as open_columns
from sapwood.table.categorical import find_categorical
from sapwood.table.column import Column
from sapwood.table.identifiers import warn_of_counted_identifiers
from sapwood.table.names import repeated_names
from sapwood.table.schema import Schema
from sapwood.table.shape import check_shape
from sapwood.table.source import Source
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table
from sapwood.table.text_warning import warn_of_text
from sapwood.threads import resolve_jobs, run_all


@dataclass(frozen=True, eq=False)
class Survey:
    """What is known of all rows of a source.

    | name | meaning |
    |---|---|
    | n_rows | rows that are used: those of a weight above zero |
    | n_given | all rows |
    | schema | the columns, without statistics, which `encode` adds |
    | columns | facts of each column |
    | target | classes with their counts, or the range of numbers; None without a target |
    | n_queries | queries, 0 if there are none |
    | has_weight | whether rows have weights |
    | digests | of X, y, weight and query: of the rows that are used, the same for any division into batches |
    """

    source: DataSource
    roles: Roles
    n_rows: int
    n_given: int
    schema: Schema
    columns: Sequence[ColumnFacts] = field(repr=False)
    target: TargetFacts | None
    n_queries: int
    has_weight: bool
    digests: Mapping[str, str]

    def bins(self, max_bins: int = 255, n_jobs: int | None = None) -> tuple[Bins, ...]:
        """Bins of the columns, from the evenly spaced sample."""
        return find_bins(self.sample(), max_bins, resolve_jobs(n_jobs))

    def sample(self) -> Table:
        """The evenly spaced rows; categories, of which bins need no rows, are all missing."""
        none = np.full(min(self.n_rows, len(sampled_rows(self.n_rows))), -1, dtype=np.int32)
        return Table(self.schema, ColumnStorage([_sample_of(own, none) for own in self.columns]))


def _sample_of(own: ColumnFacts, none: Array) -> Column:
    if own.kind == "category":
        return Column("category", none, own.levels)
    return Column(own.kind, own.sample())


def survey(
    source: DataSource,
    roles: Roles | None = None,
    *,
    task: Task = "auto",
    categorical_features: object = "from_dtype",
    n_jobs: int | None = None,
    verbose: bool | int = 0,
) -> Survey:
    """Read all rows once, and keep what is known of them.

    Args:
        source: what `open_source` returns.
        roles: names of the columns of target, weights and queries, and of those to leave out.
        task: whether the target holds "classes" or "numbers"; "auto" decides by its values.
        categorical_features: columns to treat as categories besides those of a categorical type, as in estimators.
        n_jobs: number of threads.
        verbose: whether a progress bar is shown.
    """
    roles = roles or Roles()
    n_given, n_rows = count_rows(source, roles)
    reading = _Reading(source, roles, n_rows, task, categorical_features, resolve_jobs(n_jobs))
    with WorkBar(n_given, verbose) as bar:
        for part in read_parts(source, roles):
            with part.naming():
                reading.add(part)
            bar.add(part.n_rows)
    return reading.result(n_given)


def count_rows(source: DataSource, roles: Roles) -> tuple[int, int]:
    """All rows, and those of a weight above zero."""
    n_given = n_rows = source.n_rows if roles.weight is None else None
    if n_rows is None:
        n_given = n_rows = 0
        for part in read_parts(source, Roles(weight=roles.weight), features=False):
            n_given += part.n_rows
            n_rows += part.n_used
    assert n_given is not None
    if n_given == 0:
        raise InputError(f"{source.label!r} has no rows. Give a source with data.")
    if n_rows == 0:
        raise InputError("All weights are zero. At least one row must have a weight above zero.")
    return n_given, n_rows


class _Reading:
    """The pass under way."""

    def __init__(
        self, source: DataSource, roles: Roles, n_rows: int, task: Task, categorical: object, n_jobs: int
    ) -> None:
        self._source, self._roles, self._n_expected, self._n_jobs = source, roles, n_rows, n_jobs
        self._categorical = categorical
        self._chosen: frozenset[int] = frozenset()
        self._columns: list[ColumnFacts] = []
        self._named = True
        self._target = TargetFacts(task)
        self._queries = Queries()
        self._digests = {name: RowDigest() for name in ("X", "y", "weight", "query")}
        self._n_rows, self._total_weight = 0, 0.0
        self._seen: set[str] = set()  # what the first batch has: y, weight, query

    def add(self, part: Part) -> None:
        """Look at the rows of a batch."""
        found = open_columns(part.X)
        if not self._columns:
            self._begin(found, part)
        self._check(found, part)
        used, start = part.used, self._n_rows
        name = part.batch.name
        numbers = None if part.query is None else self._queries.number(part.query, part.batch.place)
        tasks = [partial(self._look, j, found, used, name) for j in range(len(self._columns))]
        values = run_all(tasks, self._n_jobs)
        n = len(values[0])
        if n:
            self._digests["X"].add(hash_columns(values, self._n_jobs), start)
            self._add_others(part, used, numbers, start)
        self._n_rows += n

    def _look(self, j: int, found: Source, used: Array | None, name: str) -> Array:
        column = found.column(j, j in self._chosen)
        facts = self._columns[j]
        facts.see(column, name)
        if used is not None:
            column = Column(column.kind, column.values[used], column.levels)
        return facts.add(column, self._n_rows) if len(column.values) else column.values

    def _add_others(self, part: Part, used: Array | None, numbers: Ints | None, start: int) -> None:
        pick: Any = slice(None) if used is None else used
        if part.y is not None:
            self._target.add(part.y[pick])
            self._digests["y"].add(hash_columns([digest_values(part.y[pick])]), start)
        if part.weight is not None:
            self._total_weight += float(part.weight.sum())
            self._digests["weight"].add(hash_columns([part.weight[pick]]), start)
        if numbers is not None:
            self._digests["query"].add(hash_columns([numbers[pick]]), start)

    def _begin(self, found: Source, part: Part) -> None:
        repeated = repeated_names(found.names)
        if repeated:
            raise InputError(f"The columns {repeated} have the same name. Rename or drop them.")
        self._named = found.named
        self._chosen = find_categorical(self._categorical, found.names)
        check_shape(self._n_expected, len(found.names))
        places = sampled_rows(self._n_expected)
        self._columns = [ColumnFacts(name, places) for name in found.names]
        self._seen = part.given

    def _check(self, found: Source, part: Part) -> None:
        names = tuple(own.name for own in self._columns)
        if found.names != names:
            raise InputError(
                f"The batch has the columns {list(found.names)}, but the first one has {list(names)}. Give all batches "
                "the same columns in the same order."
            )
        if part.given != self._seen:
            raise InputError("Either all batches or none must have a target, and weights.")

    def result(self, n_given: int) -> Survey:
        """What was found, with warnings about it."""
        if self._n_rows != self._n_expected:
            raise different_rows(self._source, self._n_rows, self._n_expected)
        if not np.isfinite(self._total_weight):
            raise InputError("The sum of the weights is larger than a 64-bit float can be. Divide them by a constant.")
        schema = Schema(tuple(own.schema() for own in self._columns), self._named)
        self._warn(schema)
        has_target = "y" in self._seen
        if has_target:
            self._target.decide()
        digests = {name: str(own) for name, own in self._digests.items() if name == "X" or name in self._seen}
        return Survey(
            source=self._source,
            roles=self._roles,
            n_rows=self._n_rows,
            n_given=n_given,
            schema=schema,
            columns=self._columns,
            target=self._target if has_target else None,
            n_queries=self._queries.n_queries,
            has_weight="weight" in self._seen,
            digests=digests,
        )

    def _warn(self, schema: Schema) -> None:
        nothing = np.empty(0, dtype=np.int32)
        warn_of_text(
            {
                own.name: Column("category", nothing, column.levels, own.declared)
                for j, (own, column) in enumerate(zip(self._columns, schema.columns, strict=True))
                if column.kind == "category" and j not in self._chosen
            }
        )
        warn_of_counted_identifiers(schema, [self._n_rows - own.n_missing for own in self._columns])


def different_rows(source: DataSource, now: int, before: int) -> DataFileError:
    """The error for a source that has another number of rows than before."""
    return DataFileError(
        f"{source.label!r} gave {counted(now, 'row')}, but {before} before. A source must give the same rows each "
        "time; files must not change meanwhile."
    )
