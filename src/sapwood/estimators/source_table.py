"""Rows of a source that are kept as cells: few rows to train on, and validation sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sapwood.arrays import Array, Floats, Ints
from sapwood.boosting.fitting import Rows
from sapwood.errors import ParameterError, naming
from sapwood.estimators.boosting_rows import GivenRows, weight_by_query
from sapwood.estimators.boosting_task import BoostingTask
from sapwood.losses.loss import Loss
from sapwood.shard.arrays_of_rows import ArraysOfRows, InMemory
from sapwood.sources.encode import read_tables
from sapwood.sources.open import open_source
from sapwood.sources.rows import Roles
from sapwood.sources.source import DataSource
from sapwood.sources.survey import count_rows, different_rows
from sapwood.sources.target_facts import Queries
from sapwood.table.column import Column
from sapwood.table.schema import Schema, Unseen
from sapwood.table.storage import ColumnStorage
from sapwood.table.table import Table

if TYPE_CHECKING:
    from sapwood.estimators.newton_boosting import NewtonBoosting


@dataclass(frozen=True, eq=False)
class SourceTable:
    """All cells of some rows, and the other columns."""

    table: Table
    y: Floats
    weight: Floats | None
    query: Ints | None  # numbers of queries
    index: NDArray[np.intp] | None  # which rows of the source these are; None: all

    @property
    def groups(self) -> Ints | None:
        """Rows of each query."""
        return None if self.query is None else rows_of_queries(self.query)


def rows_of_queries(query: Ints) -> Ints:
    """Rows of each query, from the number of each row's."""
    return np.diff(np.flatnonzero(np.diff(query, prepend=-1, append=-1)))


def read_whole(
    source: DataSource,
    roles: Roles,
    schema: Schema,
    code: Callable[[Array], Array],
    n_rows: int,
    *,
    unseen: Unseen = "missing",
    all_rows: bool = False,
    again: bool = False,
    arrays: ArraysOfRows | None = None,
) -> SourceTable:
    """All cells of the rows of a weight above zero, or of all rows; `code` turns targets into numbers."""
    arrays, queries, start, n_given = arrays or InMemory(), Queries(), 0, 0
    cells: list[Array] = []
    others: dict[str, Array] = {}
    index = np.empty(n_rows, dtype=np.intp)
    for part, table in read_tables(source, roles, schema, unseen, again=again):
        used = np.arange(part.n_rows) if all_rows or part.used is None else part.used
        if part.y is None:
            raise ParameterError(f"{source.label!r} has no target. Pass target='price', say.")
        with part.naming():
            found = {"y": code(part.y[used])} if len(used) else {}
        found |= {} if part.weight is None else {"weight": part.weight[used]}
        found |= {} if part.query is None else {"query": queries.number(part.query, part.batch.place)[used]}
        stop = start + len(used)
        if stop > n_rows:
            raise different_rows(source, stop, n_rows)
        if not cells:
            cells = [arrays.empty(n_rows, table.values(j).dtype) for j in range(table.n_features)]
        for j in range(len(cells)):
            values = table.values(j)[used]
            if values.dtype != cells[j].dtype:
                cells[j] = _widened(cells[j], np.result_type(values.dtype, cells[j].dtype), arrays)
            cells[j][start:stop] = values
        for name, values in found.items():
            own = others.setdefault(name, arrays.empty(n_rows, np.int64 if name == "query" else np.float64))
            own[start:stop] = values
        index[start:stop] = used + part.batch.first
        start, n_given = stop, n_given + part.n_rows
    if start != n_rows:
        raise different_rows(source, start, n_rows)
    columns = [Column(own.kind, values, own.levels) for own, values in zip(schema.columns, cells, strict=True)]
    whole = Table(schema, ColumnStorage(columns))
    kept = None if n_rows == n_given else index
    return SourceTable(whole, others["y"], others.get("weight"), others.get("query"), kept)


def _widened(column: Array, dtype: np.dtype[Any], arrays: ArraysOfRows) -> Array:
    wide = arrays.empty(len(column), dtype)
    wide[:] = column
    return wide


def read_validation_source(
    estimator: NewtonBoosting, given: GivenRows, task: BoostingTask, loss: Loss, arrays: ArraysOfRows
) -> Rows:
    """A validation set in the columns and codes of training."""

    def code(y: Array) -> Floats:
        found = task.code(y, len(y))
        loss.check_domain(found)
        return found

    with naming(given.argument):
        source, roles = open_source(given.X), given.y.roles
        n_rows = count_rows(source, roles)[0]
        found = read_whole(source, roles, estimator.schema_, code, n_rows, all_rows=True, arrays=arrays)
        weight, groups = found.weight, found.groups
        if groups is not None:
            weight = weight_by_query(weight, n_rows, groups, estimator.weight_name)
        return Rows(found.table, found.y, weight, groups, given.name)


def validation_bytes(given: GivenRows, n_scores: int, n_features: int) -> int:
    """What a validation set of a source will take."""
    source, roles = open_source(given.X), given.y.roles
    others = 1 + n_scores + (roles.weight is not None) + (roles.query is not None)
    return 8 * count_rows(source, roles)[0] * (n_features + others)
